//! What lenient parsing keeps although the standards forbid it: told by kind, counted, with examples.

use super::declared::DeclaredPrefixes;
use super::error::excerpt;
use super::options::ParseOptions;
use crate::mistake::Mistake;
use crate::raw::RawQuad;
use oxrdf::QuadRef;

/// Examples of each kind that are kept.
const EXAMPLES_MAX: usize = 3;

/// A place where something was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptExample {
    /// What is wrong.
    pub mistake: Mistake,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1; 0 where only the line is known, and about.
    pub column: u64,
    /// The text in question.
    pub text: String,
}

/// All that was kept of a document or of a part of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    counts: [u64; Mistake::ALL.len()],
    examples: Vec<KeptExample>,
}

impl Kept {
    /// How many mistakes of a kind there were.
    pub fn count(&self, mistake: Mistake) -> u64 {
        self.counts.get(mistake as usize).copied().unwrap_or(0)
    }

    /// How many mistakes there were.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The first of each kind, as they were found.
    pub fn examples(&self) -> &[KeptExample] {
        &self.examples
    }

    /// Counts a mistake; `place` is asked for line and column where it is an example.
    pub(crate) fn add(&mut self, mistake: Mistake, text: &str, place: impl FnOnce() -> (u64, u64)) {
        if let Some(count) = self.counts.get_mut(mistake as usize) {
            *count += 1;
        }
        if self.wants(mistake) {
            let (line, column) = place();
            self.examples.push(KeptExample { mistake, line, column, text: excerpt(text.as_bytes()) });
        }
    }

    fn wants(&self, mistake: Mistake) -> bool {
        self.examples.iter().filter(|example| example.mistake == mistake).count() < EXAMPLES_MAX
    }

    /// Adds what was kept elsewhere.
    pub fn merge(&mut self, other: Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        for example in other.examples {
            if self.wants(example.mistake) {
                self.examples.push(example);
            }
        }
    }
}

/// What a parser has to say besides its quads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParseNotes {
    /// Whether there were relative IRIs that were resolved against the document's own address.
    pub used_own_address: bool,
    /// What was kept.
    pub kept: Kept,
    /// The prefixes that Turtle and TriG declare.
    pub prefixes: DeclaredPrefixes,
}

impl ParseNotes {
    /// Notes whether a quad shows that relative IRIs were resolved against the document's own address.
    pub(crate) fn see_address(&mut self, options: &ParseOptions, quad: QuadRef<'_>) {
        if let Some(files) = options.own_files().filter(|_| !self.used_own_address) {
            self.used_own_address = RawQuad::from(quad).iris().any(|iri| iri.starts_with(files));
        }
    }

    /// Adds the notes on another part of the document.
    pub fn merge(&mut self, other: Self) {
        self.used_own_address |= other.used_own_address;
        self.kept.merge(other.kept);
        self.prefixes.merge(other.prefixes);
    }
}
