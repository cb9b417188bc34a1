//! What all threads of a soak share: the book, what went wrong, what was measured, and the gate at which clients wait while
//! there is no server.

use crate::talk::say;
use lode_bench::soak::{Book, Latencies};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Failures that are told in words.
const FAILURES_TOLD: usize = 20;

/// What is shared.
pub struct Field {
    clients: usize,
    gate: Mutex<Gate>,
    changed: Condvar,
    is_paused: AtomicBool,
    book: Mutex<Book>,
    failures: Mutex<Vec<String>>,
    failure_count: AtomicUsize,
    counts: Mutex<Counts>,
    deeds: Mutex<BTreeMap<&'static str, u64>>,
    openings: Mutex<Vec<Duration>>,
    snapshots: Mutex<Vec<Arc<Kept>>>,
}

#[derive(Default)]
struct Gate {
    /// Counts the servers; clients go through once for each.
    round: u64,
    base: String,
    is_open: bool,
    has_ended: bool,
    waiting: usize,
}

/// A named snapshot that was made: the book when it was asked for and when it was there.
pub struct Kept {
    pub name: String,
    pub before: Book,
    pub after: Book,
}

/// What was done since the counts were last taken.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    pub commits: Latencies,
    pub queries: Latencies,
    /// Requests that were answered with 503 or 504.
    pub refused: u64,
}

/// A server to talk to.
pub struct Round {
    pub number: u64,
    pub base: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Field {
    /// For so many clients.
    pub fn new(clients: usize) -> Self {
        Self {
            clients,
            gate: Mutex::default(),
            changed: Condvar::new(),
            is_paused: AtomicBool::new(true),
            book: Mutex::default(),
            failures: Mutex::default(),
            failure_count: AtomicUsize::new(0),
            counts: Mutex::default(),
            deeds: Mutex::default(),
            openings: Mutex::default(),
            snapshots: Mutex::default(),
        }
    }

    /// Waits for a server that is not the last one; none when all is over.
    pub fn enter(&self, last: u64) -> Option<Round> {
        let mut gate = locked(&self.gate);
        gate.waiting += 1;
        self.changed.notify_all();
        while !(gate.has_ended || gate.is_open && gate.round > last) {
            gate = self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        gate.waiting -= 1;
        (!gate.has_ended).then(|| Round { number: gate.round, base: gate.base.clone() })
    }

    /// There is a server.
    pub fn begin(&self, base: &str) {
        let mut gate = locked(&self.gate);
        gate.round += 1;
        base.clone_into(&mut gate.base);
        gate.is_open = true;
        self.is_paused.store(false, Ordering::SeqCst);
        self.changed.notify_all();
    }

    /// There will be none: clients end when their request has, whichever way.
    pub fn pause(&self) {
        locked(&self.gate).is_open = false;
        self.is_paused.store(true, Ordering::SeqCst);
    }

    /// Waits until no client has a request under way.
    pub fn wait_for_all(&self) {
        let mut gate = locked(&self.gate);
        while gate.waiting < self.clients {
            gate = self.changed.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// There will be none any more.
    pub fn end(&self) {
        self.pause();
        locked(&self.gate).has_ended = true;
        self.changed.notify_all();
    }

    pub fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::SeqCst)
    }

    pub fn book(&self) -> MutexGuard<'_, Book> {
        locked(&self.book)
    }

    /// Something is wrong that must not be.
    pub fn fail(&self, what: String) {
        self.failure_count.fetch_add(1, Ordering::Relaxed);
        let mut failures = locked(&self.failures);
        if failures.len() < FAILURES_TOLD {
            say!("wrong: {what}");
            failures.push(what);
        }
    }

    /// How many failures there were, and the first ones.
    pub fn failures(&self) -> (usize, Vec<String>) {
        (self.failure_count.load(Ordering::Relaxed), locked(&self.failures).clone())
    }

    /// A request was cut off: that may only be if the server is to die.
    pub fn cut_off(&self, what: &str, why: &str) {
        if !self.is_paused() {
            self.fail(format!("{what}: {why}, while nobody had killed the server"));
        }
    }

    pub fn committed(&self, time: Duration) {
        locked(&self.counts).commits.add(time);
    }

    pub fn queried(&self, time: Duration) {
        locked(&self.counts).queries.add(time);
    }

    pub fn refused(&self) {
        locked(&self.counts).refused += 1;
    }

    /// What was counted since it was last taken.
    pub fn take_counts(&self) -> Counts {
        std::mem::take(&mut *locked(&self.counts))
    }

    /// Counts what is done now and then.
    pub fn did(&self, what: &'static str) {
        *locked(&self.deeds).entry(what).or_default() += 1;
    }

    pub fn deeds(&self) -> BTreeMap<&'static str, u64> {
        locked(&self.deeds).clone()
    }

    /// A server was ready so long after it was started.
    pub fn opened(&self, time: Duration) {
        locked(&self.openings).push(time);
    }

    pub fn openings(&self) -> Vec<Duration> {
        locked(&self.openings).clone()
    }

    /// The snapshots that are there for sure.
    pub fn snapshots(&self) -> MutexGuard<'_, Vec<Arc<Kept>>> {
        locked(&self.snapshots)
    }
}
