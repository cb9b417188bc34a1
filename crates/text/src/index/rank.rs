//! How well texts match, by an index: exact where it tells enough, else no less than they do.

use super::search::{Search, runs};
use super::set::{TextSet, behind};
use super::{COUNT_MAX, Means, WordIndex};
use crate::prepared::Prepared;
use crate::query::Leaf;
use crate::score::{bound, score};

/// Lists of so many words are counted by text, for all texts that there are, where these are not so many times as many as those that are ranked.
const LISTS_MANY: usize = 8;
const TEXTS_MANY: u64 = 32;

/// What is so many times longer than the other is searched, and not gone over.
const FEW: usize = 32;

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

/// What texts have of a query: a row of counts for each leaf, by place in the list of texts. Of a phrase, as many as there can be of it.
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
        let Some(all) = search.group(&self.query.root)? else { return Ok(false) };
        let leaves = self.query.leaves.len();
        // Phrases and lists of many words are counted beside the rest.
        let per_text = size_of::<u64>() + size_of::<u32>() * (leaves + 3);
        let texts = usize::try_from(all.set.len()).unwrap_or(usize::MAX);
        let bytes = texts.saturating_mul(per_text);
        let is_held = means.hold(bytes);
        means.release(all.set.bytes());
        if !is_held {
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
            let Some(counts) = search.counts_of(leaf, &texts)? else { return Ok(None) };
            leaves.push(counts);
        }
        let lengths = search.lengths_of(&texts)?;
        Ok(lengths.map(|lengths| Counts { texts, leaves, lengths }))
    }

    fn rank(&self, counts: &Counts, is_exact: bool, found: &mut dyn FnMut(Ranked)) {
        let root = &self.query.root;
        let has_phrase = self.query.leaves.iter().any(|leaf| matches!(leaf, Leaf::Phrase { .. }));
        let is_exact = is_exact && !has_phrase;
        let mut row = vec![0_u32; counts.leaves.len()];
        for (place, (text, length)) in counts.texts.iter().zip(&counts.lengths).enumerate() {
            for (count, leaf) in row.iter_mut().zip(&counts.leaves) {
                *count = leaf.get(place).copied().unwrap_or(0);
            }
            let is_told = |count: &u32| u64::from(*count) < COUNT_MAX;
            let is_exact = is_exact && is_told(length) && row.iter().all(is_told);
            let score =
                if is_exact { score(root, &row, *length) } else { bound(root, &row, *length, &is_told) };
            found(Ranked { text: *text, score, is_exact });
        }
    }
}

impl<I: WordIndex> Search<'_, I> {
    /// How often these texts have a leaf; of a phrase, as often as they can have it. `None` where it may not go on.
    fn counts_of(&self, leaf: &Leaf, texts: &[u64]) -> Result<Option<Vec<u32>>, I::Error> {
        let Leaf::Phrase { words, slop } = leaf else {
            let Some(words) = self.words_of(leaf)? else { return Ok(None) };
            return self.counts_of_words(&words, texts);
        };
        // No more of it than of the word of it that there is least of; where words may be apart, each of them may end one.
        let mut least: Option<Vec<u32>> = None;
        for word in words {
            let Some(numbers) = self.words(word)? else { return Ok(None) };
            let Some(counts) = self.counts_of_words(&numbers, texts)? else { return Ok(None) };
            match &mut least {
                Some(least) => least.iter_mut().zip(counts).for_each(|(least, count)| {
                    *least = if *slop > 0 { least.saturating_add(count) } else { count.min(*least) };
                }),
                None => least = Some(counts),
            }
        }
        Ok(Some(least.unwrap_or_else(|| vec![0; texts.len()])))
    }

    fn counts_of_words(&self, words: &[u64], texts: &[u64]) -> Result<Option<Vec<u32>>, I::Error> {
        let mut counts = vec![0_u32; texts.len()];
        let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return Ok(Some(counts)) };
        let mut goes_on = true;
        if words.len() > LISTS_MANY && (last - first) / TEXTS_MANY <= texts.len() as u64 {
            let bytes = ((last - first + 1) as usize).saturating_mul(size_of::<u16>());
            if !self.means.hold(bytes) {
                return Ok(None);
            }
            // More than that are not told.
            let mut all = vec![0_u16; (last - first + 1) as usize];
            for run in runs(words) {
                self.index.counts(run, *first..*last + 1, &mut |numbers, times| {
                    goes_on = self.means.work(size_of_val(numbers) * 2);
                    for (number, times) in numbers.iter().zip(times) {
                        let at = number.checked_sub(*first).and_then(|at| all.get_mut(at as usize));
                        let times = u16::try_from(*times).unwrap_or(u16::MAX);
                        at.into_iter().for_each(|count| *count = count.saturating_add(times));
                    }
                    goes_on
                })?;
            }
            for (count, text) in counts.iter_mut().zip(texts) {
                *count = all.get((text - first) as usize).copied().map_or(0, u32::from);
            }
            self.means.release(bytes);
            return Ok(goes_on.then_some(counts));
        }
        for word in words {
            let mut at = 0;
            self.index.counts(*word..*word + 1, *first..*last + 1, &mut |numbers, times| {
                goes_on = self.means.work(size_of_val(numbers) * 2);
                at = merge(texts, at, numbers, times, &mut counts);
                goes_on
            })?;
            if !goes_on {
                return Ok(None);
            }
        }
        Ok(Some(counts))
    }

    fn lengths_of(&self, texts: &[u64]) -> Result<Option<Vec<u32>>, I::Error> {
        let mut found = Vec::with_capacity(texts.len());
        let goes_on = self.index.lengths_of(texts, &mut found, &mut |bytes| self.means.work(bytes))?;
        Ok(goes_on.then_some(found))
    }
}

fn add(count: &mut u32, times: u64) {
    *count = count.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
}

/// Adds how often texts, from place `at` on, are among `numbers`, both ascending: where the next ones are.
fn merge(texts: &[u64], at: usize, numbers: &[u64], times: &[u64], counts: &mut [u32]) -> usize {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return at };
    let rest = texts.get(at..).unwrap_or_default();
    let start = texts.len() - behind(rest, *first).len();
    let end = start + texts.get(start..).unwrap_or_default().partition_point(|text| text <= last);
    let texts = texts.get(start..end).unwrap_or_default();
    let counts = counts.get_mut(start..end).unwrap_or_default();
    let mut at = 0;
    if texts.len() < numbers.len() / FEW {
        for (text, count) in texts.iter().zip(counts) {
            at = numbers.len() - behind(numbers.get(at..).unwrap_or_default(), *text).len();
            if let (Some(number), Some(times)) = (numbers.get(at), times.get(at))
                && number == text
            {
                add(count, *times);
            }
        }
        return end;
    }
    let are_few = numbers.len() < texts.len() / FEW;
    for (number, times) in numbers.iter().zip(times) {
        if are_few {
            at = texts.len() - behind(texts.get(at..).unwrap_or_default(), *number).len();
        }
        while texts.get(at).is_some_and(|text| text < number) {
            at += 1;
        }
        if texts.get(at) == Some(number)
            && let Some(count) = counts.get_mut(at)
        {
            add(count, *times);
        }
    }
    end
}
