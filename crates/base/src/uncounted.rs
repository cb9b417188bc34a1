//! Memory of a process that nobody reserves: buffers too small to count, and what the allocator keeps for the next.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Tells how many bytes the process has resident, where that can be told.
pub type ResidentBytes = fn() -> Option<u64>;

/// It is measured again when this part of the budget has been reserved since: a reading costs as much as touching some dozen pages.
const MEASURED_EVERY: usize = 64;

/// What a process has beyond what is reserved and what was set aside.
#[derive(Debug)]
pub struct Uncounted {
    set_aside: usize,
    resident_bytes: ResidentBytes,
    /// When it was last measured.
    bytes: AtomicUsize,
    reserved_since: AtomicUsize,
}

impl Uncounted {
    /// Nothing yet.
    pub fn new(set_aside: usize, resident_bytes: ResidentBytes) -> Self {
        Self { set_aside, resident_bytes, bytes: AtomicUsize::new(0), reserved_since: AtomicUsize::new(0) }
    }

    /// How much there is, measured now and then; `more` bytes of a budget of `limit` are about to be reserved, and `used` are.
    pub fn bytes(&self, more: usize, limit: usize, used: usize) -> usize {
        let since = self.reserved_since.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        if since < limit / MEASURED_EVERY {
            return self.bytes.load(Ordering::Relaxed);
        }
        self.measure(limit, used)
    }

    /// How much there is now. At most half of the budget is told: whatever happens, small requests are answered.
    pub fn measure(&self, limit: usize, used: usize) -> usize {
        self.reserved_since.store(0, Ordering::Relaxed);
        let counted = self.set_aside.saturating_add(used);
        let resident =
            (self.resident_bytes)().map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let bytes = resident.saturating_sub(counted).min(limit / 2);
        self.bytes.store(bytes, Ordering::Relaxed);
        bytes
    }
}
