//! Columns whose values are terms of the database, or inline: only these may leave a process, because the ids of terms that a query makes mean
//! nothing elsewhere.

use crate::error::FragmentError;
use crate::fragment::Fragment;
use lode_exec::aggregate::SUM_OF_COUNTS;
use lode_rdf::Term;
use lode_sparql::aggregate::{Counts, InParts};
use lode_sparql::function::ValueType;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{Aggregate, Expr, JoinKind, PlanNode, PlanOp, ScanPattern, Slot, VarId, stack};
use lode_store::Snapshot;

/// By what it is told what is known.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The version.
    pub(crate) snapshot: &'a Snapshot,
    /// The fragments whose rows stand in a plan, by their numbers.
    pub(crate) fragments: &'a [(Fragment, Vec<u8>)],
}

/// Whether a column is one of those that may leave a process though its values may be terms that others have no ids for: such terms go as they are. These are
/// the values of aggregates, of which there are few for each row that is read; and they are IRIs and literals, which mean the same everywhere.
pub(crate) fn may_go_as_terms(node: &PlanNode, var: VarId, known: &Known<'_>) -> Result<bool, FragmentError> {
    if !node.vars.contains(&var) {
        return Ok(false);
    }
    let below = |input: &PlanNode| stack::room(|| may_go_as_terms(input, var, known));
    match &node.op {
        PlanOp::Group { input, keys, aggregates, .. } if !keys.contains(&var) => {
            let Some(own) = aggregates.iter().find(|own| own.output == var) else { return Ok(false) };
            match (own.function.in_parts, &own.argument) {
                (InParts::Same, Some(argument)) => is_plain(argument, input, known),
                _ => Ok(true),
            }
        }
        PlanOp::Fragment { number } => {
            let found = known.fragments.get(*number as usize);
            Ok(found.is_some_and(|(fragment, _)| fragment.terms.contains(&var)))
        }
        PlanOp::Extend { input, var: made, .. } if *made != var => below(input),
        PlanOp::Group { input, .. }
        | PlanOp::Filter { input, .. }
        | PlanOp::Project(input)
        | PlanOp::Distinct(input)
        | PlanOp::Reduced(input) => below(input),
        _ => Ok(false),
    }
}

/// Whether all values of an expression are terms of the database, IRIs or literals.
fn is_plain(expr: &Expr, input: &PlanNode, known: &Known<'_>) -> Result<bool, FragmentError> {
    let of = |expr: &Expr| stack::room(|| is_plain(expr, input, known));
    Ok(match expr {
        Expr::Const(term) => matches!(term, Term::NamedNode(_) | Term::Literal(_)),
        Expr::Var(var) => is_known(input, *var, known)? || may_go_as_terms(input, *var, known)?,
        Expr::If(_, a, b) => of(a)? && of(b)?,
        Expr::Coalesce(parts) => {
            return parts.iter().try_fold(true, |all, part| Ok(all && of(part)?));
        }
        Expr::Call(callee, _) => callee
            .function()
            .is_some_and(|f| !matches!(f.result, ValueType::Term | ValueType::Blank | ValueType::Triple)),
        // Numbers, dates, durations, true and false.
        _ => true,
    })
}

/// Whether all values of a column have ids that any process with this version has. A node without the column gives it no other.
pub(crate) fn is_known(node: &PlanNode, var: VarId, known: &Known<'_>) -> Result<bool, FragmentError> {
    if !node.vars.contains(&var) {
        return Ok(true);
    }
    let below = |node: &PlanNode, var: VarId| stack::room(|| is_known(node, var, known));
    let snapshot = known.snapshot;
    match &node.op {
        PlanOp::Unit | PlanOp::Empty | PlanOp::IndexScan(_) | PlanOp::MultiwayJoin(_) => Ok(true),
        PlanOp::Values(rows) => {
            let Some(column) = node.vars.iter().position(|own| *own == var) else { return Ok(false) };
            let mut terms = rows.iter().filter_map(|row| row.get(column)?.as_ref());
            terms.try_fold(true, |all, term| Ok(all && is_stored(term, snapshot)?))
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
        PlanOp::Extend { input, var: made, expr } if *made == var => is_known_value(expr, input, known),
        PlanOp::Filter { input, .. }
        | PlanOp::Extend { input, .. }
        | PlanOp::Project(input)
        | PlanOp::Distinct(input)
        | PlanOp::Reduced(input) => below(input, var),
        PlanOp::Group { input, keys, aggregates, .. } => match keys.contains(&var) {
            true => below(input, var),
            false => aggregates
                .iter()
                .filter(|own| own.output == var)
                .try_fold(true, |all, own| Ok(all && is_known_aggregate(own, input, known)?)),
        },
        PlanOp::Fragment { number } => Ok(known
            .fragments
            .get(*number as usize)
            .is_some_and(|(fragment, _)| !fragment.terms.contains(&var))),
        PlanOp::Union(inputs) | PlanOp::MergeUnion(inputs) => {
            inputs.iter().try_fold(true, |all, input| Ok(all && below(input, var)?))
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

/// The same of an aggregate: numbers of rows are short enough for inline ids, and the least and the greatest value are among those that there are.
fn is_known_aggregate(
    aggregate: &Aggregate,
    input: &PlanNode,
    known: &Known<'_>,
) -> Result<bool, FragmentError> {
    match (aggregate.function, &aggregate.argument) {
        (function, _) if !matches!(function.counts, Counts::Nothing) || *function == SUM_OF_COUNTS => {
            Ok(true)
        }
        (function, Some(argument)) if matches!(function.in_parts, InParts::Same) => {
            is_known_value(argument, input, known)
        }
        _ => Ok(false),
    }
}

fn is_stored(term: &Term, snapshot: &Snapshot) -> Result<bool, FragmentError> {
    Ok(snapshot.id_of(term)?.is_some())
}

/// The same of what an expression is worth.
fn is_known_value(expr: &Expr, input: &PlanNode, known: &Known<'_>) -> Result<bool, FragmentError> {
    let of = |expr: &Expr| stack::room(|| is_known_value(expr, input, known));
    Ok(match expr {
        Expr::Const(term) => is_stored(term, known.snapshot)?,
        Expr::Var(var) => is_known(input, *var, known)?,
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
            return parts.iter().try_fold(true, |all, part| Ok(all && of(part)?));
        }
        _ => false,
    })
}
