//! The figures of the database that were counted last.

use lode_engine::Description;
use std::sync::{Arc, Mutex, PoisonError};

/// What was counted last, and who counts.
#[derive(Debug, Default)]
pub(crate) struct Described {
    last: Mutex<Option<Arc<Description>>>,
    /// One at a time: the others take what it found.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Described {
    pub(crate) fn of_version(&self, version: u64) -> Option<Arc<Description>> {
        // What is guarded here is whole at any time.
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.clone().filter(|last| last.version == version)
    }

    pub(crate) fn keep(&self, description: &Arc<Description>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(description));
    }
}
