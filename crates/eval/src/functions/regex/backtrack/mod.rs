//! Expressions with back-references (`(.)\1`), which no automaton can decide: a backtracking matcher with a limit of its steps.
//!
//! The steps and the order of trials are Spencer's, as in Perl: leftmost match, first alternative, as many repetitions as can be.
//! No crate did what a server needs here: a step that costs the same for all texts, a look at the cancel token in between, and a
//! stack within the query's memory.

mod class;
mod compile;
mod limit;
mod matcher;
#[cfg(test)]
mod tests;

pub(super) use compile::reference;
pub(crate) use limit::MatchLimit;
pub(super) use matcher::Matcher;

use class::Class;
use regex_syntax::hir::Look;

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    /// Groups that capture, without the whole.
    groups: usize,
    /// Slots of groups (two each, the whole first), and then of loops.
    slots: usize,
    ignore_case: bool,
    /// A match can only begin where the text does.
    anchored: bool,
}

impl Program {
    /// Groups that capture, without the whole.
    pub fn groups(&self) -> usize {
        self.groups
    }
}

/// What the matcher does at one place of the expression. Slots hold places.
#[derive(Debug)]
enum Step {
    /// These bytes follow.
    Literal(Box<[u8]>),
    /// One character of a class follows.
    Class(Class),
    /// So many characters of a class follow.
    Repeat {
        class: Class,
        min: u32,
        max: u32,
        greedy: bool,
    },
    /// The place is of a kind.
    Look(Look),
    /// Remembers the place.
    Save(usize),
    /// Goes on at the first, and if that fails at the second.
    Split(usize, usize),
    Jump(usize),
    /// The end of an iteration: the next one begins at that step. One that took nothing fails, but for the first one, which is the
    /// last then.
    Again {
        iteration: usize,
        first: Option<usize>,
        begin: usize,
    },
    /// The text of a group follows again; that of one without a match is empty.
    BackReference(usize),
    Match,
}

impl Step {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Literal(bytes) => bytes.len(),
            Self::Class(class) | Self::Repeat { class, .. } => class.heap_bytes(),
            _ => 0,
        }
    }
}
