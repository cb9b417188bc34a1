//! Columns whose values are terms of the database, or inline: only these may leave a process, because the ids of terms that a query makes mean
//! nothing elsewhere.

use crate::error::FragmentError;
use lode_rdf::Term;
use lode_sparql::function::ValueType;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Expr, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId, stack};
use lode_store::Snapshot;

/// Whether all values of a column have ids that any process with this version has. A node without the column gives it no other.
pub(crate) fn is_known(node: &PlanNode, var: VarId, snapshot: &Snapshot) -> Result<bool, FragmentError> {
    if !node.vars.contains(&var) {
        return Ok(true);
    }
    let below = |node: &PlanNode, var: VarId| stack::room(|| is_known(node, var, snapshot));
    match &node.op {
        PlanOp::Unit | PlanOp::Empty | PlanOp::IndexScan(_) | PlanOp::MultiwayJoin(_) => Ok(true),
        PlanOp::Values(rows) => {
            let Some(column) = node.vars.iter().position(|own| *own == var) else { return Ok(false) };
            let mut terms = rows.iter().filter_map(|row| row.get(column)?.as_ref());
            terms.try_fold(true, |known, term| Ok(known && is_stored(term, snapshot)?))
        }
        PlanOp::GraphNames { among, .. } => Ok(among.as_ref().is_none_or(|among| among.unknown.is_empty())),
        PlanOp::MergeJoin { left, right, kind, condition }
        | PlanOp::HashJoin { left, right, kind, condition } => {
            match of_join((left, right), *kind, condition, var) {
                Sides::Left => below(left, var),
                Sides::Right => below(right, var),
                Sides::Either => Ok(below(left, var)? || below(right, var)?),
                Sides::Both => Ok(below(left, var)? && below(right, var)?),
            }
        }
        PlanOp::LookupJoin { input, pattern, kind, .. } => match kind {
            JoinKind::Inner if has(pattern, var) => Ok(true),
            JoinKind::Left if !input.vars.contains(&var) => Ok(true),
            _ => below(input, var),
        },
        PlanOp::Extend { input, var: made, expr } if *made == var => is_known_value(expr, input, snapshot),
        PlanOp::Filter { input, .. }
        | PlanOp::Extend { input, .. }
        | PlanOp::Project(input)
        | PlanOp::Distinct(input)
        | PlanOp::Reduced(input) => below(input, var),
        // What travels counts.
        PlanOp::Group { input, keys, .. } => Ok(!keys.contains(&var) || below(input, var)?),
        PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
            inputs.iter().try_fold(true, |known, input| Ok(known && below(input, var)?))
        }
        _ => Ok(false),
    }
}

/// Which sides of a join prove it.
enum Sides {
    Left,
    Right,
    Either,
    Both,
}

fn of_join(
    (left, right): (&PlanNode, &PlanNode),
    kind: JoinKind,
    condition: &JoinCondition,
    var: VarId,
) -> Sides {
    match (kind, left.vars.contains(&var), right.vars.contains(&var)) {
        (JoinKind::Semi | JoinKind::Anti | JoinKind::Minus, ..) | (_, true, false) => Sides::Left,
        (_, false, _) => Sides::Right,
        _ if condition.maybe.contains(&var) => Sides::Both,
        (JoinKind::Inner, ..) => Sides::Either,
        _ => Sides::Left,
    }
}

fn has(pattern: &ScanPattern, var: VarId) -> bool {
    let graph = match &pattern.graph {
        lode_sparql::GraphScope::Named { slot, .. } => *slot,
        _ => Slot::Any,
    };
    [pattern.subject, pattern.predicate, pattern.object, graph].contains(&Slot::Var(var))
}

fn is_stored(term: &Term, snapshot: &Snapshot) -> Result<bool, FragmentError> {
    Ok(snapshot.id_of(term)?.is_some())
}

/// The same of what an expression is worth.
fn is_known_value(expr: &Expr, input: &PlanNode, snapshot: &Snapshot) -> Result<bool, FragmentError> {
    let of = |expr: &Expr| stack::room(|| is_known_value(expr, input, snapshot));
    Ok(match expr {
        Expr::Const(term) => is_stored(term, snapshot)?,
        Expr::Var(var) => is_known(input, *var, snapshot)?,
        // True, false or an error.
        Expr::Bound(_)
        | Expr::Or(_)
        | Expr::And(_)
        | Expr::Not(_)
        | Expr::Equal(..)
        | Expr::SameTerm(..)
        | Expr::Less(..)
        | Expr::LessOrEqual(..)
        | Expr::Greater(..)
        | Expr::GreaterOrEqual(..)
        | Expr::In(..)
        | Expr::Among(..) => true,
        Expr::Call(callee, _) => callee.function().is_some_and(|f| f.result == ValueType::Boolean),
        Expr::If(_, a, b) => of(a)? && of(b)?,
        Expr::Coalesce(parts) => {
            let known = parts.iter().try_fold(true, |known, part| Ok(known && of(part)?));
            return known;
        }
        _ => false,
    })
}
