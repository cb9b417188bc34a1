//! Who has a turn and who waits for one: decisions only, without threads and clocks.
//!
//! Each query has a *time*: the processor time that it was given, moved forward where it has been away (start-time fair queueing). The query
//! with the least time is next. One that is new begins ahead of all others, so short queries pass long ones; those that run long all get
//! the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A turn goes on to a query that is behind by more than this: often enough to be fair, seldom enough for caches.
pub(super) const SLICE_NS: u64 = 20_000_000;
/// So much of a new query's time comes before that of all others.
pub(super) const LEAD_NS: u64 = 100_000_000;
/// Who has waited longer is next, whatever the times: a stream of new queries stops nobody for good.
pub(super) const PATIENCE_NS: u64 = 1_000_000_000;

/// A query's time, in nanoseconds.
#[derive(Debug)]
pub(super) struct QueryTime {
    time_ns: AtomicU64,
    /// It never had a turn.
    is_new: AtomicBool,
}

impl Default for QueryTime {
    fn default() -> Self {
        Self { time_ns: AtomicU64::new(0), is_new: AtomicBool::new(true) }
    }
}

impl QueryTime {
    /// The query has computed for so long.
    pub(super) fn add(&self, ns: u64) {
        self.time_ns.fetch_add(ns, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.time_ns.load(Ordering::Relaxed)
    }
}

/// The line.
pub(super) struct Line<T> {
    turns_max: usize,
    /// Where fewer have a turn, a query may have another thread.
    helped_below: usize,
    held: usize,
    waiting: Vec<Waiter<T>>,
    last_number: u64,
    /// The time of the query that had the latest turn, new ones aside: never goes back.
    floor_ns: u64,
}

struct Waiter<T> {
    number: u64,
    query: Arc<QueryTime>,
    since_ns: u64,
    seat: T,
}

/// Who is next.
#[derive(Debug, PartialEq)]
pub(super) struct Next<T> {
    pub(super) seat: T,
    /// It was its patience that brought it the turn, so it keeps it for a slice.
    pub(super) has_waited_long: bool,
}

impl<T> Line<T> {
    pub(super) fn new(turns_max: usize, helped_below: usize) -> Self {
        Self { turns_max, helped_below, held: 0, waiting: Vec::new(), last_number: 0, floor_ns: LEAD_NS }
    }

    /// A turn, if one is free.
    pub(super) fn take(&mut self, query: &QueryTime) -> bool {
        self.move_forward(query);
        if self.held >= self.turns_max {
            return false;
        }
        self.begin(query);
        true
    }

    /// A turn, whether one is free or not.
    pub(super) fn take_anyway(&mut self) {
        self.held += 1;
    }

    /// Puts a query in line; the number tells it from others that wait.
    pub(super) fn wait(&mut self, query: &Arc<QueryTime>, now_ns: u64, seat: T) -> u64 {
        self.last_number += 1;
        let number = self.last_number;
        self.waiting.push(Waiter { number, query: Arc::clone(query), since_ns: now_ns, seat });
        number
    }

    /// Who waits goes ahead without a free turn; `false`: it waits no more.
    pub(super) fn go_ahead(&mut self, number: u64) -> bool {
        let Some(place) = self.waiting.iter().position(|waiter| waiter.number == number) else {
            return false;
        };
        self.waiting.swap_remove(place);
        self.held += 1;
        true
    }

    /// Gives a turn back; it is that of the one who is next.
    pub(super) fn give(&mut self, now_ns: u64) -> Option<Next<T>> {
        self.held -= 1;
        if self.held >= self.turns_max {
            return None;
        }
        let (place, has_waited_long) = self.next(now_ns)?;
        let waiter = self.waiting.swap_remove(place);
        self.begin(&waiter.query);
        Some(Next { seat: waiter.seat, has_waited_long })
    }

    /// Whether a query that has a turn must give it back before it goes on.
    pub(super) fn must_give(&self, query: &QueryTime) -> bool {
        let behind = |waiter: &Waiter<T>| waiter.query.get() + SLICE_NS <= query.get();
        self.held > self.turns_max || self.waiting.iter().any(behind)
    }

    /// More wait, or have a turn, than there are turns: who has one should look whether it must give it back.
    pub(super) fn pressure(&self) -> usize {
        self.waiting.len() + self.held.saturating_sub(self.turns_max)
    }

    /// How many have a turn.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Whether a processor is idle: a thread may begin to help another one.
    pub(super) fn has_room(&self) -> bool {
        self.held < self.helped_below
    }

    /// Whether there are more at work than processors: a thread that helps another one should leave.
    pub(super) fn is_crowded(&self) -> bool {
        self.held > self.helped_below
    }

    fn begin(&mut self, query: &QueryTime) {
        self.held += 1;
        self.floor_ns = self.floor_ns.max(query.get());
    }

    /// A new query begins ahead of the others; one that has been away is as if it had run all the while but for a slice.
    fn move_forward(&self, query: &QueryTime) {
        let lead = if query.is_new.swap(false, Ordering::Relaxed) { LEAD_NS } else { SLICE_NS };
        query.time_ns.fetch_max(self.floor_ns.saturating_sub(lead), Ordering::Relaxed);
    }

    /// The place of the one who is next, and whether that is for its patience.
    fn next(&self, now_ns: u64) -> Option<(usize, bool)> {
        let places = || self.waiting.iter().enumerate();
        let (longest, waiter) = places().min_by_key(|(_, waiter)| (waiter.since_ns, waiter.number))?;
        if now_ns.saturating_sub(waiter.since_ns) >= PATIENCE_NS {
            return Some((longest, true));
        }
        let least = places().min_by_key(|(_, waiter)| (waiter.query.get(), waiter.number));
        least.map(|(place, _)| (place, false))
    }
}
