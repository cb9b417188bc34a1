//! Memory of a process that nobody reserves: buffers too small to count, and what the allocator keeps for the next.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a budget asks of the process that it is of.
#[derive(Debug, Clone, Copy)]
pub struct Process {
    /// Tells how many bytes it has resident, where that can be told.
    pub resident_bytes: fn() -> Option<u64>,
    /// Has the allocator give back to the system what this thread has freed, and what others have freed whole pages of.
    pub give_back: fn(),
}

static IDLE: OnceLock<fn()> = OnceLock::new();

/// What threads do that have had nothing to do for a while: [`Process::give_back`], since nobody else can give back what is free in their
/// pages. The first one stays.
pub fn when_idle(give_back: fn()) {
    let _ = IDLE.set(give_back);
}

/// To be called by threads that have had nothing to do for a while.
pub fn idle() {
    if let Some(give_back) = IDLE.get() {
        give_back();
    }
}

/// It is measured again when this part of the budget has been reserved since: a reading costs as much as touching some dozen pages.
const MEASURED_EVERY: usize = 64;
/// Memory is not given back to the system sooner again: with nothing to give back, that takes some microseconds, but it may be asked for
/// at each of many small reservations.
const GIVEN_BACK_EVERY: Duration = Duration::from_millis(10);

/// What a process has beyond what is reserved and what was set aside.
#[derive(Debug)]
pub struct Uncounted {
    set_aside: usize,
    process: Process,
    started: Instant,
    /// When memory may be given back again, in milliseconds since then.
    give_back_at: AtomicU64,
    /// When it was last measured.
    bytes: AtomicUsize,
    reserved_since: AtomicUsize,
}

impl Uncounted {
    /// Nothing yet.
    pub fn new(set_aside: usize, process: Process) -> Self {
        let (give_back_at, started) = (AtomicU64::new(0), Instant::now());
        let (bytes, reserved_since) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { set_aside, process, started, give_back_at, bytes, reserved_since }
    }

    /// How much there is, measured now and then; `more` bytes of a budget of `limit` are about to be reserved, and `used` are.
    pub fn bytes(&self, more: usize, limit: usize, used: usize) -> usize {
        let since = self.reserved_since.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        if since < limit / MEASURED_EVERY {
            return self.bytes.load(Ordering::Relaxed);
        }
        self.measure(limit, used)
    }

    /// How much there is now, once the allocator has given back what it can. At most half of the budget is told: whatever happens, small
    /// requests are answered.
    pub fn measure(&self, limit: usize, used: usize) -> usize {
        self.reserved_since.store(0, Ordering::Relaxed);
        let counted = self.set_aside.saturating_add(used);
        let mut bytes = self.beyond(counted);
        if bytes > 0 && self.may_give_back() {
            (self.process.give_back)();
            bytes = self.beyond(counted);
        }
        let bytes = bytes.min(limit / 2);
        self.bytes.store(bytes, Ordering::Relaxed);
        bytes
    }

    /// Has the allocator give back what it can, if there is any: after the end of who had much.
    pub fn give_back(&self, used: usize) {
        if self.beyond(self.set_aside.saturating_add(used)) > 0 {
            (self.process.give_back)();
        }
    }

    fn beyond(&self, counted: usize) -> usize {
        let resident = (self.process.resident_bytes)();
        resident.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)).saturating_sub(counted)
    }

    /// Whether it is time; then it is not for a while.
    fn may_give_back(&self) -> bool {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let now = millis(self.started.elapsed());
        let at = self.give_back_at.load(Ordering::Relaxed);
        let next = now.saturating_add(millis(GIVEN_BACK_EVERY));
        now >= at
            && self.give_back_at.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
