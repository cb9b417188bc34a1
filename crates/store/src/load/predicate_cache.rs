//! Remembers the numbers of predicates, of which most data has a few dozen: a look-up then needs no hash of the whole
//! key and no place in a batch.

/// Places for predicates.
const SLOTS: usize = 256;
/// Look-ups between decisions whether the cache pays.
const TRIAL: u32 = 4096;

/// Numbers of predicates in the current run.
#[derive(Debug)]
pub struct PredicateCache {
    slots: Vec<(Vec<u8>, u32)>,
    lookups: u32,
    misses: u32,
    off: bool,
}

impl Default for PredicateCache {
    fn default() -> Self {
        Self { slots: vec![(Vec::new(), 0); SLOTS], lookups: 0, misses: 0, off: false }
    }
}

fn slot_of(key: &[u8]) -> usize {
    // The end of an IRI tells predicates of one vocabulary apart.
    let tail = key.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
    let mixed = (tail ^ key.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 56) as usize % SLOTS
}

impl PredicateCache {
    /// The number of a predicate, if it is remembered.
    #[inline]
    pub fn get(&mut self, key: &[u8]) -> Option<u32> {
        if self.off {
            return None;
        }
        self.lookups += 1;
        match self.slots.get(slot_of(key)) {
            Some((known, number)) if !known.is_empty() && known == key => Some(*number),
            _ => {
                self.misses += 1;
                None
            }
        }
    }

    /// Whether to look a missed predicate up at once and remember it. Not where predicates are many.
    pub fn wants(&mut self) -> bool {
        if self.lookups >= TRIAL {
            self.off = self.misses > self.lookups / 8;
            (self.lookups, self.misses) = (0, 0);
        }
        !self.off
    }

    /// Remembers a predicate instead of another.
    pub fn put(&mut self, key: &[u8], number: u32) {
        if let Some((known, its_number)) = self.slots.get_mut(slot_of(key)) {
            known.clear();
            known.extend_from_slice(key);
            *its_number = number;
        }
    }

    /// Forgets all, for the next run.
    pub fn clear(&mut self) {
        self.slots.iter_mut().for_each(|(known, _)| known.clear());
        self.off = false;
        (self.lookups, self.misses) = (0, 0);
    }
}
