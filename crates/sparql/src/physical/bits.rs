//! Sets of small numbers, as words.

const WORDS: usize = 4;

/// A set of numbers below [`Bits::LIMIT`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct Bits([u64; WORDS]);

impl Bits {
    /// Numbers are smaller.
    pub const LIMIT: usize = WORDS * 64;

    /// Adds a number; one over the limit is lost, which callers exclude.
    pub fn insert(&mut self, bit: usize) {
        debug_assert!(bit < Self::LIMIT, "{bit} is over the limit");
        if let Some(word) = self.0.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    pub fn contains(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|w| w & (1 << (bit % 64)) != 0)
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut words = self.0;
        words.iter_mut().zip(other.0).for_each(|(a, b)| *a = f(*a, b));
        Self(words)
    }

    pub fn union(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    pub fn intersect(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    pub fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    pub fn is_empty(self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }

    pub fn is_subset(self, other: Self) -> bool {
        self.minus(other).is_empty()
    }

    pub fn len(self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The numbers, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                (word != 0).then(|| {
                    word &= word - 1;
                    i * 64 + bit as usize
                })
            })
        })
    }
}

impl FromIterator<usize> for Bits {
    fn from_iter<I: IntoIterator<Item = usize>>(bits: I) -> Self {
        let mut set = Self::default();
        bits.into_iter().for_each(|b| set.insert(b));
        set
    }
}
