//! Turns at the processors: of all running queries a few compute, two for each core, in turns; the others pause.
//!
//! The operating system would share the processors, too, but it knows threads and not queries: it would hold a new, short query up behind
//! all others, and more threads than cores cost each other their caches. A thread takes a turn before it works on a query, looks between two
//! batches whether another query is due, and gives the turn back while it waits for other threads ([why and how](../../../../docs/design/028-admission.md)).
//!
//! A turn is an allowance, not a lock: where those who have one give no sign of life, since they wait for a disk or for each other, the
//! others go ahead after some milliseconds. So nothing can stand still for want of a turn.

mod line;
#[cfg(test)]
mod tests;

use crate::frame::off_the_clock;
use crate::lock;
use line::{Line, Next, QueryTime, SLICE_NS};
use lode_base::cancel::CancelToken;
use lode_base::cores::cores;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// While a turn is handed over, the processor has nothing to do until the other thread is awake: so there is another turn for it.
const TURNS_PER_CORE: usize = 2;
/// If nobody who has a turn gives a sign for so long, who waits goes ahead.
const SIGN_MAX: Duration = Duration::from_millis(30);
/// Who waits looks so often whether somebody asked its query to stop; its deadline it knows.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Who hears of an idle processor.
static ON_ROOM: OnceLock<fn()> = OnceLock::new();

/// From now on `tell` is called where a turn was given back and a processor is idle.
pub fn when_there_is_room(tell: fn()) {
    // Only the first one can be told: there is one pool of threads.
    let _ = ON_ROOM.set(tell);
}

/// A query's share of the processors; clones are the same query. By default a query of its own.
#[derive(Debug, Clone)]
pub struct Share(Option<Arc<Query>>);

/// One query among those that share the processors.
#[derive(Debug)]
struct Query {
    time: Arc<QueryTime>,
    /// Threads that have a turn for it.
    held: AtomicUsize,
    turns: Arc<Turns>,
    /// Once this says so, its threads wait no more: all that they still do is to stop.
    cancel: CancelToken,
}

impl Default for Share {
    fn default() -> Self {
        Self::of(&CancelToken::default())
    }
}

impl Share {
    /// Work that takes no turns, since it ends within some milliseconds or may not wait.
    pub fn aside() -> Self {
        Self(None)
    }

    /// That of a query which `cancel` stops: from then on its threads need no turn.
    pub fn of(cancel: &CancelToken) -> Self {
        Self::among(Turns::shared(), cancel)
    }

    fn among(turns: &Arc<Turns>, cancel: &CancelToken) -> Self {
        let (turns, cancel) = (Arc::clone(turns), cancel.clone());
        Self(Some(Arc::new(Query { time: Arc::default(), held: AtomicUsize::new(0), turns, cancel })))
    }

    /// Waits until this thread may work on the query, which it may as long as the result lives. A thread that may already need not wait.
    pub fn take_turn(&self) -> Turn {
        let is_held = HELD.with_borrow(Option::is_some);
        let is_taken = match &self.0 {
            Some(query) if !is_held => {
                let held = Turns::take(query);
                HELD.set(Some(held));
                true
            }
            _ => false,
        };
        Turn { is_taken, _of_this_thread: PhantomData }
    }
}

/// A thread may work. Given back when dropped.
#[derive(Debug)]
pub struct Turn {
    is_taken: bool,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_taken
            && let Some(held) = HELD.take()
        {
            held.give();
        }
    }
}

thread_local! {
    /// The turn of this thread.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// A turn that a thread has.
struct Held {
    query: Arc<Query>,
    /// What the query has been charged for ends here.
    charged_until: Instant,
    /// It need not be given back before.
    keep_until: Option<Instant>,
}

/// Between two batches: gives the turn back if another query is due, and waits for the next one.
#[inline]
pub fn breathe() {
    HELD.with_borrow_mut(|held| {
        let Some(held) = held else { return };
        if held.query.turns.pressure.load(Ordering::Relaxed) > 0 {
            held.breathe();
        }
    });
}

/// Waits for others without a turn.
pub fn paused<T>(wait: impl FnOnce() -> T) -> T {
    let Some(held) = HELD.take() else { return wait() };
    let query = Arc::clone(&held.query);
    held.give();
    let result = wait();
    // What it waited for may be a lock that it now has: it must not wait here, but does before its next batch.
    query.turns.take_anyway();
    HELD.set(Some(Held::new(query, false)));
    result
}

/// Whether others want the processor that this thread has.
#[inline]
pub fn is_wanted() -> bool {
    HELD.with_borrow(|held| {
        held.as_ref().is_some_and(|held| {
            let (query, turns) = (&held.query, &held.query.turns);
            // Threads of one query do not drive each other out.
            turns.is_crowded.load(Ordering::Relaxed)
                && turns.held.load(Ordering::Relaxed) > query.held.load(Ordering::Relaxed)
        })
    })
}

impl Held {
    fn new(query: Arc<Query>, keeps: bool) -> Self {
        query.held.fetch_add(1, Ordering::Relaxed);
        let now = Instant::now();
        let keep_until = keeps.then(|| now + Duration::from_nanos(SLICE_NS));
        Self { query, charged_until: now, keep_until }
    }

    /// Charges the query for what it has computed.
    fn charge(&mut self) {
        let now = Instant::now();
        let took = nanoseconds(now.saturating_duration_since(self.charged_until));
        self.query.time.add(took);
        self.charged_until = now;
    }

    fn give(mut self) {
        self.charge();
        self.query.held.fetch_sub(1, Ordering::Relaxed);
        self.query.turns.give();
    }

    #[cold]
    fn breathe(&mut self) {
        self.charge();
        if self.keep_until.is_some_and(|until| self.charged_until < until) {
            return;
        }
        let query = Arc::clone(&self.query);
        if query.turns.must_give(&query) && query.cancel.check().is_ok() {
            query.held.fetch_sub(1, Ordering::Relaxed);
            query.turns.give();
            *self = off_the_clock(|| Turns::take(&query));
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The turns of all threads that share some processors.
pub struct Turns {
    line: Mutex<Line<Arc<Seat>>>,
    /// May be read without the lock, for a hint.
    pressure: AtomicUsize,
    held: AtomicUsize,
    has_room: AtomicBool,
    is_crowded: AtomicBool,
    /// Counts signs of life of those who have a turn.
    signs: AtomicUsize,
    sign_max: Duration,
    began: Instant,
}

/// Where a thread waits.
#[derive(Debug, Default)]
struct Seat {
    /// Its turn has come; `true`: for its patience.
    called: OnceLock<bool>,
    wake: Condvar,
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("pressure", &self.pressure).finish_non_exhaustive()
    }
}

impl Turns {
    /// Those of the process.
    pub fn shared() -> &'static Arc<Self> {
        static SHARED: OnceLock<Arc<Turns>> = OnceLock::new();
        // Tests run on all cores at once: one more, so that there is sometimes one for a second thread, and sometimes none.
        let cores = if cfg!(any(test, feature = "short-steps")) { cores() + 1 } else { cores() };
        let turns_max = if cfg!(any(test, feature = "short-steps")) { cores } else { cores * TURNS_PER_CORE };
        SHARED.get_or_init(|| Self::new(turns_max, cores, SIGN_MAX))
    }

    fn new(turns_max: usize, helped_below: usize, sign_max: Duration) -> Arc<Self> {
        Arc::new(Self {
            line: Mutex::new(Line::new(turns_max, helped_below)),
            pressure: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            has_room: AtomicBool::new(true),
            is_crowded: AtomicBool::new(false),
            signs: AtomicUsize::new(0),
            sign_max,
            began: Instant::now(),
        })
    }

    /// Whether a processor is idle: a hint.
    pub fn has_room(&self) -> bool {
        self.has_room.load(Ordering::Relaxed)
    }

    fn now_ns(&self) -> u64 {
        nanoseconds(self.began.elapsed())
    }

    /// Tells what those look at who do not lock.
    fn tell(&self, line: &MutexGuard<'_, Line<Arc<Seat>>>) {
        self.pressure.store(line.pressure(), Ordering::Relaxed);
        self.held.store(line.held(), Ordering::Relaxed);
        self.has_room.store(line.has_room(), Ordering::Relaxed);
        self.is_crowded.store(line.is_crowded(), Ordering::Relaxed);
        self.signs.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for a turn.
    fn take(query: &Arc<Query>) -> Held {
        let turns = &query.turns;
        let mut line = lock(&turns.line);
        if line.take(&query.time) {
            turns.tell(&line);
            drop(line);
            return Held::new(Arc::clone(query), false);
        }
        let seat = Arc::new(Seat::default());
        let number = line.wait(&query.time, turns.now_ns(), Arc::clone(&seat));
        turns.tell(&line);
        let keeps = turns.wait(line, number, &seat, &query.cancel);
        Held::new(Arc::clone(query), keeps)
    }

    /// Waits to be called, or for `cancel`; `true`: called for its patience.
    fn wait(
        &self,
        mut line: MutexGuard<'_, Line<Arc<Seat>>>,
        number: u64,
        seat: &Seat,
        cancel: &CancelToken,
    ) -> bool {
        let mut seen = (self.signs.load(Ordering::Relaxed), Instant::now());
        loop {
            if let Some(for_patience) = seat.called.get() {
                return *for_patience;
            }
            if cancel.check().is_err() && line.go_ahead(number) {
                self.tell(&line);
                return false;
            }
            let most = LOOK_EVERY.min(self.sign_max).min(cancel.time_left().unwrap_or(LOOK_EVERY));
            let waited = seat.wake.wait_timeout(line, most);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
            let signs = self.signs.load(Ordering::Relaxed);
            if signs != seen.0 {
                seen = (signs, Instant::now());
            } else if seen.1.elapsed() >= self.sign_max && line.go_ahead(number) {
                self.tell(&line);
                return false;
            }
        }
    }

    fn take_anyway(&self) {
        let mut line = lock(&self.line);
        line.take_anyway();
        self.tell(&line);
    }

    fn must_give(&self, query: &Query) -> bool {
        self.signs.fetch_add(1, Ordering::Relaxed);
        lock(&self.line).must_give(&query.time)
    }

    fn give(&self) {
        let mut line = lock(&self.line);
        let next = line.give(self.now_ns());
        self.tell(&line);
        if let Some(Next { seat, has_waited_long }) = next {
            // Under the lock, so that who looks and then begins to wait has not missed it.
            let _ = seat.called.set(has_waited_long);
            seat.wake.notify_one();
        } else if line.has_room() {
            drop(line);
            if let Some(tell) = ON_ROOM.get() {
                tell();
            }
        }
    }
}
