//! Whether texts match a query, and how well: one pass over the words of a text, in memory that depends on the query only.

use crate::analysis::{Language, WORD_BYTES_MAX, fold, stem, words};
use crate::glob;
use crate::prepared::{Prepared, Uses};
use crate::score::score;
use rust_stemmers::Stemmer;
use std::collections::HashMap;
use std::ops::Range;

/// Matches texts one after the other.
#[derive(Debug)]
pub struct Matcher<'q> {
    query: &'q Prepared,
    /// By leaf: how often the text has it.
    counts: Vec<u32>,
    /// By leaf: of which beginnings of its phrase the last words were the end, and at which word that was, from 1.
    begun: Vec<(u128, u32)>,
    /// By leaf, for phrases whose words may be apart: where each word was last, from 1.
    last: Vec<Vec<u32>>,
    words: u32,
    folded: String,
    stemmed: String,
    hits: Vec<(usize, u128)>,
    /// By language: what words are that were met before, since to make a stem takes much longer than to look one up.
    known: Vec<HashMap<Box<str>, Box<[(usize, u128)]>>>,
}

/// Words of a language that are known, and bytes of each, at most.
const KNOWN_MAX: usize = 1 << 12;
const KNOWN_BYTES_MAX: usize = 32;
/// Bytes of words that are passed over before it is told.
const WORK_UNSPENT: usize = 1 << 10;

impl<'q> Matcher<'q> {
    /// For a query.
    pub fn new(query: &'q Prepared) -> Self {
        let leaves = query.phrases.len();
        let apart = |phrase: &Option<(usize, u32)>| match phrase {
            Some((words, slop)) if *slop > 0 => vec![0; *words],
            _ => Vec::new(),
        };
        Self {
            query,
            counts: vec![0; leaves],
            begun: vec![(0, 0); leaves],
            last: query.phrases.iter().map(apart).collect(),
            words: 0,
            folded: String::new(),
            stemmed: String::new(),
            hits: Vec::new(),
            known: Vec::new(),
        }
    }

    /// The query.
    pub fn query(&self) -> &'q Prepared {
        self.query
    }

    /// Whether a text matches. `spend` is told what was done, in bytes that were looked at; where it gives `None`, so does this.
    pub fn is_match(
        &mut self,
        text: &str,
        language: Language,
        spend: impl Fn(usize) -> Option<()>,
    ) -> Option<bool> {
        if self.query.is_monotone {
            // The first words may do.
            self.scan(text, language, spend, |matcher, _, is_new| !(is_new && matcher.holds()))?;
        } else {
            self.scan(text, language, spend, |_, _, _| true)?;
        }
        Some(self.holds())
    }

    /// How well a text matches: 0 where it does not.
    pub fn score(
        &mut self,
        text: &str,
        language: Language,
        spend: impl Fn(usize) -> Option<()>,
    ) -> Option<f64> {
        self.scan(text, language, spend, |_, _, _| true)?;
        if !self.holds() {
            return Some(0.0);
        }
        Some(score(&self.query.query.root, &self.counts, self.words))
    }

    /// Calls `found` with the places of words that the query looks for, until it says no.
    pub(crate) fn each_place(
        &mut self,
        text: &str,
        language: Language,
        spend: impl Fn(usize) -> Option<()>,
        mut found: impl FnMut(Range<usize>) -> bool,
    ) -> Option<()> {
        self.scan(text, language, spend, |matcher, place, _| matcher.hits.is_empty() || found(place))
    }

    fn holds(&self) -> bool {
        self.query.query.root.holds(&|leaf| self.counts.get(leaf).is_some_and(|count| *count > 0))
    }

    /// Goes over the words of a text until `go_on` says no: it is told where a word is, and whether a part was found that was not before.
    fn scan(
        &mut self,
        text: &str,
        language: Language,
        spend: impl Fn(usize) -> Option<()>,
        mut go_on: impl FnMut(&Self, Range<usize>, bool) -> bool,
    ) -> Option<()> {
        self.counts.fill(0);
        self.begun.fill((0, 0));
        self.last.iter_mut().for_each(|places| places.fill(0));
        self.words = 0;
        let stems = language.stemmer().zip(self.query.stems(language));
        let first_letters = self.query.first_letters(language);
        let mut unspent = 0;
        for (at, word) in words(text) {
            unspent += word.len();
            if first_letters.is_some_and(|letters| begins_otherwise(word, letters)) {
                // Most words: nothing is found, so nothing has changed.
                self.words += 1;
                if unspent >= WORK_UNSPENT {
                    spend(std::mem::take(&mut unspent))?;
                }
                continue;
            }
            spend(std::mem::take(&mut unspent))?;
            if stems.is_none() || !self.is_known(word, language) {
                fold(word, &mut self.folded);
                if self.folded.len() > WORD_BYTES_MAX {
                    self.hits.clear();
                } else {
                    self.look_up(word, stems.as_ref().map(|(stemmer, uses)| (stemmer, *uses)), &spend)?;
                }
                if stems.is_some() {
                    self.learn(word, language);
                }
            }
            self.words += 1;
            spend(self.hits.len() * 8)?;
            let is_new = self.count();
            if !go_on(self, at..at + word.len(), is_new) {
                return Some(());
            }
        }
        spend(unspent)
    }

    /// Whether the word was met before: then `hits` is what it is in the query.
    fn is_known(&mut self, word: &str, language: Language) -> bool {
        let Some(known) = self.known.get(language.index()).and_then(|known| known.get(word)) else {
            return false;
        };
        self.hits.clear();
        self.hits.extend_from_slice(known);
        true
    }

    fn learn(&mut self, word: &str, language: Language) {
        if word.len() > KNOWN_BYTES_MAX {
            return;
        }
        if self.known.is_empty() {
            self.known.resize_with(Language::COUNT, HashMap::new);
        }
        if let Some(known) = self.known.get_mut(language.index()).filter(|known| known.len() < KNOWN_MAX) {
            known.insert(word.into(), self.hits.as_slice().into());
        }
    }

    /// What the word is in the query: `hits`, ascending by leaf.
    fn look_up(
        &mut self,
        word: &str,
        stems: Option<(&Stemmer, &Uses)>,
        spend: &impl Fn(usize) -> Option<()>,
    ) -> Option<()> {
        self.hits.clear();
        if let Some(uses) = self.query.exact.get(self.folded.as_str()) {
            self.hits.extend_from_slice(uses);
        }
        if let Some((stemmer, uses)) = stems {
            stem(stemmer, word, &mut self.stemmed);
            self.hits.extend(uses.get(self.stemmed.as_str()).into_iter().flatten());
        }
        for (leaf, pieces) in &self.query.patterns {
            spend(self.folded.len())?;
            if glob::is_match(pieces, &self.folded) {
                self.hits.push((*leaf, 1));
            }
        }
        for (leaf, near, distance) in &self.query.fuzzy {
            let (shorter, longer) = (near.len().min(self.folded.len()), near.len().max(self.folded.len()));
            // A character has four bytes at most.
            if longer - shorter <= *distance as usize * 4 {
                spend(shorter * longer)?;
                if strsim::osa_distance(near, &self.folded) <= *distance as usize {
                    self.hits.push((*leaf, 1));
                }
            }
        }
        if self.hits.len() > 1 {
            self.hits.sort_unstable();
            self.hits.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 |= next.1;
                }
                same
            });
        }
        Some(())
    }

    /// Counts what the word, the last one so far, completes. Whether a part was found that was not before.
    fn count(&mut self) -> bool {
        let mut is_new = false;
        for (leaf, bits) in &self.hits {
            let (leaf, bits) = (*leaf, *bits);
            let is_found = match self.query.phrases.get(leaf) {
                Some(Some((words, 0))) => self.begun.get_mut(leaf).is_some_and(|(begun, at)| {
                    let before = if *at + 1 == self.words { *begun } else { 0 };
                    (*begun, *at) = ((before << 1 | 1) & bits, self.words);
                    *begun >> (words - 1) & 1 == 1
                }),
                Some(Some((words, slop))) => self.last.get_mut(leaf).is_some_and(|last| {
                    for (place, at) in last.iter_mut().enumerate() {
                        if bits >> place & 1 == 1 {
                            *at = self.words;
                        }
                    }
                    let first = last.iter().copied().min().unwrap_or(0);
                    first > 0 && ((self.words - first) as usize) < words + *slop as usize
                }),
                _ => true,
            };
            if let Some(count) = self.counts.get_mut(leaf).filter(|_| is_found) {
                is_new |= *count == 0;
                *count += 1;
            }
        }
        is_new
    }
}

/// Whether a word begins with a character of ASCII that is none of these.
fn begins_otherwise(word: &str, letters: u128) -> bool {
    word.bytes()
        .next()
        .is_some_and(|first| first.is_ascii() && letters >> first.to_ascii_lowercase() & 1 == 0)
}
