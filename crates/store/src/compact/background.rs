//! Compacts in the background: a thread that keeps the segments few, at half the speed of one processor.

use crate::compact::adaptive_budget::AdaptiveBudget;
use crate::compact::compaction::{ASIDE_BYTES, Compaction, CompactionGuard};
use crate::compact::error::CompactError;
use crate::compact::merge_budget::MergeBudget;
use crate::compact::needed_room::bytes_of_merged;
use crate::compact::options::CompactOptions;
use crate::compact::policy::choose_within;
use crate::error::StoreError;
#[cfg(feature = "geo")]
use crate::places::{PlacesOptions, keeps_places};
use crate::progress::{LoadProgress, ProgressSample};
use crate::segment_builder::BuildError;
use crate::store::Store;
use crate::throttle::Throttle;
use crate::words::{WordsOptions, index_in_turn, keeps_words};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How to compact in the background.
#[derive(Debug, Clone)]
pub struct BackgroundOptions {
    /// Threads that merge and write.
    pub threads: usize,
    /// Bytes of memory that a compaction may take.
    pub memory_bytes: usize,
    /// The pool that they count in. Where it has not so many left, compactions make do with less.
    pub memory: MemoryBudget,
    /// Segments that there may be.
    pub segments_max: usize,
    /// For so long it works,
    pub busy: Duration,
    /// and for so long it rests, while it has twice as many segments as there may be at most.
    pub rest: Duration,
    /// How often it looks whether there is something to do.
    pub look_every: Duration,
}

impl Default for BackgroundOptions {
    fn default() -> Self {
        Self {
            threads: 1,
            memory_bytes: 512 << 20,
            memory: MemoryBudget::unlimited(),
            segments_max: 8,
            busy: Duration::from_millis(20),
            rest: Duration::from_millis(20),
            look_every: Duration::from_millis(100),
        }
    }
}

/// What a compactor is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactorState {
    /// Nothing is to be done.
    Idle,
    /// It was asked to do nothing.
    Paused,
    /// It merges so many segments.
    Compacting {
        /// How many.
        segments: usize,
        /// Quads in them, insertions and deletions.
        quads: u64,
    },
}

/// What a compactor is doing and has done.
#[derive(Debug, Clone)]
pub struct CompactorStatus {
    /// What it is doing.
    pub state: CompactorState,
    /// How far it is with that.
    pub progress: Option<ProgressSample>,
    /// Compactions that came to their end.
    pub compactions: u64,
    /// Segments that they have merged.
    pub segments_merged: u64,
    /// Quads, insertions and deletions, that they have read.
    pub quads_merged: u64,
    /// Compactions that failed.
    pub failures: u64,
    /// Why the last of these did.
    pub last_error: Option<String>,
}

/// A thread that compacts a store. It ends when this is dropped; until then the store stays open.
#[derive(Debug)]
pub struct Compactor {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Debug)]
struct Orders {
    is_ended: bool,
    is_paused: bool,
    /// Stops what is being done.
    cancel: CancelToken,
    progress: Option<Arc<LoadProgress>>,
    status: CompactorStatus,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Compactor {
    /// Starts compacting a store that was opened for writing.
    ///
    /// # Errors
    /// Where the store was opened for reading, or no thread can be started.
    pub fn start(store: &Store, options: BackgroundOptions) -> Result<Self, StoreError> {
        store.writer()?;
        let status = CompactorStatus {
            state: CompactorState::Idle,
            progress: None,
            compactions: 0,
            segments_merged: 0,
            quads_merged: 0,
            failures: 0,
            last_error: None,
        };
        let orders = Orders {
            is_ended: false,
            is_paused: false,
            cancel: CancelToken::default(),
            progress: None,
            status,
        };
        let shared = Arc::new(Shared { orders: Mutex::new(orders), changed: Condvar::new() });
        let work = Work { store: store.clone(), options, shared: Arc::clone(&shared) };
        let thread = std::thread::Builder::new().name("compactor".to_owned());
        let thread = thread.spawn(move || work.run()).map_err(StoreError::io(store.folder()))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Gives up what is being done, and does nothing until it is resumed.
    pub fn pause(&self) {
        let mut orders = self.shared.lock();
        orders.is_paused = true;
        orders.cancel.cancel();
    }

    /// Goes on.
    pub fn resume(&self) {
        self.shared.lock().is_paused = false;
        self.shared.changed.notify_all();
    }

    /// What it is doing and has done.
    pub fn status(&self) -> CompactorStatus {
        let orders = self.shared.lock();
        let progress = orders.progress.as_ref().map(|progress| progress.sample());
        let state = match orders.status.state {
            CompactorState::Idle if orders.is_paused => CompactorState::Paused,
            state => state,
        };
        CompactorStatus { state, progress, ..orders.status.clone() }
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        {
            let mut orders = self.shared.lock();
            orders.is_ended = true;
            orders.cancel.cancel();
        }
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }
}

/// Where the pool has less left, nothing is compacted until it has.
const MEMORY_BYTES_MIN: usize = 16 << 20;

/// After the first failure it waits so long, then twice as long, and so on,
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// up to so long.
const RETRY_LAST: Duration = Duration::from_secs(600);

struct Work {
    store: Store,
    options: BackgroundOptions,
    shared: Arc<Shared>,
}

impl Work {
    fn run(&self) {
        let mut wait = Duration::ZERO;
        let (mut delay, mut retry_at, mut rooms_before) = (RETRY_FIRST, Instant::now(), 0);
        let mut budget =
            AdaptiveBudget::new(MergeBudget::new(self.options.memory_bytes, self.options.threads));
        while let Some(cancel) = self.next_order(wait) {
            wait = self.options.look_every;
            let is_paused = self.shared.lock().is_paused;
            let rooms = self.store.writer().map_or(0, |writer| writer.room.reopenings());
            if std::mem::replace(&mut rooms_before, rooms) != rooms {
                (delay, retry_at) = (RETRY_FIRST, Instant::now());
            }
            if is_paused || Instant::now() < retry_at || self.choose(budget.at(Instant::now())).is_none() {
                continue;
            }
            let Some(_guard) = CompactionGuard::try_lock(&self.store) else { continue };
            let Some(memory) = self.reserve() else { continue };
            let fitting =
                MergeBudget::new(memory.bytes(), self.options.threads).min(budget.at(Instant::now()));
            let compact = || self.store.with_room(|| self.compact(fitting, memory.bytes(), &cancel));
            match self.find_room(fitting).and_then(|()| compact()) {
                // There may be more to do.
                Ok(()) => {
                    (wait, delay) = (Duration::ZERO, RETRY_FIRST);
                    budget.succeeded(Instant::now());
                }
                // Begun again where somebody has dropped or replaced what was merged.
                Err(CompactError::Overtaken) => {}
                Err(error) if error.is_cancelled() => {}
                Err(error) => {
                    self.note_failure(&error);
                    if matches!(error, CompactError::Build(BuildError::Memory { .. })) {
                        budget.failed(Instant::now());
                    }
                    retry_at = Instant::now() + delay;
                    delay = (2 * delay).min(RETRY_LAST);
                }
            }
            let mut orders = self.shared.lock();
            orders.status.state = CompactorState::Idle;
            orders.progress = None;
        }
    }

    /// Waits for a while. What stops the work that may be done then; none at the end.
    fn next_order(&self, wait: Duration) -> Option<CancelToken> {
        let mut orders = self.shared.lock();
        if !orders.is_ended && !wait.is_zero() {
            orders = self.shared.changed.wait_timeout(orders, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        if orders.is_ended {
            return None;
        }
        if !orders.is_paused {
            orders.cancel = CancelToken::default();
        }
        Some(orders.cancel.clone())
    }

    /// What the pool has left of the memory that a compaction may take, a half or a quarter of it, and so on; none where that is too
    /// little.
    fn reserve(&self) -> Option<Reservation> {
        let all = self.options.memory_bytes;
        let halves = std::iter::successors(Some(all), |bytes| {
            Some(bytes / 2).filter(|half| *half >= MEMORY_BYTES_MIN)
        });
        halves.into_iter().find_map(|bytes| self.options.memory.reserve(bytes).ok())
    }

    fn note_failure(&self, error: &dyn std::error::Error) {
        let mut orders = self.shared.lock();
        orders.status.failures += 1;
        orders.status.last_error = Some(error.to_string());
    }

    fn choose(&self, budget: MergeBudget) -> Option<usize> {
        choose_within(budget, &self.store.version().manifest.segments, self.options.segments_max)
    }

    /// Fails where what is to be compacted now would not find room. It is not tried then: that would take the room, and the reserve, from who writes. On a disk
    /// that is full it is tried all the same, since it may make room.
    fn find_room(&self, budget: MergeBudget) -> Result<(), CompactError> {
        let version = self.store.version();
        let from = choose_within(budget, &version.manifest.segments, self.options.segments_max);
        let Some(merged) = from.and_then(|from| version.segments.get(from..)) else { return Ok(()) };
        let (needed, store) = (bytes_of_merged(merged), &self.store);
        let free = store.vfs().free_bytes(store.folder()).unwrap_or(None);
        match free
            .filter(|free| !store.is_disk_full() && *free < needed.saturating_add(store.unwritten_bytes()))
        {
            Some(free) => Err(StoreError::Limit(format!(
                "{}: there is no room to merge {} segments: that takes {needed} bytes, and {free} are free",
                store.folder().display(),
                merged.len()
            ))
            .into()),
            None => Ok(()),
        }
    }

    /// Compacts what is to be compacted now. The caller has the turn.
    fn compact(
        &self,
        budget: MergeBudget,
        memory_bytes: usize,
        cancel: &CancelToken,
    ) -> Result<(), CompactError> {
        let version = self.store.version().aside(ASIDE_BYTES);
        let segments = &version.manifest.segments;
        let Some(from) = choose_within(budget, segments, self.options.segments_max) else { return Ok(()) };
        let merged = version.segments.get(from..).unwrap_or_default();
        let (segments, quads) = (merged.len(), merged.iter().map(|segment| segment.entry.quads).sum());
        let progress = Arc::new(LoadProgress::default());
        {
            let mut orders = self.shared.lock();
            orders.status.state = CompactorState::Compacting { segments, quads };
            orders.progress = Some(Arc::clone(&progress));
        }
        let throttle = self.throttle(cancel, version.segments.len());
        let options =
            CompactOptions { threads: self.options.threads, memory_bytes, ..CompactOptions::default() };
        Compaction::new(&self.store, &version, from, &options, &throttle, &progress).run()?;
        if keeps_words(&self.store) {
            // Until it is there, and if it cannot be made, the texts of the new segment are read.
            let threads = self.options.threads;
            let options = WordsOptions { memory_bytes, threads, force: false, cancel: cancel.clone() };
            if let Err(error) = index_in_turn(&self.store, &options) {
                self.note_failure(&error);
            }
        }
        #[cfg(feature = "geo")]
        if keeps_places(&self.store) {
            let options = PlacesOptions { memory_bytes, force: false, cancel: cancel.clone() };
            if let Err(error) = crate::places::index_in_turn(&self.store, &options, self.options.threads) {
                self.note_failure(&error);
            }
        }
        let mut orders = self.shared.lock();
        orders.status.compactions += 1;
        orders.status.segments_merged += segments as u64;
        orders.status.quads_merged += quads;
        Ok(())
    }

    /// Half the time, unless there are far too many segments. While it works it steps back for who compacts by hand.
    fn throttle(&self, cancel: &CancelToken, segments: usize) -> Throttle {
        let in_haste = segments > 2 * self.options.segments_max;
        let rest = if in_haste { Duration::ZERO } else { self.options.rest };
        let (store, stop) = (self.store.clone(), cancel.clone());
        let between = move || {
            if store.compaction_lock().is_waited_for() {
                stop.cancel();
            }
        };
        Throttle::throttled(cancel, self.options.busy, rest, Box::new(between))
    }
}
