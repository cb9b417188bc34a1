//! Where patterns and expressions are evaluated, and what comes of an expression.

use super::options::NaiveError;
use super::solution::Solution;
use oxrdf::{Term, Triple, Variable};
use std::rc::Rc;

/// The triples of a graph, each once.
pub(super) type Graph = Rc<Vec<Triple>>;

/// Where a pattern is evaluated: the active graph, and the solution that was substituted into it (EXISTS, section 18.6).
///
/// Variables that `outer` binds are not variables of the pattern any more, so they occur in no solution of it.
pub(super) struct Scope<'a> {
    pub(super) graph: &'a Graph,
    pub(super) outer: &'a Solution,
}

/// Why an expression has no value.
pub(super) enum Problem {
    /// An error of SPARQL: a value like others to `||`, `&&`, `COALESCE` and aggregates.
    Type,
    /// The evaluation ends.
    Fatal(NaiveError),
}

impl From<NaiveError> for Problem {
    fn from(error: NaiveError) -> Self {
        Self::Fatal(error)
    }
}

/// A term or why there is none.
pub(super) type Evaluated<T = Term> = Result<T, Problem>;

/// Where an expression is evaluated: the solution and the scope of its pattern.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) solution: &'a Solution,
    pub(super) scope: &'a Scope<'a>,
}

impl<'a> At<'a> {
    pub(super) fn get(&self, variable: &Variable) -> Option<&'a Term> {
        self.solution.get(variable).or_else(|| self.scope.outer.get(variable))
    }
}
