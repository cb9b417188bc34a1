//! The one writer: whoever has its place makes the next version, logs it, and leaves the place before the log is durable.
//!
//! So there are two newest versions: the *tip*, on which the next writer builds, and the *current* one, which readers get. The
//! tip becomes current when its record is durable. Where the log fails, all that is not durable has failed with it: the tip goes
//! back to the current version, and the next writer begins a new log.

use crate::delta::{Delta, Run};
use crate::error::StoreError;
use crate::flush::{remove_segments, write_segments};
use crate::log::{Changes, Durability, Log, LogCounters, Lsn};
use crate::manifest::{Manifest, SegmentEntry, log_file};
use crate::relog::for_each_record;
use crate::store::Store;
use crate::version::{OpenSegment, Version};
use lode_base::cancel::CancelToken;
use lode_packed::Order as SortOrder;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a store writes.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Bytes of memory of the delta beyond which it becomes a segment.
    pub delta_bytes_max: usize,
    /// Bytes of the log beyond which the delta becomes a segment.
    pub log_bytes_max: u64,
    /// Changes of one transaction beyond which they become a segment at once, without the log.
    pub logged_changes_max: usize,
    /// Bytes of memory for writing segments.
    pub memory_bytes: usize,
    /// Threads for writing segments.
    pub threads: usize,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            delta_bytes_max: 128 << 20,
            log_bytes_max: 256 << 20,
            logged_changes_max: 100_000,
            memory_bytes: 1 << 30,
            threads: lode_base::cores::cores(),
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
    /// A manifest was put in place, but nobody knows whether it will stay: nothing may be acknowledged before that is known.
    in_doubt: AtomicBool,
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
        Self {
            options,
            next_blank: AtomicU64::new(tip.next_blank),
            next_segment: AtomicU64::new(tip.manifest.next_segment),
            in_doubt: AtomicBool::new(false),
            state: Mutex::new(State {
                tip,
                log: log.map(Arc::new),
                last: None,
                ended_logs: LogCounters::default(),
            }),
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

    /// Takes numbers for segments, which may be written by several at a time; the first of them.
    pub(crate) fn take_segments(&self, count: u64) -> u64 {
        self.next_segment.fetch_add(count, Ordering::Relaxed)
    }

    /// Gives back all but the first `used` of `taken` numbers, unless somebody has taken others since.
    pub(crate) fn give_back_segments(&self, first: u64, taken: u64, used: u64) {
        give_back(&self.next_segment, first, taken, used);
    }

    /// Makes durable what the log has held back for long enough; tells in how long to come again. Does nothing while somebody writes.
    pub(crate) fn sync_if_due(&self) -> Result<Option<Duration>, StoreError> {
        let log = self.state.try_lock().ok().and_then(|state| state.log.clone());
        log.map_or(Ok(None), |log| log.sync_if_due())
    }

    pub(crate) fn set_in_doubt(&self) {
        self.in_doubt.store(true, Ordering::Relaxed);
    }

    /// Makes durable what waits in the log, for when the store is closed.
    pub(crate) fn drain(&self) -> Result<(), StoreError> {
        match &self.state().log {
            Some(log) => log.drain(&|_| {}),
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
        if writer.in_doubt.load(Ordering::Relaxed) {
            store.vfs().sync_dir(store.folder()).map_err(StoreError::io(store.folder()))?;
            writer.in_doubt.store(false, Ordering::Relaxed);
        }
        let mut state = writer.state();
        if state.log.as_ref().is_some_and(|log| log.has_failed()) {
            state.tip = store.version();
            state.log = None;
            state.last = None;
            place.flush(&mut state, &Run::default(), cancel)?;
        }
        drop(state);
        Ok(place)
    }

    /// Waits for the place, with a log to write to: before terms get ids, since a new log is also a new table of terms.
    pub(crate) fn enter_with_log(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        let place = Self::enter(store, cancel)?;
        let mut state = store.writer()?.state();
        if state.log.is_none() {
            place.flush(&mut state, &Run::default(), cancel)?;
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
        if run.len() > writer.options.logged_changes_max {
            self.flush(&mut state, &run, cancel)?;
            return Ok(Commit { inserted, deleted, version: state.tip.number });
        }
        if !run.is_empty() {
            self.append(&mut state, run)?;
        }
        let (log, last, version) = (state.log.clone(), state.last, state.tip.number);
        let flushed =
            if self.is_full(&state)? { self.flush(&mut state, &Run::default(), cancel) } else { Ok(()) };
        drop(state);
        drop(self);
        // Also a transaction that changed nothing has seen what must not be lost.
        if let (Some(log), Some(last)) = (log, last) {
            log.wait(last, &|version| store.make_current(version))?;
        }
        // The commit is durable in the log. What keeps the delta from becoming a segment is told once there is no room for more.
        drop(flushed);
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
        self.flush_from(&mut state, base, run, cancel)?;
        let (inserted, deleted) = (run.inserts.len() as u64, gone + run.deletes.len() as u64);
        Ok(Commit { inserted, deleted, version: state.tip.number })
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

    /// Whether the delta should become a segment.
    fn is_full(&self, state: &State) -> Result<bool, StoreError> {
        let options = &self.writer()?.options;
        let log_bytes = state.log.as_ref().map_or(0, |log| log.bytes());
        Ok(state.tip.delta.memory_bytes() > options.delta_bytes_max || log_bytes > options.log_bytes_max)
    }

    /// Makes sure that all there is is in segments.
    pub(crate) fn settle(&self, cancel: &CancelToken) -> Result<(), StoreError> {
        let mut state = self.writer()?.state();
        if state.tip.number == state.tip.manifest.version && state.tip.delta.is_empty() {
            return Ok(());
        }
        self.flush(&mut state, &Run::default(), cancel)
    }

    /// The newest version, all of it durable, and how many bytes of its log belong to it.
    pub(crate) fn version_and_log(&self, cancel: &CancelToken) -> Result<(Arc<Version>, u64), StoreError> {
        let mut state = self.writer()?.state();
        if state.log.is_none() && state.tip.manifest.log != 0 {
            // Nobody knows what is in the file of the log that was given up.
            self.flush(&mut state, &Run::default(), cancel)?;
        }
        self.drain(&state)?;
        let bytes = state.log.as_ref().map_or(0, |log| log.committed().offset);
        Ok((Arc::clone(&state.tip), bytes))
    }

    /// Says that another version has been published.
    pub(crate) fn has_published(&self) -> Result<(), StoreError> {
        self.writer()?.state().tip = self.store.version();
        Ok(())
    }

    /// Writes the delta and a run as segments, and begins a new log.
    fn flush(&self, state: &mut State, run: &Run, cancel: &CancelToken) -> Result<(), StoreError> {
        let tip = Arc::clone(&state.tip);
        self.flush_from(state, &tip, run, cancel)
    }

    /// The same with the segments and the delta of `from`.
    fn flush_from(
        &self,
        state: &mut State,
        from: &Version,
        run: &Run,
        cancel: &CancelToken,
    ) -> Result<(), StoreError> {
        let (store, writer) = (&self.store, self.writer()?);
        self.drain(state)?;
        let net = Run::merge(&from.delta.net(), run);
        let entries = write_segments(store, from, &net, &writer.options, cancel)?;
        let mut segments = from.manifest.segments.clone();
        segments.extend(entries.iter().cloned());
        let switched = self.switch(state, segments, &from.segments, Delta::default());
        if switched.as_ref().is_err_and(|error| !matches!(error, StoreError::InDoubt { .. })) {
            remove_segments(store, &entries);
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
        if tip.number == tip.manifest.version && tip.delta.is_empty() {
            // The log, if there is one, is empty.
            let manifest = self.manifest_after(&tip, segments)?;
            let published = self.store.publish(manifest);
            state.tip = self.store.version();
            return published;
        }
        let delta = tip.delta.renamed(new_id)?;
        self.switch(&mut state, segments, &tip.segments, delta)
    }

    fn drain(&self, state: &State) -> Result<(), StoreError> {
        let Some(log) = &state.log else { return Ok(()) };
        log.drain(&|version| self.store.make_current(version))
    }

    fn manifest_after(&self, tip: &Version, segments: Vec<SegmentEntry>) -> Result<Manifest, StoreError> {
        let writer = self.writer()?;
        Ok(Manifest {
            version: tip.number + 1,
            next_blank: writer.next_blank(),
            next_segment: writer.next_segment(),
            segments,
            ..tip.manifest.clone()
        })
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
        let manifest = Manifest { log: before + 1, ..self.manifest_after(&state.tip, segments)? };
        let published = self
            .begin_log(manifest, known, delta)
            .and_then(|(log, version)| store.publish_version(version).map(|()| log));
        // What cannot be removed now is removed when the database is next opened for writing.
        let remove = |number| drop(store.vfs().remove(&store.folder().join(log_file(number))));
        match published {
            Ok(log) => {
                if let Some(ended) = &state.log {
                    add(&mut state.ended_logs, ended.counters());
                }
                state.log = Some(Arc::new(log));
                state.last = None;
                state.tip = store.version();
                remove(before);
                Ok(())
            }
            Err(error) => {
                if matches!(error, StoreError::InDoubt { .. }) {
                    // Nobody knows which log goes on: the next writer begins another.
                    state.tip = store.version();
                    state.log = None;
                    state.last = None;
                } else {
                    remove(before + 1);
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
        let number = empty.number + records;
        Ok((log, Arc::new(Version { delta, number, ..Version::clone(&empty) })))
    }
}
