//! What waits for one folder: jobs of its own threads, so that each disk is busy whatever the others do. Reads go by file and place, as an elevator
//! does, writes in the order in which they came. Threads are started when there is work for them, and end when there was none for some seconds.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const IDLE_MAX: Duration = Duration::from_secs(5);
const STACK_BYTES: usize = 256 << 10;
/// No more threads for one folder, whatever its device could serve.
const THREADS_MAX: usize = 16;

pub(super) type Job = Box<dyn FnOnce() + Send>;

/// Where a job is on its device: its file, the place in it, and a number that no other job has.
type Position = (u128, u64, u64);

#[derive(Default)]
struct Waiting {
    jobs: BTreeMap<Position, Job>,
    /// The job that was begun last.
    at: Position,
    pushed: u64,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

impl Waiting {
    /// The next one on the way forward, or the first where there is none.
    fn next(&mut self) -> Option<Job> {
        let ahead = self.jobs.range(self.at..).next().or_else(|| self.jobs.iter().next());
        let position = *ahead?.0;
        self.at = position;
        self.jobs.remove(&position)
    }
}

/// The jobs of a folder.
pub(super) struct Lane {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Told when a job was taken.
    room: Condvar,
    threads_max: usize,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").field("threads_max", &self.threads_max).finish_non_exhaustive()
    }
}

impl Lane {
    /// One that does so many jobs at once.
    pub fn new(parallel: usize) -> Arc<Self> {
        let threads_max = parallel.clamp(1, THREADS_MAX);
        let (waiting, changed, room) = Default::default();
        Arc::new(Self { waiting, changed, room, threads_max })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A panic of another holder leaves the list whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a job done, when its turn has come by its place.
    pub fn push(self: &Arc<Self>, file: u128, offset: u64, job: Job) {
        self.add(self.lock(), (file, offset), job);
    }

    /// Has a job done after all that were pushed so before; waits where `jobs_max` are waiting.
    pub fn push_last(self: &Arc<Self>, jobs_max: usize, job: Job) {
        let mut waiting = self.lock();
        while waiting.jobs.len() >= jobs_max {
            waiting = self.room.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        self.add(waiting, (0, 0), job);
    }

    fn add(self: &Arc<Self>, mut waiting: MutexGuard<'_, Waiting>, (file, offset): (u128, u64), job: Job) {
        waiting.pushed += 1;
        let position = (file, offset, waiting.pushed);
        waiting.jobs.insert(position, job);
        let is_missing = waiting.idle < waiting.jobs.len() && waiting.threads < self.threads_max;
        waiting.threads += usize::from(is_missing);
        drop(waiting);
        self.changed.notify_one();
        if is_missing {
            self.start();
        }
    }

    fn start(self: &Arc<Self>) {
        let lane = Arc::clone(self);
        let thread = std::thread::Builder::new().name("lode-stripe".to_owned()).stack_size(STACK_BYTES);
        if thread.spawn(move || lane.work()).is_err() {
            // Without a thread, who asked does the work, and what others ask meanwhile.
            let mut waiting = self.lock();
            if waiting.threads == 1 {
                while let Some(job) = waiting.next() {
                    drop(waiting);
                    job();
                    waiting = self.lock();
                }
            }
            waiting.threads -= 1;
            drop(waiting);
            self.room.notify_all();
        }
    }

    fn work(&self) {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.next() {
                drop(waiting);
                self.room.notify_one();
                // What it promised is broken then, and told to who waits; the next one is done all the same.
                let _ = catch_unwind(AssertUnwindSafe(job));
                waiting = self.lock();
                continue;
            }
            if waiting.is_closed {
                break;
            }
            waiting.idle += 1;
            let waited = self.changed.wait_timeout(waiting, IDLE_MAX);
            let (found, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            waiting = found;
            waiting.idle -= 1;
            if timeout.timed_out() && waiting.jobs.is_empty() {
                break;
            }
        }
        waiting.threads -= 1;
    }

    /// Ends all threads once nothing waits.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

/// What a job brings, for who waits for it.
#[derive(Debug)]
pub(super) struct Outcome<T> {
    found: Mutex<Option<io::Result<T>>>,
    done: Condvar,
}

impl<T> Outcome<T> {
    /// One that does not tell yet, and who is to say it.
    pub fn new() -> (Arc<Self>, Promise<T>) {
        let outcome = Arc::new(Self { found: Mutex::new(None), done: Condvar::new() });
        (Arc::clone(&outcome), Promise(Some(outcome)))
    }

    /// Waits, and looks at it where it is.
    pub fn with<R>(&self, look: impl FnOnce(&mut io::Result<T>) -> R) -> R {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(found) = &mut *found {
                return look(found);
            }
            found = self.done.wait(found).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn set(&self, found: io::Result<T>) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        self.done.notify_all();
    }
}

/// Who says it. Where it is dropped before, as by a panic, nobody waits for ever.
#[derive(Debug)]
pub(super) struct Promise<T>(Option<Arc<Outcome<T>>>);

impl<T> Promise<T> {
    pub fn keep(mut self, found: io::Result<T>) {
        if let Some(outcome) = self.0.take() {
            outcome.set(found);
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(outcome) = self.0.take() {
            outcome.set(Err(io::Error::other("the work for a stripe folder was given up")));
        }
    }
}

#[cfg(test)]
mod tests {
    //! The order of jobs, and that none is lost.
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn jobs_go_forward_by_place_and_those_pushed_last_in_their_order() {
        let lane = Lane::new(1);
        let (gate, opened) = channel::<()>();
        let (sender, done) = channel();
        lane.push(1, 50, Box::new(move || opened.recv().unwrap()));
        // It has begun before the others come.
        while !lane.lock().jobs.is_empty() {
            std::thread::yield_now();
        }
        for offset in [90, 10, 60, 30] {
            let sender = sender.clone();
            lane.push(1, offset, Box::new(move || sender.send(offset).unwrap()));
        }
        gate.send(()).unwrap();
        assert_eq!((0..4).map(|_| done.recv().unwrap()).collect::<Vec<_>>(), [60, 90, 10, 30]);
        for number in 0..100 {
            let sender = sender.clone();
            lane.push_last(3, Box::new(move || sender.send(number).unwrap()));
        }
        assert_eq!((0..100).map(|_| done.recv().unwrap()).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        lane.close();
    }
}
