//! Texts that may have strings in them, by an index of words: what of these strings stands in single words is looked for among the words of the index.

use super::search::{languages_of, texts_of};
use super::set::{TextSet, Union};
use super::{Means, WITHOUT_KEY, WORD, WordIndex, key};
use crate::parts::{Parts, Piece};

/// So many times as many words as texts are looked at, in the time in which few of these would be read.
const WORDS_PER_TEXT: u64 = 2;
/// To look for so many pieces in a word takes about as long as to read it.
const PIECES_PER_WORD: u64 = 4;
/// Of so many texts one list is opened: that takes about as long as to read some of them.
const TEXTS_PER_LIST: u64 = 100;
/// Texts of which one is enough: it is no use to look for more that they all must have.
const TEXTS_FEW: u64 = 1 << 10;
/// Pieces that are looked for, and parts that all must be there: the longest, which few texts have.
const PIECES_MAX: usize = 32;
const ALL_MAX: usize = 8;
/// So many words that have a piece tell how often it is: these are counted, so many of them,
const WORDS_TOLD: usize = 64;
const WORDS_COUNTED: usize = 8;
/// and as much more than is allowed means that there are too many, whatever else is found.
const TOO_MANY: u64 = 4;

/// Words that have a piece: none where they are too many.
type Words = Option<Vec<u64>>;

/// What is looked for of [`Parts`].
enum Wanted {
    All(Vec<Wanted>),
    Any(Vec<Wanted>),
    /// These of a part, the longest first.
    Pieces(Vec<Piece>),
}

impl Wanted {
    /// What is looked for, where so many pieces may be looked for in each word; none where that is nothing, or too much.
    fn of(parts: &Parts, looks_max: usize) -> Option<Self> {
        match parts {
            Parts::Part(part) => {
                let mut looks = looks_max;
                let mut pieces = part.pieces();
                pieces.retain(|piece| {
                    let is_wanted = piece.is_beginning() || looks > 0;
                    looks -= usize::from(is_wanted && !piece.is_beginning());
                    is_wanted
                });
                (!pieces.is_empty()).then_some(Self::Pieces(pieces))
            }
            Parts::All(parts) => {
                let mut all: Vec<Self> = parts.iter().filter_map(|part| Self::of(part, looks_max)).collect();
                all.sort_by_key(|wanted| std::cmp::Reverse(wanted.letters()));
                all.truncate(ALL_MAX);
                let mut looks = 0;
                all.retain(|wanted| {
                    let is_wanted = looks + wanted.looks() <= looks_max;
                    looks += if is_wanted { wanted.looks() } else { 0 };
                    is_wanted
                });
                (!all.is_empty()).then_some(Self::All(all))
            }
            Parts::Any(parts) => {
                let any =
                    parts.iter().map(|part| Self::of(part, looks_max)).collect::<Option<Vec<Self>>>()?;
                let any = Self::Any(any);
                (any.looks() <= looks_max && any.letters() > 0).then_some(any)
            }
        }
    }

    /// Pieces that are looked for in each word.
    fn looks(&self) -> usize {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().map(Self::looks).sum(),
            Self::Pieces(pieces) => pieces.iter().filter(|piece| !piece.is_beginning()).count(),
        }
    }

    /// Letters that a text that has it has at least in one piece: the more, the fewer texts.
    fn letters(&self) -> usize {
        match self {
            Self::All(all) => all.iter().map(Self::letters).max().unwrap_or(0),
            Self::Any(any) => any.iter().map(Self::letters).min().unwrap_or(0),
            Self::Pieces(pieces) => pieces.first().map_or(0, |piece| piece.letters.len()),
        }
    }

    /// Appends all pieces.
    fn pieces<'w>(&'w self, out: &mut Vec<&'w Piece>) {
        match self {
            Self::All(all) | Self::Any(all) => all.iter().for_each(|wanted| wanted.pieces(out)),
            Self::Pieces(pieces) => out.extend(pieces),
        }
    }
}

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
        let (words, words_max) = (index.keys().max(1), texts.saturating_mul(WORDS_PER_TEXT));
        let looks_max = if words > words_max { 0 } else { words_max.saturating_mul(PIECES_PER_WORD) / words };
        let looks_max = usize::try_from(looks_max).unwrap_or(PIECES_MAX).min(PIECES_MAX);
        let Some(wanted) = Wanted::of(self, looks_max) else { return Ok(None) };
        let mut pieces = Vec::new();
        wanted.pieces(&mut pieces);
        if pieces.len() > PIECES_MAX {
            return Ok(None);
        }
        let looking = Looking { index, means, texts };
        let mut words = looking.beginnings(&pieces)?;
        looking.others(&pieces, &mut words)?;
        let Some(found) = looking.texts(&wanted, &mut words.iter())? else { return Ok(None) };
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

    /// As many texts are told at most: more than half of them are no help.
    fn told_max(&self) -> u64 {
        self.texts / 2
    }

    /// Whether so many texts have words, of which some are counted, that it does not pay to look for more of them: a part of all words was looked at.
    fn are_too_many(&self, words: &[u64], looked_at: u64) -> Result<bool, I::Error> {
        let (mut counted, mut told) = (0_u64, 0_u64);
        for word in words.iter().step_by((words.len() / WORDS_COUNTED).max(1)) {
            told = told.saturating_add(self.index.count(*word..*word + 1)?);
            counted += 1;
        }
        let so_far = told.saturating_mul(words.len() as u64) / counted.max(1);
        let all = u128::from(so_far) * u128::from(self.index.keys()) / u128::from(looked_at.max(1));
        Ok(all > u128::from(self.told_max() * TOO_MANY))
    }

    /// The words of pieces that words begin with.
    fn beginnings(&self, pieces: &[&Piece]) -> Result<Vec<Words>, I::Error> {
        let mut all = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let mut words = piece.is_beginning().then(Vec::new);
            for language in languages_of(self.index)? {
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
    fn others(&self, pieces: &[&Piece], words: &mut [Words]) -> Result<(), I::Error> {
        let mut wanted: Vec<(usize, &Piece, u64)> = Vec::with_capacity(pieces.len());
        wanted.extend(pieces.iter().enumerate().map(|(at, piece)| (at, *piece, letters_of(&piece.letters))));
        wanted.retain(|(_, piece, _)| !piece.is_beginning());
        if wanted.is_empty() {
            return Ok(());
        }
        for (at, ..) in &wanted {
            words.get_mut(*at).into_iter().for_each(|words| *words = Some(Vec::new()));
        }
        let (most, mut goes_on, mut looked_at, mut failed) = (self.words_max(), true, 0_u64, None);
        self.index.each_key(&[WORD], &mut |word, number| {
            let word = word.get(2..).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
            looked_at += 1;
            let letters = letters_of(word);
            // A long s may stand for one that the word has not.
            let is_told = word.is_ascii();
            wanted.retain(|(at, piece, own)| {
                if is_told && own & !letters != 0 || !piece.is_in(word) {
                    return true;
                }
                let Some(Some(found)) = words.get_mut(*at) else { return false };
                found.push(number);
                let are_told = found.len() >= WORDS_TOLD && found.len().is_power_of_two();
                let are_too_many = are_told
                    && self.are_too_many(found, looked_at).unwrap_or_else(|error| {
                        failed.get_or_insert(error);
                        true
                    });
                !are_too_many && found.len() <= most
            });
            goes_on = self.means.work(word.len() * wanted.len());
            goes_on && !wanted.is_empty()
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if !goes_on {
            wanted.clear();
        }
        for (at, words) in words.iter_mut().enumerate() {
            let is_whole =
                |piece: &Piece| piece.is_beginning() || wanted.iter().any(|(other, ..)| *other == at);
            if pieces.get(at).is_some_and(|piece| !is_whole(piece)) {
                *words = None;
            }
        }
        Ok(())
    }

    /// The texts that may have what is wanted, the words of whose pieces are next among these; `None` where that is all.
    fn texts<'w>(
        &self,
        wanted: &Wanted,
        words: &mut impl Iterator<Item = &'w Words>,
    ) -> Result<Option<TextSet>, I::Error> {
        let is_few = |all: &Option<TextSet>| all.as_ref().is_some_and(|all| all.len() <= TEXTS_FEW);
        match wanted {
            Wanted::Pieces(pieces) => {
                let mut all = None;
                // Whatever comes of them, those of this part are gone over.
                let own: Vec<&Words> = words.by_ref().take(pieces.len()).collect();
                for words in own.into_iter().flatten() {
                    if is_few(&all) {
                        break;
                    }
                    let next = self.texts_of(words)?;
                    all = self.both(all, next);
                }
                Ok(all)
            }
            Wanted::All(parts) => {
                let mut all = None;
                for part in parts {
                    if is_few(&all) {
                        let mut pieces = Vec::new();
                        part.pieces(&mut pieces);
                        words.by_ref().take(pieces.len()).for_each(drop);
                        continue;
                    }
                    let next = self.texts(part, words)?;
                    all = self.both(all, next);
                }
                Ok(all)
            }
            Wanted::Any(parts) => {
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
        texts_of(self.index, words, self.told_max(), self.means)
    }
}

/// A bit for each byte that is in a text, some of which share one: what lacks one of them has no such string.
fn letters_of(text: &str) -> u64 {
    text.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63))
}
