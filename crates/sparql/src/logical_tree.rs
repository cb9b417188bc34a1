//! The tree of a [`Logical`]: its inputs and expressions, to walk over it and to rebuild it.

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op};

impl Logical {
    /// The inputs, left before right.
    pub fn inputs(&self) -> Vec<&Self> {
        match &self.op {
            Op::Unit
            | Op::Empty
            | Op::Values { .. }
            | Op::Ids { .. }
            | Op::Domain { .. }
            | Op::Scan(_)
            | Op::GraphNames { .. }
            | Op::Path { .. }
            | Op::ForEachGraph { .. }
            | Op::Spool { .. } => Vec::new(),
            Op::Service { input, .. } | Op::TripleTerm { input, .. } => {
                input.as_deref().into_iter().collect()
            }
            Op::Join { members, .. } => members.iter().collect(),
            Op::LeftJoin { left, right, .. } | Op::Exists { left, right, .. } | Op::Minus { left, right } => {
                vec![left, right]
            }
            Op::Filter { input, .. }
            | Op::Lateral { input, .. }
            | Op::Extend { input, .. }
            | Op::Project { input, .. }
            | Op::Distinct(input)
            | Op::Reduced(input)
            | Op::Sort { input, .. }
            | Op::Slice { input, .. }
            | Op::LimitBy { input, .. }
            | Op::Group { input, .. } => vec![input],
            Op::Union(branches) => branches.iter().collect(),
        }
    }

    /// Operators, with all below.
    pub fn node_count(&self) -> usize {
        1 + self.inputs().into_iter().map(Self::node_count).sum::<usize>()
    }

    /// The operator's own expressions.
    pub(crate) fn exprs(&self) -> Vec<&Expr> {
        match &self.op {
            Op::Filter { exprs, .. } | Op::Join { filters: exprs, .. } => exprs.iter().collect(),
            Op::Extend { expr, .. } => vec![expr],
            Op::LeftJoin { filter, .. } | Op::Exists { filter, .. } => filter.iter().collect(),
            Op::Sort { keys, .. } => keys.iter().map(|key| &key.expr).collect(),
            Op::Group { aggregates, .. } => {
                aggregates.iter().filter_map(|aggregate| aggregate.argument.as_ref()).collect()
            }
            Op::Unit
            | Op::Empty
            | Op::Values { .. }
            | Op::Ids { .. }
            | Op::Domain { .. }
            | Op::Scan(_)
            | Op::GraphNames { .. }
            | Op::Path { .. }
            | Op::ForEachGraph { .. }
            | Op::Spool { .. }
            | Op::Service { .. }
            | Op::TripleTerm { .. }
            | Op::Minus { .. }
            | Op::Lateral { .. }
            | Op::Union(_)
            | Op::Project { .. }
            | Op::Distinct(_)
            | Op::Reduced(_)
            | Op::Slice { .. }
            | Op::LimitBy { .. } => Vec::new(),
        }
    }

    /// Rebuilds a node from its inputs after `f` has rewritten each, columns computed anew.
    pub(crate) fn map_inputs(self, f: &mut dyn FnMut(Self) -> Self) -> Self {
        let Self { op, vars, certain } = self;
        match op {
            Op::Unit
            | Op::Empty
            | Op::Values { .. }
            | Op::Scan(_)
            | Op::Ids { .. }
            | Op::Domain { .. }
            | Op::GraphNames { .. }
            | Op::Path { .. }
            | Op::ForEachGraph { .. }
            | Op::Spool { .. }
            | Op::Service { input: None, .. }
            | Op::TripleTerm { input: None, .. } => Self { op, vars, certain },
            Op::Service { input: Some(input), call } => Self::service(Some(f(*input)), call),
            Op::TripleTerm { input: Some(input), term, subject, predicate, object } => {
                Self::triple_term(Some(f(*input)), term, [subject, predicate, object])
            }
            Op::Join { members, filters } => Self::join(members.into_iter().map(f).collect(), filters),
            Op::LeftJoin { left, right, filter } => Self::left_join(f(*left), f(*right), filter),
            Op::Exists { left, right, filter, negated } => Self::exists(f(*left), f(*right), filter, negated),
            Op::Minus { left, right } => Self::minus(f(*left), f(*right)),
            Op::Lateral { input, pattern, bound } => Self::lateral(f(*input), pattern, bound),
            Op::Filter { input, exprs } => Self::filter(f(*input), exprs),
            Op::Extend { input, var, expr } => Self::extend(f(*input), var, expr),
            Op::Union(branches) => Self::union(branches.into_iter().map(f).collect()),
            Op::Project { input, columns } => Self::project(f(*input), columns),
            Op::Distinct(input) => Self::distinct(f(*input)),
            Op::Reduced(input) => Self::reduced(f(*input)),
            Op::Sort { input, keys, limit } => Self::sort(f(*input), keys, limit),
            Op::Slice { input, start, length } => Self::slice(f(*input), start, length),
            Op::LimitBy { input, keys, start, length } => Self::limit_by(f(*input), keys, start, length),
            Op::Group { input, keys, aggregates } => Self::group(f(*input), keys, aggregates),
        }
    }
}
