//! What is noted of each request, for those who watch the server: its number, its counters, and its lines in the logs.
//!
//! A [`Record`] begins with a request and ends when its answer was sent, or given up. Whoever answers finds it as [`Record::current`], or
//! takes it along to another thread, and notes what it knows.

mod counters;
mod lines;
mod log_file;
mod logs;
mod record;
mod request_id;
mod route;
mod stages;
#[cfg(test)]
mod tests;

pub use log_file::LogFile;
pub use logs::{LogFormat, Logs, SlowMin};

pub(crate) use counters::Counters;
pub(crate) use record::{Begun, Change, Ended, Record, Who};
pub(crate) use request_id::REQUEST_ID;
pub(crate) use stages::WorkKind;

use std::sync::Arc;

/// Who watches a server.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) counters: Counters,
    pub(crate) logs: Logs,
}

impl Watch {
    pub(crate) fn new(logs: Logs) -> Arc<Self> {
        Arc::new(Self { counters: Counters::default(), logs })
    }

    /// A request that has come.
    pub(crate) fn begin(self: &Arc<Self>, begun: Begun<'_>) -> Arc<Record> {
        self.counters.in_flight(1);
        Arc::new(Record::new(Arc::clone(self), begun))
    }
}
