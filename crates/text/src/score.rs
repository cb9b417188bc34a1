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
    let length = f64::from(words) / USUAL_WORDS;
    let mut score = 0.0;
    let has = |leaf: usize| counts.get(leaf).is_some_and(|count| *count > 0);
    root.each_scored(&has, &mut |leaf, boost| {
        let count = f64::from(counts.get(leaf).copied().unwrap_or(0));
        score += boost * (count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length)));
    });
    score
}

/// No text that has these leaves at most has a better one.
pub(crate) fn bound(root: &Group, may_have: &impl Fn(usize) -> bool) -> f64 {
    let mut bound = 0.0;
    root.each_boost(&mut |leaf, boost| {
        if may_have(leaf) {
            bound += boost.max(0.0) * (K1 + 1.0);
        }
    });
    bound
}
