//! Which texts a query may find, by an index of words: what such an index has for keys, and how parts of queries come together as sets of texts.
//!
//! An index has a list of texts for each *word* of each language, in lower case. Words that are written otherwise and are the same without accents, and words
//! of one stem, are found by *names*: keys that lead to words. So a list is there once, and patterns find words by their letters.

use crate::analysis::{Language, WORD_BYTES_MAX, fold, folded, stem, words};
use crate::glob::{self, Piece};
use crate::prepared::Prepared;
use crate::query::{Group, Leaf, Node, Word};
use std::cell::Cell;
use std::rc::Rc;

/// What a key begins with, and behind that a letter for the language.
const WORD: u8 = b'w';
const FOLDED: u8 = b'f';
const STEM: u8 = b's';

/// Grows with each change of what the words of a text are: an index of another number is of no use.
pub const ANALYSIS_VERSION: u32 = 1;

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

/// Calls `found` with the keys of a text's words, as often as they occur.
pub fn each_word(text: &str, language: Language, found: &mut impl FnMut(&[u8])) {
    let (mut out, mut bytes) = (String::new(), Vec::new());
    for (_, word) in words(text) {
        fold(word, &mut out);
        if out.len() > WORD_BYTES_MAX {
            continue;
        }
        begin(WORD, language, &mut bytes);
        if word.is_ascii() {
            bytes.extend_from_slice(out.as_bytes());
        } else {
            bytes.extend_from_slice(word.to_lowercase().as_bytes());
        }
        found(&bytes);
    }
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
    /// How many texts a word has, or words a name.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn count(&self, number: u64) -> Result<u64, Self::Error>;
    /// Appends these, ascending.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    fn list(&self, number: u64, out: &mut Vec<u64>) -> Result<(), Self::Error>;
}

/// What an index says of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// Texts, ascending: all that match.
    pub texts: Vec<u64>,
    /// Whether all of them match.
    pub is_exact: bool,
}

impl Prepared {
    /// The texts that match, by an index, and perhaps others; `None` where more than `most` would have to be looked at, or `spend` says no.
    ///
    /// # Errors
    ///
    /// Where the index cannot be read.
    pub fn texts_in<I: WordIndex>(
        &self,
        index: &I,
        most: u64,
        spend: &dyn Fn(usize) -> Option<()>,
    ) -> Result<Option<Texts>, I::Error> {
        let leaves = self.query.leaves.iter().map(|_| None).collect();
        let mut search = Search { index, left: most, spend, is_over: Cell::new(false), leaves };
        for (number, leaf) in self.query.leaves.iter().enumerate() {
            let found = search.leaf(leaf)?;
            if search.is_over.get() {
                return Ok(None);
            }
            if let Some(slot) = search.leaves.get_mut(number) {
                *slot = Some(Rc::new(found));
            }
        }
        let found = search.group(&self.query.root);
        Ok((!search.is_over.get()).then_some(found))
    }
}

struct Search<'i, I> {
    index: &'i I,
    /// Texts that may still be looked at.
    left: u64,
    spend: &'i dyn Fn(usize) -> Option<()>,
    is_over: Cell<bool>,
    leaves: Vec<Option<Rc<Texts>>>,
}

impl<I: WordIndex> Search<'_, I> {
    fn spend(&self, work: usize) -> bool {
        let goes_on = !self.is_over.get() && (self.spend)(work).is_some();
        self.is_over.set(!goes_on);
        goes_on
    }

    fn leaf(&mut self, leaf: &Leaf) -> Result<Texts, I::Error> {
        match leaf {
            Leaf::Word(word) => {
                let words = self.words(word)?;
                Ok(Texts { texts: self.texts_of(words)?, is_exact: true })
            }
            Leaf::Phrase { words, .. } => {
                let mut all: Option<Vec<u64>> = None;
                for word in words {
                    let words = self.words(word)?;
                    let texts = self.texts_of(words)?;
                    all = Some(match all {
                        Some(all) => both(&all, &texts),
                        None => texts,
                    });
                    if self.is_over.get() || all.as_ref().is_some_and(Vec::is_empty) {
                        break;
                    }
                }
                let texts = all.unwrap_or_default();
                Ok(Texts { is_exact: texts.is_empty(), texts })
            }
            Leaf::Pattern(pieces) => {
                let words = self.words_like(&letters(pieces), |word| glob::is_match(pieces, word))?;
                Ok(Texts { texts: self.texts_of(words)?, is_exact: true })
            }
            Leaf::Fuzzy { word, distance } => {
                let far = *distance as usize;
                let words = self.words_like("", |other| {
                    word.len().abs_diff(other.len()) <= far * 4 && strsim::osa_distance(word, other) <= far
                })?;
                Ok(Texts { texts: self.texts_of(words)?, is_exact: true })
            }
        }
    }

    /// The words of all languages that a word of a query is.
    fn words(&mut self, word: &Word) -> Result<Vec<u64>, I::Error> {
        let mut found = Vec::new();
        for language in Language::all() {
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
                if let Some(number) = self.index.find(&name)? {
                    self.take(number, &mut found)?;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The word that is its own stem.
    fn own_stem(&self, language: Language, reduced: &str) -> Result<Option<u64>, I::Error> {
        let mut is_own = true;
        let key = key(WORD, language, reduced);
        each_name(&key, &mut |name| is_own &= name.first() != Some(&STEM));
        if is_own { self.index.find(&key) } else { Ok(None) }
    }

    /// Words whose folded form is as `is_meant` says, and begins so.
    fn words_like(&mut self, start: &str, is_meant: impl Fn(&str) -> bool) -> Result<Vec<u64>, I::Error> {
        let (mut found, mut names) = (Vec::new(), Vec::new());
        for language in Language::all() {
            for kind in [WORD, FOLDED] {
                let mut each = |other: &[u8], number: u64| {
                    let text =
                        other.get(2..).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
                    let goes_on = self.spend(text.len() * 8);
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
            self.take(name, &mut found)?;
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Appends a list, unless there is no room for it.
    fn take(&mut self, number: u64, out: &mut Vec<u64>) -> Result<(), I::Error> {
        let count = self.index.count(number)?;
        match self.left.checked_sub(count) {
            Some(left) if self.spend(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(8)) => {
                self.left = left;
                self.index.list(number, out)
            }
            _ => {
                self.is_over.set(true);
                Ok(())
            }
        }
    }

    fn texts_of(&mut self, words: Vec<u64>) -> Result<Vec<u64>, I::Error> {
        let one = words.len() == 1;
        let mut texts = Vec::new();
        for word in words {
            if self.is_over.get() {
                break;
            }
            self.take(word, &mut texts)?;
        }
        if !one {
            texts.sort_unstable();
            texts.dedup();
        }
        Ok(texts)
    }

    fn node(&self, node: &Node) -> Rc<Texts> {
        match node {
            Node::Leaf(leaf, _) => self.leaves.get(*leaf).cloned().flatten().unwrap_or_default(),
            Node::Group(group) => Rc::new(self.group(group)),
        }
    }

    fn group(&self, group: &Group) -> Texts {
        let mut all: Option<Texts> = None;
        for node in &group.must {
            let next = self.node(node);
            self.spend(next.texts.len() * 8);
            all = Some(match all {
                Some(all) => {
                    Texts { texts: both(&all.texts, &next.texts), is_exact: all.is_exact && next.is_exact }
                }
                None => Texts::clone(&next),
            });
        }
        let mut all = all.unwrap_or_else(|| {
            let mut any = Texts { texts: Vec::new(), is_exact: true };
            for node in &group.should {
                let next = self.node(node);
                if !self.spend(next.texts.len() * 8) {
                    break;
                }
                any.texts.extend_from_slice(&next.texts);
                any.is_exact &= next.is_exact;
            }
            any.texts.sort();
            any.texts.dedup();
            any
        });
        for node in &group.not {
            let not = self.node(node);
            self.spend(not.texts.len() * 8);
            if not.is_exact {
                all.texts = without(&all.texts, &not.texts);
            } else {
                all.is_exact = false;
            }
        }
        all.is_exact |= all.texts.is_empty();
        all
    }
}

/// The letters that a pattern begins with.
fn letters(pieces: &[Piece]) -> String {
    pieces.iter().map_while(|piece| if let Piece::Char(c) = piece { Some(*c) } else { None }).collect()
}

fn both(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut rest = many;
    let mut out = Vec::with_capacity(few.len());
    for text in few {
        rest = behind(rest, *text);
        if rest.first() == Some(text) {
            out.push(*text);
        }
    }
    out
}

fn without(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut rest = b;
    let kept = a.iter().copied().filter(|text| {
        rest = behind(rest, *text);
        rest.first() != Some(text)
    });
    kept.collect()
}

/// What is not before `text`, found in steps that grow.
fn behind(list: &[u64], text: u64) -> &[u64] {
    let mut step = 1;
    while list.get(step).is_some_and(|at| *at < text) {
        step *= 2;
    }
    let window = list.get(..(step + 1).min(list.len())).unwrap_or(list);
    list.get(window.partition_point(|at| *at < text)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    //! By an index in memory as by reading all texts.
    use super::*;
    use crate::{Dialect, Matcher};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::convert::Infallible;

    #[derive(Default)]
    struct Memory(Vec<(Vec<u8>, BTreeSet<u64>)>);

    impl Memory {
        fn of(texts: &[(String, &str)]) -> Self {
            let mut words: BTreeMap<Vec<u8>, BTreeSet<u64>> = BTreeMap::new();
            for (number, (text, tag)) in texts.iter().enumerate() {
                each_word(text, Language::of_tag(tag), &mut |key| {
                    words.entry(key.to_vec()).or_default().insert(number as u64);
                });
            }
            let mut names: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for word in words.keys() {
                each_name(word, &mut |name| names.push((name.to_vec(), word.clone())));
            }
            for (name, _) in &names {
                words.entry(name.clone()).or_default();
            }
            let keys: Vec<Vec<u8>> = words.keys().cloned().collect();
            let number = |key: &Vec<u8>| keys.binary_search(key).expect("a key") as u64;
            for (name, word) in &names {
                words.get_mut(name).expect("a name").insert(number(word));
            }
            Self(words.into_iter().collect())
        }
    }

    impl WordIndex for Memory {
        type Error = Infallible;
        fn find(&self, key: &[u8]) -> Result<Option<u64>, Infallible> {
            Ok(self.0.iter().position(|(own, _)| own == key).map(|at| at as u64))
        }
        fn each_key(
            &self,
            start: &[u8],
            found: &mut dyn FnMut(&[u8], u64) -> bool,
        ) -> Result<(), Infallible> {
            for (number, (key, _)) in self.0.iter().enumerate() {
                if key.starts_with(start) && !found(key, number as u64) {
                    break;
                }
            }
            Ok(())
        }
        fn count(&self, number: u64) -> Result<u64, Infallible> {
            Ok(self.0[number as usize].1.len() as u64)
        }
        fn list(&self, number: u64, out: &mut Vec<u64>) -> Result<(), Infallible> {
            out.extend(&self.0[number as usize].1);
            Ok(())
        }
    }

    const TEXT: &str = "((fox|foxes|dog|dogs|run|running|runs|Café|cafe|cafes|日本|日|häuser|Haus|hauser|don't|été|ete|étés)( |, |-)){0,7}";
    const QUERY: &str = "[+-]?(fox|dogs|ran|run|running|cafe|CAFÉ|日本|haus|Häuser|don't|\"fox dog\"|\"run dogs\"~3|fo[*]|[*]s|d[?]g|caf[*]|h[*]r|runing~|fix~1|été|[(]fox -dog[)]|[(][+]run cafe[)])( (AND |OR |)[+-]?(fox|dogs|run|cafe|haus|dog[*]|étés)){0,3}";

    proptest! {
        #[test]
        fn an_index_finds_what_reading_finds(
            texts in proptest::collection::vec((TEXT, proptest::sample::select(vec!["", "en", "de", "fr", "zh"])), 0..12),
            query in QUERY,
        ) {
            let Ok(prepared) = Prepared::parse(&query, Dialect::Lucene) else { return Ok(()) };
            let index = Memory::of(&texts);
            let found = prepared.texts_in(&index, 1 << 20, &|_| Some(())).expect("in memory").expect("few");
            let mut matcher = Matcher::new(&prepared);
            let mut is_match = |number: &u64| {
                let (text, tag) = &texts[*number as usize];
                matcher.is_match(text, Language::of_tag(tag), |_| Some(())).expect("not cancelled")
            };
            let expected: Vec<u64> = (0..texts.len() as u64).filter(&mut is_match).collect();
            if found.is_exact {
                prop_assert_eq!(&found.texts, &expected, "{}", query);
            } else {
                prop_assert!(expected.iter().all(|text| found.texts.contains(text)), "{query}: {found:?} {expected:?}");
            }
            let few = prepared.texts_in(&index, 0, &|_| Some(())).expect("in memory");
            prop_assert!(few.is_none_or(|few| few.texts.is_empty()));
        }
    }
}
