//! Merges the newest segments where there are too many: for programs that write and end, and so have no thread that does it in the background.

use crate::compact::background::BackgroundOptions;
use crate::compact::compaction::{ASIDE_BYTES, Compaction, CompactionGuard};
use crate::compact::error::CompactError;
use crate::compact::merge_budget::MergeBudget;
use crate::compact::options::CompactOptions;
use crate::compact::policy::choose_within;
use crate::progress::LoadProgress;
use crate::store::Store;
use crate::throttle::Throttle;

/// What merging the newest segments did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeepFewReport {
    /// Merges.
    pub merges: u64,
    /// Segments that there were.
    pub segments_before: u64,
    /// Segments that there are now.
    pub segments: u64,
    /// Quads, insertions and deletions, that were read.
    pub quads: u64,
}

/// Where a store that was opened for writing has more segments than [`BackgroundOptions::segments_max`], merges some of the newest, as
/// a [`Compactor`](crate::Compactor) would do: in the long run each quad is written again only a few times. On an
/// error the store holds what it held.
///
/// # Errors
/// Like [`compact`](crate::compact()).
pub fn keep_few(
    store: &Store,
    options: &CompactOptions,
    progress: &LoadProgress,
) -> Result<KeepFewReport, CompactError> {
    let segments_max = BackgroundOptions::default().segments_max;
    let count = || store.version().segments.len();
    let mut report = KeepFewReport { segments_before: count() as u64, ..KeepFewReport::default() };
    store.writer()?;
    let mut guard = None;
    let (budget, throttle) =
        (MergeBudget::new(options.memory_bytes, options.threads), Throttle::full(&options.cancel));
    while count() > segments_max {
        if guard.is_none() {
            guard = Some(CompactionGuard::lock(store, &options.cancel)?);
        }
        let version = store.version().aside(ASIDE_BYTES);
        let Some(from) = choose_within(budget, &version.manifest.segments, segments_max) else { break };
        report.quads += version.segments.iter().skip(from).map(|segment| segment.entry.quads).sum::<u64>();
        store.with_room(|| Compaction::new(store, &version, from, options, &throttle, progress).run())?;
        report.merges += 1;
    }
    report.segments = count() as u64;
    Ok(report)
}
