//! How far a load or a compaction is: counters that its threads add to now and then and that anybody may read at any time.

use lode_base::host::resident_bytes;
use lode_ingest::{ReadProgress, ReadSample};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What a load is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Stage {
    /// Reading, parsing, gathering terms.
    #[default]
    Reading = 0,
    /// Merging terms and writing the dictionary.
    Terms = 1,
    /// Sorting quads for the first time.
    Sorting = 2,
    /// Sorting and writing the orders.
    Writing = 3,
    /// Making all durable and switching the manifest.
    Publishing = 4,
    /// The end.
    Done = 5,
}

impl Stage {
    /// How many there are.
    pub const COUNT: usize = 6;

    /// What it is, in a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Terms => "merging terms",
            Self::Sorting => "sorting",
            Self::Writing => "writing indexes",
            Self::Publishing => "syncing",
            Self::Done => "done",
        }
    }
}

/// Counters of one load.
#[derive(Debug, Default)]
pub struct LoadProgress {
    stage: AtomicU8,
    read: Arc<ReadProgress>,
    terms: AtomicU64,
    rows_written: AtomicU64,
    rows_to_write: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProgressSample {
    /// What the load is doing.
    pub stage: Stage,
    /// Quads read.
    pub quads: u64,
    /// Lines set aside.
    pub quarantined: u64,
    /// Bytes of the sources read, as they are stored (compressed bytes of compressed files).
    pub bytes_read: u64,
    /// Bytes of all sources, where all are known.
    pub bytes_total: Option<u64>,
    /// Distinct terms numbered.
    pub terms: u64,
    /// Rows written, over all orders.
    pub rows_written: u64,
    /// Rows to write, over all orders; 0 before that is known.
    pub rows_to_write: u64,
    /// Bytes that the load holds in its own tables and buffers.
    pub memory: u64,
    /// Bytes that the process has resident, where that can be told.
    pub resident: Option<u64>,
}

impl LoadProgress {
    /// Reads all counters.
    pub fn sample(&self) -> ProgressSample {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let ReadSample { quads, quarantined, bytes_read, bytes_total, memory } = self.read.sample();
        ProgressSample {
            stage: match self.stage.load(Ordering::Relaxed) {
                0 => Stage::Reading,
                1 => Stage::Terms,
                2 => Stage::Sorting,
                3 => Stage::Writing,
                4 => Stage::Publishing,
                _ => Stage::Done,
            },
            quads,
            quarantined,
            bytes_read,
            bytes_total,
            terms: get(&self.terms),
            rows_written: get(&self.rows_written),
            rows_to_write: get(&self.rows_to_write),
            memory,
            resident: resident_bytes(),
        }
    }

    /// How far the reading of sources is.
    pub(crate) fn read(&self) -> &Arc<ReadProgress> {
        &self.read
    }

    pub(crate) fn add_quads(&self, quads: u64) {
        self.read.add_quads(quads);
    }

    pub(crate) fn set_memory(&self, bytes: u64) {
        self.read.set_memory(bytes);
    }

    pub(crate) fn set_stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    pub(crate) fn add_terms(&self, terms: u64) {
        self.terms.fetch_add(terms, Ordering::Relaxed);
    }

    pub(crate) fn add_rows_written(&self, rows: u64) {
        self.rows_written.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn set_rows_to_write(&self, rows: u64) {
        self.rows_to_write.store(rows, Ordering::Relaxed);
    }

    pub(crate) fn add_rows_to_write(&self, rows: u64) {
        self.rows_to_write.fetch_add(rows, Ordering::Relaxed);
    }
}

/// Seconds of each stage.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageSeconds([f64; Stage::COUNT]);

impl StageSeconds {
    pub(crate) fn new(stages: [Duration; Stage::COUNT]) -> Self {
        Self(stages.map(|duration| duration.as_secs_f64()))
    }

    /// Seconds of one stage.
    pub fn of(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Seconds of all stages.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}
