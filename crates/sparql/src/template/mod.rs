//! Plans for many queries: two queries that differ only in constants can share a plan, with other ids put in.
//!
//! [`Shape`] is what is left of a query without the constants that may differ, its *parameters*. [`Reuse`] says for which data a plan
//! stays right, [`with_parameters`] puts other constants in, and [`probes`] name counts that tell whether it is likely to be still a good one.

mod shape;
mod substitute;
#[cfg(test)]
mod tests;

pub use crate::reuse::Reuse;
pub use shape::{Literals, Shape};
pub use substitute::{Parameter, in_patterns, probes, with_parameters};

use crate::expr::Expr;
use crate::plan::{PlanNode, PlanOp};
use lode_packed::Order;
use lode_rdf::ValueId;

/// Whether a plan has used the values of literals, so that it is none for others.
pub(crate) fn uses_literals(node: &PlanNode) -> bool {
    let own = match &node.op {
        PlanOp::IndexScan(pattern) => pattern.within.is_some(),
        PlanOp::MultiwayJoin(tries) => tries.iter().any(|trie| trie.pattern.within.is_some()),
        _ => false,
    };
    own || node.children().into_iter().any(uses_literals)
}

/// Whether parts of a plan are algebra still, with constants of their own.
pub(crate) fn has_algebra(node: &PlanNode) -> bool {
    let own = node.pattern().is_some() || matches!(node.op, PlanOp::Service { .. });
    let own = own || node.exprs().into_iter().any(Expr::has_exists);
    own || node.children().into_iter().any(has_algebra)
}

/// A count that depends on a parameter: of the quads under a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// The order.
    pub order: Order,
    /// The ids that are no parameter, before it.
    pub before: Option<ValueId>,
    /// The parameter's number.
    pub parameter: usize,
}
