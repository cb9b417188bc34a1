//! The words that a thread has met, numbered as they come.
//!
//! The words of all texts are looked up here, one by one, and a table of them is larger than the caches that are near. So a slot has all that is needed of a word, its letters, too, and is half
//! a line of a cache: a look costs one miss.

use xxhash_rust::xxh3::xxh3_64;

/// What a word takes beside its letters, about: its slots here, its number among all, and its names.
const WORD_BYTES: usize = 144;
/// Letters of a word that are in its slot.
const NEAR_BYTES: usize = 19;
/// The length of a longer one, whose hash is in the place of the letters.
const LONG: u8 = u8::MAX;
/// Slots at first.
const SLOTS_MIN: usize = 64;

/// A word.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    /// The text that had it last, and its row.
    text: u32,
    row: u32,
    /// Its number and one; 0: there is none.
    word: u32,
    len: u8,
    near: [u8; NEAR_BYTES],
}

impl Slot {
    fn new(word: &[u8], hash: u64, number: usize) -> Self {
        let mut near = [0; NEAR_BYTES];
        let (len, letters) = match u8::try_from(word.len()) {
            Ok(len) if word.len() <= NEAR_BYTES => (len, word),
            _ => (LONG, &hash.to_le_bytes()[..]),
        };
        near.iter_mut().zip(letters).for_each(|(near, letter)| *near = *letter);
        #[expect(clippy::cast_possible_truncation, reason = "memory ends before")]
        let word = number as u32 + 1;
        Self { text: 0, row: 0, word, len, near }
    }

    /// The letters, or the hash, that it has.
    fn near(&self) -> &[u8] {
        let len = if self.len == LONG { size_of::<u64>() } else { usize::from(self.len) };
        self.near.get(..len).unwrap_or_default()
    }

    fn number(&self) -> u32 {
        self.word.wrapping_sub(1)
    }

    fn hash(&self) -> u64 {
        match self.near().first_chunk() {
            Some(hash) if self.len == LONG => u64::from_le_bytes(*hash),
            _ => xxh3_64(self.near()),
        }
    }
}

/// Words by number and numbers by word.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// A word is in the first free one from where its hash says.
    slots: Vec<Slot>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The present text, from 1.
    text: u32,
}

impl Vocabulary {
    /// The number of a word.
    pub(super) fn number(&mut self, word: &[u8]) -> u32 {
        self.slot(word).map_or(0, |slot| slot.number())
    }

    /// Begins a text.
    pub(super) fn begin_text(&mut self) {
        self.text = self.text.wrapping_add(1);
        if self.text == 0 {
            self.slots.iter_mut().for_each(|slot| slot.text = 0);
            self.text = 1;
        }
    }

    /// The number of a word, and its row in the present text; `next`, which is given to it, where it had none.
    pub(super) fn row(&mut self, word: &[u8], next: usize) -> (u32, usize) {
        let text = self.text;
        let Some(slot) = self.slot(word) else { return (0, next) };
        if slot.text != text {
            slot.text = text;
            slot.row = u32::try_from(next).unwrap_or(u32::MAX);
        }
        (slot.number(), slot.row as usize)
    }

    /// The slot of a word, which it is given if it has none. There is always one.
    fn slot(&mut self, word: &[u8]) -> Option<&mut Slot> {
        if self.ends.len() >= self.slots.len() / 8 * 5 {
            self.grow();
        }
        let hash = xxh3_64(word);
        let mask = self.slots.len().wrapping_sub(1);
        #[expect(clippy::cast_possible_truncation, reason = "some bits of it are wanted")]
        let mut at = hash as usize & mask;
        let wanted = if word.len() <= NEAR_BYTES { None } else { Some(hash.to_le_bytes()) };
        let near = wanted.as_ref().map_or(word, |hash| &hash[..]);
        let is_long = wanted.is_some();
        loop {
            let slot = self.slots.get(at)?;
            if slot.word == 0 {
                break;
            }
            if (slot.len == LONG) == is_long
                && slot.near() == near
                && (!is_long || key(&self.bytes, &self.ends, slot.number() as usize) == word)
            {
                return self.slots.get_mut(at);
            }
            at = (at + 1) & mask;
        }
        let slot = Slot::new(word, hash, self.ends.len());
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
        let free = self.slots.get_mut(at)?;
        *free = slot;
        Some(free)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(SLOTS_MIN);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
        for slot in before.into_iter().filter(|slot| slot.word > 0) {
            #[expect(clippy::cast_possible_truncation, reason = "some bits of it are wanted")]
            let mut at = slot.hash() as usize & (len - 1);
            while self.slots.get(at).is_some_and(|slot| slot.word > 0) {
                at = (at + 1) & (len - 1);
            }
            if let Some(free) = self.slots.get_mut(at) {
                *free = slot;
            }
        }
    }

    /// Its words, by number.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|number| key(&self.bytes, &self.ends, number))
    }

    /// Bytes that it takes, and what comes of it.
    pub(super) fn memory_bytes(&self) -> usize {
        self.bytes.len() * 2 + self.ends.len() * WORD_BYTES
    }
}

fn key<'b>(bytes: &'b [u8], ends: &[usize], number: usize) -> &'b [u8] {
    let start = number.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(number).copied().unwrap_or(start);
    bytes.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{NEAR_BYTES, Slot, Vocabulary};
    use std::collections::HashMap;

    #[test]
    fn a_slot_is_half_a_line() {
        assert_eq!(size_of::<Slot>(), 32);
    }

    #[test]
    fn words_keep_their_numbers_and_rows_as_a_map_has_them() {
        let mut vocabulary = Vocabulary::default();
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut state = 3_usize;
        let mut below = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for text in 0..400 {
            if text == 200 {
                // The next text is the first again.
                vocabulary.text = u32::MAX;
            }
            vocabulary.begin_text();
            let mut rows: HashMap<Vec<u8>, usize> = HashMap::new();
            for _ in 0..below(40) {
                // Words of all lengths around that of a slot, also ones that are other only behind it, and zeros.
                let mut word = below(900).to_string().into_bytes();
                match below(4) {
                    0 => word.resize(NEAR_BYTES - 1 + below(3), b'x'),
                    1 => word = [vec![b'y'; 30], word].concat(),
                    2 => word = vec![0; below(NEAR_BYTES + 3)],
                    _ => {}
                }
                let (next, count) = (rows.len(), numbers.len());
                let (number, row) = vocabulary.row(&word, next);
                assert_eq!(
                    usize::try_from(number).unwrap(),
                    *numbers.entry(word.clone()).or_insert(count as u32) as usize
                );
                assert_eq!(row, *rows.entry(word.clone()).or_insert(next));
                assert_eq!(vocabulary.number(&word), number);
            }
        }
        assert!(numbers.len() > 1_000, "{}", numbers.len());
        let words: Vec<&[u8]> = vocabulary.words().collect();
        assert_eq!(words.len(), numbers.len());
        assert!(words.iter().enumerate().all(|(number, word)| numbers[*word] as usize == number));
    }
}
