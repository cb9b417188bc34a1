//! What a worker does and has done, for whoever asks the process: counters, and what of them Prometheus reads.

use crate::databases::Databases;
use lode_base::host;
use lode_base::memory_budget::MemoryBudget;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counters of a worker.
#[derive(Debug, Default)]
pub struct Work {
    running: AtomicU64,
    parts: AtomicU64,
    failures: AtomicU64,
    rows: AtomicU64,
    bytes: AtomicU64,
    processor_ns: AtomicU64,
}

/// A part of a query that runs, until it is dropped.
#[derive(Debug)]
pub struct RunningPart(Arc<Work>);

impl Drop for RunningPart {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Work {
    /// A part of a query begins.
    #[must_use]
    pub fn begin(self: &Arc<Self>) -> RunningPart {
        self.running.fetch_add(1, Ordering::Relaxed);
        self.parts.fetch_add(1, Ordering::Relaxed);
        RunningPart(Arc::clone(self))
    }

    pub fn sent(&self, rows: usize, bytes: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub fn worked(&self, nanoseconds: u64) {
        self.processor_ns.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Parts of queries that run now.
    pub fn running(&self) -> u64 {
        self.running.load(Ordering::Relaxed)
    }

    /// The text that Prometheus reads.
    pub fn exposition(&self, databases: &Databases, memory: &MemoryBudget) -> String {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let mut text = String::new();
        let mut tell = |name: &str, kind: &str, help: &str, value: Option<f64>| {
            if let Some(value) = value {
                let end = if kind == "counter" { "_total" } else { "" };
                let _ = write!(
                    text,
                    "# HELP lode_worker_{name} {help}\n# TYPE lode_worker_{name} {kind}\nlode_worker_{name}{end} {value}\n"
                );
            }
        };
        tell("parts_running", "gauge", "Parts of queries that run now", Some(of(&self.running)));
        tell("parts", "counter", "Parts of queries that were begun", Some(of(&self.parts)));
        tell(
            "part_failures",
            "counter",
            "Parts of queries that did not come to their end, or were called off",
            Some(of(&self.failures)),
        );
        tell("rows", "counter", "Rows that parts of queries have made", Some(of(&self.rows)));
        tell("row_bytes", "counter", "Bytes of these rows as columns", Some(of(&self.bytes)));
        let seconds = Duration::from_nanos(self.processor_ns.load(Ordering::Relaxed)).as_secs_f64();
        tell("part_processor_seconds", "counter", "Time of processors for parts of queries", Some(seconds));
        let versions = databases.count() as f64;
        tell("versions_open", "gauge", "Versions of databases that are open", Some(versions));
        tell("memory_bytes", "gauge", "Memory reserved by parts of queries", Some(memory.used() as f64));
        tell("memory_bytes_max", "gauge", "The most that they may reserve", Some(memory.limit() as f64));
        let files = host::open_files().map(|files| files as f64);
        tell("open_files", "gauge", "Files and connections that the process has open", files);
        let resident = host::resident_bytes().map(|bytes| bytes as f64);
        tell("resident_bytes", "gauge", "Memory that the process has resident", resident);
        tell("processor_seconds", "counter", "Time of processors of the process", host::processor_seconds());
        text + "# EOF\n"
    }
}

#[cfg(test)]
mod tests {
    //! What is told.
    use super::*;
    use lode_engine::OpenOptions;

    #[test]
    fn what_runs_is_counted_until_it_ends() {
        let (work, memory) = (Arc::new(Work::default()), MemoryBudget::new(100));
        let databases = Databases::new(&[], None, OpenOptions::default()).unwrap();
        let running = work.begin();
        work.sent(3, 24);
        work.worked(1_500_000_000);
        let told = work.exposition(&databases, &memory);
        for line in [
            "lode_worker_parts_running 1",
            "lode_worker_parts_total 1",
            "lode_worker_rows_total 3",
            "lode_worker_part_processor_seconds_total 1.5",
            "lode_worker_memory_bytes_max 100",
            "# EOF",
        ] {
            assert!(told.lines().any(|own| own == line), "{line}: {told}");
        }
        drop(running);
        assert_eq!(work.running(), 0);
    }
}
