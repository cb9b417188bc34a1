//! What all operators of a running query share.

use crate::domain::Domain;
use crate::fragment_rows::OpenFragment;
use crate::service::Federation;
use lode_eval::context::EvalContext;
use lode_scheduler::turns::Share;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// State of one running query, shared by its threads. A clone shares it, too: sub-patterns planned while running get one.
#[derive(Clone)]
pub struct QueryContext {
    /// What expressions see of it.
    pub eval: EvalContext,
    /// Federation; `None`: SERVICE is an error (SILENT: one empty row).
    pub service: Option<Federation>,
    /// Threads that may work on this query.
    pub threads: usize,
    /// Its share of the processors.
    pub share: Share,
    /// The domain of the dependent plan that runs, if it is one (start with none).
    pub domain: Option<Arc<Domain>>,
    /// Where the rows of fragments come from that others run (most often there are none).
    pub fragments: Option<OpenFragment>,
}

impl Deref for QueryContext {
    type Target = EvalContext;

    fn deref(&self) -> &EvalContext {
        &self.eval
    }
}

impl DerefMut for QueryContext {
    fn deref_mut(&mut self) -> &mut EvalContext {
        &mut self.eval
    }
}
