//! One merge of a compaction, and the right to make one.

use crate::compact::error::CompactError;
use crate::compact::options::CompactOptions;
use crate::progress::{LoadProgress, Stage};
use crate::segment_builder::working_bytes;
use crate::store::Store;
use crate::throttle::Throttle;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use std::time::{Duration, Instant};

/// Bytes of the cache that a compaction has aside: it reads nearly every block once.
pub const ASIDE_BYTES: usize = 1 << 20;

/// The right to replace segments: one compaction at a time. Given back when dropped.
pub struct CompactionGuard<'a>(&'a Store);

impl<'a> CompactionGuard<'a> {
    pub fn lock(store: &'a Store, cancel: &CancelToken) -> Result<Self, CompactError> {
        store.compaction_lock().lock(cancel)?;
        Ok(Self(store))
    }

    /// The same, if nobody has it or waits for it.
    pub fn try_lock(store: &'a Store) -> Option<Self> {
        // Not `then_some`: a guard that is made gives the lock back.
        store.compaction_lock().try_lock().then(|| Self(store))
    }
}

impl Drop for CompactionGuard<'_> {
    fn drop(&mut self) {
        self.0.compaction_lock().unlock();
    }
}

/// Merges the segments of a version from the place `from` on.
pub struct Compaction<'a> {
    pub store: &'a Store,
    pub version: &'a Version,
    pub from: usize,
    pub threads: usize,
    pub working_bytes: usize,
    pub throttle: &'a Throttle,
    pub progress: &'a LoadProgress,
    pub stages: [Duration; Stage::COUNT],
    /// Terms that no quad used any more.
    pub dropped: u64,
    /// Where the ids of new segments come from.
    pub numbering: u64,
}

impl<'a> Compaction<'a> {
    pub fn new(
        store: &'a Store,
        version: &'a Version,
        from: usize,
        options: &CompactOptions,
        throttle: &'a Throttle,
        progress: &'a LoadProgress,
    ) -> Self {
        Self {
            store,
            version,
            from,
            threads: options.threads.max(1),
            working_bytes: working_bytes(options.memory_bytes),
            throttle,
            progress,
            stages: [Duration::ZERO; Stage::COUNT],
            dropped: 0,
            numbering: 0,
        }
    }

    /// Stops where segments that are merged have gone, or lost their quads: the merge would be in vain.
    pub fn check_overtaken(&self) -> Result<(), CompactError> {
        let is_there = self.store.version().manifest.segments.starts_with(&self.version.manifest.segments);
        if is_there { Ok(()) } else { Err(CompactError::Overtaken) }
    }

    /// Runs one stage and notes how long it took.
    pub fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&mut Self) -> Result<T, CompactError>,
    ) -> Result<T, CompactError> {
        self.progress.set_stage(stage);
        self.throttle.check()?;
        let start = Instant::now();
        let result = work(self);
        self.stages[stage as usize] += start.elapsed();
        result
    }
}
