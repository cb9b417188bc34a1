//! Compaction: the newest segments of a database, or all, become one, or two where they also delete quads of older ones.
//! Where all become one, it is maximally packed, and ids of a kind compare like their terms again.
//!
//! The dictionaries are merged ([`dictionary_merge`]); that gives every term a new number, kept in an [`id_remap`]. Then the rows of one order are
//! packed with new ids, sorted, and written in all orders, if they fit in memory; if not, each order is merged by itself, from the same
//! order of the old segments ([`orders`]). What one segment inserts and another deletes is left out. Blank nodes and inline values keep their ids, and so do the keys of triple terms, which hold no
//! dictionary numbers. All the while others read and write. At last what they have written is renamed, and the manifest is
//! switched ([`catch_up`]); the old segments' files go when nobody reads them any more. Until then the database is what it was, and
//! nothing but the new segments is written: old and new together are all the space that is needed.
//!
//! Terms that no quad uses any more are dropped ([`used`], [`id_remap`]).

mod adaptive_budget;
mod background;
mod catch_up;
mod compaction;
mod damage;
mod dictionary_merge;
mod error;
mod first_column;
mod id_remap;
mod keep_few;
mod merge_budget;
mod needed_room;
mod options;
mod orders;
mod policy;
mod segment_merge;
mod used;

#[cfg(test)]
mod background_tests;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod dropped_tests;
#[cfg(test)]
mod live_crash_tests;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod speed_tests;
#[cfg(test)]
mod tests;

pub use background::{BackgroundOptions, Compactor, CompactorState, CompactorStatus};
pub use damage::OrderDamage;
pub use error::CompactError;
pub use keep_few::{KeepFewReport, keep_few};
pub use needed_room::room_to_compact;
pub use options::{CompactOptions, CompactReport};

use crate::manifest::Sign;
use crate::progress::{LoadProgress, Stage, StageSeconds};
use crate::segment_builder::{NewFolders, NewSegment};
use crate::store::Store;
use crate::throttle::Throttle;
use crate::write_guard::WriteGuard;
use compaction::{ASIDE_BYTES, Compaction, CompactionGuard};
use damage::find_damage;
use lode_base::host::peak_resident_bytes;
use merge_budget::MergeBudget;
use std::sync::Arc;
use std::time::Duration;

/// How often a compaction is begun that others keep from its end, by dropping or replacing what is merged.
const ATTEMPTS: u32 = 5;

/// Makes one segment of all that is in a store that was opened for writing; others may go on writing. Where the memory is short it takes
/// several rounds, each of which merges as many of the newest segments as fit. On any error the store holds what it held, in
/// the segments of the last round that came to its end.
///
/// # Errors
/// Where the store was opened for reading, the memory does not suffice, a file cannot be read, is damaged or cannot be written, graphs are dropped
/// all the while, or the work was cancelled.
pub fn compact(
    store: &Store,
    options: &CompactOptions,
    progress: &Arc<LoadProgress>,
) -> Result<CompactReport, CompactError> {
    compact_and(store, options, MergeBudget::new(options.memory_bytes, options.threads), progress, &mut || {})
}

/// The same, with this budget for each round; calls `between` after each merge.
fn compact_and(
    store: &Store,
    options: &CompactOptions,
    budget: MergeBudget,
    progress: &LoadProgress,
    between: &mut dyn FnMut(),
) -> Result<CompactReport, CompactError> {
    store.writer()?;
    let _guard = CompactionGuard::lock(store, &options.cancel)?;
    let mut attempt = 1;
    loop {
        match store.with_room(|| compact_once(store, options, budget, progress, between)) {
            Err(CompactError::Overtaken) if attempt < ATTEMPTS => attempt += 1,
            result => return result,
        }
    }
}

/// Rounds of a compaction for each segment that there was in the beginning, before it counts as kept from its end.
const ROUNDS_PER_SEGMENT: u64 = 4;

/// The same, for who has the turn; gives up where others get in the way.
fn compact_once(
    store: &Store,
    options: &CompactOptions,
    budget: MergeBudget,
    progress: &LoadProgress,
    between: &mut dyn FnMut(),
) -> Result<CompactReport, CompactError> {
    WriteGuard::lock(store, &options.cancel)?.settle(&options.cancel)?;
    let version = store.version();
    let segments = version.segments.len();
    let mut report = CompactReport {
        segments: segments as u64,
        rounds: 0,
        quads: version.manifest.quads(),
        terms: version.manifest.terms().iter().sum(),
        terms_dropped: 0,
        bytes_before: version.segments.iter().map(|open| open.segment.meta().bytes()).sum(),
        segment: None,
        damaged: Vec::new(),
        seconds: StageSeconds::new([Duration::ZERO; Stage::COUNT]),
        peak_resident_bytes: None,
    };
    let is_packed = version.segments.iter().all(|open| open.entry.sign == Sign::Insertions);
    if segments > 1 || !is_packed || (options.force && segments == 1) {
        progress.add_quads(report.quads);
        drop(version);
        compact_in_rounds(store, options, budget, progress, between, &mut report)?;
    }
    progress.set_stage(Stage::Done);
    report.peak_resident_bytes = peak_resident_bytes();
    Ok(report)
}

fn compact_in_rounds(
    store: &Store,
    options: &CompactOptions,
    budget: MergeBudget,
    progress: &LoadProgress,
    between: &mut dyn FnMut(),
    report: &mut CompactReport,
) -> Result<(), CompactError> {
    let throttle = Throttle::full(&options.cancel);
    let mut stages = [Duration::ZERO; Stage::COUNT];
    // Each round leaves fewer segments, but others may add some meanwhile.
    for _ in 0..ROUNDS_PER_SEGMENT * report.segments {
        let mut version = store.version().aside(ASIDE_BYTES);
        let from = budget.next_round(&version.manifest.segments);
        let mut segments = version.segments.to_vec();
        let merged = segments.get_mut(from..).unwrap_or_default();
        report.damaged.extend(find_damage(merged, &options.cancel)?);
        version.segments = segments.into();
        let mut compaction = Compaction::new(store, &version, from, options, &throttle, progress);
        let new = compaction.run_and(&mut *between)?;
        stages.iter_mut().zip(compaction.stages).for_each(|(sum, time)| *sum += time);
        report.rounds += 1;
        report.seconds = StageSeconds::new(stages);
        report.terms_dropped += compaction.dropped;
        if from == 0 {
            report.segment = new.into_iter().next().map(|new| new.meta);
            return Ok(());
        }
    }
    Err(CompactError::Overtaken)
}

/// Merges the segments from one on.
#[cfg(test)]
pub(crate) fn compact_from(store: &Store, from: usize) -> Result<(), CompactError> {
    let (options, cancel, progress) =
        (CompactOptions::default(), lode_base::cancel::CancelToken::default(), LoadProgress::default());
    let version = store.version().aside(ASIDE_BYTES);
    let throttle = Throttle::full(&cancel);
    Compaction::new(store, &version, from, &options, &throttle, &progress).run().map(|_| ())
}

impl Compaction<'_> {
    /// Merges the segments and switches to the new ones.
    fn run(&mut self) -> Result<Vec<NewSegment>, CompactError> {
        self.run_and(|| {})
    }

    /// The same; calls `between` after the merge and before the switch, where others may have written.
    fn run_and(&mut self, between: impl FnOnce()) -> Result<Vec<NewSegment>, CompactError> {
        let mut folders = NewFolders::new(self.store);
        let result = self.merge(&mut folders).and_then(|mut merged| {
            between();
            let segments = std::mem::take(&mut merged.segments);
            let entries = segments.iter().map(|new| new.entry.clone()).collect();
            self.stage(Stage::Publishing, |this| this.catch_up(entries, merged.remap, &mut folders))?;
            Ok(segments)
        });
        if result.as_ref().map_or_else(CompactError::is_in_doubt, |_| true) {
            folders.keep();
        }
        result
    }
}
