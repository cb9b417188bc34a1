//! A shared count of reserved bytes with a limit; whoever allocates reserves before. A budget may be part of a larger one, so that a
//! process has one pool, and each query in it a limit of its own. The pool of a process also knows what the process really has: small
//! buffers that nobody reserves, and what the allocator keeps, make it smaller while they are more than was set aside for them.

use crate::uncounted::{Process, Uncounted};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// More memory was asked for than the budget holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("memory budget exceeded: {requested} bytes asked for, {used} of {limit} bytes in use{}", by_others(*.others))]
pub struct OutOfBudget {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes already reserved.
    pub used: usize,
    /// Of so many bytes that could be.
    pub limit: usize,
    /// How many of those in use belong to other parts of the same whole, which give them back when they end.
    pub others: usize,
}

impl OutOfBudget {
    /// Whether there would have been enough if nobody else had taken any, and others had more than next to nothing: who asks for little by
    /// little until all is taken would else always miss what another's text takes.
    pub fn is_for_others(&self) -> bool {
        self.others > self.limit / LITTLE
            && self.used.saturating_sub(self.others).saturating_add(self.requested) <= self.limit
    }
}

/// A part of the limit that is next to nothing.
const LITTLE: usize = 64;

fn by_others(others: usize) -> String {
    if others > 0 { format!(", {others} of them by others") } else { String::new() }
}

/// What holds memory of a budget that it can do without, such as a cache.
pub trait Relief: Send + Sync {
    /// Gives back about `bytes` bytes, or as many as it can. Called by who was refused memory: takes no lock that is held while memory is
    /// asked for.
    fn relieve(&self, bytes: usize);
}

struct State {
    limit: usize,
    used: AtomicUsize,
    peak: AtomicUsize,
    /// Of `used`, what stays whoever ends.
    standing: AtomicUsize,
    /// Of what the whole has in use, what belongs to this part all the same.
    elsewhere: usize,
    /// The budget that this one is part of.
    whole: Option<MemoryBudget>,
    /// What is there besides what is counted, where this is the budget of a process.
    uncounted: Option<Uncounted>,
    reliefs: Mutex<Vec<Weak<dyn Relief>>>,
}

impl Drop for State {
    /// What a part has given back that had much, the process gives back, too: the thread that freed it may have nothing to do for long.
    fn drop(&mut self) {
        let Some(whole) = &self.whole else { return };
        let Some(uncounted) = &whole.0.uncounted else { return };
        if *self.peak.get_mut() >= whole.0.limit / MUCH {
            uncounted.give_back(whole.used());
        }
    }
}

/// A part of the limit that is much.
const MUCH: usize = 16;

/// A limit on bytes, shared by clones.
#[derive(Clone)]
pub struct MemoryBudget(Arc<State>);

impl fmt::Debug for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBudget").field("limit", &self.0.limit).field("used", &self.used()).finish()
    }
}

/// How much of a budget a reservation may fill up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// All of it.
    All,
    /// Seven eighths.
    Spillable,
    /// Three quarters.
    Idle,
    /// All of it, for what stays.
    Standing,
}

impl Share {
    fn of(self, limit: usize) -> usize {
        match self {
            Self::All | Self::Standing => limit,
            Self::Spillable => limit - limit / 8,
            Self::Idle => limit - limit / 4,
        }
    }

    /// Whether it is given back by nobody's end.
    fn is_standing(self) -> bool {
        matches!(self, Self::Idle | Self::Standing)
    }
}

impl MemoryBudget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self::within(limit, None, None, 0)
    }

    /// A budget that never refuses.
    pub fn unlimited() -> Self {
        Self::new(usize::MAX)
    }

    /// The budget of a process that has `set_aside` bytes more for what nobody reserves. Where it has more resident than these and
    /// what is reserved, and does not give that back, so much less can be reserved.
    pub fn of_process(limit: usize, set_aside: usize, process: Process) -> Self {
        Self::within(limit, None, Some(Uncounted::new(set_aside, process)), 0)
    }

    /// A budget of `limit` bytes at most, each of which is this one's, too.
    pub fn part(&self, limit: usize) -> Self {
        self.part_beside(limit, 0)
    }

    /// The same for who has reserved `elsewhere` bytes in another part, such as a request its text.
    pub fn part_beside(&self, limit: usize, elsewhere: usize) -> Self {
        Self::within(limit.min(self.0.limit), Some(self.clone()), None, elsewhere)
    }

    fn within(limit: usize, whole: Option<Self>, uncounted: Option<Uncounted>, elsewhere: usize) -> Self {
        let (used, peak, standing) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let reliefs = Mutex::default();
        Self(Arc::new(State { limit, used, peak, standing, elsewhere, whole, uncounted, reliefs }))
    }

    /// The limit in bytes.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Bytes reserved now.
    pub fn used(&self) -> usize {
        self.0.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were reserved at once.
    pub fn peak(&self) -> usize {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Bytes that can still be reserved, as long as nobody else takes them.
    pub fn free(&self) -> usize {
        let own = self.0.limit.saturating_sub(self.used());
        self.0.whole.as_ref().map_or(own, |whole| own.min(whole.free()))
    }

    /// Asks `relief` to give back memory before anybody is refused any, here or of the whole, as long as it exists.
    pub fn relieve_by(&self, relief: Weak<dyn Relief>) {
        if let Some(whole) = &self.0.whole {
            whole.relieve_by(Weak::clone(&relief));
        }
        let mut reliefs = self.0.reliefs.lock().unwrap_or_else(PoisonError::into_inner);
        if reliefs.len() >= RELIEFS_UNCHECKED {
            reliefs.retain(|relief| relief.strong_count() > 0);
        }
        reliefs.push(relief);
    }

    /// Reserves `bytes`, given back when the reservation is dropped.
    ///
    /// # Errors
    ///
    /// [`OutOfBudget`] where fewer bytes are left, and nobody could give any back.
    pub fn reserve(&self, bytes: usize) -> Result<Reservation, OutOfBudget> {
        let mut reservation = self.empty(Share::All);
        reservation.grow(bytes)?;
        Ok(reservation)
    }

    /// A reservation of nothing yet.
    pub fn reserve_empty(&self) -> Reservation {
        self.empty(Share::All)
    }

    /// A reservation, of nothing yet, for what can go to disk instead: it grows until seven eighths of the budget are in use, so that what
    /// cannot has room left.
    pub fn reserve_spillable(&self) -> Reservation {
        self.empty(Share::Spillable)
    }

    /// A reservation, of nothing yet, for what is only kept because there is room: it grows until three quarters of the budget are in
    /// use, and asks nobody for relief.
    pub fn reserve_idle(&self) -> Reservation {
        self.empty(Share::Idle)
    }

    /// Reserves `bytes`, also beyond the limit: for what is there already, so that others know.
    pub fn hold(&self, bytes: usize) -> Reservation {
        let mut reservation = self.empty(Share::All);
        reservation.hold(bytes);
        reservation
    }

    /// The same for what stays, as far as anybody knows: nobody who is refused memory need wait for it.
    pub fn hold_standing(&self, bytes: usize) -> Reservation {
        let mut reservation = self.empty(Share::Standing);
        reservation.hold(bytes);
        reservation
    }

    fn empty(&self, share: Share) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0, share }
    }

    /// Takes bytes here and from the whole, or nowhere. `part`: how many the part that takes them then has, if it is one.
    fn take(&self, more: usize, share: Share, part: Option<usize>) -> Result<(), OutOfBudget> {
        let state = &*self.0;
        let before = match self.add(more, share, part) {
            Err(refused) if share == Share::Idle || !self.relieve(refused) => return Err(refused),
            Err(_) => self.add(more, share, part)?,
            Ok(before) => before,
        };
        let part = part.unwrap_or(before.saturating_add(more));
        if let Some(refused) =
            state.whole.as_ref().and_then(|whole| whole.take(more, share, Some(part)).err())
        {
            state.used.fetch_sub(more, Ordering::Relaxed);
            // Nobody else has what this one has, nor what stays.
            let standing = state.whole.as_ref().map_or(0, |whole| whole.0.standing.load(Ordering::Relaxed));
            let own = before.saturating_add(state.elsewhere);
            let others = refused.used.saturating_sub(own).saturating_sub(standing);
            return Err(OutOfBudget { others, ..refused });
        }
        state.peak.fetch_max(before.saturating_add(more), Ordering::Relaxed);
        if share.is_standing() {
            state.standing.fetch_add(more, Ordering::Relaxed);
        }
        Ok(())
    }

    fn add(&self, more: usize, share: Share, part: Option<usize>) -> Result<usize, OutOfBudget> {
        let whole = share.of(self.0.limit);
        // What is uncounted belongs to those who have much: who needs little is not refused for it.
        let has_little = part.is_some_and(|bytes| bytes <= self.0.limit / 8);
        let Some(uncounted) = self.0.uncounted.as_ref().filter(|_| !has_little) else {
            return self.add_below(whole, more);
        };
        let limit = |bytes: usize| whole.saturating_sub(bytes);
        let bytes = uncounted.bytes(more, self.0.limit, self.used());
        match self.add_below(limit(bytes), more) {
            // It may have become less since it was measured.
            Err(_) if bytes > 0 => self.add_below(limit(uncounted.measure(self.0.limit, self.used())), more),
            added => added,
        }
    }

    fn add_below(&self, limit: usize, more: usize) -> Result<usize, OutOfBudget> {
        let add = |used: usize| used.checked_add(more).filter(|sum| *sum <= limit);
        let added = self.0.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        added.map_err(|used| OutOfBudget { requested: more, used, limit, others: 0 })
    }

    /// Asks for what is missing, and some more, so that not every little step has to ask; whether there is anybody to ask.
    fn relieve(&self, refused: OutOfBudget) -> bool {
        if refused.requested > refused.limit {
            return false;
        }
        let reliefs: Vec<Arc<dyn Relief>> = {
            let mut reliefs = self.0.reliefs.lock().unwrap_or_else(PoisonError::into_inner);
            reliefs.retain(|relief| relief.strong_count() > 0);
            reliefs.iter().filter_map(Weak::upgrade).collect()
        };
        for relief in &reliefs {
            let missing = self.used().saturating_add(refused.requested).saturating_sub(refused.limit);
            if missing == 0 {
                break;
            }
            relief.relieve(missing.saturating_add(self.0.limit / 64));
        }
        !reliefs.is_empty()
    }

    fn give_back(&self, bytes: usize, share: Share) {
        self.0.used.fetch_sub(bytes, Ordering::Relaxed);
        if share.is_standing() {
            self.0.standing.fetch_sub(bytes, Ordering::Relaxed);
        }
        if let Some(whole) = &self.0.whole {
            whole.give_back(bytes, share);
        }
    }

    fn hold_more(&self, bytes: usize, share: Share) {
        if share.is_standing() {
            self.0.standing.fetch_add(bytes, Ordering::Relaxed);
        }
        let before = self.0.used.fetch_add(bytes, Ordering::Relaxed);
        self.0.peak.fetch_max(before.saturating_add(bytes), Ordering::Relaxed);
        if let Some(whole) = &self.0.whole {
            whole.hold_more(bytes, share);
        }
    }
}

/// Those that are gone are forgotten when there are so many.
const RELIEFS_UNCHECKED: usize = 64;

/// Bytes held from a [`MemoryBudget`].
#[derive(Debug)]
pub struct Reservation {
    budget: MemoryBudget,
    bytes: usize,
    share: Share,
}

impl Reservation {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes `more` bytes, or none where the budget has not that many left.
    ///
    /// # Errors
    ///
    /// [`OutOfBudget`] where its share of the budget has fewer bytes left, and nobody could give any back; what was held
    /// stays held.
    pub fn grow(&mut self, more: usize) -> Result<(), OutOfBudget> {
        self.grow_as(more, self.share)
    }

    fn grow_as(&mut self, more: usize, share: Share) -> Result<(), OutOfBudget> {
        self.budget.take(more, share, None)?;
        self.bytes += more;
        Ok(())
    }

    /// As [`Self::resize`], with all of the budget for this once: where what is spillable otherwise must grow.
    ///
    /// # Errors
    ///
    /// [`OutOfBudget`] where the budget has fewer bytes left; what was held stays held.
    pub fn resize_to_limit(&mut self, bytes: usize) -> Result<(), OutOfBudget> {
        self.resize_as(bytes, if self.share.is_standing() { self.share } else { Share::All })
    }

    /// Holds exactly `bytes` from now on.
    ///
    /// # Errors
    ///
    /// As [`Self::grow`]. Giving back never fails.
    pub fn resize(&mut self, bytes: usize) -> Result<(), OutOfBudget> {
        self.resize_as(bytes, self.share)
    }

    fn resize_as(&mut self, bytes: usize, share: Share) -> Result<(), OutOfBudget> {
        if bytes > self.bytes {
            return self.grow_as(bytes - self.bytes, share);
        }
        self.shrink(bytes);
        Ok(())
    }

    /// Gives back all but `bytes`.
    pub fn shrink(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.budget.give_back(less, self.share);
        self.bytes -= less;
    }

    /// Holds exactly `bytes` from now on, also beyond the limit: for what is there already.
    pub fn hold(&mut self, bytes: usize) {
        if bytes > self.bytes {
            self.budget.hold_more(bytes - self.bytes, self.share);
            self.bytes = bytes;
        }
        self.shrink(bytes);
    }

    /// Takes over what another reservation of the same budget holds.
    pub fn absorb(&mut self, mut other: Self) {
        debug_assert!(Arc::ptr_eq(&self.budget.0, &other.budget.0), "of the same budget");
        debug_assert_eq!(self.share.is_standing(), other.share.is_standing(), "of the same kind");
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes, self.share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn what_can_go_to_disk_leaves_room_for_what_cannot() {
        let budget = MemoryBudget::new(800);
        let mut spillable = budget.reserve_spillable();
        assert!(spillable.grow(700).is_ok() && spillable.grow(1).is_err());
        let mut other = budget.reserve(60).unwrap();
        assert!(spillable.resize(701).is_err() && spillable.resize_to_limit(740).is_ok());
        assert!(other.grow(1).is_err());
        spillable.resize(10).unwrap();
        assert!(other.grow(730).is_ok() && spillable.grow(1).is_err());
        drop((spillable, other));
        assert_eq!((budget.used(), budget.peak()), (0, 800));
        assert!(MemoryBudget::unlimited().reserve_spillable().grow(usize::MAX / 2).is_ok());
    }

    #[test]
    fn what_nobody_counts_makes_the_budget_of_a_process_smaller() {
        static RESIDENT: AtomicU64 = AtomicU64::new(100);
        let process = Process { resident_bytes: || Some(RESIDENT.load(Ordering::Relaxed)), give_back: || {} };
        let pool = MemoryBudget::of_process(640, 100, process);
        let part = pool.part(640);
        let mut held = part.reserve(300).unwrap();
        RESIDENT.store(100 + 300 + 140, Ordering::Relaxed);
        held.grow(100).unwrap();
        let refused = held.grow(210).unwrap_err();
        assert_eq!(
            (refused.used, refused.limit, refused.others),
            (400, 640 - 40, 0),
            "140 bytes more than 300, 40 more than 400"
        );
        RESIDENT.store(100 + 400, Ordering::Relaxed);
        assert!(held.grow(200).is_ok(), "it is measured again before anybody is refused");
        RESIDENT.store(10_000, Ordering::Relaxed);
        held.shrink(0);
        assert!(
            part.reserve(320).is_ok() && part.reserve(321).is_err(),
            "half of it stays whatever is measured"
        );
        let _much = part.reserve(320).unwrap();
        let little = pool.part(640).reserve(80);
        assert!(part.reserve(1).is_err() && little.is_ok(), "who has little is not refused for it");
    }

    #[test]
    fn the_process_is_asked_to_give_back_what_a_part_had() {
        static KEPT: AtomicU64 = AtomicU64::new(0);
        let process = Process {
            resident_bytes: || Some(100 + KEPT.load(Ordering::Relaxed)),
            give_back: || KEPT.store(0, Ordering::Relaxed),
        };
        let pool = MemoryBudget::of_process(640, 100, process);
        let after = |bytes: usize| {
            let part = pool.part(640);
            drop(part.reserve(bytes).unwrap());
            KEPT.store(90, Ordering::Relaxed);
            drop(part);
            KEPT.load(Ordering::Relaxed)
        };
        assert_eq!((after(39), after(40)), (90, 0));
        // And before anybody is refused.
        std::thread::sleep(std::time::Duration::from_millis(20));
        KEPT.store(600, Ordering::Relaxed);
        assert!(pool.part(640).reserve(630).is_ok());
    }

    #[test]
    fn parts_share_what_the_whole_has() {
        let whole = MemoryBudget::new(800);
        let (one, other) = (whole.part(600), whole.part(5000));
        let mut held = one.reserve(500).unwrap();
        assert!(held.grow(101).is_err(), "its own limit");
        let refused = other.reserve(301).unwrap_err();
        assert_eq!((refused.used, refused.limit, refused.others), (500, 800, 500), "the whole's");
        assert!(refused.is_for_others() && !other.reserve(5001).unwrap_err().is_for_others());
        assert_eq!((other.used(), other.free(), one.free()), (0, 300, 100));
        let rest = other.reserve(300).unwrap();
        assert!(held.grow(1).is_err() && one.used() == 500);
        drop(rest);
        let mut more = one.reserve(50).unwrap();
        more.absorb(held);
        more.shrink(20);
        assert_eq!((one.used(), whole.used(), whole.peak()), (20, 20, 800));
        let beyond = other.hold(900);
        assert_eq!((whole.used(), whole.free()), (920, 0));
        assert!(more.grow(1).is_err());
        drop((beyond, more));
        assert_eq!((one.used(), other.used(), whole.used()), (0, 0, 0));
    }

    #[test]
    fn what_stays_is_nobodys_fault() {
        let whole = MemoryBudget::new(800);
        let (mut cache, delta) = (whole.reserve_idle(), whole.hold_standing(200));
        cache.hold(100);
        let part = whole.part(800);
        let own = part.reserve(100).unwrap();
        let refused = part.reserve(450).unwrap_err();
        assert_eq!((refused.used, refused.others, refused.is_for_others()), (400, 0, false));
        let other = whole.reserve(50).unwrap();
        // 100 are of the part `own`, 50 of `other`, which may be another's, or the text of the request itself.
        assert_eq!(whole.part(800).reserve(450).unwrap_err().others, 150);
        assert_eq!(whole.part_beside(800, 50).reserve(450).unwrap_err().others, 100);
        let little = OutOfBudget { requested: 11, used: 640, limit: 640, others: 10 };
        assert!(!little.is_for_others() && OutOfBudget { others: 11, ..little }.is_for_others());
        let refused = part.reserve(400).unwrap_err();
        assert_eq!((refused.others, refused.is_for_others()), (50, true), "it would fit then");
        assert!(!part.reserve(450).unwrap_err().is_for_others(), "it would not");
        drop((own, other));
        cache.shrink(30);
        assert!(part.reserve(570).is_ok() && part.reserve(571).is_err());
        drop((cache, delta));
        assert_eq!((whole.used(), whole.0.standing.load(Ordering::Relaxed)), (0, 0));
    }

    /// Holds memory that it gives back when asked.
    struct Kept(Mutex<Reservation>);

    impl Relief for Kept {
        fn relieve(&self, bytes: usize) {
            let mut held = self.0.lock().unwrap();
            let rest = held.bytes().saturating_sub(bytes);
            held.shrink(rest);
        }
    }

    #[test]
    fn what_is_only_kept_makes_room_for_what_is_needed() {
        let whole = MemoryBudget::new(6400);
        let kept = Arc::new(Kept(Mutex::new(whole.reserve_idle())));
        whole.relieve_by(Arc::downgrade(&kept) as Weak<dyn Relief>);
        assert!(kept.0.lock().unwrap().grow(4800).is_ok());
        assert!(kept.0.lock().unwrap().grow(1).is_err(), "a quarter stays free");
        let part = whole.part(6400);
        let mut needed = part.reserve(1600).unwrap();
        assert_eq!(kept.0.lock().unwrap().bytes(), 4800);
        needed.grow(1000).unwrap();
        assert_eq!(kept.0.lock().unwrap().bytes(), 4800 - 1000 - 100);
        assert!(needed.grow(6400).is_err());
        assert_eq!(kept.0.lock().unwrap().bytes(), 3700, "that is beyond the part's own limit");
        assert!(needed.grow(3800).is_ok() && needed.grow(1).is_err());
    }
}
