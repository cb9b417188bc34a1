//! How well texts match, by an index: exact where it tells enough, else no less than they do.

use super::search::Search;
use super::set::TextSet;
use super::{COUNT_MAX, LENGTHS, Means, WordIndex};
use crate::prepared::Prepared;
use crate::query::Leaf;
use crate::score::{bound, score};

/// A text and how well it matches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The text.
    pub text: u64,
    /// Its score, or as much as it has at most.
    pub score: f64,
    /// Whether that is its score: else it may not even match.
    pub is_exact: bool,
}

/// What texts have of a query: a row of counts for each leaf, by place in the list of texts.
struct Counts {
    texts: Vec<u64>,
    leaves: Vec<Vec<u32>>,
    lengths: Vec<u32>,
}

impl Prepared {
    /// Calls `found` with each text that may match and how well it does; false where `means` says no. What is held is released.
    ///
    /// # Errors
    ///
    /// Where the index cannot be read.
    pub fn ranked_in<I: WordIndex>(
        &self,
        index: &I,
        means: &dyn Means,
        found: &mut dyn FnMut(Ranked),
    ) -> Result<bool, I::Error> {
        let search = Search::new(self, index, means);
        let Some(all) = self.texts_in(index, means)? else { return Ok(false) };
        means.release(all.set.bytes());
        let leaves = self.query.leaves.len();
        let per_text = size_of::<u64>() + size_of::<u32>() * (leaves + 1);
        let bytes = usize::try_from(all.set.len()).unwrap_or(usize::MAX).saturating_mul(per_text);
        if !means.hold(bytes) {
            return Ok(false);
        }
        let counts = self.counts(&search, &all.set)?;
        if let Some(counts) = &counts {
            self.rank(counts, all.is_exact, found);
        }
        means.release(bytes);
        Ok(counts.is_some())
    }

    fn counts<I: WordIndex>(
        &self,
        search: &Search<'_, I>,
        set: &TextSet,
    ) -> Result<Option<Counts>, I::Error> {
        let texts: Vec<u64> = set.iter().collect();
        let mut leaves = Vec::with_capacity(self.query.leaves.len());
        for leaf in &self.query.leaves {
            let Some(words) = search.words_of(leaf)? else { return Ok(None) };
            let mut counts = vec![0_u32; texts.len()];
            for word in words {
                if !add(search, word, &texts, &mut counts)? {
                    return Ok(None);
                }
            }
            leaves.push(counts);
        }
        let mut lengths = vec![0_u32; texts.len()];
        match search.index.find(LENGTHS)? {
            Some(number) if add(search, number, &texts, &mut lengths)? => {}
            _ => return Ok(None),
        }
        Ok(Some(Counts { texts, leaves, lengths }))
    }

    fn rank(&self, counts: &Counts, is_exact: bool, found: &mut dyn FnMut(Ranked)) {
        let root = &self.query.root;
        let is_phrase: Vec<bool> =
            self.query.leaves.iter().map(|leaf| matches!(leaf, Leaf::Phrase { .. })).collect();
        let is_exact = is_exact && !is_phrase.contains(&true);
        let mut row = vec![0_u32; counts.leaves.len()];
        for (place, (text, length)) in counts.texts.iter().zip(&counts.lengths).enumerate() {
            for (count, leaf) in row.iter_mut().zip(&counts.leaves) {
                *count = leaf.get(place).copied().unwrap_or(0);
            }
            let is_told = |count: &u32| u64::from(*count) < COUNT_MAX;
            let is_exact = is_exact && is_told(length) && row.iter().all(is_told);
            let score = if is_exact {
                score(root, &row, *length)
            } else {
                let has = |leaf: usize| row.get(leaf).is_some_and(|count| *count > 0);
                bound(root, &|leaf| has(leaf) || is_phrase.get(leaf).is_some_and(|is| *is))
            };
            found(Ranked { text: *text, score, is_exact });
        }
    }
}

/// Adds how often texts, ascending, have a word; false where it may not go on.
fn add<I: WordIndex>(
    search: &Search<'_, I>,
    word: u64,
    texts: &[u64],
    counts: &mut [u32],
) -> Result<bool, I::Error> {
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return Ok(true) };
    let (mut at, mut goes_on) = (0, true);
    search.index.counts(word, *first..*last + 1, &mut |numbers, times| {
        goes_on = search.means.work(size_of_val(numbers) * 2);
        for (number, times) in numbers.iter().zip(times) {
            at = place(texts, at, *number);
            if texts.get(at) == Some(number)
                && let Some(count) = counts.get_mut(at)
            {
                *count = count.saturating_add(u32::try_from(*times).unwrap_or(u32::MAX));
            }
        }
        goes_on
    })?;
    Ok(goes_on)
}

/// The first place from `at` on that is not before `text`.
fn place(texts: &[u64], mut at: usize, text: u64) -> usize {
    let mut step = 1;
    while texts.get(at + step).is_some_and(|other| *other < text) {
        at += step;
        step *= 2;
    }
    let window = texts.get(at..(at + step + 1).min(texts.len())).unwrap_or_default();
    at + window.partition_point(|other| *other < text)
}
