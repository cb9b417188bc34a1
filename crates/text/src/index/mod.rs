//! Which texts a query finds, and how well, by an index of words: what such an index has for keys, and how parts of queries come together as sets of texts.
//!
//! An index has a list of texts for each *word* of each language, in lower case. Words that are written otherwise and are the same without accents, and words
//! of one stem, are found by *names*: keys that lead to words. So a list is there once, and patterns find words by their letters. Beside a text stands how often it has
//! the word, and a key of its own has the lengths of all texts, so that scores are made without reading texts.

mod parts;
mod rank;
mod search;
mod set;
#[cfg(test)]
mod tests;

pub use rank::Ranked;
pub use search::Texts;
pub use set::{TextSet, Union};

use crate::analysis::{Language, WORD_BYTES_MAX, fold, folded, stem, words};
use std::ops::Range;

/// What a key begins with, and behind that a letter for the language.
const WORD: u8 = b'w';
const FOLDED: u8 = b'f';
const STEM: u8 = b's';

/// The key of the lengths of texts, in words: each text is in its list, with its length in the place of a count.
pub const LENGTHS: &[u8] = b"l";

/// The key of texts that have words without a key, since these are too long: nobody knows by the index what else is in them.
pub const WITHOUT_KEY: &[u8] = b"x";

/// The key of the texts whose words are in the index, where that has not all: the others have a length of 0 in the list of lengths.
pub const COVERED: &[u8] = b"c";

/// Counts and lengths of as much are at least that: such texts have to be read where it matters.
pub const COUNT_MAX: u64 = 0xFFFF;

/// Grows with each change of what the words of a text are, or what an index tells of them: an index of another number is of no use.
pub const ANALYSIS_VERSION: u32 = 3;

fn begin(kind: u8, language: Language, key: &mut Vec<u8>) {
    key.clear();
    key.extend([kind, b'A' + u8::try_from(language.index()).unwrap_or(u8::MAX - b'A')]);
}

fn key(kind: u8, language: Language, text: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(text.len() + 2);
    begin(kind, language, &mut key);
    key.extend_from_slice(text.as_bytes());
    key
}

/// Keys of no more bytes are short.
const SHORT_BYTES: usize = 16;

/// The key of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordKey<'k> {
    /// Of 16 bytes at most, as a number, the first byte lowest, zeros behind them, and how many there are.
    Short(u128, u8),
    /// Of more.
    Long(&'k [u8]),
}

impl<'k> WordKey<'k> {
    /// Of bytes.
    pub fn of(key: &'k [u8]) -> Self {
        match u8::try_from(key.len()) {
            Ok(len) if key.len() <= SHORT_BYTES => Self::Short(begin_of(key), len),
            _ => Self::Long(key),
        }
    }

    /// Its bytes.
    pub fn to_vec(self) -> Vec<u8> {
        match self {
            Self::Short(key, len) => key.to_le_bytes().into_iter().take(len.into()).collect(),
            Self::Long(key) => key.to_vec(),
        }
    }
}

/// The first bytes as a number, the first lowest, zeros behind them.
#[inline]
fn begin_of(bytes: &[u8]) -> u128 {
    match bytes.first_chunk() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => bytes.iter().rev().fold(0, |begin, byte| begin << 8 | u128::from(*byte)),
    }
}

/// A byte sixteen times.
const fn sixteen(byte: u8) -> u128 {
    u128::from_le_bytes([byte; SHORT_BYTES])
}

/// Letters of ASCII in lower case. Behind others than of ASCII there may be anything.
#[inline]
const fn lower_of(bytes: u128) -> u128 {
    // The highest bit is reached by A and what is after it, and by what is after Z.
    let from_a = bytes.wrapping_add(sixteen(0x80 - b'A'));
    let after_z = bytes.wrapping_add(sixteen(0x80 - (b'Z' + 1)));
    bytes | (from_a & !after_z & sixteen(0x80)) >> 2
}

/// Where the words of each language begin among the keys, by its place among all; the last: where those of all end.
pub fn language_starts() -> impl Iterator<Item = [u8; 2]> {
    (0..=Language::COUNT).map(|index| [WORD, b'A' + u8::try_from(index).unwrap_or(u8::MAX - b'A')])
}

/// Bytes of a key before its letters.
const BEGIN_BYTES: usize = 2;

/// Makes the keys of words: one for many texts, since it has room of its own.
#[derive(Debug, Default)]
pub struct Keys {
    folded: String,
    key: Vec<u8>,
}

impl Keys {
    /// Calls `found` with the keys of a text's words, as often as they occur, and with [`WITHOUT_KEY`] for those that have none. Gives how many words the text has.
    pub fn each_word(&mut self, text: &str, language: Language, found: &mut impl FnMut(WordKey<'_>)) -> u64 {
        begin(WORD, language, &mut self.key);
        let start = begin_of(&self.key);
        let mut count = 0;
        for (at, word) in words(text) {
            count += 1;
            if !word.is_ascii() {
                self.other_word(word, found);
            } else if word.len() <= SHORT_BYTES - BEGIN_BYTES {
                // As many bytes for all words: to copy each by its length takes longer.
                let letters = lower_of(begin_of(text.as_bytes().get(at..).unwrap_or_default()));
                let letters = letters & !(u128::MAX << (8 * word.len()));
                #[expect(clippy::cast_possible_truncation, reason = "16 at most")]
                let len = (BEGIN_BYTES + word.len()) as u8;
                found(WordKey::Short(letters << (8 * BEGIN_BYTES) | start, len));
            } else if word.len() <= WORD_BYTES_MAX {
                self.key.truncate(BEGIN_BYTES);
                self.key.extend(word.bytes().map(|byte| byte.to_ascii_lowercase()));
                found(WordKey::of(&self.key));
            } else {
                found(WordKey::of(WITHOUT_KEY));
            }
        }
        count
    }

    fn other_word(&mut self, word: &str, found: &mut impl FnMut(WordKey<'_>)) {
        fold(word, &mut self.folded);
        if self.folded.len() > WORD_BYTES_MAX {
            found(WordKey::of(WITHOUT_KEY));
            return;
        }
        self.key.truncate(BEGIN_BYTES);
        self.key.extend_from_slice(word.to_lowercase().as_bytes());
        found(WordKey::of(&self.key));
    }
}

/// Whether a key is a name, which leads to words.
pub fn is_name(key: &[u8]) -> bool {
    matches!(key.first(), Some(&(FOLDED | STEM)))
}

/// Calls `found` with the names that lead to a word, by its key.
pub fn each_name(word: &[u8], found: &mut impl FnMut(&[u8])) {
    let [WORD, letter, lower @ ..] = word else { return };
    let Some(language) = letter.checked_sub(b'A').and_then(Language::at) else { return };
    let Ok(lower) = std::str::from_utf8(lower) else { return };
    let short = folded(lower);
    if short != lower {
        found(&key(FOLDED, language, &short));
    }
    if let Some(stemmer) = language.stemmer() {
        let mut reduced = String::new();
        stem(&stemmer, lower, &mut reduced);
        if reduced != lower {
            found(&key(STEM, language, &reduced));
        }
    }
}

/// An index of words.
pub trait WordIndex {
    /// Why it cannot be read.
    type Error;
    /// How many texts there are: their numbers are below.
    fn texts(&self) -> u64;
    /// How many keys there are.
    fn keys(&self) -> u64;
    /// How many texts the lists of some words, which are neighbours, have, those of several words as often.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn count(&self, numbers: Range<u64>) -> Result<u64, Self::Error>;
    /// In which languages there may be words: a bit for each, by its place among all.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn languages(&self) -> Result<u32, Self::Error> {
        Ok(u32::MAX)
    }
    /// The number of a key.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn find(&self, key: &[u8]) -> Result<Option<u64>, Self::Error>;
    /// Calls `found` with each key that begins so, and its number, until it says no.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn each_key(&self, start: &[u8], found: &mut dyn FnMut(&[u8], u64) -> bool) -> Result<(), Self::Error>;
    /// Calls `found` with the texts of some words, or the words of a name, some at a time, those of each word ascending, until it says no.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn list(&self, numbers: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), Self::Error>;
    /// The same with how often each text has the word; of a single word only texts from `texts.start` on and before `texts.end`.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn counts(
        &self,
        numbers: Range<u64>,
        texts: Range<u64>,
        found: &mut dyn FnMut(&[u64], &[u64]) -> bool,
    ) -> Result<(), Self::Error>;
    /// Calls `found` with the lengths of these texts in words, in order, some at a time, until it says no.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn lengths(&self, texts: Range<u64>, found: &mut dyn FnMut(&[u64]) -> bool) -> Result<(), Self::Error>;
    /// Appends the lengths of some texts, which ascend; false where `work` says no, which is told how many bytes were looked at.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn lengths_of(
        &self,
        texts: &[u64],
        out: &mut Vec<u32>,
        work: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, Self::Error> {
        let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return Ok(true) };
        let (mut goes_on, mut rest, mut at) = (true, texts, *first);
        self.lengths(*first..*last + 1, &mut |lengths| {
            goes_on = work(size_of_val(lengths));
            let end = at + lengths.len() as u64;
            let (now, later) = rest.split_at(rest.partition_point(|text| *text < end));
            out.extend(now.iter().map(|text| {
                let length = lengths.get((text - at) as usize).copied().unwrap_or(COUNT_MAX);
                u32::try_from(length).unwrap_or(u32::MAX)
            }));
            (rest, at) = (later, end);
            goes_on
        })?;
        Ok(goes_on && rest.is_empty())
    }
}

/// What a search may take.
pub trait Means {
    /// Work was done, in bytes that were looked at; whether it may go on.
    fn work(&self, bytes: usize) -> bool;
    /// So many bytes are held from now on; whether they may be.
    fn hold(&self, bytes: usize) -> bool;
    /// So many are held no more.
    fn release(&self, bytes: usize);
}
