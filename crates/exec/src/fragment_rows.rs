//! Rows of sub-plans that others run, for the plan that needs them.

use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use std::fmt;
use std::sync::Arc;

/// Puts the next rows into a batch, which has their columns already, and tells whether there are any. Their ids are those of the version that the query
/// asks, or inline.
pub type FragmentRows = Box<dyn FnMut(&mut Batch) -> Result<bool, ExecError> + Send>;

/// Begins to get the rows of a fragment, by its number.
#[derive(Clone)]
pub struct OpenFragment(Arc<dyn Fn(u32) -> Result<FragmentRows, ExecError> + Send + Sync>);

impl OpenFragment {
    /// As this does.
    pub fn new(open: impl Fn(u32) -> Result<FragmentRows, ExecError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }

    /// The rows of one.
    pub(crate) fn open(&self, number: u32) -> Result<FragmentRows, ExecError> {
        (self.0)(number)
    }
}

impl fmt::Debug for OpenFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenFragment")
    }
}
