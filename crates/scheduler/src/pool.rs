//! The threads of all queries: one small pool, made when first needed, with a limit.
//!
//! Whoever hands out work also does it, and takes back what no thread has begun. So a query never waits for a thread to become free,
//! only for work that is running, and a full pool means fewer threads per query, never a standstill. A thread begins to help where a turn
//! at the processors is free ([`crate::turns`]): where there are as many queries as cores, each has one thread.

use crate::lock;
use crate::turns::{self, Turns};
use crate::waiting;
use lode_base::cores::cores;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(5);
/// How long it keeps what others may have freed in its pages.
const REST: Duration = Duration::from_millis(100);
/// A thread that waits for a free turn looks so often whether there is one.
const ROOM_EVERY: Duration = Duration::from_millis(10);
/// Fewer items than this per thread are not worth a thread.
const RANGE_MIN: usize = 1 << 16;

type Task = Box<dyn FnOnce() + Send>;

static SHARED: OnceLock<Scheduler> = OnceLock::new();

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    /// What is to be done whether a turn is free or not.
    chores: VecDeque<Task>,
    threads: usize,
    idle: usize,
}

/// The pool.
pub struct Scheduler {
    queue: Mutex<Queue>,
    wake: Condvar,
    threads_max: usize,
    /// Tasks in the queue: may be read without the lock, for a hint.
    tasks: AtomicUsize,
}

thread_local! {
    static IS_HELPING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread helps another one of its team: what it does not begin, the other does.
pub fn is_helping() -> bool {
    IS_HELPING.get()
}

/// A thread panicked; what it said.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

/// Does work for another thread of a team, or as the one that the others help.
fn as_member<T, E: From<Panicked>>(helps: bool, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let before = IS_HELPING.replace(helps);
    let result = guarded(work);
    IS_HELPING.set(before);
    result
}

impl Scheduler {
    /// The process's pool: as many threads as the machine runs at once.
    pub fn shared() -> &'static Self {
        SHARED.get_or_init(|| {
            turns::when_there_is_room(Self::there_is_room);
            Self {
                queue: Mutex::default(),
                wake: Condvar::new(),
                threads_max: cores().max(2),
                tasks: AtomicUsize::new(0),
            }
        })
    }

    /// Whether a task could begin now: a hint.
    pub fn has_room() -> bool {
        Turns::shared().has_room()
    }

    /// A processor is idle: a task may begin.
    fn there_is_room() {
        if let Some(shared) = SHARED.get().filter(|shared| shared.tasks.load(Ordering::Relaxed) > 0) {
            shared.wake.notify_one();
        }
    }

    /// Queues a task. It runs soon, later, or (where no thread can be had) never: do not wait for it to begin.
    pub fn submit(&'static self, task: Task) {
        let mut queue = lock(&self.queue);
        queue.tasks.push_back(task);
        self.employ(queue);
    }

    /// Queues what is to be done soon and is no query's work.
    pub fn submit_chore(&'static self, chore: Task) {
        let mut queue = lock(&self.queue);
        queue.chores.push_back(chore);
        self.employ(queue);
    }

    fn employ(&'static self, mut queue: MutexGuard<'_, Queue>) {
        self.tasks.store(queue.tasks.len(), Ordering::Relaxed);
        if queue.idle >= queue.tasks.len() + queue.chores.len() || queue.threads >= self.threads_max {
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
    pub fn is_behind(&self) -> bool {
        let queue = lock(&self.queue);
        queue.tasks.len() > queue.idle
    }

    /// The next chore, or the next task if it may begin.
    fn next(&self, queue: &mut Queue) -> Option<Task> {
        let next = queue
            .chores
            .pop_front()
            .or_else(|| if Turns::shared().has_room() { queue.tasks.pop_front() } else { None });
        self.tasks.store(queue.tasks.len(), Ordering::Relaxed);
        next
    }

    fn work(&self) {
        let mut queue = lock(&self.queue);
        let mut rested = false;
        loop {
            if let Some(task) = self.next(&mut queue) {
                drop(queue);
                rested = false;
                // Tasks report their own panics; none may end the thread.
                let _ = catch_unwind(AssertUnwindSafe(task));
                queue = lock(&self.queue);
                continue;
            }
            // Who gives a turn back may not have seen that this thread begins to wait for one.
            let wait = match queue.tasks.is_empty() {
                false => ROOM_EVERY,
                true if rested => IDLE,
                true => REST,
            };
            queue.idle += 1;
            let (after, timeout) =
                self.wake.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner);
            queue = after;
            queue.idle -= 1;
            if !timeout.timed_out() || !queue.tasks.is_empty() || !queue.chores.is_empty() {
                continue;
            }
            if wait == IDLE {
                queue.threads -= 1;
                return;
            }
            if wait == REST {
                rested = true;
                drop(queue);
                lode_base::uncounted::idle();
                queue = lock(&self.queue);
            }
        }
    }
}

/// Calls `work`, turning a panic into an error.
///
/// # Errors
///
/// What `work` returns, or that it panicked.
pub fn guarded<T, E: From<Panicked>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(ToString::to_string);
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Panicked(message.unwrap_or_else(|| "a thread panicked".into())).into())
    })
}

struct Team<T, E, W> {
    /// What members do; gone when nobody may join any more.
    work: Option<Arc<W>>,
    results: Vec<Result<T, E>>,
    running: usize,
}

/// Runs `work` in up to `threads` threads, this one among them, and returns the results of those that took part.
///
/// # Errors
///
/// The first error of a member, or that one panicked.
pub fn run_team<T, E, W>(threads: usize, work: W) -> Result<Vec<T>, E>
where
    T: Send + 'static,
    E: From<Panicked> + Send + 'static,
    W: Fn() -> Result<T, E> + Send + Sync + 'static,
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
            let result = as_member(true, || work());
            drop(work);
            let mut state = lock(&team.0);
            state.results.push(result);
            state.running -= 1;
            team.1.notify_all();
        }));
    }
    let mine = as_member(false, || work());
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
///
/// # Panics
///
/// Where `work` does.
pub fn for_ranges(threads: usize, count: usize, work: impl Fn(Range<usize>) + Send + Sync + 'static) {
    let parts = threads.min(Scheduler::shared().threads_max).min(count / RANGE_MIN).max(1);
    if parts == 1 {
        work(0..count);
        return;
    }
    let bound = move |part: usize| count / parts * part + (count % parts) * part / parts;
    let next = AtomicUsize::new(0);
    let team = run_team(parts, move || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return Ok::<(), Panicked>(());
            }
            work(bound(part)..bound(part + 1));
        }
    });
    if let Err(panicked) = team {
        std::panic::resume_unwind(Box::new(panicked.0));
    }
}
