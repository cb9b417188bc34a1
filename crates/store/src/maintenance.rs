//! The store's own threads, for as long as it is served: one that makes the delta segments, keeps a reserve on the disk and removes files
//! that nobody reads any more, and one that makes the log durable in time where commits do not wait for that, and marks its end when it
//! is idle. Neither waits for the other, nor for a compaction.
//!
//! A store without them, for a few commits, does all this by itself: whoever finds the delta full flushes it, whoever reads a segment last
//! removes it, and closing makes the log durable.

#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::store::Store;
use lode_base::cancel::CancelToken;
use std::thread::JoinHandle;
use std::time::Duration;

/// What is told to whoever looks after the database: what fails, and that it goes on.
pub type Tell = Box<dyn Fn(&str) + Send>;

/// How soon to look again where somebody else flushes.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How often to look for room on a disk that was full.
const ROOM_EVERY: Duration = Duration::from_secs(1);

/// Threads that look after a store. They end when this is dropped; until then the store stays open.
#[derive(Debug)]
pub struct Maintenance {
    store: Store,
    cancel: CancelToken,
    threads: Vec<JoinHandle<()>>,
}

impl Maintenance {
    /// Starts looking after a store that was opened for writing, and that nobody looks after yet.
    ///
    /// # Errors
    /// Where the store was opened for reading or is looked after already, or no thread can be started.
    pub fn start(store: &Store, tell: Tell) -> Result<Self, StoreError> {
        let writer = store.writer()?;
        if !writer.chores.begin() {
            return Err(StoreError::Limit("the database is looked after already".to_owned()));
        }
        let cancel = CancelToken::default();
        let mut this = Self { store: store.clone(), cancel: cancel.clone(), threads: Vec::new() };
        writer.log_watch.begin();
        this.spawn("log", |store| keep_durable(&store))?;
        this.spawn("maintenance", move |store| Work { store, cancel, tell }.run())?;
        Ok(this)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce(Store) + Send + 'static) -> Result<(), StoreError> {
        let store = self.store.clone();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(store));
        self.threads.push(thread.map_err(StoreError::io(self.store.folder()))?);
        Ok(())
    }
}

impl Drop for Maintenance {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Ok(writer) = self.store.writer() {
            writer.chores.end();
            writer.log_watch.end();
        }
        for thread in self.threads.drain(..) {
            // A panic there has been told already.
            let _ = thread.join();
        }
        if let Ok(writer) = self.store.writer() {
            writer.chores.finish(&**self.store.vfs());
        }
    }
}

struct Work {
    store: Store,
    cancel: CancelToken,
    tell: Tell,
}

impl Work {
    fn run(&self) {
        let Ok(writer) = self.store.writer() else { return };
        let (mut failing, mut was_full) = (None, false);
        let mut wait = Some(Duration::ZERO);
        while let Some(folders) = writer.chores.next(wait) {
            for folder in folders {
                // What cannot be removed now is removed when the database is next opened for writing.
                let _ = self.store.vfs().remove_dir_all(&folder);
            }
            let has_reserve = self.store.look_for_room();
            self.store.flush_now(&self.cancel);
            wait = writer.flush_state.due_in().map(|due| due.max(LOOK_EVERY));
            if !has_reserve || writer.room.is_full() {
                wait = Some(wait.map_or(ROOM_EVERY, |wait| wait.min(ROOM_EVERY)));
            }
            self.tell_room(&mut was_full);
            let status = self.store.flush_status();
            if status.failing != failing {
                match &status.failing {
                    Some(error) => (self.tell)(&format!(
                        "changes cannot be written to segments, and stay in the log: {error}; trying again"
                    )),
                    None => (self.tell)("changes are written to segments again"),
                }
                failing = status.failing;
            }
        }
    }
}

impl Work {
    fn tell_room(&self, was_full: &mut bool) {
        let is_full = self.store.is_disk_full();
        if std::mem::replace(was_full, is_full) != is_full {
            (self.tell)(if is_full {
                "the disk is full: until there is room again, only deletions, compactions and the dropping of snapshots are done"
            } else {
                "there is room on the disk again"
            });
        }
    }
}

/// Makes the log durable in time, and marks the end of an idle one, for as long as somebody is to.
fn keep_durable(store: &Store) {
    let Ok(writer) = store.writer() else { return };
    let mut wait = None;
    while writer.log_watch.next(wait) {
        writer.log_watch.rest();
        // After a failure the next commit begins a new log.
        wait = writer.sync_if_due().unwrap_or_else(|_| {
            writer.log_watch.note_failure();
            None
        });
    }
}
