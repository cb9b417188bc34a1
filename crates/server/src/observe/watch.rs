//! Who watches a server: its counters and its logs.

use super::counters::Counters;
use super::logs::Logs;
use std::sync::Arc;

/// Who watches a server.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Those of requests of no database; where there is only one, of all.
    pub(crate) counters: Arc<Counters>,
    pub(crate) logs: Logs,
}

impl Watch {
    pub(crate) fn new(logs: Logs) -> Arc<Self> {
        Arc::new(Self { counters: Arc::default(), logs })
    }
}
