//! Texts that may have strings in them, by an index of words: what of these strings stands in single words is looked for among the words of the index.

use super::search::texts_of;
use super::set::{TextSet, Union};
use super::{Means, WITHOUT_KEY, WORD, WordIndex, key};
use crate::analysis::Language;
use crate::parts::{Part, Parts, Piece};

/// So many times as many words as texts are looked at, in the time in which few of these would be read.
const WORDS_PER_TEXT: u64 = 2;
/// Of so many texts one list is opened: that takes about as long as to read some of them.
const TEXTS_PER_LIST: u64 = 100;
/// Texts of which one is enough: it is no use to look for more that they all must have.
const TEXTS_FEW: u64 = 1 << 10;
/// Pieces that are looked for.
const PIECES_MAX: usize = 32;

/// Words that have a piece: none where they are too many.
type Words = Option<Vec<u64>>;

impl Parts {
    /// The texts that may have these, where so many texts would be read otherwise; `None` where it is better to read them, or `means` says no.
    ///
    /// # Errors
    ///
    /// Where the index cannot be read.
    pub fn texts_in<I: WordIndex>(
        &self,
        index: &I,
        texts: u64,
        means: &dyn Means,
    ) -> Result<Option<TextSet>, I::Error> {
        let mut pieces = Vec::new();
        self.each_part(&mut |part| pieces.extend(part.pieces()));
        if pieces.is_empty() || pieces.len() > PIECES_MAX {
            return Ok(None);
        }
        let looking = Looking { index, means, texts };
        let mut words = looking.beginnings(&pieces)?;
        looking.others(&pieces, &mut words)?;
        let mut numbers = pieces.iter().zip(words.iter());
        let Some(found) = looking.texts(self, &mut numbers)? else { return Ok(None) };
        // Nobody knows what else these have.
        let without = looking.index.find(WITHOUT_KEY)?;
        let Some(more) = looking.texts_of(without.as_slice())? else {
            means.release(found.bytes());
            return Ok(None);
        };
        let mut union = Union::new(index.texts());
        union.add_set(&found);
        union.add_set(&more);
        let all = union.finish();
        means.release(found.bytes() + more.bytes());
        Ok(means.hold(all.bytes()).then_some(all))
    }

    /// Calls `found` with each part.
    fn each_part(&self, found: &mut dyn FnMut(&Part)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_part(found)),
            Self::Part(part) => found(part),
        }
    }
}

struct Looking<'l, I> {
    index: &'l I,
    means: &'l dyn Means,
    /// How many texts would be read otherwise.
    texts: u64,
}

impl<I: WordIndex> Looking<'_, I> {
    fn words_max(&self) -> usize {
        usize::try_from(self.texts / TEXTS_PER_LIST).unwrap_or(usize::MAX)
    }

    /// The words of pieces that words begin with.
    fn beginnings(&self, pieces: &[Piece]) -> Result<Vec<Words>, I::Error> {
        let mut all = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut words = piece.is_beginning().then(Vec::new);
            for language in Language::all() {
                let Some(found) = words.as_mut() else { break };
                let start = key(WORD, language, &piece.letters);
                if piece.ends {
                    found.extend(self.index.find(&start)?);
                    continue;
                }
                let mut fits = true;
                self.index.each_key(&start, &mut |_, number| {
                    found.push(number);
                    fits = found.len() <= self.words_max() && self.means.work(start.len() * 8);
                    fits
                })?;
                if !fits {
                    words = None;
                }
            }
            all.push(words);
        }
        Ok(all)
    }

    /// The words of all others, by one look at each word.
    fn others(&self, pieces: &[Piece], words: &mut [Words]) -> Result<(), I::Error> {
        let mut wanted: Vec<(usize, &Piece)> =
            pieces.iter().enumerate().filter(|(_, piece)| !piece.is_beginning()).collect();
        if wanted.is_empty() || self.index.keys() > self.texts.saturating_mul(WORDS_PER_TEXT) {
            return Ok(());
        }
        for (at, _) in &wanted {
            words.get_mut(*at).into_iter().for_each(|words| *words = Some(Vec::new()));
        }
        let (most, mut goes_on) = (self.words_max(), true);
        self.index.each_key(&[WORD], &mut |word, number| {
            let word = word.get(2..).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
            wanted.retain(|(at, piece)| {
                let Some(Some(found)) = words.get_mut(*at) else { return false };
                if piece.is_in(word) {
                    found.push(number);
                }
                found.len() <= most
            });
            goes_on = self.means.work(word.len() * wanted.len());
            goes_on && !wanted.is_empty()
        })?;
        if !goes_on {
            wanted.clear();
        }
        for (at, words) in words.iter_mut().enumerate() {
            let is_whole =
                |piece: &Piece| piece.is_beginning() || wanted.iter().any(|(other, _)| *other == at);
            if pieces.get(at).is_some_and(|piece| !is_whole(piece)) {
                *words = None;
            }
        }
        Ok(())
    }

    /// The texts that may have parts, whose pieces are next among these; `None` where that is all.
    fn texts<'p>(
        &self,
        parts: &Parts,
        words: &mut impl Iterator<Item = (&'p Piece, &'p Words)>,
    ) -> Result<Option<TextSet>, I::Error> {
        match parts {
            Parts::Part(part) => {
                let mut all = None;
                // Whatever comes of them, those of this part are gone over.
                let own: Vec<&Words> =
                    words.by_ref().take(part.pieces().len()).map(|(_, words)| words).collect();
                for words in own.into_iter().flatten() {
                    if all.as_ref().is_some_and(|all: &TextSet| all.len() <= TEXTS_FEW) {
                        break;
                    }
                    let next = self.texts_of(words)?;
                    all = self.both(all, next);
                }
                Ok(all)
            }
            Parts::All(parts) => {
                let mut all = None;
                for part in parts {
                    let next = self.texts(part, words)?;
                    all = self.both(all, next);
                }
                Ok(all)
            }
            Parts::Any(parts) => {
                let mut union = Union::new(self.index.texts());
                let (mut held, mut is_whole) = (0, !parts.is_empty());
                for part in parts {
                    match self.texts(part, words)? {
                        Some(next) => {
                            union.add_set(&next);
                            held += next.bytes();
                        }
                        None => is_whole = false,
                    }
                }
                let all = union.finish();
                self.means.release(held);
                Ok((is_whole && self.means.hold(all.bytes())).then_some(all))
            }
        }
    }

    fn both(&self, all: Option<TextSet>, next: Option<TextSet>) -> Option<TextSet> {
        match (all, next) {
            (Some(all), Some(next)) => {
                let held = all.bytes() + next.bytes();
                let both = all.and(&next);
                self.means.release(held.saturating_sub(both.bytes()));
                Some(both)
            }
            (all, next) => all.or(next),
        }
    }

    fn texts_of(&self, words: &[u64]) -> Result<Option<TextSet>, I::Error> {
        // More than half of them are no help.
        texts_of(self.index, words, self.texts / 2, self.means)
    }
}
