//! The requests that wait for a device, the most urgent first, and the threads that see to them. Threads are started when there is work
//! for them, and end when there was none for some seconds.

use super::flight::Flight;
use super::reading::Priority;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// No more threads, whatever a device could serve.
const THREADS_MAX: usize = 64;
const STACK_BYTES: usize = 256 << 10;
const IDLE_MAX: Duration = Duration::from_secs(5);
/// The part of what a device serves at once that each priority may take: the rest is there for what is more urgent.
const PARTS: [usize; Priority::COUNT] = [1, 2, 4];

#[derive(Debug, Default)]
struct Waiting {
    /// By priority. Who asked for one may have dropped it since.
    lanes: [VecDeque<Weak<Flight>>; Priority::COUNT],
    /// Requests being read, by priority.
    busy: [usize; Priority::COUNT],
    threads: usize,
    idle: usize,
    is_closed: bool,
}

impl Waiting {
    /// The next request that a device has room for.
    fn next(&mut self) -> Option<(usize, Arc<Flight>)> {
        let mut busy: usize = self.busy.iter().sum();
        for (lane, part) in PARTS.into_iter().enumerate() {
            while let Some(front) = self.lanes[lane].front() {
                let Some(flight) = front.upgrade() else {
                    self.lanes[lane].pop_front();
                    continue;
                };
                if busy >= (flight.device().parallel / part).max(1) {
                    // The last holder may be gone meanwhile: dropped without the lock.
                    break;
                }
                self.lanes[lane].pop_front();
                self.busy[lane] += 1;
                return Some((lane, flight));
            }
            // What is less urgent counts against its own part only.
            busy = self.busy.iter().skip(lane + 1).sum();
        }
        None
    }
}

/// The queue of a block source.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic of another holder leaves the lists whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has flights read by other threads, in this order.
    pub fn push(self: &Arc<Self>, flights: &[Arc<Flight>], priority: Priority) {
        let Some(parallel) = flights.iter().map(|flight| flight.device().parallel).max() else { return };
        let mut waiting = self.lock();
        waiting.lanes[priority as usize].extend(flights.iter().map(Arc::downgrade));
        let threads_max = parallel.min(THREADS_MAX);
        let missing = flights.len().saturating_sub(waiting.idle);
        let more = missing.min(threads_max.saturating_sub(waiting.threads));
        waiting.threads += more;
        drop(waiting);
        for _ in 0..more {
            self.start();
        }
        if flights.len() == 1 { self.changed.notify_one() } else { self.changed.notify_all() }
    }

    fn start(self: &Arc<Self>) {
        let queue = Arc::clone(self);
        let thread = std::thread::Builder::new().name("lode-read".to_owned()).stack_size(STACK_BYTES);
        if thread.spawn(move || queue.work()).is_err() {
            // Whoever wants the blocks reads them.
            self.lock().threads -= 1;
        }
    }

    fn work(&self) {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                break;
            }
            if let Some((lane, flight)) = waiting.next() {
                drop(waiting);
                let turn = Turn { queue: self, lane };
                flight.run();
                drop(flight);
                drop(turn);
                waiting = self.lock();
                continue;
            }
            waiting.idle += 1;
            let waited = self.changed.wait_timeout(waiting, IDLE_MAX);
            let (found, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            waiting = found;
            waiting.idle -= 1;
            if timeout.timed_out() && waiting.lanes.iter().all(VecDeque::is_empty) {
                break;
            }
        }
        waiting.threads -= 1;
    }

    /// Ends all threads once they have read what they are at.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    #[cfg(test)]
    pub fn threads(&self) -> usize {
        self.lock().threads
    }
}

/// A request being read; given back also where that panics.
struct Turn<'a> {
    queue: &'a Queue,
    lane: usize,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.queue.lock().busy[self.lane] -= 1;
        self.queue.changed.notify_one();
    }
}
