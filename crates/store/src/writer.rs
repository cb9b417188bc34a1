//! The one writer: whoever has its place makes the next version, logs it, and leaves the place before the log is durable.
//!
//! So there are two newest versions: the *tip*, on which the next writer builds, and the *current* one, which readers get. The
//! tip becomes current when its record is durable. Where the log fails, all that is not durable has failed with it: the tip goes
//! back to the current version, and the next writer begins a new log.

use crate::chores::Chores;
use crate::delta::{Delta, Run};
use crate::error::StoreError;
use crate::flush::{Flushed, remove_segments, write_segments};
use crate::flusher::Flusher;
use crate::log::{Changes, Durability, Log, LogCounters, LogEnd, Lsn, remove_log};
use crate::maintenance::LogWatch;
use crate::manifest::{MANIFEST, Manifest, SegmentEntry, log_file};
use crate::relog::for_each_record;
use crate::room::Room;
use crate::store::Store;
use crate::version::{OpenSegment, Version};
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_packed::Order as SortOrder;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a store writes.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Bytes of memory of the delta beyond which it becomes a segment. At twice as many commits are slowed down, at three times as
    /// many they are refused until a segment is written.
    pub delta_bytes_max: usize,
    /// Bytes of the log beyond which the delta becomes a segment; commits are slowed down and refused in the same way.
    pub log_bytes_max: u64,
    /// Changes of one transaction beyond which they become a segment at once, without the log.
    pub logged_changes_max: usize,
    /// Bytes of the new terms of one transaction beyond which it does so, too.
    pub logged_bytes_max: usize,
    /// Bytes of memory for writing segments.
    pub memory_bytes: usize,
    /// Threads for writing segments.
    pub threads: usize,
    /// The pool that the delta, and what writes segments of it, count in. Neither is ever refused: what is committed must stay.
    pub memory: MemoryBudget,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            delta_bytes_max: 128 << 20,
            log_bytes_max: 256 << 20,
            logged_changes_max: 100_000,
            logged_bytes_max: 64 << 20,
            memory_bytes: 1 << 30,
            threads: lode_base::cores::cores(),
            memory: MemoryBudget::unlimited(),
        }
    }
}

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Commit {
    /// Quads that were not there before.
    pub inserted: u64,
    /// Quads that are not there any more.
    pub deleted: u64,
    /// Number of the version that it made.
    pub version: u64,
}

type VersionLog = Log<Arc<Version>>;

/// What belongs to the writer's place.
pub(crate) struct Writer {
    pub(crate) options: WriteOptions,
    /// First blank node number that nobody has taken.
    next_blank: AtomicU64,
    /// First segment number that nobody has taken.
    next_segment: AtomicU64,
    /// First log number that nobody has taken. None is ever given back: nobody writes over a log that a manifest may name.
    next_log: AtomicU64,
    /// A version that was put in place, but nobody knows whether it will stay: nothing may be written before that is known.
    in_doubt: Mutex<Option<Arc<Version>>>,
    /// What makes segments of the delta beside commits.
    pub(crate) flusher: Flusher,
    /// Room on the disk.
    pub(crate) room: Room,
    /// What a thread of the store's own may do.
    pub(crate) chores: Arc<Chores>,
    /// Wakes the thread that looks after the log.
    pub(crate) log_watch: LogWatch,
    /// The log, for whoever makes it durable: that waits for nobody who has the place.
    current_log: Mutex<Option<Arc<VersionLog>>>,
    /// What the delta takes.
    delta_memory: Mutex<Reservation>,
    /// Used only by whoever has the place.
    state: Mutex<State>,
    /// Held until the store is closed.
    _lock: Box<dyn Send + Sync>,
}

struct State {
    tip: Arc<Version>,
    log: Option<Arc<VersionLog>>,
    /// The last record.
    last: Option<Lsn>,
    /// What logs before this one have written.
    ended_logs: LogCounters,
}

impl State {
    /// Whether the manifest names a log that nobody goes on with, because it failed. Nobody knows what is in its file: perhaps records that
    /// were never committed. They must not follow another version than the one that they were written after.
    fn has_given_up_log(&self) -> bool {
        self.log.is_none() && self.tip.manifest.log != 0
    }
}

fn add(sum: &mut LogCounters, more: LogCounters) {
    sum.records += more.records;
    sum.bytes += more.bytes;
    sum.syncs += more.syncs;
}

impl Writer {
    pub(crate) fn new(
        tip: Arc<Version>,
        log: Option<VersionLog>,
        options: WriteOptions,
        lock: Box<dyn Send + Sync>,
    ) -> Self {
        let log = log.map(Arc::new);
        let delta_memory = Mutex::new(options.memory.hold_standing(tip.delta.memory_bytes()));
        Self {
            options,
            next_blank: AtomicU64::new(tip.next_blank),
            next_segment: AtomicU64::new(tip.manifest.next_segment),
            next_log: AtomicU64::new(tip.manifest.next_log),
            in_doubt: Mutex::default(),
            flusher: Flusher::default(),
            room: Room::default(),
            chores: Arc::default(),
            log_watch: LogWatch::default(),
            current_log: Mutex::new(log.clone()),
            delta_memory,
            state: Mutex::new(State { tip, log, last: None, ended_logs: LogCounters::default() }),
            _lock: lock,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all logs since the opening have written.
    pub(crate) fn log_counters(&self) -> LogCounters {
        let state = self.state();
        let mut sum = state.ended_logs;
        if let Some(log) = &state.log {
            add(&mut sum, log.counters());
        }
        sum
    }

    pub(crate) fn next_blank(&self) -> u64 {
        self.next_blank.load(Ordering::Relaxed)
    }

    /// Takes numbers for blank nodes; the first of them.
    pub(crate) fn take_blanks(&self, count: u64) -> u64 {
        self.next_blank.fetch_add(count, Ordering::Relaxed)
    }

    /// Gives back all but the first `used` of `taken` numbers, unless somebody has taken others since.
    pub(crate) fn give_back_blanks(&self, first: u64, taken: u64, used: u64) {
        give_back(&self.next_blank, first, taken, used);
    }

    pub(crate) fn next_segment(&self) -> u64 {
        self.next_segment.load(Ordering::Relaxed)
    }

    pub(crate) fn next_log(&self) -> u64 {
        self.next_log.load(Ordering::Relaxed)
    }

    fn take_log(&self) -> u64 {
        self.next_log.fetch_add(1, Ordering::Relaxed)
    }

    /// A manifest with the first numbers that nobody has taken.
    pub(crate) fn numbered(&self, manifest: Manifest) -> Manifest {
        let (next_blank, next_segment, next_log) = (self.next_blank(), self.next_segment(), self.next_log());
        Manifest { next_blank, next_segment, next_log, ..manifest }
    }

    /// Takes numbers for segments, which may be written by several at a time; the first of them.
    pub(crate) fn take_segments(&self, count: u64) -> u64 {
        self.next_segment.fetch_add(count, Ordering::Relaxed)
    }

    /// Gives back all but the first `used` of `taken` numbers, unless somebody has taken others since.
    pub(crate) fn give_back_segments(&self, first: u64, taken: u64, used: u64) {
        give_back(&self.next_segment, first, taken, used);
    }

    fn current_log(&self) -> MutexGuard<'_, Option<Arc<VersionLog>>> {
        self.current_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with another log, or with none.
    fn set_log(&self, state: &mut State, log: Option<Arc<VersionLog>>) {
        self.current_log().clone_from(&log);
        (state.log, state.last) = (log, None);
    }

    /// Makes durable what the log has held back for long enough, and marks the end of an idle one; tells in how long to come again, if
    /// anything is to be done then. Waits for nobody but who writes to the log at this moment: before another log is begun, all of this
    /// one is durable.
    pub(crate) fn sync_if_due(&self) -> Result<Option<Duration>, StoreError> {
        let Some(log) = self.current_log().clone() else { return Ok(None) };
        let (due, mark_due) = (log.sync_if_due()?, log.mark_if_idle()?);
        // What is written while somebody waits for the mark may be due earlier.
        let delay = match self.options.durability {
            Durability::Sync => Duration::MAX,
            Durability::Batch(delay) => delay.max(Duration::from_millis(1)),
        };
        Ok(due.into_iter().chain(mark_due.map(|due| due.min(delay))).min())
    }

    /// Syncs of the log that failed where nobody waited for them.
    pub(crate) fn sync_failures(&self) -> u64 {
        self.log_watch.failures()
    }

    /// The tip, whose delta stays apart from now on from what comes later; needs no place.
    pub(crate) fn freeze(&self) -> Arc<Version> {
        self.with_delta(Delta::freeze)
    }

    /// Undoes [`Writer::freeze`].
    pub(crate) fn thaw(&self) {
        self.with_delta(Delta::thaw);
    }

    /// Gives the tip a delta that says the same.
    fn with_delta(&self, change: impl FnOnce(&Delta) -> Delta) -> Arc<Version> {
        let mut state = self.state();
        state.tip = Arc::new(Version { delta: change(&state.tip.delta), ..Version::clone(&state.tip) });
        Arc::clone(&state.tip)
    }

    /// Tells the flusher how full the delta and the log are, and the pool what the delta takes.
    fn tell_fullness(&self, state: &State) {
        let delta = state.tip.delta.memory_bytes();
        self.delta_memory.lock().unwrap_or_else(PoisonError::into_inner).hold(delta);
        let delta = delta as u64;
        let log = state.log.as_ref().map_or(0, |log| log.bytes());
        let (delta_max, log_max) = (self.options.delta_bytes_max as u64, self.options.log_bytes_max);
        self.flusher.set_fullness([(delta, delta_max), (log, log_max)]);
    }

    /// Log numbers below this were taken before.
    pub(crate) fn skip_logs(&self, next: u64) {
        self.next_log.fetch_max(next, Ordering::Relaxed);
    }

    pub(crate) fn set_in_doubt(&self, version: &Arc<Version>) {
        *self.in_doubt() = Some(Arc::clone(version));
    }

    fn in_doubt(&self) -> MutexGuard<'_, Option<Arc<Version>>> {
        self.in_doubt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes durable what waits in the log, and marks its end, for when the store is closed.
    pub(crate) fn close(&self) -> Result<(), StoreError> {
        match &self.state().log {
            Some(log) => log.drain(&|_| {}).and_then(|()| log.close()),
            None => Ok(()),
        }
    }
}

/// Numbers that are not given back are never used.
fn give_back(next: &AtomicU64, first: u64, taken: u64, used: u64) {
    let _ = next.compare_exchange(first + taken, first + used, Ordering::Relaxed, Ordering::Relaxed);
}

/// The writer's place; left when dropped.
#[derive(Debug)]
pub(crate) struct WriterPlace {
    store: Store,
}

impl Drop for WriterPlace {
    fn drop(&mut self) {
        self.store.gate().leave();
    }
}

impl WriterPlace {
    /// Waits for the place, and puts right what a failure has left.
    pub(crate) fn enter(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        let writer = store.writer()?;
        store.gate().enter(cancel)?;
        let place = Self { store: store.clone() };
        place.settle_doubt()?;
        let mut state = writer.state();
        if let Some(failed) = state.log.clone().filter(|log| log.has_failed()) {
            state.tip = store.version();
            if place.resume_log(&mut state, &failed).is_none() {
                writer.set_log(&mut state, None);
                // Not within the time of whoever happens to come first: who has little would leave the same to all others.
                place.flush(&mut state, &Run::default(), &CancelToken::default())?;
            }
        }
        drop(state);
        Ok(place)
    }

    /// Goes on with the file of a log that has found no room; none where that cannot be, or not now.
    fn resume_log(&self, state: &mut State, failed: &VersionLog) -> Option<()> {
        let (store, writer) = (&self.store, self.writer().ok()?);
        let path = store.folder().join(log_file(state.tip.manifest.log));
        let log = Log::reopen(store.vfs(), &path, failed.resumable_end()?, writer.options.durability).ok()?;
        failed.retire();
        add(&mut state.ended_logs, failed.counters());
        writer.set_log(state, Some(Arc::new(log)));
        Some(())
    }

    /// Finds out whether a version that was in doubt is the one on the disk, and goes on with the one that is. Nothing is written
    /// until that is known.
    fn settle_doubt(&self) -> Result<(), StoreError> {
        let (store, writer) = (&self.store, self.writer()?);
        let Some(doubted) = writer.in_doubt().clone() else { return Ok(()) };
        let now = Manifest::read_current(&**store.vfs(), store.folder())?;
        // Not only synced: what a sync that failed was to make durable may be lost, whatever the next one says.
        now.publish(&**store.vfs(), store.folder())?;
        if now == doubted.manifest {
            store.make_current(doubted);
        }
        let current = store.version();
        if now != current.manifest {
            let what =
                "another program has changed the database: close it, and see with `lode check` what it is";
            return Err(StoreError::corruption(&store.folder().join(MANIFEST), 0, what));
        }
        let mut state = writer.state();
        if state.tip.manifest.log != current.manifest.log {
            // Nobody has that log open: the next commit begins another.
            writer.set_log(&mut state, None);
        }
        state.tip = current;
        *writer.in_doubt() = None;
        Ok(())
    }

    /// Waits for the place, with a log to write to: before terms get ids, since a new log is also a new table of terms. Waits before
    /// that, or refuses, where segments are written more slowly than changes come.
    pub(crate) fn enter_with_log(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        store.admit(cancel)?;
        let place = Self::enter(store, cancel)?;
        let mut state = store.writer()?.state();
        if state.log.is_none() {
            place.flush(&mut state, &Run::default(), &CancelToken::default())?;
        }
        drop(state);
        Ok(place)
    }

    /// Changes of one transaction that are logged, at most.
    pub(crate) fn logged_changes_max(&self) -> Result<usize, StoreError> {
        Ok(self.writer()?.options.logged_changes_max)
    }

    fn writer(&self) -> Result<&Writer, StoreError> {
        self.store.writer()
    }

    /// The newest version, which may not be durable yet.
    pub(crate) fn tip(&self) -> Result<Arc<Version>, StoreError> {
        Ok(Arc::clone(&self.writer()?.state().tip))
    }

    /// Makes a run the next version: logged if it is small, else as a segment. Returns once it is durable.
    pub(crate) fn commit(self, run: Run, cancel: &CancelToken) -> Result<Commit, StoreError> {
        let store = self.store.clone();
        let writer = store.writer()?;
        let mut state = writer.state();
        let (inserted, deleted) = (run.inserts.len() as u64, run.deletes.len() as u64);
        if self.is_large(&state, &run)? {
            self.flush(&mut state, &run, cancel)?;
            return Ok(Commit { inserted, deleted, version: state.tip.number });
        }
        if !run.is_empty() {
            self.append(&mut state, run)?;
        }
        let (log, last, version) = (state.log.clone(), state.last, state.tip.number);
        writer.tell_fullness(&state);
        drop(state);
        drop(self);
        // Also a transaction that changed nothing has seen what must not be lost.
        if let (Some(log), Some(last)) = (log, last) {
            log.wait(last, &|version| store.make_current(version)).inspect_err(|error| {
                if error.is_disk_full() {
                    store.give_up_reserve();
                }
            })?;
            writer.log_watch.wake();
        }
        // The commit is durable in the log: what becomes of the delta is no matter of its client's.
        store.flush_if_full();
        Ok(Commit { inserted, deleted, version })
    }

    /// Makes a run on another version than the tip the next version: one that is the tip but for segments that no manifest names yet, and
    /// for what they say. `gone` quads of the tip are not in it.
    pub(crate) fn commit_on(
        self,
        base: &Version,
        gone: u64,
        run: &Run,
        cancel: &CancelToken,
    ) -> Result<Commit, StoreError> {
        let mut state = self.writer()?.state();
        self.store.with_room(|| self.flush_from(&mut state, base, run, cancel))?;
        let (inserted, deleted) = (run.inserts.len() as u64, gone + run.deletes.len() as u64);
        Ok(Commit { inserted, deleted, version: state.tip.number })
    }

    /// Whether a run is too large for the log: by its changes, or by the terms that it brings.
    fn is_large(&self, state: &State, run: &Run) -> Result<bool, StoreError> {
        let options = &self.writer()?.options;
        let delta = &state.tip.delta;
        let bytes = || delta.terms().bytes_from(delta.term_count());
        Ok(run.len() > options.logged_changes_max || (!run.is_empty() && bytes() > options.logged_bytes_max))
    }

    fn append(&self, state: &mut State, run: Run) -> Result<(), StoreError> {
        let writer = self.writer()?;
        let no_log = || StoreError::Limit("changes without a log to write them to".to_owned());
        let log = state.log.as_ref().ok_or_else(no_log)?;
        let delta = &state.tip.delta;
        let mut terms = Vec::new();
        let first_term = delta.term_count();
        delta.terms().for_each_from(first_term, |section, key| {
            terms.push((section, key.into()));
            Ok::<_, StoreError>(())
        })?;
        let (number, next_blank) = (state.tip.number + 1, writer.next_blank());
        let rows = |set: &crate::delta::QuadSet| set.rows(SortOrder::Spog).to_vec();
        let changes = Changes {
            version: number,
            next_blank,
            first_term,
            terms,
            inserts: rows(&run.inserts),
            deletes: rows(&run.deletes),
        };
        let mut payload = Vec::new();
        changes.encode(&mut payload);
        let tip = Version { delta: delta.with_run(run), number, next_blank, ..Version::clone(&state.tip) };
        let tip = Arc::new(tip);
        state.last = Some(log.append(&payload, Arc::clone(&tip))?);
        state.tip = tip;
        Ok(())
    }

    /// Makes sure that all there is is in segments, and that the manifest names no log but one that goes on.
    pub(crate) fn settle(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        let is_settled = state.tip.number == state.tip.manifest.version && state.tip.delta.is_empty();
        if is_settled && !state.has_given_up_log() {
            return Ok(());
        }
        self.flush(&mut state, &Run::default(), cancel)
    }

    /// The newest version, all of it durable, and the end of its log.
    pub(crate) fn version_and_log(
        &self,
        cancel: &CancelToken,
    ) -> Result<(Arc<Version>, Option<LogEnd>), StoreError> {
        let mut state = self.writer()?.state();
        if state.has_given_up_log() {
            self.flush(&mut state, &Run::default(), cancel)?;
        }
        self.drain(&state)?;
        Ok((Arc::clone(&state.tip), state.log.as_ref().map(|log| log.committed())))
    }

    /// Says that another version has been published.
    pub(crate) fn has_published(&self) -> Result<(), StoreError> {
        self.writer()?.state().tip = self.store.version();
        Ok(())
    }

    /// Writes the delta and a run as segments, and begins a new log. Also on a full disk, if nothing is added.
    fn flush(&self, state: &mut State, run: &Run, cancel: &CancelToken) -> Result<(), StoreError> {
        let tip = Arc::clone(&state.tip);
        if !run.inserts.is_empty() {
            return self.flush_from(state, &tip, run, cancel);
        }
        self.store.with_room(|| self.flush_from(state, &tip, run, cancel))
    }

    /// The same with the segments and the delta of `from`.
    fn flush_from(
        &self,
        state: &mut State,
        from: &Version,
        run: &Run,
        cancel: &CancelToken,
    ) -> Result<(), StoreError> {
        let store = &self.store;
        self.drain(state)?;
        let net = Run::merge(&from.delta.net(), run);
        let flushed = from.delta.terms().with_keys(|keys| write_segments(store, from, keys, &net, cancel))?;
        self.add_segments(state, from, &flushed.entries, Delta::default())
    }

    /// Publishes what was written of a version whose delta was frozen, with what came later as the delta. False, and the segments are
    /// removed, where something else has become of that version meanwhile.
    pub(crate) fn publish_flushed(&self, frozen: &Version, flushed: &Flushed) -> Result<bool, StoreError> {
        let Flushed { entries, final_ids } = flushed;
        let mut state = self.writer()?.state();
        let later = || -> Result<Option<Delta>, StoreError> {
            self.drain(&state)?;
            if state.tip.manifest != frozen.manifest {
                return Ok(None);
            }
            state.tip.delta.since(&frozen.delta, &|id| final_ids.id(id))
        };
        match later() {
            Ok(Some(delta)) => {
                self.add_segments(&mut state, frozen, entries, delta)?;
                Ok(true)
            }
            other => {
                remove_segments(&self.store, entries);
                other.map(|_| false)
            }
        }
    }

    /// Publishes a version with segments more than `from`; removes them where that fails.
    fn add_segments(
        &self,
        state: &mut State,
        from: &Version,
        entries: &[SegmentEntry],
        delta: Delta,
    ) -> Result<(), StoreError> {
        let mut segments = from.manifest.segments.clone();
        segments.extend(entries.iter().cloned());
        let switched = self.switch(state, segments, &from.segments, delta);
        if switched.as_ref().is_err_and(|error| !matches!(error, StoreError::InDoubt { .. })) {
            remove_segments(&self.store, entries);
        }
        switched
    }

    /// Makes other segments the current version, which hold the same quads under the ids that `new_id` tells; the delta gets
    /// these ids, too.
    pub(crate) fn replace_segments(
        &self,
        segments: Vec<SegmentEntry>,
        new_id: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        self.drain(&state)?;
        let tip = Arc::clone(&state.tip);
        // A log speaks of the ids of the segments that it began with, also one that is empty still.
        let is_settled = tip.number == tip.manifest.version && tip.delta.is_empty();
        if is_settled && tip.manifest.log == 0 {
            let manifest = self.manifest_after(&tip, segments)?;
            let published = self.store.publish(manifest);
            state.tip = self.store.version();
            return published;
        }
        let delta = if is_settled { Delta::default() } else { tip.delta.renamed(new_id)? };
        self.switch(&mut state, segments, &tip.segments, delta)
    }

    fn drain(&self, state: &State) -> Result<(), StoreError> {
        let Some(log) = &state.log else { return Ok(()) };
        log.drain(&|version| self.store.make_current(version))
    }

    fn manifest_after(&self, tip: &Version, segments: Vec<SegmentEntry>) -> Result<Manifest, StoreError> {
        let manifest = Manifest { version: tip.number + 1, segments, ..tip.manifest.clone() };
        Ok(self.writer()?.numbered(manifest))
    }

    /// Publishes a version of these segments (`known` are some that are open), with a new log that holds this delta.
    fn switch(
        &self,
        state: &mut State,
        segments: Vec<SegmentEntry>,
        known: &[OpenSegment],
        delta: Delta,
    ) -> Result<(), StoreError> {
        let (store, before) = (&self.store, state.tip.manifest.log);
        let number = self.writer()?.take_log();
        let manifest = Manifest { log: number, ..self.manifest_after(&state.tip, segments)? };
        let published = self
            .begin_log(manifest, known, delta)
            .and_then(|(log, version)| store.publish_version(version).map(|()| log));
        // What cannot be removed now is removed when the database is next opened for writing.
        let remove = |number| drop(remove_log(&**store.vfs(), &store.folder().join(log_file(number))));
        match published {
            Ok(log) => {
                if let Some(ended) = &state.log {
                    add(&mut state.ended_logs, ended.counters());
                    ended.retire();
                }
                let writer = self.writer()?;
                writer.set_log(state, Some(Arc::new(log)));
                state.tip = store.version();
                writer.tell_fullness(state);
                remove(before);
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::InDoubt { .. }) {
                    // Nobody knows which log goes on: the next writer begins another.
                    state.tip = store.version();
                    self.writer()?.set_log(state, None);
                } else {
                    remove(number);
                }
                Err(error)
            }
        }
    }

    /// Writes a new log that holds a delta. The version of the manifest, with this delta.
    fn begin_log(
        &self,
        manifest: Manifest,
        known: &[OpenSegment],
        delta: Delta,
    ) -> Result<(VersionLog, Arc<Version>), StoreError> {
        let (store, durability) = (&self.store, self.writer()?.options.durability);
        let path = store.folder().join(log_file(manifest.log));
        let log = Log::create(store.vfs(), &path, manifest.database, manifest.log, durability)?;
        let next_blank = manifest.next_blank;
        let empty = Arc::new(store.open_with(manifest, known)?);
        let first = empty.number + 1;
        let records = for_each_record(&delta, first, next_blank, &mut |payload| {
            log.append(payload, Arc::clone(&empty)).map(|_| ())
        })?;
        // Nothing becomes public before the manifest names this log.
        log.drain(&|_| {})?;
        if records > 0 {
            // They are not the last group that a power cut may have torn, as they would seem to be.
            log.mark()?;
        }
        let number = empty.number + records;
        Ok((log, Arc::new(Version { delta, number, ..Version::clone(&empty) })))
    }
}
