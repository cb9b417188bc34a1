//! Keeps what is hot hot from one run of a server to the next: a thread that reads what was in the cache when the list of that was saved,
//! and then saves the list every minute and when the database is closed.
//!
//! Saved is what is in the cache once the reading has ended: an interrupted one leaves the list that it had.

use crate::error::StoreError;
use crate::hot_blocks::HotBlocks;
use crate::maintenance::Tell;
use crate::store::Store;
use lode_base::cancel::CancelToken;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often the list is saved.
const SAVED_EVERY: Duration = Duration::from_secs(60);

/// A thread that warms a database and remembers what is warm. It ends when this is dropped; until then the store stays open.
#[derive(Debug)]
pub struct Warmer {
    cancel: CancelToken,
    /// Dropped to wake the thread.
    open: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Warmer {
    /// Starts with the list that was saved, if there is one. Where the store was opened for reading, nothing is saved.
    ///
    /// # Errors
    /// Where no thread can be started.
    pub fn start(store: &Store, tell: Tell) -> Result<Self, StoreError> {
        Self::start_with(store, None, SAVED_EVERY, tell)
    }

    /// Starts with a list, or else with the one that was saved, and says how often it is saved.
    ///
    /// # Errors
    /// Where no thread can be started.
    pub fn start_with(
        store: &Store,
        list: Option<HotBlocks>,
        every: Duration,
        tell: Tell,
    ) -> Result<Self, StoreError> {
        let cancel = CancelToken::default();
        let (open, closed) = channel();
        let work = Work { store: store.clone(), cancel: cancel.clone(), closed, every, tell };
        let thread = std::thread::Builder::new().name("warm".to_owned()).spawn(move || work.run(list));
        let thread = thread.map_err(StoreError::io(store.folder()))?;
        Ok(Self { cancel, open: Some(open), thread: Some(thread) })
    }
}

impl Drop for Warmer {
    fn drop(&mut self) {
        self.cancel.cancel();
        drop(self.open.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been told already.
            let _ = thread.join();
        }
    }
}

struct Work {
    store: Store,
    cancel: CancelToken,
    closed: Receiver<()>,
    every: Duration,
    tell: Tell,
}

impl Work {
    fn run(&self, list: Option<HotBlocks>) {
        // What cannot be read is no hint.
        let saved = list.or_else(|| self.store.saved_hot_blocks().ok().flatten()).unwrap_or_default();
        if !saved.is_empty() && !self.warm(&saved) {
            return;
        }
        if self.store.is_writable() {
            self.keep_saved(saved);
        } else {
            // Until it is dropped.
            let _ = self.closed.recv();
        }
    }

    /// Whether it was done to its end.
    fn warm(&self, saved: &HotBlocks) -> bool {
        let start = Instant::now();
        let Ok(report) = self.store.warm(saved, &self.cancel) else { return false };
        (self.tell)(&format!(
            "read {} of {} blocks that were in memory before, {} MB, in {:.1} s{}",
            report.blocks,
            saved.len(),
            report.bytes / 1_000_000,
            start.elapsed().as_secs_f64(),
            if report.is_full { "; there is no room for more" } else { "" }
        ));
        true
    }

    fn keep_saved(&self, mut saved: HotBlocks) {
        let mut misses = None;
        loop {
            let is_open = self.closed.recv_timeout(self.every) == Err(RecvTimeoutError::Timeout);
            // As long as nothing was read, all is as it was.
            let now = Some(self.store.cache_counters().misses);
            if now != misses {
                let list = self.store.hot_blocks();
                // A list that cannot be saved is missed by nobody but the next start.
                if !list.is_empty() && list != saved && self.store.save_hot_blocks(&list).is_ok() {
                    saved = list;
                }
                misses = now;
            }
            if !is_open {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
