//! The memory that the text of a request takes once it is read: as algebra, as a plan, and on the way from one to the other.
//!
//! A number of one digit becomes a term with the IRI of its datatype, in a list of lists: 8 MB of `1 1 1 ...` in VALUES were 2.2 GB. So memory is
//! taken for each token before a text is parsed, as much as was measured for those that take most. docs/design/030-one-pool.md has the figures.

use crate::EngineError;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_exec::ExecError;
use lode_rdf::Term;
use lode_sparql::parse::count_tokens;

/// Bytes for each token of a query: at most, while it is parsed and planned,
const QUERY_TOKEN_BYTES: usize = 600;
/// and in its plan.
const PLAN_TOKEN_BYTES: usize = 200;
/// Bytes for each token of an update.
const UPDATE_TOKEN_BYTES: usize = 300;
/// The text itself is copied where something in it is written in another way.
const TEXT_COPIES: usize = 3;

/// Bytes of a term's texts.
fn bytes_of(term: &Term) -> usize {
    match term {
        Term::NamedNode(iri) => iri.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
        Term::Triple(_) => term.to_string().len(),
    }
}

/// Bytes of parameters: each place of one has its value, and more than these no text names it.
fn bound_bytes(text: &str, bindings: &[(String, Term)]) -> usize {
    let copies = |(name, value): &(String, Term)| text.matches(name.as_str()).count() * bytes_of(value);
    bindings.iter().map(copies).sum()
}

/// Memory for a text.
#[derive(Debug)]
pub(crate) struct TextMemory {
    held: Reservation,
    tokens: usize,
    /// Of the text, which is kept where it is not long.
    text_bytes: usize,
}

impl TextMemory {
    /// For a query.
    pub fn of_query(
        text: &str,
        bindings: &[(String, Term)],
        budget: &MemoryBudget,
    ) -> Result<Self, EngineError> {
        Self::new(text, QUERY_TOKEN_BYTES, bound_bytes(text, bindings), budget)
    }

    /// For an update.
    pub fn of_update(
        text: &str,
        bindings: &[(String, Term)],
        budget: &MemoryBudget,
    ) -> Result<Self, EngineError> {
        Self::new(text, UPDATE_TOKEN_BYTES, bound_bytes(text, bindings), budget)
    }

    fn new(
        text: &str,
        token_bytes: usize,
        bound_bytes: usize,
        budget: &MemoryBudget,
    ) -> Result<Self, EngineError> {
        let tokens = count_tokens(text);
        let held = budget.reserve(tokens * token_bytes + (text.len() + bound_bytes) * TEXT_COPIES);
        Ok(Self {
            held: held.map_err(|error| EngineError::Execution(ExecError::OutOfMemory(error)))?,
            tokens,
            text_bytes: text.len().min(crate::hints::BYTES_MAX),
        })
    }

    /// Bytes of its plan, about.
    pub fn of_plan(&self) -> usize {
        self.tokens * PLAN_TOKEN_BYTES
    }

    /// Gives back all but what the plan and the text take.
    pub fn keep_plan(&mut self) {
        self.held.shrink(self.of_plan() + self.text_bytes);
    }
}
