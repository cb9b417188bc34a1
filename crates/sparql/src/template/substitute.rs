//! Other constants in a plan.

use super::Probe;
use crate::expr::Expr;
use crate::plan::{GraphScope, Plan, PlanNode, PlanOp, ScanPattern, Slot};
use lode_packed::Order;
use lode_rdf::{Term, ValueId};

/// A parameter's term, and its id, where it has one.
pub type Parameter = (Term, Option<ValueId>);

/// Which parameters a plan has in its patterns: others in their place must have ids.
pub fn in_patterns(plan: &Plan, parameters: &[Parameter]) -> Vec<bool> {
    let mut found = vec![false; parameters.len()];
    visit_patterns(&plan.root, &mut |pattern| {
        let graph = match &pattern.graph {
            GraphScope::Named { slot, .. } => *slot,
            _ => Slot::Any,
        };
        for slot in [pattern.subject, pattern.predicate, pattern.object, graph] {
            let Slot::Const(id) = slot else { continue };
            parameters.iter().zip(&mut found).for_each(|((_, other), found)| *found |= *other == Some(id));
        }
    });
    found
}

/// The plan with `new` parameters in the place of the `old` ones, of which there are as many. Those in patterns have ids.
pub fn with_parameters(plan: &Plan, old: &[Parameter], new: &[Parameter]) -> Plan {
    let mut plan = plan.clone();
    let changes: Vec<Change<'_>> =
        old.iter().zip(new).filter(|(a, b)| a != b).map(|(old, new)| Change { old, new }).collect();
    if !changes.is_empty() {
        node(&mut plan.root, &changes);
    }
    plan
}

/// Counts by which to tell whether a plan fits other parameters: the rows of its patterns.
pub fn probes(plan: &Plan, parameters: &[Parameter]) -> Vec<Probe> {
    let mut found = Vec::new();
    visit_patterns(&plan.root, &mut |pattern| {
        let number = |slot: Slot| match slot {
            Slot::Const(id) => parameters.iter().position(|(_, other)| *other == Some(id)),
            Slot::Var(_) | Slot::Any => None,
        };
        if let Some(parameter) = number(pattern.subject) {
            add(&mut found, Probe { order: Order::Spog, before: None, parameter });
        }
        if let Some(parameter) = number(pattern.object) {
            let probe = match pattern.predicate {
                Slot::Const(predicate) => Probe { order: Order::Posg, before: Some(predicate), parameter },
                Slot::Var(_) | Slot::Any => Probe { order: Order::Ospg, before: None, parameter },
            };
            add(&mut found, probe);
        }
    });
    found
}

fn add(found: &mut Vec<Probe>, probe: Probe) {
    if !found.contains(&probe) {
        found.push(probe);
    }
}

fn visit_patterns(node: &PlanNode, visit: &mut dyn FnMut(&ScanPattern)) {
    match &node.op {
        PlanOp::IndexScan(pattern) | PlanOp::LookupJoin { pattern, .. } => visit(pattern),
        PlanOp::MultiwayJoin(tries) => tries.iter().for_each(|trie| visit(&trie.pattern)),
        _ => {}
    }
    node.children().into_iter().for_each(|child| visit_patterns(child, visit));
}

struct Change<'a> {
    old: &'a Parameter,
    new: &'a Parameter,
}

fn node(node: &mut PlanNode, changes: &[Change<'_>]) {
    match &mut node.op {
        PlanOp::IndexScan(pattern) => scan(pattern, changes),
        PlanOp::MultiwayJoin(tries) => tries.iter_mut().for_each(|trie| scan(&mut trie.pattern, changes)),
        PlanOp::LookupJoin { pattern, .. } => scan(pattern, changes),
        PlanOp::Values(rows) => rows.iter_mut().flatten().flatten().for_each(|value| term(value, changes)),
        // Beside their expressions. Paths, and what is algebra still, have no parameters.
        _ => {}
    }
    node.exprs_mut().into_iter().for_each(|own| expr(own, changes));
    node.children_mut().into_iter().for_each(|child| self::node(child, changes));
}

fn scan(pattern: &mut ScanPattern, changes: &[Change<'_>]) {
    for slot in [&mut pattern.subject, &mut pattern.predicate, &mut pattern.object] {
        self::slot(slot, changes);
    }
    if let GraphScope::Named { slot, .. } = &mut pattern.graph {
        self::slot(slot, changes);
    }
}

fn slot(slot: &mut Slot, changes: &[Change<'_>]) {
    if let Slot::Const(id) = slot
        && let Some(change) = changes.iter().find(|change| change.old.1 == Some(*id))
        && let Some(new) = change.new.1
    {
        *id = new;
    }
}

fn term(term: &mut Term, changes: &[Change<'_>]) {
    if let Some(change) = changes.iter().find(|change| change.old.0 == *term) {
        *term = change.new.0.clone();
    }
}

fn expr(expr: &mut Expr, changes: &[Change<'_>]) {
    if let Expr::Const(value) = expr {
        term(value, changes);
    }
    expr.children_mut().into_iter().for_each(|child| self::expr(child, changes));
}
