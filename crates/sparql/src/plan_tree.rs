//! The tree of a plan: the name, the inputs and the expressions of each operator. Walks over plans are made of these, and know no operators but
//! those that they are about.

use crate::expr::Expr;
use crate::plan::{PlanNode, PlanOp};
use std::sync::Arc;

impl PlanOp {
    /// The operator's name.
    pub fn name(&self) -> &'static str {
        match self {
            PlanOp::Unit => "Unit",
            PlanOp::Empty => "Empty",
            PlanOp::Values(_) => "Values",
            PlanOp::IndexScan(_) => "IndexScan",
            PlanOp::Domain => "Domain",
            PlanOp::GraphNames { .. } => "GraphNames",
            PlanOp::MergeJoin { .. } => "MergeJoin",
            PlanOp::HashJoin { condition, .. } if condition.on.is_empty() => "LoopJoin",
            PlanOp::HashJoin { .. } => "HashJoin",
            PlanOp::LookupJoin { .. } => "LookupJoin",
            PlanOp::MultiwayJoin(_) => "MultiwayJoin",
            PlanOp::Filter { .. } => "Filter",
            PlanOp::Extend { .. } => "Extend",
            PlanOp::TripleTerm { .. } => "TripleTerm",
            PlanOp::Union(_) => "Union",
            PlanOp::Project(_) => "Project",
            PlanOp::Distinct(_) => "Distinct",
            PlanOp::Reduced(_) => "Reduced",
            PlanOp::Sort { .. } => "Sort",
            PlanOp::Slice { .. } => "Slice",
            PlanOp::LimitBy { .. } => "LimitBy",
            PlanOp::Group { .. } => "Group",
            PlanOp::Path { .. } => "Path",
            PlanOp::ForEachGraph { .. } => "ForEachGraph",
            PlanOp::Service { .. } => "Service",
            PlanOp::Spool { .. } => "Spool",
        }
    }
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

    /// The input each of whose rows gives rows of its own, whatever the others are: so its rows can be taken in parts, and their order is kept.
    pub fn row_input(&self) -> Option<&Self> {
        let by_rows = matches!(
            self.op,
            PlanOp::HashJoin { .. }
                | PlanOp::LookupJoin { .. }
                | PlanOp::Filter { .. }
                | PlanOp::Extend { .. }
                | PlanOp::TripleTerm { .. }
                | PlanOp::Project(_)
                | PlanOp::Reduced(_)
                | PlanOp::Path { .. }
        );
        if by_rows { self.children().first().copied() } else { None }
    }

    /// The input whose order the rows keep, whatever that is.
    pub fn ordered_input(&self) -> Option<&Self> {
        let keeps = matches!(
            self.op,
            PlanOp::MergeJoin { .. } | PlanOp::Distinct(_) | PlanOp::Slice { .. } | PlanOp::LimitBy { .. }
        );
        if keeps { self.children().first().copied() } else { self.row_input() }
    }

    /// The operator's own expressions, in the sequence of its fields.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.op {
            PlanOp::Filter { exprs, .. } => exprs.iter().collect(),
            PlanOp::Extend { expr, .. } => vec![expr],
            PlanOp::Sort { keys, .. } => keys.iter().map(|key| &key.expr).collect(),
            PlanOp::Group { aggregates, .. } => {
                aggregates.iter().filter_map(|aggregate| aggregate.argument.as_ref()).collect()
            }
            PlanOp::MergeJoin { condition, .. }
            | PlanOp::HashJoin { condition, .. }
            | PlanOp::LookupJoin { condition, .. } => condition.filter.iter().collect(),
            PlanOp::Service { filter, .. } => filter.iter().collect(),
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Domain
            | PlanOp::IndexScan(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::MultiwayJoin(_)
            | PlanOp::TripleTerm { .. }
            | PlanOp::Union(_)
            | PlanOp::Project(_)
            | PlanOp::Distinct(_)
            | PlanOp::Reduced(_)
            | PlanOp::Slice { .. }
            | PlanOp::LimitBy { .. }
            | PlanOp::Path { .. }
            | PlanOp::ForEachGraph { .. }
            | PlanOp::Spool { .. } => Vec::new(),
        }
    }

    /// The same, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.op {
            PlanOp::Filter { exprs, .. } => exprs.iter_mut().collect(),
            PlanOp::Extend { expr, .. } => vec![expr],
            PlanOp::Sort { keys, .. } => keys.iter_mut().map(|key| &mut key.expr).collect(),
            PlanOp::Group { aggregates, .. } => {
                aggregates.iter_mut().filter_map(|aggregate| aggregate.argument.as_mut()).collect()
            }
            PlanOp::MergeJoin { condition, .. }
            | PlanOp::HashJoin { condition, .. }
            | PlanOp::LookupJoin { condition, .. } => condition.filter.iter_mut().collect(),
            PlanOp::Service { filter, .. } => filter.iter_mut().collect(),
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Domain
            | PlanOp::IndexScan(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::MultiwayJoin(_)
            | PlanOp::TripleTerm { .. }
            | PlanOp::Union(_)
            | PlanOp::Project(_)
            | PlanOp::Distinct(_)
            | PlanOp::Reduced(_)
            | PlanOp::Slice { .. }
            | PlanOp::LimitBy { .. }
            | PlanOp::Path { .. }
            | PlanOp::ForEachGraph { .. }
            | PlanOp::Spool { .. } => Vec::new(),
        }
    }
}
