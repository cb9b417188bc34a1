//! The words that a thread has met, numbered as they come, and how often the present text has each.
//!
//! The words of all texts are looked up here, one by one, and a table of them is larger than the caches that are near: to wait for each would take longer than all else. So they are looked
//! up some hundred at a time: first each slot is read that a word may be in, which a processor does for many at once, and then they are compared. A slot has all that is needed of a word,
//! its letters, too, and is half a line of a cache.

use super::postings::Posting;
use lode_text::index::WordKey;
use std::hint::black_box;
use xxhash_rust::xxh3::xxh3_64;

/// What a word takes beside its letters, about: its slots here, its list, its number among all, and its names.
const WORD_BYTES: usize = 168;
/// The length of a word that is longer than a number tells.
const LONG: u8 = u8::MAX;
/// Slots at first.
const SLOTS_MIN: usize = 64;
/// Words that are looked up together, and letters of long ones that wait, at most about.
const WORDS_AT_ONCE: usize = 256;
const LONG_BYTES: usize = 1 << 14;
/// What letters are mixed with. No letter has a byte of this value, so neither factor is ever zero.
const MIXED_WITH: [u64; 2] = [0xFF51_AFD7_ED55_8CFF, 0xFFCE_B9FE_1A85_ECFF];

/// A word of a text that is to be looked up.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    near: u128,
    text: u64,
    hash: u32,
    /// Where the letters of a long one begin, among those that wait.
    start: u32,
    len: u8,
}

/// A word.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Slot {
    /// Its letters; of a long one their hash and their number.
    near: u128,
    /// The text that had it last,
    text: u64,
    /// Its number and one; 0: there is none.
    word: u32,
    /// and how often; 0 where there is no such text.
    count: u16,
    len: u8,
}

impl Slot {
    fn number(&self) -> u32 {
        self.word.wrapping_sub(1)
    }

    fn take(&mut self) -> Option<Posting> {
        let count = std::mem::take(&mut self.count);
        (count > 0).then(|| Posting { word: self.number(), text: self.text, count })
    }
}

impl Wanted {
    #[inline]
    fn new(key: WordKey<'_>, text: u64, start: usize) -> Self {
        let (near, len) = match key {
            WordKey::Short(key, len) => (key, len),
            WordKey::Long(key) => (u128::from(xxh3_64(key)) | (key.len() as u128) << 64, LONG),
        };
        Self { near, text, hash: hash(near), start: u32::try_from(start).unwrap_or(u32::MAX), len }
    }

    /// Its letters: those of a long one are in `long`.
    fn letters<'l>(&self, short: &'l [u8; 16], long: &'l [u8]) -> &'l [u8] {
        let found = if self.len == LONG {
            long.get(self.start as usize..).and_then(|rest| rest.get(..(self.near >> 64) as usize))
        } else {
            short.get(..usize::from(self.len))
        };
        found.unwrap_or_default()
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves are wanted")]
fn hash(near: u128) -> u32 {
    let [first, second] = MIXED_WITH;
    let product = u128::from(near as u64 ^ first) * u128::from((near >> 64) as u64 ^ second);
    let mixed = product as u64 ^ (product >> 64) as u64;
    (mixed ^ mixed >> 32) as u32
}

/// Words by number and numbers by word.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// A word is in the first free one from where its hash says.
    slots: Vec<Slot>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Words that wait, and the letters of long ones.
    wanted: Vec<Wanted>,
    long: Vec<u8>,
}

impl Vocabulary {
    /// The number of a word.
    pub(super) fn number(&mut self, word: &[u8]) -> u32 {
        let wanted = Wanted::new(WordKey::of(word), 0, 0);
        self.slot(&wanted, word).map_or(0, |slot| slot.number())
    }

    /// A text has a word once more. Texts ascend. What becomes known of texts before is appended to `found`, by word ascending.
    #[inline]
    pub(super) fn push(&mut self, word: WordKey<'_>, text: u64, found: &mut Vec<Posting>) {
        let wanted = Wanted::new(word, text, self.long.len());
        if let WordKey::Long(letters) = word {
            self.long.extend_from_slice(letters);
        }
        self.wanted.push(wanted);
        if self.wanted.len() >= WORDS_AT_ONCE || self.long.len() >= LONG_BYTES {
            self.look_up(found);
        }
    }

    /// Appends all that is known and was not told: other texts follow then.
    pub(super) fn finish(&mut self, found: &mut Vec<Posting>) {
        self.look_up(found);
        found.extend(self.slots.iter_mut().filter_map(Slot::take));
    }

    fn look_up(&mut self, found: &mut Vec<Posting>) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut near = 0_u32;
        for wanted in &self.wanted {
            near ^= self.slots.get(wanted.hash as usize & mask).map_or(0, |slot| slot.word);
        }
        black_box(near);
        let (mut all, long) = (std::mem::take(&mut self.wanted), std::mem::take(&mut self.long));
        for wanted in &all {
            let short = wanted.near.to_le_bytes();
            let Some(slot) = self.slot(wanted, wanted.letters(&short, &long)) else { continue };
            if slot.text != wanted.text {
                found.extend(slot.take());
                slot.text = wanted.text;
            }
            slot.count = slot.count.saturating_add(1);
        }
        all.clear();
        self.wanted = all;
        self.long = long;
        self.long.clear();
    }

    /// The slot of a word, which it is given if it has none. There is always one.
    #[inline]
    fn slot(&mut self, wanted: &Wanted, letters: &[u8]) -> Option<&mut Slot> {
        if self.ends.len() >= self.slots.len() / 8 * 5 {
            self.grow();
        }
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = wanted.hash as usize & mask;
        loop {
            let slot = self.slots.get(at)?;
            if slot.near == wanted.near
                && slot.len == wanted.len
                && slot.word > 0
                && (slot.len != LONG || key(&self.bytes, &self.ends, slot.number() as usize) == letters)
            {
                return self.slots.get_mut(at);
            }
            if slot.word == 0 {
                break;
            }
            at = (at + 1) & mask;
        }
        self.bytes.extend_from_slice(letters);
        self.ends.push(self.bytes.len());
        let free = self.slots.get_mut(at)?;
        let Wanted { near, len, .. } = *wanted;
        #[expect(clippy::cast_possible_truncation, reason = "memory ends before")]
        let word = self.ends.len() as u32;
        *free = Slot { near, text: 0, word, count: 0, len };
        Some(free)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(SLOTS_MIN);
        let before = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
        for slot in before.into_iter().filter(|slot| slot.word > 0) {
            let mut at = hash(slot.near) as usize & (len - 1);
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
    use super::{Slot, Vocabulary, WordKey};
    use crate::words::postings::Posting;
    use lode_text::index::COUNT_MAX;
    use std::collections::HashMap;

    #[test]
    fn a_slot_is_half_a_line() {
        assert_eq!(size_of::<Slot>(), 32);
    }

    #[test]
    fn counts_end_where_they_are_at_least() {
        let (mut vocabulary, mut found) = (Vocabulary::default(), Vec::new());
        for _ in 0..COUNT_MAX + 9 {
            vocabulary.push(WordKey::of(b"wAfox"), 5, &mut found);
        }
        vocabulary.finish(&mut found);
        vocabulary.finish(&mut found);
        assert_eq!(found, [Posting { word: 0, text: 5, count: u16::MAX }]);
        assert_eq!(u64::from(u16::MAX), COUNT_MAX);
    }

    #[test]
    fn words_keep_their_numbers_and_counts_as_a_map_has_them() {
        let (mut vocabulary, mut found) = (Vocabulary::default(), Vec::new());
        let mut numbers: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut counts: HashMap<(Vec<u8>, u64), u16> = HashMap::new();
        let mut state = 3_usize;
        let mut below = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        for text in 0..400_u64 {
            if text % 150 == 149 {
                vocabulary.finish(&mut found);
            }
            for _ in 0..below(40) {
                // Words of all lengths around that of a slot, also ones that are other only behind it, and zeros.
                let mut word = below(900).to_string().into_bytes();
                match below(5) {
                    0 => word.resize(15 + below(3), b'x'),
                    1 => word = [vec![b'y'; 30], word].concat(),
                    2 => word = vec![0; below(19)],
                    3 => word = [vec![b'z'; 200 + below(50)], word].concat(),
                    _ => {}
                }
                *counts.entry((word.clone(), text)).or_default() += 1;
                if below(7) == 0 {
                    let number = vocabulary.number(&word);
                    assert_eq!(*numbers.entry(word.clone()).or_insert(number), number);
                }
                vocabulary.push(WordKey::of(&word), text * 3, &mut found);
            }
        }
        vocabulary.finish(&mut found);
        let words: Vec<Vec<u8>> = vocabulary.words().map(<[u8]>::to_vec).collect();
        assert!(words.len() > 1_000, "{}", words.len());
        assert!(numbers.iter().all(|(word, number)| words[*number as usize] == *word));
        let mut last: HashMap<u32, u64> = HashMap::new();
        for posting in &found {
            let before = last.insert(posting.word, posting.text);
            assert!(before.is_none_or(|before| before < posting.text));
            let place = (words[posting.word as usize].clone(), posting.text / 3);
            assert_eq!(counts.remove(&place), Some(posting.count));
        }
        assert!(counts.is_empty());
    }
}
