//! Candidates of conditions that an index knows of: few of them, beside the rows of the pattern, are rows that are joined, and many are a set that ids are tested
//! against. The condition itself stays.

use super::texts::{among, begins};
use crate::expr::Expr;
use crate::id_set::{IdList, IdSet};
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::VarId;

/// What an index tells of the objects of a pattern.
pub(super) struct Candidates {
    /// The objects.
    pub var: VarId,
    /// Rows of the pattern.
    pub total: f64,
    /// Rows of the pattern of the join that has the fewest.
    pub least: f64,
    /// Those that may pass.
    pub list: IdList,
}

/// A kind of condition.
pub(super) trait Indexed {
    /// Whether a condition is one.
    fn is_one(&self, condition: &Expr) -> bool;
    /// What the index tells of conditions on a join of these, for those of which that is worth it.
    fn find(&self, conditions: &[Expr], members: &[Logical]) -> Vec<Candidates>;
}

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, kind: &dyn Indexed) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, kind));
    match logical.op {
        Op::Join { members, filters } => narrowed(members, filters, kind),
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => {
            if exprs.iter().any(|expr| kind.is_one(expr)) {
                narrowed(vec![*input], exprs, kind)
            } else {
                Logical::filter(*input, exprs)
            }
        }
        op => Logical { op, ..logical },
    }
}

/// The join of these, with what may pass before the conditions.
fn narrowed(mut members: Vec<Logical>, filters: Vec<Expr>, kind: &dyn Indexed) -> Logical {
    let mut kept = Vec::with_capacity(filters.len());
    for Candidates { var, total, least, list } in kind.find(&filters, &members) {
        match begins(list.ids.len(), total, least) {
            true => members.push(Logical::ids(var, list)),
            false => kept.push(among(var, set_of(list), total)),
        }
    }
    kept.extend(filters);
    Logical::join(members, kept)
}

/// The set of the same ids.
pub(super) fn set_of(list: IdList) -> IdSet {
    IdSet::of(|| list.ids.iter().copied()).holding(list.held)
}
