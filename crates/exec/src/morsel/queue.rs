//! The morsels that threads take one after the other, and what they give each other when there are no more.

use super::part::{Divisible, Morsel, Split};
use lode_rdf::ValueId;
use lode_scheduler::lock;
use lode_scheduler::turns;
use lode_scheduler::waiting;
use lode_scheduler::{Scheduler, is_helping};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// After so long a thread that waits for work of this queue looks whether other queries need it.
const PATIENCE: Duration = Duration::from_millis(5);

/// The morsels of a sub-plan.
pub(crate) struct Queue {
    morsels: Vec<Morsel>,
    next: AtomicUsize,
    closed: AtomicBool,
    divisible: Option<Divisible>,
    given: Mutex<Given>,
    changed: Condvar,
    /// Threads that wait for work and that nothing was given to yet: may be read without the lock, for a hint.
    wanted: AtomicUsize,
}

#[derive(Default)]
struct Given {
    morsels: Vec<Morsel>,
    /// Threads that run a morsel, and so may give some of it away.
    running: usize,
    waiting: usize,
}

impl Queue {
    pub(crate) fn new(split: Split) -> Self {
        Self {
            morsels: split.morsels,
            next: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            divisible: split.divisible,
            given: Mutex::default(),
            changed: Condvar::new(),
            wanted: AtomicUsize::new(0),
        }
    }

    /// The next of the morsels that were cut, and its number.
    pub(crate) fn next(&self) -> Option<(usize, &Morsel)> {
        if self.is_closed() {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.morsels.get(number).map(|morsel| (number, morsel))
    }

    /// One that was cut or else given away; waits while others may give one.
    /// A thread that only helps takes none where other queries want the processor: the one that asked for help takes them all.
    pub(crate) fn take(self: &Arc<Self>) -> Option<(Morsel, Running)> {
        // Under the lock, so that who finds no morsel sees that the last one is being run.
        let mut given = lock(&self.given);
        // What was given away is taken here: the one that it was meant for may have left.
        if given.morsels.is_empty() && is_helping() && turns::is_wanted() {
            return None;
        }
        if let Some((_, morsel)) = self.next() {
            return Some((morsel.clone(), self.start(&mut given)));
        }
        self.divisible.as_ref()?;
        loop {
            if self.is_closed() {
                return None;
            }
            if let Some(morsel) = given.morsels.pop() {
                self.tell_wanted(&given);
                return Some((morsel, self.start(&mut given)));
            }
            if given.running == 0 {
                return None;
            }
            given.waiting += 1;
            self.tell_wanted(&given);
            let wait = || self.changed.wait_timeout(given, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            let (after, timeout) = waiting(wait);
            given = after;
            given.waiting -= 1;
            self.tell_wanted(&given);
            if timeout.timed_out() && Scheduler::shared().is_behind() {
                return None;
            }
        }
    }

    fn start(self: &Arc<Self>, given: &mut Given) -> Running {
        given.running += 1;
        Running(Arc::clone(self))
    }

    fn tell_wanted(&self, given: &Given) {
        self.wanted.store(given.waiting.saturating_sub(given.morsels.len()), Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        // A thread that has looked at `closed` and not begun to wait yet holds the lock.
        drop(lock(&self.given));
        self.changed.notify_all();
    }

    /// Whether the rows of this scan may be given away.
    pub(crate) fn divides(&self, scan: u32) -> bool {
        self.divisible.as_ref().is_some_and(|divisible| divisible.scan == scan)
    }

    /// So many rows of the scan are soon done, by the planner's estimates.
    pub(crate) fn read_rows_max(&self) -> usize {
        self.divisible.as_ref().map_or(usize::MAX, |divisible| divisible.read_rows_max)
    }

    /// Whether a thread waits for some of the `remaining` rows of the scan, and they are worth it.
    pub(crate) fn wants(&self, remaining: u64) -> bool {
        self.wanted.load(Ordering::Relaxed) > 0
            && self.divisible.as_ref().is_some_and(|divisible| remaining >= divisible.rows_min)
    }

    /// Gives the rows of the scan whose values lie in `range` to a thread that waits.
    pub(crate) fn give(&self, range: Range<ValueId>) {
        let Some(divisible) = &self.divisible else { return };
        let mut given = lock(&self.given);
        given.morsels.push(Morsel::of_scan(divisible.scan, range));
        self.tell_wanted(&given);
        self.changed.notify_one();
    }
}

/// A morsel is being run.
pub(crate) struct Running(Arc<Queue>);

impl Drop for Running {
    fn drop(&mut self) {
        let mut given = lock(&self.0.given);
        given.running -= 1;
        if given.running == 0 {
            self.0.changed.notify_all();
        }
    }
}
