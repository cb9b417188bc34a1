//! The threads of all queries: one small pool, made when first needed, with a limit.
//!
//! Whoever hands out work also does it, and takes back what no thread has begun. So a query never waits for a thread to become free,
//! only for work that is running, and a full pool means fewer threads per query, never a standstill.

use crate::error::ExecError;
use crate::profile::waiting;
use lode_base::cores::cores;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(5);
/// Fewer items than this per thread are not worth a thread.
const RANGE_MIN: usize = 1 << 16;

type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    threads: usize,
    idle: usize,
}

/// The pool.
pub(crate) struct Scheduler {
    queue: Mutex<Queue>,
    wake: Condvar,
    threads_max: usize,
}

/// Locks, also after a panic elsewhere: the data guarded here is whole at any time.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scheduler {
    /// The process's pool: as many threads as the machine runs at once.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Scheduler> = OnceLock::new();
        SHARED.get_or_init(|| Self {
            queue: Mutex::default(),
            wake: Condvar::new(),
            threads_max: cores().max(2),
        })
    }

    /// Queues a task. It runs soon, later, or (where no thread can be had) never: do not wait for it to begin.
    pub(crate) fn submit(&'static self, task: Task) {
        let mut queue = lock(&self.queue);
        queue.tasks.push_back(task);
        if queue.idle >= queue.tasks.len() || queue.threads >= self.threads_max {
            self.wake.notify_one();
            return;
        }
        queue.threads += 1;
        drop(queue);
        let builder = thread::Builder::new().name("lode-query".into());
        if builder.spawn(|| self.work()).is_err() {
            lock(&self.queue).threads -= 1;
        }
    }

    /// Whether tasks wait for which there is no idle thread.
    pub(crate) fn is_behind(&self) -> bool {
        let queue = lock(&self.queue);
        queue.tasks.len() > queue.idle
    }

    fn work(&self) {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                drop(queue);
                // Tasks report their own panics; none may end the thread.
                let _ = catch_unwind(AssertUnwindSafe(task));
                queue = lock(&self.queue);
                continue;
            }
            queue.idle += 1;
            let (after, timeout) =
                self.wake.wait_timeout(queue, IDLE).unwrap_or_else(PoisonError::into_inner);
            queue = after;
            queue.idle -= 1;
            if timeout.timed_out() && queue.tasks.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }
}

/// Calls `work`, turning a panic into an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ExecError>) -> Result<T, ExecError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(ExecError::Internal(message.unwrap_or_else(|| "a thread panicked".into())))
    })
}

struct Team<T, W> {
    /// What members do; gone when nobody may join any more.
    work: Option<Arc<W>>,
    results: Vec<Result<T, ExecError>>,
    running: usize,
}

/// Runs `work` in up to `threads` threads, this one among them, and returns the results of those that took part.
pub(crate) fn run_team<T: Send + 'static, W>(threads: usize, work: W) -> Result<Vec<T>, ExecError>
where
    W: Fn() -> Result<T, ExecError> + Send + Sync + 'static,
{
    let work = Arc::new(work);
    let team = Team { work: Some(Arc::clone(&work)), results: Vec::new(), running: 0 };
    let team = Arc::new((Mutex::new(team), Condvar::new()));
    for _ in 1..threads {
        let team = Arc::clone(&team);
        Scheduler::shared().submit(Box::new(move || {
            let mut state = lock(&team.0);
            let Some(work) = state.work.clone() else { return };
            state.running += 1;
            drop(state);
            let result = guarded(|| work());
            drop(work);
            let mut state = lock(&team.0);
            state.results.push(result);
            state.running -= 1;
            team.1.notify_all();
        }));
    }
    let mine = guarded(|| work());
    let mut state = lock(&team.0);
    state.work = None;
    while state.running > 0 {
        state = waiting(|| team.1.wait(state).unwrap_or_else(PoisonError::into_inner));
    }
    let mut results = vec![mine];
    results.append(&mut state.results);
    drop(state);
    results.into_iter().collect()
}

/// Calls `work` for ranges that make up `0..count`, in up to `threads` threads.
pub(crate) fn for_ranges(threads: usize, count: usize, work: impl Fn(Range<usize>) + Sync) {
    let limit = Scheduler::shared().threads_max;
    let parts = threads.min(limit).min(count / RANGE_MIN).max(1);
    if parts == 1 {
        work(0..count);
        return;
    }
    let bound = |part: usize| count / parts * part + (count % parts) * part / parts;
    thread::scope(|scope| {
        for part in 1..parts {
            let work = &work;
            scope.spawn(move || work(bound(part)..bound(part + 1)));
        }
        work(0..bound(1));
    });
}
