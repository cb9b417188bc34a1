//! Our parser of SPARQL against that of spargebra, the judge: both take the same texts, and make the same algebra of them.
//!
//! Where they do not, ours keeps to the specification and the judge does not, for one of the reasons in [`KINDS`]; anything else is a failure.

mod algebra;
mod corpus;
mod kinds;
#[cfg(test)]
mod tests;

pub use corpus::Corpus;
pub use kinds::KINDS;

use algebra::{Made, judged, ours};
use lode_sparql::syntax::Form;
use std::collections::BTreeMap;

/// What came of many texts.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Texts that both take, with the same algebra.
    pub taken: u64,
    /// Texts that both refuse.
    pub refused: u64,
    /// Differences that are meant, by kind.
    pub meant: BTreeMap<&'static str, u64>,
    /// Texts that both take or refuse for another reason.
    pub failures: Vec<String>,
}

impl Outcome {
    /// One more text.
    pub fn add(&mut self, text: &str, form: Form) {
        match compared(text, form) {
            Verdict::Taken => self.taken += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Differs(what) => match kinds::kind(text, form) {
                Some(kind) => *self.meant.entry(kind).or_default() += 1,
                None => self.failures.push(format!("{what}\n{text}")),
            },
        }
    }

    /// Puts another outcome to this one.
    pub fn merge(&mut self, other: Self) {
        self.taken += other.taken;
        self.refused += other.refused;
        self.failures.extend(other.failures);
        for (kind, count) in other.meant {
            *self.meant.entry(kind).or_default() += count;
        }
    }

    /// How many texts there were.
    pub fn texts(&self) -> u64 {
        self.taken + self.refused + self.meant.values().sum::<u64>() + self.failures.len() as u64
    }
}

/// What both say of a text.
enum Verdict {
    Taken,
    Refused,
    Differs(String),
}

fn compared(text: &str, form: Form) -> Verdict {
    match (ours(text, form), judged(text, form)) {
        (Made::Algebra(ours), Made::Algebra(theirs)) if ours == theirs => Verdict::Taken,
        (Made::Algebra(ours), Made::Algebra(theirs)) => {
            Verdict::Differs(format!("the algebra differs\n  ours: {ours}\n  judge: {theirs}"))
        }
        (Made::Nothing(_), Made::Nothing(_)) => Verdict::Refused,
        (Made::Nothing(error), Made::Algebra(_)) => Verdict::Differs(format!("ours refuses: {error}")),
        (Made::Algebra(_), Made::Nothing(error)) => Verdict::Differs(format!("the judge refuses: {error}")),
    }
}
