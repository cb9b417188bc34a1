//! The version that a transaction aside works on.

use crate::store::Store;
use crate::version::Version;
use std::sync::Arc;

/// The version that it began with, of which all changes stay apart from later ones until this is dropped.
#[derive(Debug)]
pub struct Frozen {
    store: Store,
    pub version: Arc<Version>,
}

impl Frozen {
    /// One that the writer has frozen.
    pub fn new(store: &Store, version: &Arc<Version>) -> Self {
        Self { store: store.clone(), version: Arc::clone(version) }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if let Ok(writer) = self.store.writer() {
            // Of a delta that was published there is nothing left to thaw.
            writer.thaw();
        }
    }
}
