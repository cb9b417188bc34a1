//! [`Logical`] to plan nodes: access paths, join orders and methods.

mod bits;
mod candidate;
mod combine;
mod cost;
mod distinct_arguments;
mod early_groups;
mod join_input;
mod join_order;
mod leaves;
mod lower;
mod lowering;
mod multiway;
mod node;
mod prefixes;
mod ranges;
mod sideways;
mod simple;
mod spools;
mod stars;
mod subset;

pub(crate) use node::scan_columns;

use crate::logical::Logical;
use crate::options::PlanOptions;
use crate::plan::{PlanNode, PlanOp, VarId, VarTable};
use crate::statistics::Statistics;
use std::sync::Arc;

/// The plan for `logical`, with exactly the columns asked for, and the query's variables with those that the plan adds.
pub(crate) fn plan(
    logical: &Logical,
    columns: Vec<VarId>,
    vars: VarTable,
    options: &PlanOptions,
    stats: &dyn Statistics,
) -> (PlanNode, VarTable) {
    if !options.optimize {
        return (node::project(simple::lower(logical, stats), columns).node, vars);
    }
    let lowering = lowering::Lowering::new(stats, options, vars, lower::lower);
    let root = spools::plan(logical, columns, &lowering);
    (root, lowering.into_vars())
}

/// Numbers the nodes of a plan, parents first; how many there are.
pub(crate) fn number(root: &mut PlanNode) -> u32 {
    fn visit(node: &mut PlanNode, next: &mut u32) {
        node.id = *next;
        *next = next.saturating_add(1);
        for child in node.children_mut() {
            visit(child, next);
        }
    }
    let mut next = 0;
    visit(root, &mut next);
    next
}

impl PlanNode {
    /// The inputs, left before right.
    pub fn children(&self) -> Vec<&Self> {
        match &self.op {
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Domain
            | PlanOp::IndexScan(_)
            | PlanOp::MultiwayJoin(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::ForEachGraph { .. } => Vec::new(),
            PlanOp::MergeJoin { left, right, .. } | PlanOp::HashJoin { left, right, .. } => {
                vec![left, right]
            }
            PlanOp::LookupJoin { input, .. }
            | PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::TripleTerm { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Distinct(input)
            | PlanOp::Reduced(input)
            | PlanOp::Sort { input, .. }
            | PlanOp::Slice { input, .. }
            | PlanOp::LimitBy { input, .. }
            | PlanOp::Group { input, .. } => vec![input],
            PlanOp::Union(branches) => branches.iter().collect(),
            PlanOp::Path { input, .. } | PlanOp::Service { input, .. } | PlanOp::Spool { input, .. } => {
                input.as_deref().into_iter().collect()
            }
        }
    }

    /// The inputs, left before right.
    pub fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.op {
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Domain
            | PlanOp::IndexScan(_)
            | PlanOp::MultiwayJoin(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::ForEachGraph { .. } => Vec::new(),
            PlanOp::MergeJoin { left, right, .. } | PlanOp::HashJoin { left, right, .. } => {
                vec![Arc::make_mut(left), Arc::make_mut(right)]
            }
            PlanOp::LookupJoin { input, .. }
            | PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::TripleTerm { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Distinct(input)
            | PlanOp::Reduced(input)
            | PlanOp::Sort { input, .. }
            | PlanOp::Slice { input, .. }
            | PlanOp::LimitBy { input, .. }
            | PlanOp::Group { input, .. } => vec![Arc::make_mut(input)],
            PlanOp::Union(branches) => branches.iter_mut().collect(),
            PlanOp::Path { input, .. } | PlanOp::Service { input, .. } | PlanOp::Spool { input, .. } => {
                input.iter_mut().map(Arc::make_mut).collect()
            }
        }
    }
}
