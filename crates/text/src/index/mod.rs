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

/// Makes the keys of words: one for many texts, since it has room of its own.
#[derive(Debug, Default)]
pub struct Keys {
    folded: String,
    key: Vec<u8>,
}

impl Keys {
    /// Calls `found` with the keys of a text's words, as often as they occur, and with [`WITHOUT_KEY`] for those that have none. Gives how many words the text has.
    pub fn each_word(&mut self, text: &str, language: Language, found: &mut impl FnMut(&[u8])) -> u64 {
        let mut count = 0;
        for (_, word) in words(text) {
            count += 1;
            begin(WORD, language, &mut self.key);
            if word.is_ascii() {
                if word.len() > WORD_BYTES_MAX {
                    found(WITHOUT_KEY);
                    continue;
                }
                self.key.extend(word.bytes().map(|byte| byte.to_ascii_lowercase()));
            } else {
                fold(word, &mut self.folded);
                if self.folded.len() > WORD_BYTES_MAX {
                    found(WITHOUT_KEY);
                    continue;
                }
                self.key.extend_from_slice(word.to_lowercase().as_bytes());
            }
            found(&self.key);
        }
        count
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
