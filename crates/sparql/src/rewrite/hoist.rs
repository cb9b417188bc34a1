//! What stands between the members of a join goes above it, so that the members can be ordered freely:
//! OPTIONAL, BIND and plain sub-queries inside a join become OPTIONAL, BIND and projection over the join.
//!
//! `Join(LeftJoin(A, B), C)` is `LeftJoin(Join(A, C), B)` where C has none of the variables of B and of its condition but
//! those that A binds for certain: C then neither changes which rows of B match, nor sees what they bind.

use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::VarId;
use crate::statistics::Statistics;
use crate::var_set::VarSet;

/// What was taken out of a join, to be put over it again.
enum Above {
    LeftJoin { right: Box<Logical>, filter: Option<Expr> },
    Extend { var: VarId, expr: Expr },
}

/// Rewrites all joins.
pub(super) fn hoist(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| hoist(input, stats));
    match logical.op {
        Op::Join { members, filters } => join(members, filters, stats),
        op => Logical { op, ..logical },
    }
}

fn join(mut members: Vec<Logical>, mut filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut above: Vec<Above> = Vec::new();
    // Variables of what was taken out: a condition must not come to see them.
    let mut taken = VarSet::new();
    let mut at = 0;
    while at < members.len() && !stats.is_cancelled() {
        if matches!(members[at].op, Op::Scan(_)) {
            at += 1;
            continue;
        }
        let mut others = VarSet::new();
        members.iter().enumerate().filter(|(i, _)| *i != at).for_each(|(_, m)| others.extend(&m.vars));
        let member = std::mem::replace(&mut members[at], Logical::unit());
        let (rest, changed) = match take(member, &others, &taken, &mut filters) {
            Taken::Part(rest, part) => {
                match &part {
                    Above::LeftJoin { right, .. } => taken.extend(&right.vars),
                    Above::Extend { var, .. } => {
                        taken.insert(*var);
                    }
                }
                above.push(part);
                (rest, true)
            }
            Taken::Nothing(rest, changed) => (rest, changed),
        };
        members[at] = rest;
        // A change can make room for others.
        at = if changed { 0 } else { at + 1 };
    }
    // Nested joins that came to light become part of this one.
    let mut flat = Vec::with_capacity(members.len());
    for member in members {
        match member.op {
            Op::Join { members, filters: own } if own.is_empty() => flat.extend(members),
            op => flat.push(Logical { op, ..member }),
        }
    }
    // Conditions may need what was taken out; those that do not are pushed down again.
    let joined = Logical::join(flat, Vec::new());
    let lifted = above.into_iter().rev().fold(joined, |input, part| match part {
        Above::LeftJoin { right, filter } => Logical::left_join(input, *right, filter),
        Above::Extend { var, expr } => Logical::extend(input, var, expr),
    });
    Logical::filter(lifted, filters)
}

/// What became of a member.
enum Taken {
    /// Its top, to go above the join, and the rest.
    Part(Logical, Above),
    /// Itself, or (changed) without a top that is not needed above.
    Nothing(Logical, bool),
}

/// Takes the top of a member off, if it may go above the join.
fn take(member: Logical, others: &VarSet, taken: &VarSet, filters: &mut Vec<Expr>) -> Taken {
    let Logical { op, vars, certain } = member;
    // Whether expressions see the same values with the other members joined.
    let blind = |exprs: &[Expr], certain: &VarSet, others: &VarSet| {
        exprs
            .iter()
            .all(|e| !e.is_volatile() && e.vars().iter().all(|v| certain.contains(v) || !others.contains(v)))
    };
    match op {
        Op::LeftJoin { left, right, filter }
            if others.intersect(&right.vars).is_subset(&left.certain)
                && blind(filter.as_slice(), &left.certain, others) =>
        {
            Taken::Part(*left, Above::LeftJoin { right, filter })
        }
        Op::Extend { input, var, expr }
            if !others.contains(var)
                && !expr.has_exists()
                && blind(std::slice::from_ref(&expr), &input.certain, others) =>
        {
            Taken::Part(*input, Above::Extend { var, expr })
        }
        Op::Filter { input, exprs } if blind(&exprs, &input.certain, &others.union(taken)) => {
            filters.extend(exprs);
            Taken::Nothing(*input, true)
        }
        // The sub-query's hidden variables have ids of their own: as further columns they do no harm.
        Op::Project { input, columns } if columns.iter().all(|v| input.vars.contains(*v)) => {
            Taken::Nothing(*input, true)
        }
        op => Taken::Nothing(Logical { op, vars, certain }, false),
    }
}
