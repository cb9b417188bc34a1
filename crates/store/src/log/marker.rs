//! Writes the end marks of a log beside its commits, which never wait for one.

use super::end_mark::EndMark;
use super::frame::Salt;
use super::log_end::LogEnd;
use crate::error::StoreError;
use lode_base::vfs::Vfs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A log is idle when nothing was appended for so long.
const IDLE: Duration = Duration::from_millis(100);

/// Writes the marks of one log.
#[derive(Debug)]
pub struct Marker {
    vfs: Arc<dyn Vfs>,
    log: PathBuf,
    salt: Salt,
    /// Held while a mark is written.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The last mark that was written, or tried.
    last: Option<EndMark>,
    /// The end that was seen last, and when it was seen first.
    seen: Option<(EndMark, Instant)>,
    is_retired: bool,
}

impl Marker {
    pub fn new(vfs: &Arc<dyn Vfs>, log: &Path, salt: Salt) -> Self {
        Self { vfs: Arc::clone(vfs), log: log.to_owned(), salt, state: Mutex::default() }
    }

    /// The log was found to end here.
    pub fn has_found(&self, end: LogEnd) {
        let LogEnd { offset, next_sequence, is_closed, .. } = end;
        // Else nobody knows whether there is a mark.
        self.lock().last = is_closed.then_some(EndMark { offset, next_sequence, is_closed });
    }

    /// Writes the mark of this end if the log has ended there for a while; tells in how long to come again if not.
    pub fn mark_if_idle(&self, end: EndMark) -> Result<Option<Duration>, StoreError> {
        // Somebody else is writing it.
        let Ok(mut state) = self.state.try_lock() else { return Ok(None) };
        if state.last.is_some_and(|last| last.offset >= end.offset) {
            return Ok(None);
        }
        match state.seen {
            Some((seen, since)) if seen == end => {
                let left = IDLE.saturating_sub(since.elapsed());
                if !left.is_zero() {
                    return Ok(Some(left));
                }
                self.write(&mut state, end).map(|()| None)
            }
            _ => {
                state.seen = Some((end, Instant::now()));
                Ok(Some(IDLE))
            }
        }
    }

    /// Writes a mark, unless it is there.
    pub fn mark(&self, end: EndMark) -> Result<(), StoreError> {
        let mut state = self.lock();
        if state.last == Some(end) { Ok(()) } else { self.write(&mut state, end) }
    }

    fn write(&self, state: &mut State, end: EndMark) -> Result<(), StoreError> {
        if state.is_retired {
            return Ok(());
        }
        state.last = Some(end);
        end.write(&*self.vfs, &self.log, self.salt)
    }

    /// No more marks. When this returns, none is being written.
    pub fn retire(&self) {
        self.lock().is_retired = true;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that may panic happens between changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
