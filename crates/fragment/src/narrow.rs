//! Columns of fragments that nobody needs where their rows go: those that a fragment joins by inside and that nothing outside asks for. They are left away
//! before rows are exchanged, since what goes from process to process costs by the column.

use lode_sparql::{Expr, GraphScope, PlanNode, PlanOp, ScanPattern, Slot, VarId, stack};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns that are left of each fragment that has more than are needed, by its number.
pub(crate) type Narrowed = BTreeMap<u32, Vec<VarId>>;

/// Leaves away what no operator of a sub-plan over fragments needs of their columns, but for those that rows are spread by.
pub(crate) fn narrow(node: &mut PlanNode, by: &[VarId]) -> Narrowed {
    let mut narrowed = Narrowed::new();
    let all = node.vars.clone();
    below(node, &all, by, &mut narrowed);
    narrowed
}

/// The same sub-plan with these columns only, in no order.
pub(crate) fn with_columns(node: &PlanNode, columns: &[VarId]) -> PlanNode {
    let kept = |vars: &[VarId]| vars.iter().copied().filter(|var| columns.contains(var)).collect();
    PlanNode {
        op: PlanOp::Project(Arc::new(node.clone())),
        vars: columns.to_vec(),
        certain: kept(&node.certain),
        sorted_by: Vec::new(),
        ..node.clone()
    }
}

/// `wanted`: what is asked for of the columns of `node`.
fn below(node: &mut PlanNode, wanted: &[VarId], by: &[VarId], narrowed: &mut Narrowed) {
    if let PlanOp::Fragment { number } = node.op {
        let is_kept = |var: &VarId| wanted.contains(var) || by.contains(var);
        let kept: Vec<VarId> = node.vars.iter().copied().filter(is_kept).collect();
        if !kept.is_empty() && kept.len() < node.vars.len() {
            keep(node, &kept);
            narrowed.insert(number, kept);
        }
        return;
    }
    let Some(wanted) = wanted_below(node, wanted) else { return };
    for child in node.children_mut() {
        stack::room(|| below(child, &wanted, by, narrowed));
    }
    // What an operator passes on it has of its inputs, or makes.
    let mut there = made(node);
    node.children().into_iter().for_each(|child| there.extend(&child.vars));
    if !matches!(node.op, PlanOp::Project(_) | PlanOp::Group { .. }) {
        keep(node, &there);
    }
}

fn keep(node: &mut PlanNode, columns: &[VarId]) {
    node.vars.retain(|var| columns.contains(var));
    node.certain.retain(|var| columns.contains(var));
    node.sorted_by.clear();
}

/// What an operator asks of its inputs, if that much is asked of it; none: all that they have.
fn wanted_below(node: &PlanNode, wanted: &[VarId]) -> Option<Vec<VarId>> {
    let mut all = wanted.to_vec();
    match &node.op {
        PlanOp::Filter { exprs, .. } => exprs.iter().for_each(|expr| mentioned(expr, &mut all)),
        PlanOp::Extend { expr, .. } => mentioned(expr, &mut all),
        PlanOp::HashJoin { condition, .. } => {
            all.extend(condition.on.iter().chain(&condition.maybe));
            condition.filter.iter().for_each(|expr| mentioned(expr, &mut all));
        }
        PlanOp::LookupJoin { pattern, condition, .. } => {
            all.extend(variables(pattern));
            all.extend(condition.on.iter().chain(&condition.maybe));
            condition.filter.iter().for_each(|expr| mentioned(expr, &mut all));
        }
        // COUNT(DISTINCT *) tells rows apart by all that they have.
        PlanOp::Group { aggregates, .. }
            if aggregates.iter().any(|own| own.argument.is_none() && own.distinct) =>
        {
            return None;
        }
        PlanOp::Group { keys, aggregates, .. } => {
            all.clone_from(keys);
            let arguments = aggregates.iter().filter_map(|own| own.argument.as_ref());
            arguments.for_each(|expr| mentioned(expr, &mut all));
        }
        PlanOp::Project(_) => all.clone_from(&node.vars),
        _ => return None,
    }
    Some(all)
}

/// Columns that an operator makes.
fn made(node: &PlanNode) -> Vec<VarId> {
    match &node.op {
        PlanOp::Extend { var, .. } => vec![*var],
        PlanOp::LookupJoin { pattern, .. } => variables(pattern),
        _ => Vec::new(),
    }
}

fn variables(pattern: &ScanPattern) -> Vec<VarId> {
    let graph = match &pattern.graph {
        GraphScope::Named { slot, .. } => *slot,
        _ => Slot::Any,
    };
    let slots = [pattern.subject, pattern.predicate, pattern.object, graph];
    let variable = |slot| match slot {
        Slot::Var(var) => Some(var),
        _ => None,
    };
    slots.into_iter().filter_map(variable).collect()
}

fn mentioned(expr: &Expr, all: &mut Vec<VarId>) {
    match expr {
        Expr::Var(var) | Expr::Bound(var) => all.push(*var),
        other => other.children().into_iter().for_each(|child| stack::room(|| mentioned(child, all))),
    }
}
