//! What a compaction may be told, and what it tells.

use crate::compact::damage::OrderDamage;
use crate::progress::StageSeconds;
use crate::segment_builder::memory_bytes_default;
use lode_base::cancel::CancelToken;
use lode_packed::SegmentMeta;

/// How to compact.
#[derive(Debug, Clone)]
pub struct CompactOptions {
    /// Threads that merge and write.
    pub threads: usize,
    /// Bytes of memory that the process shall not exceed.
    pub memory_bytes: usize,
    /// Also writes anew a database that has one segment.
    pub force: bool,
    /// Stops the compaction.
    pub cancel: CancelToken,
}

impl Default for CompactOptions {
    fn default() -> Self {
        let (threads, memory_bytes) = (lode_base::cores::cores(), memory_bytes_default());
        Self { threads, memory_bytes, force: false, cancel: CancelToken::default() }
    }
}

/// What a compaction did.
#[derive(Debug, Clone)]
pub struct CompactReport {
    /// Segments that there were.
    pub segments: u64,
    /// Merges that it took: one, or more where not all segments fit into memory at once.
    pub rounds: u64,
    /// Quads of the database.
    pub quads: u64,
    /// Terms in its dictionaries.
    pub terms: u64,
    /// Those of them that no quad used any more: they are gone.
    pub terms_dropped: u64,
    /// Bytes of the old segments.
    pub bytes_before: u64,
    /// The new segment; none where there was nothing to do, or where nothing is left.
    pub segment: Option<SegmentMeta>,
    /// Orders of the old segments that were damaged, and have been made again from others.
    pub damaged: Vec<OrderDamage>,
    /// Where the time went.
    pub seconds: StageSeconds,
    /// The most memory the process has had resident, where that can be told.
    pub peak_resident_bytes: Option<u64>,
}
