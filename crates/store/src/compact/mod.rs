//! Compaction: the newest segments of a database, or all, become one, or two where they also delete quads of older ones.
//! Where all become one, it is maximally packed, and ids of a kind compare like their terms again.
//!
//! The dictionaries are merged ([`terms`]); that gives every term a new number, kept in a [`term_map`]. Then the rows of one order are
//! packed with new ids, sorted, and written in all orders ([`packed`]), if they fit in memory; if not, each order is merged by itself,
//! from the same order of the old segments ([`order_merge`], [`orders`]). What one segment inserts and another deletes is left out. Blank nodes and inline values keep their ids, and so do the keys of triple terms, which hold no
//! dictionary numbers. All the while others read and write. At last what they have written is renamed, and the manifest is
//! switched ([`switch`]); the old segments' files go when nobody reads them any more. Until the switch the database is what it was, and
//! nothing but the new segments is written: old and new together are all the space that is needed.
//!
//! Terms that no quad uses any more are dropped ([`used`], [`numbering`]).

mod adaptive_budget;
mod background;
mod crowd;
mod damage;
pub(crate) mod folders;
mod keep_few;
mod later;
mod leading;
mod merge;
mod merge_budget;
pub(crate) use merge::copy_file;
mod numbering;
mod order_merge;
pub(crate) mod orders;
pub(crate) mod output;
mod pack;
mod packed;
mod policy;
mod source;
mod switch;
mod term_map;
mod terms;
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
pub(crate) use crowd::wait_while_crowded;
pub use damage::OrderDamage;
pub use keep_few::{KeepFewReport, keep_few};

use crate::load::{LoadError, LoadProgress, Stage, StageSeconds, working_bytes};
use crate::manifest::Sign;
use crate::seal::NewSegment;
use crate::store::Store;
use crate::throttle::Throttle;
use crate::version::Version;
use crate::write_guard::WriteGuard;
use damage::find_damage;
use folders::NewFolders;
use lode_base::cancel::CancelToken;
use lode_base::host::peak_resident_bytes;
use lode_packed::SegmentMeta;
use merge_budget::MergeBudget;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
        let crate::LoadOptions { threads, memory_bytes, .. } = crate::LoadOptions::default();
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

/// Bytes of the cache that a compaction has aside: it reads nearly every block once.
const ASIDE_BYTES: usize = 1 << 20;

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
) -> Result<CompactReport, LoadError> {
    compact_and(store, options, MergeBudget::new(options.memory_bytes, options.threads), progress, &mut || {})
}

/// The same, with this budget for each round; calls `between` after each merge.
fn compact_and(
    store: &Store,
    options: &CompactOptions,
    budget: MergeBudget,
    progress: &LoadProgress,
    between: &mut dyn FnMut(),
) -> Result<CompactReport, LoadError> {
    store.writer()?;
    let _turn = Turn::wait(store, &options.cancel)?;
    let mut attempt = 1;
    loop {
        match store.with_room(|| compact_once(store, options, budget, progress, between)) {
            Err(LoadError::Overtaken) if attempt < ATTEMPTS => attempt += 1,
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
) -> Result<CompactReport, LoadError> {
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
) -> Result<(), LoadError> {
    let pace = Throttle::full(&options.cancel);
    let mut stages = [Duration::ZERO; Stage::COUNT];
    // Each round leaves fewer segments, but others may add some meanwhile.
    for _ in 0..ROUNDS_PER_SEGMENT * report.segments {
        let mut version = store.version().aside(ASIDE_BYTES);
        let from = budget.next_round(&version.manifest.segments);
        let mut segments = version.segments.to_vec();
        let merged = segments.get_mut(from..).unwrap_or_default();
        report.damaged.extend(find_damage(merged, &options.cancel)?);
        version.segments = segments.into();
        let mut compaction = Compaction::new(store, &version, from, options, &pace, progress);
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
    Err(LoadError::Overtaken)
}

/// Merges the segments from one on.
#[cfg(test)]
pub(crate) fn compact_from(store: &Store, from: usize) -> Result<(), LoadError> {
    let (options, cancel, progress) =
        (CompactOptions::default(), CancelToken::default(), LoadProgress::default());
    let version = store.version().aside(ASIDE_BYTES);
    let pace = Throttle::full(&cancel);
    Compaction::new(store, &version, from, &options, &pace, &progress).run().map(|_| ())
}

/// The right to replace segments: one compaction at a time. Given back when dropped.
struct Turn<'a>(&'a Store);

impl<'a> Turn<'a> {
    fn wait(store: &'a Store, cancel: &CancelToken) -> Result<Self, LoadError> {
        store.compaction_lock().lock(cancel)?;
        Ok(Self(store))
    }

    /// The turn, if nobody has it or waits for it.
    fn if_free(store: &'a Store) -> Option<Self> {
        // Not `then_some`: a turn that is made is given back.
        store.compaction_lock().try_lock().then(|| Self(store))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.compaction_lock().unlock();
    }
}

/// Merges the segments of a version from the place `from` on.
struct Compaction<'a> {
    store: &'a Store,
    version: &'a Version,
    from: usize,
    threads: usize,
    working_bytes: usize,
    pace: &'a Throttle,
    progress: &'a LoadProgress,
    stages: [Duration; Stage::COUNT],
    /// Terms that no quad used any more.
    dropped: u64,
    /// Where the ids of new segments come from.
    numbering: u64,
}

impl<'a> Compaction<'a> {
    fn new(
        store: &'a Store,
        version: &'a Version,
        from: usize,
        options: &CompactOptions,
        pace: &'a Throttle,
        progress: &'a LoadProgress,
    ) -> Self {
        Self {
            store,
            version,
            from,
            threads: options.threads.max(1),
            working_bytes: working_bytes(options.memory_bytes),
            pace,
            progress,
            stages: [Duration::ZERO; Stage::COUNT],
            dropped: 0,
            numbering: 0,
        }
    }

    /// Merges the segments and switches to the new ones.
    fn run(&mut self) -> Result<Vec<NewSegment>, LoadError> {
        self.run_and(|| {})
    }

    /// The same; calls `between` after the merge and before the switch, where others may have written.
    fn run_and(&mut self, between: impl FnOnce()) -> Result<Vec<NewSegment>, LoadError> {
        let mut folders = NewFolders::new(self.store);
        let result = self.merge(&mut folders).and_then(|mut merged| {
            between();
            let segments = std::mem::take(&mut merged.segments);
            let entries = segments.iter().map(|new| new.entry.clone()).collect();
            self.stage(Stage::Publishing, |this| this.switch(entries, merged.numbers, &mut folders))?;
            Ok(segments)
        });
        if result.as_ref().map_or_else(LoadError::is_in_doubt, |_| true) {
            folders.keep();
        }
        result
    }

    /// Stops where segments that are merged have gone, or lost their quads: the merge would be in vain.
    fn check_overtaken(&self) -> Result<(), LoadError> {
        let is_there = self.store.version().manifest.segments.starts_with(&self.version.manifest.segments);
        if is_there { Ok(()) } else { Err(LoadError::Overtaken) }
    }

    /// Runs one stage and notes how long it took.
    fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        self.progress.set_stage(stage);
        self.pace.check()?;
        let start = Instant::now();
        let result = work(self);
        self.stages[stage as usize] += start.elapsed();
        result
    }
}
