//! What is to be done beside commits and queries, and whether a thread does it: else those do it who come upon it.

use lode_base::vfs::Vfs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A list of things to do.
#[derive(Debug, Default)]
pub struct Chores {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a thread does them.
    is_served: bool,
    /// The thread is to look whether the delta or the disk is full.
    look: bool,
    /// Folders of segments that nothing names any more.
    folders: Vec<PathBuf>,
    is_ended: bool,
}

impl Chores {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the thread look whether the delta or the disk is full. False if there is none.
    pub fn look(&self) -> bool {
        let mut state = self.lock();
        if state.is_served && !mem::replace(&mut state.look, true) {
            self.changed.notify_all();
        }
        state.is_served
    }

    /// Has a folder removed, or removes it where no thread does that. What cannot be removed is removed when the database is next opened
    /// for writing.
    pub fn remove(&self, vfs: &dyn Vfs, folder: &Path) {
        let mut state = self.lock();
        if state.is_served {
            state.folders.push(folder.to_owned());
            self.changed.notify_all();
        } else {
            drop(state);
            let _ = vfs.remove_dir_all(folder);
        }
    }

    /// From now on a thread does what is to be done; false if one does already.
    pub fn begin(&self) -> bool {
        let mut state = self.lock();
        state.is_ended = false;
        !mem::replace(&mut state.is_served, true)
    }

    /// Has the thread come to its end.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    /// For the thread: waits until there is something to do, `wait` at most, and tells which folders to remove. None at the end.
    pub fn next(&self, wait: Option<Duration>) -> Option<Vec<PathBuf>> {
        let mut state = self.lock();
        if !state.is_ended && !state.look && state.folders.is_empty() {
            state = match wait {
                Some(wait) => {
                    self.changed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        if state.is_ended {
            return None;
        }
        state.look = false;
        Some(mem::take(&mut state.folders))
    }

    /// Once the thread has come to its end: removes what it has not come to. From now on all do what they come upon.
    pub fn finish(&self, vfs: &dyn Vfs) {
        let folders = {
            let mut state = self.lock();
            state.is_served = false;
            mem::take(&mut state.folders)
        };
        for folder in folders {
            let _ = vfs.remove_dir_all(&folder);
        }
    }
}
