//! Rows of sub-plans that others run, for the plan that needs them.

use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::Term;
use std::fmt;
use std::sync::Arc;

/// Rows of a fragment that have come.
#[derive(Debug, Default)]
pub struct Came {
    /// Their ids: those of the version that the query asks, or inline.
    pub batch: Batch,
    /// The values that are no such ids, in whose places are unbound ones.
    pub terms: Vec<NewTerm>,
}

/// A term that whoever made a row has no id for that others know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTerm {
    /// The number of its column,
    pub column: usize,
    /// and of its row in the batch.
    pub row: usize,
    /// The term.
    pub term: Term,
}

/// Puts the next rows into a batch, which has their columns already, and tells whether there are any.
pub type FragmentRows = Box<dyn FnMut(&mut Came) -> Result<bool, ExecError> + Send>;

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
