//! Rewrites of [`Logical`] that hold whatever the data, or that the index proves right: what is empty vanishes, filters go down to where their variables are,
//! joins become flat, columns that nobody needs are not read.
//!
//! None changes the bag of solutions.

mod constants;
mod filters;
mod hoist;
mod optional;
mod prune;
mod simplify;
#[cfg(test)]
mod tests;
mod unify;

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp};
use crate::plan::VarId;
use crate::statistics::Statistics;

/// Rewrites a query of which these columns are wanted. One whose plan nobody waits for any more comes to nothing.
pub(crate) fn rewrite(logical: Logical, columns: &[VarId], stats: &dyn Statistics) -> Logical {
    let simplify = |logical| simplify::simplify(logical, stats);
    let push = |logical| filters::push(logical, Vec::new());
    let passes: [&dyn Fn(Logical) -> Logical; 9] = [
        &simplify,
        &push,
        &|logical| hoist::hoist(logical, stats),
        &simplify,
        &push,
        &|logical| unify::unify(logical, stats),
        &|logical| constants::replace(logical, stats),
        &simplify,
        &|logical| prune::prune(logical, &columns.iter().copied().collect()),
    ];
    passes.into_iter().fold(logical, |logical, pass| {
        if stats.is_cancelled() { Logical::empty(logical.vars) } else { pass(logical) }
    })
}

/// Drops what makes columns beyond those needed.
pub(crate) fn pruned(logical: Logical, needed: &crate::var_set::VarSet) -> Logical {
    prune::prune(logical, needed)
}

/// Rewrites all join groups and filtered patterns, which are groups of one, from the leaves up.
fn each_group(logical: Logical, rewrite: &mut dyn FnMut(Vec<Logical>, Vec<Expr>) -> Logical) -> Logical {
    let logical = logical.map_inputs(&mut |input| each_group(input, rewrite));
    match logical.op {
        LogicalOp::Filter { input, exprs } if matches!(input.op, LogicalOp::Scan(_)) => {
            rewrite(vec![*input], exprs)
        }
        LogicalOp::Join { members, filters } => rewrite(members, filters),
        op => Logical { op, ..logical },
    }
}

impl Logical {
    /// Rebuilds a node from its inputs after `f` has rewritten each, columns computed anew.
    pub(crate) fn map_inputs(self, f: &mut dyn FnMut(Self) -> Self) -> Self {
        use crate::logical::LogicalOp as Op;
        let Self { op, vars, certain } = self;
        match op {
            Op::Unit
            | Op::Empty
            | Op::Values { .. }
            | Op::Scan(_)
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
