//! Numbers by hash: chains through flat arrays, for tables that number their entries in the order of insertion.
//!
//! The index holds neither hashes nor entries, only numbers; who owns it compares entries and tells their hashes when the index grows.
//! What a hash table does at once when it doubles takes seconds for a hundred million entries, so growth of a large one goes in steps
//! between which a query can stop.

use crate::growth::make_room;

/// Entries that move to their new places between two looks at whether to go on: a millisecond or two, also where each touches a new page.
const STEP: usize = if cfg!(any(test, feature = "short-steps")) { 8 } else { 1 << 12 };
/// Indexes of fewer places grow at once.
const PLACES_LARGE: usize = if cfg!(any(test, feature = "short-steps")) { 32 } else { 1 << 16 };

/// The index.
#[derive(Debug)]
pub struct NumberIndex {
    /// The number of the first entry of each chain, plus 1; 0: none.
    heads: Vec<u32>,
    /// For each entry the number of the one after it in its chain, plus 1.
    next: Vec<u32>,
}

impl Default for NumberIndex {
    fn default() -> Self {
        Self { heads: vec![0; 16], next: Vec::new() }
    }
}

impl NumberIndex {
    /// How many entries there are.
    fn len(&self) -> usize {
        self.next.len()
    }

    /// Bytes that the index takes.
    pub fn bytes(&self) -> usize {
        (self.heads.capacity() + self.next.capacity()) * size_of::<u32>()
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        usize::try_from(hash & (self.heads.len() as u64 - 1)).unwrap_or(0)
    }

    /// The number of an entry with this hash that `is` the one.
    #[inline]
    pub fn find(&self, hash: u64, is: impl Fn(usize) -> bool) -> Option<u32> {
        let mut entry = self.heads[self.place(hash)];
        while entry != 0 {
            let number = entry as usize - 1;
            if is(number) {
                return Some(entry - 1);
            }
            entry = self.next[number];
        }
        None
    }

    /// Makes room for `more` entries. `hash_of` tells the hash of an entry, `check` is asked between steps; after its error nothing more may be
    /// looked for.
    ///
    /// # Errors
    ///
    /// What `check` returns.
    pub fn make_room<E>(
        &mut self,
        more: usize,
        hash_of: impl Fn(usize) -> u64,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let entries = self.len() + more;
        make_room(&mut self.next, more);
        if self.heads.len() < PLACES_LARGE || entries <= self.heads.len() {
            return Ok(());
        }
        check()?;
        self.widen(entries.next_power_of_two());
        for start in (0..self.len()).step_by(STEP) {
            self.place_again(start..self.len().min(start + STEP), &hash_of);
            check()?;
        }
        Ok(())
    }

    /// Adds an entry under the next number, which is returned. Without room the index grows: at once, so make room before.
    #[inline]
    pub fn add(&mut self, hash: u64, hash_of: impl Fn(usize) -> u64) -> u32 {
        if self.len() >= self.heads.len() {
            self.widen(self.heads.len() * 2);
            self.place_again(0..self.len(), &hash_of);
        }
        let number = u32::try_from(self.len()).unwrap_or(u32::MAX - 1);
        let place = self.place(hash);
        self.next.push(std::mem::replace(&mut self.heads[place], number + 1));
        number
    }

    /// Empty places instead of those there are.
    fn widen(&mut self, places: usize) {
        // The old ones are given back first.
        self.heads = Vec::new();
        self.heads = vec![0; places];
    }

    fn place_again(&mut self, numbers: std::ops::Range<usize>, hash_of: &impl Fn(usize) -> u64) {
        for number in numbers {
            let place = self.place(hash_of(number));
            let entry = u32::try_from(number + 1).unwrap_or(u32::MAX);
            self.next[number] = std::mem::replace(&mut self.heads[place], entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NumberIndex, PLACES_LARGE, STEP};
    use crate::hash::mix;

    fn hash(number: usize) -> u64 {
        mix(0, number as u64 / 2)
    }

    #[test]
    fn entries_are_found_after_growth_in_steps_and_at_once() {
        for in_steps in [false, true] {
            let mut index = NumberIndex::default();
            for number in 0..500 {
                if in_steps && number % 50 == 0 {
                    index.make_room(50, hash, || Ok::<_, ()>(())).unwrap();
                }
                assert_eq!(index.add(hash(number), hash) as usize, number);
            }
            for number in 0..500 {
                let found = index.find(hash(number), |other| other == number);
                assert_eq!(found.map(|n| n as usize), Some(number));
            }
            assert_eq!((index.find(hash(1000), |other| other == 1000), index.len()), (None, 500));
        }
    }

    #[test]
    fn growth_looks_at_the_token_every_few_entries() {
        let mut index = NumberIndex::default();
        (0..PLACES_LARGE * 4).for_each(|number| _ = index.add(hash(number), hash));
        let (entries, mut looks) = (index.len(), 0);
        index
            .make_room(1, hash, || {
                looks += 1;
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(looks, 1 + entries.div_ceil(STEP));
        (0..entries).for_each(|number| _ = index.add(hash(number), hash));
        let (mut moved, cancelled_after) = (0, 3);
        let stopped = index.make_room(1, hash, || {
            moved += 1;
            if moved == cancelled_after { Err(()) } else { Ok(()) }
        });
        assert_eq!((stopped, moved), (Err(()), cancelled_after));
        // Nobody should look any more, but who does comes to an end.
        (0..entries).for_each(|number| _ = index.find(hash(number), |_| false));
    }
}
