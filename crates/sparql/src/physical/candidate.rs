//! Ways to join two sets of members, before any plan node is made.

use super::bits::Bits;
use std::sync::Arc;

/// A way to have the join of a set of members.
#[derive(Clone)]
pub(super) struct Candidate {
    pub method: Method,
    pub cost: f64,
    pub rows: f64,
    /// Numbers of the variables by which rows are sorted.
    pub sorted_by: Arc<[usize]>,
    /// How many of these may be of use further on.
    pub useful: usize,
    /// Filters applied on top.
    pub filters: Bits,
}

impl Candidate {
    pub fn useful_order(&self) -> &[usize] {
        self.sorted_by.get(..self.useful).unwrap_or(&[])
    }
}

/// How.
#[derive(Clone)]
pub(super) enum Method {
    /// A member's own plan.
    Plan {
        member: usize,
        plan: usize,
    },
    Hash {
        left: Arc<Candidate>,
        right: Arc<Candidate>,
    },
    Merge {
        left: Arc<Candidate>,
        right: Arc<Candidate>,
    },
    /// Each row's matches are looked up.
    Lookup {
        left: Arc<Candidate>,
        member: usize,
    },
    /// All at once.
    Multiway(Arc<Multiway>),
    /// A path searched from rows, a triple term taken apart, or another endpoint asked with bindings.
    Step {
        left: Arc<Candidate>,
        member: usize,
    },
}

/// A way to join members at once.
pub(super) struct Multiway {
    /// The members.
    pub members: Bits,
    /// The numbers of their variables, in sequence.
    pub vars: Arc<[usize]>,
    /// For each member, ascending, whether it is read whole.
    pub whole: Vec<bool>,
    /// Without output.
    pub cost: f64,
}
