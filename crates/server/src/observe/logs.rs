//! The logs that a server writes, besides what it tells of itself.

use super::log_file::LogFile;
use super::traces::Traces;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: an object in each line.
    Json,
}

/// How long what is slow takes.
#[derive(Debug, Clone, Default)]
pub struct SlowMin(Arc<AtomicU64>);

impl SlowMin {
    /// So long.
    pub fn new(time: Duration) -> Self {
        let min = Self::default();
        min.set(time);
        min
    }

    /// From now on so long.
    pub fn set(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.0.store(micros, Ordering::Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// Where to write what.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    /// A line for each request.
    pub access: Option<Arc<LogFile>>,
    /// How that one is written. The others are always JSON.
    pub access_format: LogFormat,
    /// A line for each query and update that takes long,
    pub slow: Option<Arc<LogFile>>,
    /// which is at least so long; may be changed while the server runs.
    pub slow_min: SlowMin,
    /// A line for each change of the data, each act of the administration, and each login that failed.
    pub audit: Option<Arc<LogFile>>,
    /// What the server tells of itself: here only to be counted.
    pub program: Option<Arc<LogFile>>,
    /// Where traces go.
    pub traces: Option<Arc<Traces>>,
}

impl Logs {
    /// All there are, with their names.
    pub fn all(&self) -> Vec<(&'static str, &Arc<LogFile>)> {
        let named = [
            ("access", &self.access),
            ("slow", &self.slow),
            ("audit", &self.audit),
            ("program", &self.program),
        ];
        named.into_iter().filter_map(|(name, log)| Some((name, log.as_ref()?))).collect()
    }

    /// Opens all files anew; what could not be opened.
    pub fn reopen(&self) -> Vec<(String, io::Error)> {
        let reopened = self.all().into_iter().map(|(_, log)| (log.name(), log.reopen()));
        reopened.filter_map(|(name, done)| Some((name, done.err()?))).collect()
    }

    /// Waits a short time until all is written.
    pub fn flush(&self) {
        self.all().into_iter().for_each(|(_, log)| log.flush());
        self.traces.iter().for_each(|traces| traces.flush());
    }

    pub(super) fn slow_min(&self) -> Duration {
        self.slow_min.get()
    }

    /// Whether the text of a query or an update is to be kept.
    pub(super) fn keeps_texts(&self) -> bool {
        self.slow.is_some() || self.audit.is_some()
    }
}
