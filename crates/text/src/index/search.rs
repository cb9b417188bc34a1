//! The texts that match, as sets.

use super::set::{TextSet, Union};
use super::{FOLDED, Means, STEM, WORD, WordIndex, each_name, key};
use crate::analysis::{Language, folded, stem};
use crate::glob::{self, Piece};
use crate::prepared::Prepared;
use crate::query::{Group, Leaf, Node, Word};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// What an index says of a query.
#[derive(Debug, Clone)]
pub struct Texts {
    /// All that match.
    pub set: TextSet,
    /// Whether all of them match.
    pub is_exact: bool,
}

impl Prepared {
    /// The texts that match, by an index, and perhaps others; `None` where `means` says no.
    ///
    /// # Errors
    ///
    /// Where the index cannot be read.
    pub fn texts_in<I: WordIndex>(&self, index: &I, means: &dyn Means) -> Result<Option<Texts>, I::Error> {
        let search = Search::new(self, index, means);
        search.group(&self.query.root)
    }
}

pub(super) struct Search<'s, I> {
    query: &'s Prepared,
    pub(super) index: &'s I,
    pub(super) means: &'s dyn Means,
    /// The words of an index that words and patterns of the query are, by where these are.
    known: RefCell<HashMap<usize, Rc<[u64]>>>,
}

/// What was found; `None`: it has to end.
type Found<T, I> = Result<Option<T>, <I as WordIndex>::Error>;

impl<'s, I: WordIndex> Search<'s, I> {
    pub(super) fn new(query: &'s Prepared, index: &'s I, means: &'s dyn Means) -> Self {
        Self { query, index, means, known: RefCell::default() }
    }

    /// The languages that words of the index have.
    fn languages(&self) -> Result<impl Iterator<Item = Language>, I::Error> {
        languages_of(self.index)
    }

    /// What was found before, or else what `find` finds.
    fn once(&self, place: usize, find: impl FnOnce() -> Found<Vec<u64>, I>) -> Found<Rc<[u64]>, I> {
        if let Some(known) = self.known.borrow().get(&place) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(found) = find()? else { return Ok(None) };
        let found: Rc<[u64]> = found.into();
        self.known.borrow_mut().insert(place, Rc::clone(&found));
        Ok(Some(found))
    }

    fn leaf(&self, leaf: &Leaf) -> Found<Texts, I> {
        let Leaf::Phrase { words, .. } = leaf else {
            let Some(words) = self.words_of(leaf)? else { return Ok(None) };
            let set = self.texts_of(&words)?;
            return Ok(set.map(|set| Texts { set, is_exact: true }));
        };
        let mut all: Option<TextSet> = None;
        for word in words {
            let Some(words) = self.words(word)? else { return Ok(None) };
            let Some(set) = self.texts_of(&words)? else { return Ok(None) };
            all = Some(match all {
                Some(all) => self.and(all, set),
                None => set,
            });
            if all.as_ref().is_some_and(TextSet::is_empty) {
                break;
            }
        }
        let set = all.unwrap_or_else(|| TextSet::none(self.index.texts()));
        Ok(Some(Texts { is_exact: set.is_empty(), set }))
    }

    /// The words of an index that make a leaf that is no phrase.
    pub(super) fn words_of(&self, leaf: &Leaf) -> Found<Rc<[u64]>, I> {
        let place = std::ptr::from_ref(leaf).addr();
        match leaf {
            Leaf::Word(word) => self.words(word),
            Leaf::Phrase { .. } => Ok(Some(Rc::default())),
            Leaf::Pattern(pieces) => {
                self.once(place, || self.words_like(&letters(pieces), |word| glob::is_match(pieces, word)))
            }
            Leaf::Fuzzy { word, distance } => self.once(place, || {
                let far = *distance as usize;
                self.words_like("", |other| {
                    word.len().abs_diff(other.len()) <= far * 4 && strsim::osa_distance(word, other) <= far
                })
            }),
        }
    }

    /// The words of all languages that a word of a query is.
    pub(super) fn words(&self, word: &Word) -> Found<Rc<[u64]>, I> {
        self.once(std::ptr::from_ref(word).addr(), || self.find_words(word))
    }

    fn find_words(&self, word: &Word) -> Found<Vec<u64>, I> {
        let mut found = Vec::new();
        for language in self.languages()? {
            found.extend(self.index.find(&key(WORD, language, &word.folded))?);
            let mut names = vec![key(FOLDED, language, &word.folded)];
            if let Some(stemmer) = language.stemmer() {
                let mut reduced = String::new();
                stem(&stemmer, &word.lower, &mut reduced);
                names.push(key(STEM, language, &reduced));
                // Whose stem is the word itself has no other name.
                found.extend(self.own_stem(language, &reduced)?);
            }
            for name in names {
                if let Some(number) = self.index.find(&name)?
                    && !self.named(number, &mut found)?
                {
                    return Ok(None);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(Some(found))
    }

    /// The word that is its own stem.
    fn own_stem(&self, language: Language, reduced: &str) -> Result<Option<u64>, I::Error> {
        let mut is_own = true;
        let key = key(WORD, language, reduced);
        each_name(&key, &mut |name| is_own &= name.first() != Some(&STEM));
        if is_own { self.index.find(&key) } else { Ok(None) }
    }

    /// Words whose folded form is as `is_meant` says, and begins so.
    fn words_like(&self, start: &str, is_meant: impl Fn(&str) -> bool) -> Found<Vec<u64>, I> {
        let (mut found, mut names) = (Vec::new(), Vec::new());
        let mut goes_on = true;
        for language in self.languages()? {
            for kind in [WORD, FOLDED] {
                let mut each = |other: &[u8], number: u64| {
                    let text =
                        other.get(2..).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
                    goes_on = goes_on && self.means.work(text.len() * 8);
                    // A word with accents is found by its other name.
                    let is_folded = kind == FOLDED || text.is_ascii() || folded(text) == text;
                    if goes_on && is_folded && is_meant(text) {
                        if kind == WORD { found.push(number) } else { names.push(number) }
                    }
                    goes_on
                };
                self.index.each_key(&key(kind, language, start), &mut each)?;
            }
        }
        for name in names {
            goes_on = goes_on && self.named(name, &mut found)?;
        }
        found.sort_unstable();
        found.dedup();
        Ok(goes_on.then_some(found))
    }

    /// Appends the words that a name leads to; whether it may go on.
    fn named(&self, name: u64, out: &mut Vec<u64>) -> Result<bool, I::Error> {
        let mut goes_on = true;
        self.index.list(name..name + 1, &mut |words| {
            goes_on = self.means.work(size_of_val(words));
            out.extend_from_slice(words);
            goes_on
        })?;
        Ok(goes_on)
    }

    /// Texts that have any of these words.
    fn texts_of(&self, words: &[u64]) -> Found<TextSet, I> {
        texts_of(self.index, words, u64::MAX, self.means)
    }

    /// Holds as much; never less than before where that is refused.
    fn hold_to(&self, held: &mut usize, bytes: usize) -> bool {
        hold_to(self.means, held, bytes)
    }

    fn and(&self, all: TextSet, next: TextSet) -> TextSet {
        let held = all.bytes() + next.bytes();
        self.means.work(held);
        let both = all.and(&next);
        self.means.release(held.saturating_sub(both.bytes()));
        both
    }

    fn node(&self, node: &Node) -> Found<Texts, I> {
        match node {
            Node::Leaf(leaf, _) => match self.query.query.leaves.get(*leaf) {
                Some(leaf) => self.leaf(leaf),
                None => Ok(Some(Texts { set: TextSet::none(self.index.texts()), is_exact: true })),
            },
            Node::Group(group) => self.group(group),
        }
    }

    pub(super) fn group(&self, group: &Group) -> Found<Texts, I> {
        let mut all: Option<Texts> = None;
        for node in &group.must {
            let Some(next) = self.node(node)? else { return Ok(None) };
            all = Some(match all {
                Some(all) => {
                    Texts { set: self.and(all.set, next.set), is_exact: all.is_exact && next.is_exact }
                }
                None => next,
            });
        }
        let all = match all {
            Some(all) => Some(all),
            None => self.any(&group.should)?,
        };
        let Some(mut all) = all else { return Ok(None) };
        for node in &group.not {
            let Some(unwanted) = self.node(node)? else { return Ok(None) };
            let held = all.set.bytes() + unwanted.set.bytes();
            if unwanted.is_exact {
                all.set = all.set.without(&unwanted.set);
            } else {
                // Which of them are unwanted has to be read.
                all.is_exact = false;
            }
            self.means.release(held.saturating_sub(all.set.bytes()));
            if !self.means.work(held) {
                return Ok(None);
            }
        }
        all.is_exact |= all.set.is_empty();
        Ok(Some(all))
    }

    fn any(&self, nodes: &[Node]) -> Found<Texts, I> {
        let mut union = Union::new(self.index.texts());
        let (mut held, mut is_exact) = (0, true);
        for node in nodes {
            let Some(next) = self.node(node)? else { return Ok(None) };
            is_exact &= next.is_exact;
            let bytes = next.set.bytes();
            if !self.means.work(bytes) || !self.hold_to(&mut held, union.bytes(0) + bytes) {
                return Ok(None);
            }
            union.add_set(&next.set);
            self.means.release(bytes);
        }
        let set = union.finish();
        Ok(self.hold_to(&mut held, set.bytes()).then_some(Texts { set, is_exact }))
    }
}

/// The languages that words of an index have.
pub(super) fn languages_of<I: WordIndex>(
    index: &I,
) -> Result<impl Iterator<Item = Language> + use<I>, I::Error> {
    let bits = index.languages()?;
    Ok(Language::all().filter(move |language| bits >> language.index() & 1 == 1))
}

/// Texts that have any of these words; `None` where it has to end, or more than so many are told.
pub(super) fn texts_of<I: WordIndex>(
    index: &I,
    words: &[u64],
    most: u64,
    means: &dyn Means,
) -> Found<TextSet, I> {
    let mut union = Union::new(index.texts());
    let (mut held, mut told, mut goes_on) = (0, 0, true);
    for run in runs(words) {
        if !goes_on {
            break;
        }
        index.list(run, &mut |texts| {
            told += texts.len() as u64;
            goes_on = told <= most
                && means.work(size_of_val(texts))
                && hold_to(means, &mut held, union.bytes(texts.len()));
            if goes_on {
                union.add(texts);
            }
            goes_on
        })?;
    }
    if !goes_on {
        means.release(held);
        return Ok(None);
    }
    let set = union.finish();
    Ok(hold_to(means, &mut held, set.bytes()).then_some(set))
}

/// Holds as much; never less than before where that is refused.
fn hold_to(means: &dyn Means, held: &mut usize, bytes: usize) -> bool {
    if bytes > *held && !means.hold(bytes - *held) {
        return false;
    }
    means.release(held.saturating_sub(bytes));
    *held = bytes;
    true
}

/// Numbers, ascending, as ranges: neighbours are read together.
pub(super) fn runs(numbers: &[u64]) -> impl Iterator<Item = Range<u64>> + '_ {
    numbers.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some(*run.first()?..run.last()? + 1))
}

/// The letters that a pattern begins with.
fn letters(pieces: &[Piece]) -> String {
    pieces.iter().map_while(|piece| if let Piece::Char(c) = piece { Some(*c) } else { None }).collect()
}
