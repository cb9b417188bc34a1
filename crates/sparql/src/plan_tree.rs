//! The tree of a plan: the name, the inputs and the expressions of each operator. Walks over plans are made of these, and know no operators but
//! those that they are about.

use crate::expr::Expr;
use crate::plan::{PlanNode, PlanOp, SortKey, SubPattern};
use std::sync::Arc;

impl PlanOp {
    /// The operator's name.
    pub fn name(&self) -> &'static str {
        match self {
            PlanOp::Unit => "Unit",
            PlanOp::Empty => "Empty",
            PlanOp::Values(_) => "Values",
            PlanOp::IndexScan(_) => "IndexScan",
            PlanOp::Ids(_) => "Ids",
            PlanOp::Domain => "Domain",
            PlanOp::Fragment { .. } => "Fragment",
            PlanOp::GraphNames { .. } => "GraphNames",
            PlanOp::MergeJoin { .. } => "MergeJoin",
            PlanOp::HashJoin { left, right, condition, .. } if condition.on.is_empty() => {
                match condition.place_join(&left.vars, &right.vars) {
                    Some(_) => "SpatialJoin",
                    None => "LoopJoin",
                }
            }
            PlanOp::HashJoin { .. } => "HashJoin",
            PlanOp::LookupJoin { .. } => "LookupJoin",
            PlanOp::MultiwayJoin(_) => "MultiwayJoin",
            PlanOp::Filter { .. } => "Filter",
            PlanOp::Extend { .. } => "Extend",
            PlanOp::TripleTerm { .. } => "TripleTerm",
            PlanOp::Union(_) => "Union",
            PlanOp::MergeUnion(_) => "MergeUnion",
            PlanOp::Project(_) => "Project",
            PlanOp::Distinct(_) => "Distinct",
            PlanOp::Reduced(_) => "Reduced",
            PlanOp::Sort { .. } => "Sort",
            PlanOp::Slice { .. } => "Slice",
            PlanOp::LimitBy { .. } => "LimitBy",
            PlanOp::Group { .. } => "Group",
            PlanOp::Path { .. } => "Path",
            PlanOp::ForEachGraph { .. } => "ForEachGraph",
            PlanOp::Lateral { .. } => "Lateral",
            PlanOp::Service { .. } => "Service",
            PlanOp::Spool { .. } => "Spool",
        }
    }
}

/// The inputs of `$op`, a reference that may change it or not: `$shared` opens one, `$list` goes over lists of them in the same way.
macro_rules! inputs {
    ($op:expr, $shared:path, $list:ident) => {
        match $op {
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Ids(_)
            | PlanOp::Domain
            | PlanOp::Fragment { .. }
            | PlanOp::IndexScan(_)
            | PlanOp::MultiwayJoin(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::ForEachGraph { .. } => Vec::new(),
            PlanOp::MergeJoin { left, right, .. } | PlanOp::HashJoin { left, right, .. } => {
                vec![$shared(left), $shared(right)]
            }
            PlanOp::LookupJoin { input, .. }
            | PlanOp::Lateral { input, .. }
            | PlanOp::Filter { input, .. }
            | PlanOp::Extend { input, .. }
            | PlanOp::TripleTerm { input, .. }
            | PlanOp::Project(input)
            | PlanOp::Distinct(input)
            | PlanOp::Reduced(input)
            | PlanOp::Sort { input, .. }
            | PlanOp::Slice { input, .. }
            | PlanOp::LimitBy { input, .. }
            | PlanOp::Group { input, .. } => vec![$shared(input)],
            PlanOp::Union(branches) | PlanOp::MergeUnion(branches) => branches.$list().collect(),
            PlanOp::Path { input, .. } | PlanOp::Service { input, .. } | PlanOp::Spool { input, .. } => {
                input.$list().map($shared).collect()
            }
        }
    };
}

/// The expressions of `$op`, in the same way; `$option` refers to one that may be there.
macro_rules! exprs {
    ($op:expr, $list:ident, $option:ident) => {
        match $op {
            PlanOp::Filter { exprs, .. } => exprs.$list().collect(),
            PlanOp::Extend { expr, .. } => vec![expr],
            PlanOp::Sort { keys, .. } => keys.$list().map(|SortKey { expr, .. }| expr).collect(),
            PlanOp::Group { aggregates, .. } => {
                aggregates.$list().filter_map(|aggregate| aggregate.argument.$option()).collect()
            }
            PlanOp::MergeJoin { condition, .. }
            | PlanOp::HashJoin { condition, .. }
            | PlanOp::LookupJoin { condition, .. } => condition.filter.$list().collect(),
            PlanOp::Service { filter, .. } => filter.$list().collect(),
            PlanOp::Unit
            | PlanOp::Empty
            | PlanOp::Values(_)
            | PlanOp::Ids(_)
            | PlanOp::Domain
            | PlanOp::Fragment { .. }
            | PlanOp::IndexScan(_)
            | PlanOp::GraphNames { .. }
            | PlanOp::MultiwayJoin(_)
            | PlanOp::TripleTerm { .. }
            | PlanOp::Union(_)
            | PlanOp::MergeUnion(_)
            | PlanOp::Project(_)
            | PlanOp::Distinct(_)
            | PlanOp::Reduced(_)
            | PlanOp::Slice { .. }
            | PlanOp::LimitBy { .. }
            | PlanOp::Path { .. }
            | PlanOp::Lateral { .. }
            | PlanOp::ForEachGraph { .. }
            | PlanOp::Spool { .. } => Vec::new(),
        }
    };
}

fn shared(node: &Arc<PlanNode>) -> &PlanNode {
    node
}

impl PlanNode {
    /// The inputs, left before right.
    pub fn children(&self) -> Vec<&Self> {
        inputs!(&self.op, shared, iter)
    }

    /// The inputs, left before right.
    pub fn children_mut(&mut self) -> Vec<&mut Self> {
        inputs!(&mut self.op, Arc::make_mut, iter_mut)
    }

    /// The pattern that is planned while the operator runs.
    pub fn pattern(&self) -> Option<&Arc<SubPattern>> {
        match &self.op {
            PlanOp::ForEachGraph { pattern, .. } | PlanOp::Lateral { pattern, .. } => Some(pattern),
            _ => None,
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
    pub fn exprs(&self) -> Vec<&Expr> {
        exprs!(&self.op, iter, as_ref)
    }

    /// The same, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        exprs!(&mut self.op, iter_mut, as_mut)
    }
}
