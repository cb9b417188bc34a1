//! What tests of several modules need: numbers that look random, and the rows of an answer.

use crate::{Database, QueryOptions, QueryResults};

/// Numbers that look random (SplitMix64).
pub(crate) struct Random(pub u64);

impl Random {
    /// One below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// One of some things.
    pub fn of(&mut self, things: &[&str]) -> String {
        things[self.below(things.len())].to_owned()
    }
}

/// The rows of a SELECT behind a prologue, sorted, with `:` for `http://e/`.
pub(crate) fn sorted_rows(
    database: &Database,
    prologue: &str,
    query: &str,
    options: &QueryOptions,
) -> Vec<String> {
    let text = format!("{prologue}{query}");
    let answer = database.query(&text, options).unwrap_or_else(|error| panic!("{query}: {error}"));
    let QueryResults::Solutions(mut solutions) = answer else { panic!("{query}: a SELECT") };
    let rows = solutions.collect_rows().unwrap_or_else(|error| panic!("{query}: {error}"));
    let text =
        |term: &Option<lode_rdf::Term>| term.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let mut rows: Vec<String> = rows
        .iter()
        .map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ").replace("http://e/", ":"))
        .collect();
    rows.sort();
    rows
}
