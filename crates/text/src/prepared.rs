//! A query that is ready to be matched: by which words of a text each of its parts is met, for every language that texts turn out to have.

use crate::analysis::{Language, stem};
use crate::error::QueryError;
use crate::glob::Piece;
use crate::parse::{Dialect, parse};
use crate::query::{Leaf, Query, Word};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A query that is ready to be matched.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) query: Query,
    pub(crate) is_monotone: bool,
    /// By folded words.
    pub(crate) exact: Uses,
    /// By stems.
    stems: [OnceLock<Uses>; Language::COUNT],
    /// By language: what [`Self::first_letters`] gives.
    first_letters: [OnceLock<Option<u128>>; Language::COUNT],
    pub(crate) patterns: Vec<(usize, Vec<Piece>)>,
    pub(crate) fuzzy: Vec<(usize, Box<str>, u32)>,
    /// By leaf: of how many words a phrase is, and how far these may be apart.
    pub(crate) phrases: Vec<Option<(usize, u32)>>,
}

/// What a word is in a query: leaves, ascending, with a bit for each of its places in a phrase.
pub(crate) type Uses = HashMap<Box<str>, Vec<(usize, u128)>>;

impl Prepared {
    /// Reads a query.
    ///
    /// # Errors
    ///
    /// As [`parse`].
    pub fn parse(text: &str, dialect: Dialect) -> Result<Self, QueryError> {
        Ok(Self::new(parse(text, dialect)?))
    }

    /// Makes a query ready.
    pub fn new(query: Query) -> Self {
        let (mut patterns, mut fuzzy, mut phrases) = (Vec::new(), Vec::new(), Vec::new());
        for (number, leaf) in query.leaves.iter().enumerate() {
            let mut phrase = None;
            match leaf {
                Leaf::Word(_) => {}
                Leaf::Phrase { words, slop } => phrase = Some((words.len(), *slop)),
                Leaf::Pattern(pieces) => patterns.push((number, pieces.clone())),
                Leaf::Fuzzy { word, distance } => fuzzy.push((number, word.clone(), *distance)),
            }
            phrases.push(phrase);
        }
        let exact = uses(&query, |word| word.folded.clone());
        let is_monotone = query.root.is_monotone();
        let (stems, first_letters) = Default::default();
        Self { query, is_monotone, exact, stems, first_letters, patterns, fuzzy, phrases }
    }

    /// What stems of a language are in the query; none where words of that language are not reduced.
    pub(crate) fn stems(&self, language: Language) -> Option<&Uses> {
        let stemmer = language.stemmer()?;
        let made = self.stems.get(language.index())?.get_or_init(|| {
            uses(&self.query, |word| {
                let mut out = String::new();
                stem(&stemmer, &word.lower, &mut out);
                out.into()
            })
        });
        Some(made)
    }

    /// With which characters of ASCII words of a language begin, in lower case, that the query may look for: a bit for each. None where that may be any. To look at a letter costs much less
    /// than to make a stem.
    pub(crate) fn first_letters(&self, language: Language) -> Option<u128> {
        *self.first_letters.get(language.index())?.get_or_init(|| {
            if !self.patterns.is_empty() || !self.fuzzy.is_empty() || !language.keeps_first_letters() {
                return None;
            }
            let stems = self.stems(language).into_iter().flat_map(Uses::keys);
            let mut letters = 0;
            for word in self.exact.keys().chain(stems) {
                let first = word.chars().next()?;
                letters |= 1_u128.checked_shl(u32::from(first)).unwrap_or(0);
            }
            Some(letters)
        })
    }
}

fn uses(query: &Query, key: impl Fn(&Word) -> Box<str>) -> Uses {
    let mut uses = Uses::new();
    let mut put = |word: &Word, leaf: usize, bit: u128| {
        let places = uses.entry(key(word)).or_default();
        match places.last_mut() {
            Some((last, bits)) if *last == leaf => *bits |= bit,
            _ => places.push((leaf, bit)),
        }
    };
    for (number, leaf) in query.leaves.iter().enumerate() {
        match leaf {
            Leaf::Word(word) => put(word, number, 1),
            Leaf::Phrase { words, .. } => {
                words.iter().enumerate().for_each(|(place, word)| put(word, number, 1 << place));
            }
            Leaf::Pattern(_) | Leaf::Fuzzy { .. } => {}
        }
    }
    uses
}
