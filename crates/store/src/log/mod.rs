//! The write-ahead log: what was committed but is in no segment yet.
//!
//! Commits share syncs. [`Log::append`] only fills a buffer; of those who [`Log::wait`] the first leads: it takes all
//! that is buffered, writes it, makes it durable, and publishes the state after its last record before anybody is told.
//! Meanwhile a second buffer fills, and one of those who wait for that leads next. A failed write or sync is the end of
//! the log: what the file holds is not known any more, and a sync that is tried again may lie. Only where a write found no room it is
//! known: the same file may go on, cut to what was written before.

mod end_mark;
mod frame;
mod log_end;
mod marker;
mod record;
mod replay;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod end_tests;
#[cfg(test)]
mod speed_tests;
#[cfg(test)]
mod tests;

pub use end_mark::{EndMark, mark_end, mark_file, remove_log};
pub use frame::PAYLOAD_BYTES_MAX;
pub use log_end::LogEnd;
pub use record::Changes;
pub use replay::{LogRecord, Salvaged, header, replay, salvage};

use crate::error::StoreError;
use end_mark::remove_mark;
use frame::{HEADER_BYTES, Salt};
use lode_base::vfs::{Vfs, WriteFile};
use marker::Marker;
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Buffers that one large record made larger are not kept.
const KEPT_BUFFER_BYTES: usize = 4 << 20;

/// When a record counts as committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When it is durable.
    Sync,
    /// When the operating system has it. It is durable so much later at most, if somebody comes: the next who waits,
    /// [`Log::sync_if_due`] or [`Log::drain`].
    Batch(Duration),
}

/// A record that was appended: what to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lsn(u64);

/// What a log has done since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogCounters {
    /// Records written.
    pub records: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Syncs.
    pub syncs: u64,
}

/// How long the leader of a group waits for another record.
const GATHER_STEP: Duration = Duration::from_micros(50);
/// How often it does so.
const GATHER_STEPS_MAX: usize = 20;
/// Records that are committed but not durable, at most about so many.
const LOOSE_RECORDS_MAX: u64 = 500_000;
/// More versions than a log can have lost that were acknowledged before they were durable.
pub const VERSIONS_LOST_MAX: u64 = 2 * LOOSE_RECORDS_MAX;

/// A log that is written. `T` is what becomes public when its record is committed.
pub struct Log<T> {
    path: PathBuf,
    salt: Salt,
    durability: Durability,
    state: Mutex<State<T>>,
    changed: Condvar,
    marker: Marker,
}

struct State<T> {
    /// Nobody has it while somebody leads, nor after a failure.
    file: Option<Box<dyn WriteFile>>,
    /// Appended, not yet written.
    buffer: Vec<u8>,
    /// The other buffer, empty, while nobody leads.
    spare: Vec<u8>,
    /// What becomes public with the last record in the buffer.
    last: Option<T>,
    appended: Position,
    /// What those who wait have been told.
    published: Position,
    durable: Position,
    /// Since when there have been bytes that were written but not synced.
    loose_since: Option<Instant>,
    /// Where the log was reopened, until something is durable behind that. What comes first must be durable before it counts: if
    /// it were lost, nobody could tell that there was anything.
    reopened: Option<LogEnd>,
    /// About how many records the last groups had.
    group: u64,
    failure: Option<Failure>,
    counters: LogCounters,
}

/// Behind a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    offset: u64,
    sequence: u64,
}

/// Why the log came to its end; told to all who come later.
#[derive(Debug)]
struct Failure {
    kind: io::ErrorKind,
    text: String,
    /// Whether only the last write failed, and for want of room: all before it is in the file.
    is_resumable: bool,
}

impl<T> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<T> Log<T> {
    /// A new, empty log. When this returns, the file is durable, and so is its name.
    ///
    /// # Errors
    /// Where the file system refuses to write, as it does where there is such a file.
    pub fn create(
        vfs: &Arc<dyn Vfs>,
        path: &Path,
        database: u128,
        number: u64,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let (header, salt) = frame::encode_header(database, number);
        let create = || -> io::Result<Box<dyn WriteFile>> {
            remove_mark(&**vfs, path)?;
            // Never over another: a manifest may name that one.
            let mut file = vfs.create_new(path)?;
            file.write_all(&header)?;
            file.sync()?;
            drop(file);
            vfs.sync_dir(path.parent().unwrap_or(path))?;
            vfs.open_append(path, HEADER_BYTES as u64)
        };
        let file = create().map_err(StoreError::io(path))?;
        let start = Position { offset: HEADER_BYTES as u64, sequence: 0 };
        Ok(Self::new(vfs, path, file, salt, start, durability))
    }

    /// Goes on with a log at the end that [`replay()`] found; what is behind it is cut off. What was replayed is durable
    /// when this returns.
    ///
    /// # Errors
    /// Where the file cannot be read, or the file system refuses to cut it off or to write.
    pub fn reopen(
        vfs: &Arc<dyn Vfs>,
        path: &Path,
        end: LogEnd,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let salt = replay::read_salt(&**vfs, path)?;
        let open = || -> io::Result<Box<dyn WriteFile>> {
            let mut file = vfs.open_append(path, end.offset)?;
            // Or what was cut off might come back behind what is appended now.
            file.sync()?;
            Ok(file)
        };
        let file = open().map_err(StoreError::io(path))?;
        let start = Position { offset: end.offset, sequence: end.next_sequence };
        let log = Self::new(vfs, path, file, salt, start, durability);
        log.lock().reopened = Some(end);
        log.marker.has_found(end);
        Ok(log)
    }

    fn new(
        vfs: &Arc<dyn Vfs>,
        path: &Path,
        file: Box<dyn WriteFile>,
        salt: Salt,
        start: Position,
        durability: Durability,
    ) -> Self {
        let state = State {
            file: Some(file),
            buffer: Vec::new(),
            spare: Vec::new(),
            last: None,
            appended: start,
            published: start,
            durable: start,
            loose_since: None,
            reopened: None,
            group: 1,
            failure: None,
            counters: LogCounters::default(),
        };
        let marker = Marker::new(vfs, path, salt);
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Self { path: path.to_owned(), salt, durability, state, changed, marker }
    }

    /// Puts a record into the buffer. The order of the calls is the order in the file; `then` becomes public when somebody
    /// waits.
    ///
    /// # Errors
    /// [`StoreError::Limit`] where the record is too large; where the log failed before.
    pub fn append(&self, payload: &[u8], then: T) -> Result<Lsn, StoreError> {
        if payload.len() > PAYLOAD_BYTES_MAX {
            let what = format!("a transaction of {} bytes; {PAYLOAD_BYTES_MAX} are the most", payload.len());
            return Err(StoreError::Limit(what));
        }
        // Outside of the lock: it may take a while.
        let check = frame::payload_check(payload, self.salt);
        let mut state = self.lock();
        self.check(&state)?;
        let sequence = state.appended.sequence;
        frame::append(&mut state.buffer, sequence, payload, check);
        let offset = state.appended.offset + frame::record_bytes(payload.len()) as u64;
        state.appended = Position { offset, sequence: sequence + 1 };
        let before = state.last.replace(then);
        drop(state);
        // Outside of the lock, for the same reason.
        drop(before);
        Ok(Lsn(sequence))
    }

    /// Returns when the record is committed. `publish` gets what was appended with the last record of a group, after that is
    /// committed and before anybody is told; calls follow each other in the order of the records. It must not wait for
    /// this log.
    ///
    /// # Errors
    /// Where the log could not be written or synced, now or before: then nobody can say whether the record is there to stay.
    pub fn wait(&self, lsn: Lsn, publish: &dyn Fn(T)) -> Result<(), StoreError> {
        let mut state = self.lock();
        assert!(lsn.0 < state.appended.sequence, "a record of another log");
        while state.published.sequence <= lsn.0 {
            self.check(&state)?;
            state = if state.file.is_some() {
                let syncs = self.is_due(&state);
                self.lead(state, syncs, Some(publish))
            } else {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
        Ok(())
    }

    /// Everything appended before is published and durable when this returns.
    ///
    /// # Errors
    /// Like [`Log::wait`].
    pub fn drain(&self, publish: &dyn Fn(T)) -> Result<(), StoreError> {
        let mut state = self.lock();
        let all = state.appended.sequence;
        while state.durable.sequence < all {
            self.check(&state)?;
            state = if state.file.is_some() {
                self.lead(state, true, Some(publish))
            } else {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
        Ok(())
    }

    /// With [`Durability::Batch`], makes durable what has waited for that long enough, after whoever writes at this moment. For a
    /// thread that looks after the log: tells in how long it should come again, `None` if all is durable that was written.
    ///
    /// # Errors
    /// Like [`Log::wait`].
    pub fn sync_if_due(&self) -> Result<Option<Duration>, StoreError> {
        let mut state = self.lock();
        loop {
            self.check(&state)?;
            let Some(since) = state.loose_since else { return Ok(None) };
            if let Durability::Batch(delay) = self.durability
                && !self.is_due(&state)
            {
                return Ok(Some(delay.saturating_sub(since.elapsed())));
            }
            state = if state.file.is_some() {
                self.lead(state, true, None)
            } else {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// Writes the end mark if nobody has appended for a while. For a thread that looks after an idle log: tells in how long it should
    /// come again, `None` if there is nothing to mark. Commits do not wait for this. After an error nothing is tried again before
    /// something is appended.
    ///
    /// # Errors
    /// Where the end mark cannot be written.
    pub fn mark_if_idle(&self) -> Result<Option<Duration>, StoreError> {
        let end = self.durable_end();
        end.map_or(Ok(None), |end| self.marker.mark_if_idle(end))
    }

    /// Writes the end mark of what is durable, if that is all that was appended.
    ///
    /// # Errors
    /// Where the end mark cannot be written.
    pub fn mark(&self) -> Result<(), StoreError> {
        self.durable_end().map_or(Ok(()), |end| self.marker.mark(end))
    }

    /// Says in the end mark that the log is closed, if all is durable that was appended. Nothing may be appended after it.
    ///
    /// # Errors
    /// Where the end mark cannot be written.
    pub fn close(&self) -> Result<(), StoreError> {
        let Some(end) = self.durable_end() else { return Ok(()) };
        // What may have been lost when the log was reopened is not forgotten before there is something behind it.
        let is_closed = self.lock().reopened.is_none_or(|end| end.is_closed);
        self.marker.mark(EndMark { is_closed, ..end })
    }

    /// No more marks: another log has taken the place of this one, whose files may go.
    pub fn retire(&self) {
        self.marker.retire();
    }

    /// The end, if all is durable that was appended.
    fn durable_end(&self) -> Option<EndMark> {
        let state = self.lock();
        let is_durable = state.failure.is_none() && state.durable == state.appended;
        let Position { offset, sequence } = state.durable;
        is_durable.then_some(EndMark { offset, next_sequence: sequence, is_closed: false })
    }

    /// Length of the file once all that was appended is written.
    pub fn bytes(&self) -> u64 {
        self.lock().appended.offset
    }

    /// The end of what is committed. After a failure the file may hold more, whole or in parts, of which nobody was told
    /// that it is committed.
    pub fn committed(&self) -> LogEnd {
        let Position { offset, sequence } = self.lock().published;
        LogEnd { offset, next_sequence: sequence, ignored_bytes: 0, is_closed: false }
    }

    /// Whether a write or a sync has failed; then nothing can be appended any more.
    pub fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    /// Where another log of the same file may go on after this one: none unless this one has ended for want of room alone. What is
    /// behind that end is cut off then.
    pub fn resumable_end(&self) -> Option<LogEnd> {
        let is_resumable = self.lock().failure.as_ref().is_some_and(|failure| failure.is_resumable);
        is_resumable.then(|| self.committed())
    }

    /// What it has done.
    pub fn counters(&self) -> LogCounters {
        self.lock().counters
    }

    /// Writes what is buffered and publishes it, if there is `publish`, and syncs, if it is to.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        syncs: bool,
        publish: Option<&dyn Fn(T)>,
    ) -> MutexGuard<'a, State<T>> {
        let Some(mut file) = state.file.take() else { return state };
        if syncs && publish.is_some() {
            state = self.gather(state);
        }
        let (mut bytes, mut last, mut to) = (Vec::new(), None, state.published);
        if publish.is_some() {
            let spare = mem::take(&mut state.spare);
            bytes = mem::replace(&mut state.buffer, spare);
            (last, to) = (state.last.take(), state.appended);
        }
        let since = state.loose_since.unwrap_or_else(Instant::now);
        let durable = state.durable.offset;
        drop(state);
        let unwinding = Unwinding(self);
        let mut is_written = false;
        let result = write_group(&mut *file, &mut bytes, durable, self.salt, syncs, &mut is_written);
        if let (Ok(()), Some(publish), Some(last)) = (&result, publish, last) {
            publish(last);
        }
        mem::forget(unwinding);

        let mut state = self.lock();
        match result {
            Ok(()) => {
                state.file = Some(file);
                state.counters.records += to.sequence - state.published.sequence;
                state.counters.bytes += bytes.len() as u64;
                state.counters.syncs += u64::from(syncs);
                state.published = to;
                if syncs {
                    state.reopened = state.reopened.filter(|_| to == state.durable);
                    state.durable = to;
                }
                state.loose_since = (state.durable != to).then_some(since);
                if publish.is_some() && bytes.capacity() <= KEPT_BUFFER_BYTES {
                    bytes.clear();
                    state.spare = bytes;
                }
            }
            Err(error) => {
                let kind = error.kind();
                let is_full = matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
                let is_resumable = is_full && !is_written;
                state.failure = Some(Failure { kind, text: error.to_string(), is_resumable });
            }
        }
        self.changed.notify_all();
        state
    }

    /// Waits for more records as long as they come one after the other. Those who were told of the group before come back at
    /// about the same time; without this they and the others would take turns, in groups half as large. Who is alone waits for nobody.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        let waiting = |state: &State<T>| state.appended.sequence - state.published.sequence;
        if state.group > 1 {
            for _ in 0..GATHER_STEPS_MAX {
                let before = waiting(&state);
                state =
                    self.changed.wait_timeout(state, GATHER_STEP).unwrap_or_else(PoisonError::into_inner).0;
                if waiting(&state) == before {
                    break;
                }
            }
        }
        state.group = waiting(&state).max(state.group / 2);
        state
    }

    /// Whether the next to lead has to sync.
    fn is_due(&self, state: &State<T>) -> bool {
        let loose = state.appended.sequence - state.durable.sequence;
        if state.reopened.is_some() || loose >= LOOSE_RECORDS_MAX {
            return true;
        }
        match self.durability {
            Durability::Sync => true,
            Durability::Batch(delay) => {
                delay.is_zero() || state.loose_since.is_some_and(|since| since.elapsed() >= delay)
            }
        }
    }

    fn check(&self, state: &State<T>) -> Result<(), StoreError> {
        match &state.failure {
            None => Ok(()),
            Some(Failure { kind, text, .. }) => {
                Err(StoreError::Io { path: self.path.clone(), source: io::Error::new(*kind, text.clone()) })
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing that may panic happens between changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_group(
    file: &mut dyn WriteFile,
    bytes: &mut [u8],
    durable: u64,
    salt: Salt,
    syncs: bool,
    is_written: &mut bool,
) -> io::Result<()> {
    if !bytes.is_empty() {
        frame::seal(bytes, durable, salt);
        file.write_all(bytes)?;
    }
    *is_written = true;
    if syncs { file.sync_data() } else { Ok(()) }
}

/// Ends the log if the leader panics, so that nobody waits for it for ever.
struct Unwinding<'a, T>(&'a Log<T>);

impl<T> Drop for Unwinding<'_, T> {
    fn drop(&mut self) {
        let text = "publishing a commit panicked".to_owned();
        let failure = Failure { kind: io::ErrorKind::Other, text, is_resumable: false };
        self.0.lock().failure = Some(failure);
        self.0.changed.notify_all();
    }
}
