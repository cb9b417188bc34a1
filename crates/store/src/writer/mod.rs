//! What a store that is open for writing keeps: numbers that nobody has taken, the tip and its log, and the state of flushes and of the
//! disk. Whoever has the write lock changes the tip and the log ([`crate::write_guard`]).

pub(crate) mod flush_state;
mod log_watch;
mod room_state;

use crate::chores::Chores;
use crate::delta::Delta;
use crate::error::StoreError;
use crate::log::{Durability, Log, LogCounters, Lsn};
use crate::manifest::Manifest;
use crate::version::Version;
use crate::write_options::WriteOptions;
use flush_state::FlushState;
use lode_base::memory_budget::Reservation;
use log_watch::LogWatch;
use room_state::Room;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use flush_state::FlushStatus;

pub(crate) type VersionLog = Log<Arc<Version>>;

/// What belongs to the write lock.
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
    pub(crate) flush_state: FlushState,
    /// Room on the disk.
    pub(crate) room: Room,
    /// What a thread of the store's own may do.
    pub(crate) chores: Arc<Chores>,
    /// Wakes the thread that looks after the log.
    pub(crate) log_watch: LogWatch,
    /// The log, for whoever makes it durable: that waits for nobody who holds the write lock.
    current_log: Mutex<Option<Arc<VersionLog>>>,
    /// What the delta takes.
    delta_memory: Mutex<Reservation>,
    /// Used only by whoever holds the write lock.
    state: Mutex<State>,
    /// Held until the store is closed.
    _lock: Box<dyn Send + Sync>,
}

pub(crate) struct State {
    pub tip: Arc<Version>,
    pub log: Option<Arc<VersionLog>>,
    /// The last record.
    pub last: Option<Lsn>,
    /// What logs before this one have written.
    pub ended_logs: LogCounters,
}

impl State {
    /// Whether the manifest names a log that nobody goes on with, because it failed. Nobody knows what is in its file: perhaps records that
    /// were never committed. They must not follow another version than the one that they were written after.
    pub fn has_given_up_log(&self) -> bool {
        self.log.is_none() && self.tip.manifest.log != 0
    }
}

pub(crate) fn add(sum: &mut LogCounters, more: LogCounters) {
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
            flush_state: FlushState::default(),
            room: Room::default(),
            chores: Arc::default(),
            log_watch: LogWatch::default(),
            current_log: Mutex::new(log.clone()),
            delta_memory,
            state: Mutex::new(State { tip, log, last: None, ended_logs: LogCounters::default() }),
            _lock: lock,
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
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

    pub(crate) fn take_log(&self) -> u64 {
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
    pub(crate) fn set_log(&self, state: &mut State, log: Option<Arc<VersionLog>>) {
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

    /// The tip, whose delta stays apart from now on from what comes later; needs no lock.
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

    /// Notes how full the delta and the log are, and the pool what the delta takes.
    pub(crate) fn tell_fullness(&self, state: &State) {
        let delta = state.tip.delta.memory_bytes();
        self.delta_memory.lock().unwrap_or_else(PoisonError::into_inner).hold(delta);
        let delta = delta as u64;
        let log = state.log.as_ref().map_or(0, |log| log.bytes());
        let (delta_max, log_max) = (self.options.delta_bytes_max as u64, self.options.log_bytes_max);
        self.flush_state.set_fullness([(delta, delta_max), (log, log_max)]);
    }

    /// Log numbers below this were taken before.
    pub(crate) fn skip_logs(&self, next: u64) {
        self.next_log.fetch_max(next, Ordering::Relaxed);
    }

    pub(crate) fn set_in_doubt(&self, version: &Arc<Version>) {
        *self.in_doubt() = Some(Arc::clone(version));
    }

    pub(crate) fn in_doubt(&self) -> MutexGuard<'_, Option<Arc<Version>>> {
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
