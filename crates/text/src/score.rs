//! How well a text matches: BM25 without rarity, by how often it has what is looked for and how long it is.

use crate::query::Group;

/// How fast more occurrences of a word count less, and how much the length of a text counts: the usual constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// The length of a text that counts as usual, in words. It is no mean of the data: a score depends on text and query only, so it is the same in every
/// version and with every index.
const USUAL_WORDS: f64 = 64.0;

/// That of a text of so many words that matches, by how often it has each leaf.
pub(crate) fn score(root: &Group, counts: &[u32], words: u32) -> f64 {
    let mut score = 0.0;
    let has = |leaf: usize| counts.get(leaf).is_some_and(|count| *count > 0);
    root.each_scored(&has, &mut |leaf, boost| {
        score += boost * of_leaf(counts.get(leaf).copied().unwrap_or(0), words);
    });
    score
}

fn of_leaf(count: u32, words: u32) -> f64 {
    let (count, length) = (f64::from(count), f64::from(words) / USUAL_WORDS);
    count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length))
}

/// No text of at least so many words that has leaves at most as often has a better one; counts that are not told may be any.
pub(crate) fn bound(root: &Group, counts: &[u32], words: u32, is_told: &impl Fn(&u32) -> bool) -> f64 {
    let mut bound = 0.0;
    root.each_boost(&mut |leaf, boost| {
        let count = counts.get(leaf).copied().unwrap_or(0);
        if count > 0 {
            let most = if is_told(&count) { of_leaf(count, words) } else { K1 + 1.0 };
            bound += boost.max(0.0) * most;
        }
    });
    bound
}
