//! Checks that a plan keeps the contract between planner and execution. Run on every plan in debug builds, and by tests.

use crate::expr::Expr;
use crate::logical::{graph_var, slot_var, term_slot_var};
use crate::plan::{
    GraphScope, JoinCondition, JoinKind, Plan, PlanNode, PlanOp, QueryForm, ScanPattern, Slot, TermSlot,
    TriePattern, VarId,
};
use crate::service_call::ServiceCall;
use crate::var_set::VarSet;
use lode_packed::Order;
use lode_packed::order::Position;
use std::collections::BTreeMap;

/// A broken rule, in words.
pub type Problem = String;

/// Checks a plan.
///
/// # Errors
///
/// The first rule that the plan breaks.
pub fn validate(plan: &Plan) -> Result<(), Problem> {
    let mut ids = Vec::new();
    check(&plan.root, &mut ids)?;
    spools(&plan.root, &mut BTreeMap::new())?;
    ids.sort_unstable();
    let dense = ids.iter().enumerate().all(|(i, id)| i as u64 == u64::from(*id));
    rule(dense && ids.len() == plan.node_count as usize, || format!("ids are not dense: {ids:?}"))?;
    if let QueryForm::Select(columns) | QueryForm::Describe(columns) = &plan.form {
        rule(*columns == plan.root.vars, || "the root's columns are not the result's".into())?;
    }
    let known = |v: &VarId| (v.0 as usize) < plan.vars.len();
    rule(plan.root.vars.iter().all(known), || "a column is not in the table of variables".into())
}

/// The first reader of a common sub-plan has it, and promises what it does; so do the others.
fn spools<'a>(node: &'a PlanNode, known: &mut BTreeMap<u32, &'a PlanNode>) -> Result<(), Problem> {
    if let PlanOp::Spool { number, columns, input } = &node.op {
        if let Some(input) = input {
            rule(known.insert(*number, input).is_none(), || format!("common sub-plan {number} twice"))?;
        }
        let rows = known.get(number).ok_or_else(|| format!("no common sub-plan {number}"))?;
        rule(set(columns).is_subset(&set(&rows.vars)), || "columns that the sub-plan lacks".into())?;
        let there = |var: &VarId| columns.get(node.vars.iter().position(|v| v == var)?).copied();
        let sure = |var: &VarId| there(var).is_some_and(|there| rows.certain.contains(&there));
        rule(node.certain.iter().all(sure), || "certain, but not in the sub-plan".into())?;
        let order: Vec<VarId> = node.sorted_by.iter().filter_map(there).collect();
        rule(rows.sorted_by.starts_with(&order), || "an order that the sub-plan has not".into())?;
    }
    node.children().into_iter().try_for_each(|child| spools(child, known))
}

fn rule(holds: bool, problem: impl FnOnce() -> Problem) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(problem()) }
}

fn set(vars: &[VarId]) -> VarSet {
    vars.iter().copied().collect()
}

fn check(node: &PlanNode, ids: &mut Vec<u32>) -> Result<(), Problem> {
    ids.push(node.id);
    for child in node.children() {
        check(child, ids)?;
    }
    let at = |problem: Problem| format!("node {} ({}): {problem}", node.id, node.op.name());
    common(node).and_then(|()| operator(node)).map_err(at)
}

fn common(node: &PlanNode) -> Result<(), Problem> {
    let vars = set(&node.vars);
    rule(vars.len() == node.vars.len(), || format!("a column twice: {:?}", node.vars))?;
    rule(node.certain.is_sorted(), || "certain is not sorted".into())?;
    rule(set(&node.certain).is_subset(&vars), || "certain is no part of vars".into())?;
    rule(set(&node.sorted_by).is_subset(&vars), || "sorted_by is no part of vars".into())?;
    rule(set(&node.sorted_by).len() == node.sorted_by.len(), || "sorted_by has a column twice".into())?;
    rule(node.rows.is_finite() && node.rows >= 0.0, || format!("rows: {}", node.rows))?;
    rule(node.cost.is_finite() && node.cost >= 0.0, || format!("cost: {}", node.cost))
}

fn operator(node: &PlanNode) -> Result<(), Problem> {
    match &node.op {
        PlanOp::Unit => rule(node.vars.is_empty(), || "columns".into()),
        PlanOp::Domain => {
            rule(!node.vars.is_empty() && node.certain.len() == node.vars.len(), || "columns".into())
        }
        PlanOp::Values(rows) => {
            rule(rows.iter().all(|r| r.len() == node.vars.len()), || "rows of another width".into())
        }
        PlanOp::Ids(list) => {
            let ascends = list.ids.is_sorted_by(|a, b| a < b);
            rule(node.vars.len() == 1 && node.certain.len() == 1 && ascends, || "columns".into())
        }
        PlanOp::IndexScan(pattern) => scan(node, pattern),
        PlanOp::GraphNames { slot, .. } => {
            rule(node.vars == Vec::from_iter(slot_var(slot)), || "columns".into())
        }
        PlanOp::MergeJoin { left, right, kind, condition } => {
            merge(left, right, *kind, condition)?;
            join(node, left, right, *kind, condition)
        }
        PlanOp::HashJoin { left, right, kind, condition } => join(node, left, right, *kind, condition),
        PlanOp::LookupJoin { input, pattern, kind, condition } => {
            lookup(node, input, pattern, *kind, condition)
        }
        PlanOp::MultiwayJoin(tries) => multiway(node, tries),
        PlanOp::Filter { input, exprs } => {
            same_columns(node, input)?;
            exprs.iter().try_for_each(|e| mentions(e, &set(&input.vars)))
        }
        PlanOp::Extend { input, var, expr } => {
            rule(!input.vars.contains(var), || "assigns a column of its input".into())?;
            rule(node.vars.last() == Some(var), || "the new column is not the last".into())?;
            mentions(expr, &set(&input.vars))
        }
        PlanOp::TripleTerm { input, term, subject, predicate, object } => {
            rule(input.certain.contains(term), || "the term is not certainly bound".into())?;
            added(node, input, [subject, predicate, object])
        }
        PlanOp::Union(branches) => {
            let bound = |v: &VarId| branches.iter().all(|b| b.certain.contains(v));
            rule(node.certain.iter().all(bound), || "certain, but not in each branch".into())
        }
        PlanOp::MergeUnion(branches) => {
            let (by, columns) = (&node.sorted_by, set(&node.vars));
            rule(!by.is_empty() && set(by).is_subset(&set(&node.certain)), || {
                "sorted by nothing certain".into()
            })?;
            rule(branches.iter().all(|b| set(&b.vars) == columns), || "branches with other columns".into())?;
            rule(branches.iter().all(|b| b.sorted_by.starts_with(by)), || "branches in another order".into())
        }
        PlanOp::Project(input) => {
            let bound = set(&input.certain);
            rule(set(&node.certain).is_subset(&bound), || "certain, but not in the input".into())
        }
        PlanOp::Distinct(input) | PlanOp::Reduced(input) | PlanOp::Slice { input, .. } => {
            same_columns(node, input)
        }
        PlanOp::LimitBy { input, keys, .. } => {
            same_columns(node, input)?;
            rule(set(keys).is_subset(&set(&input.certain)), || "keys that may be unbound".into())
        }
        PlanOp::Sort { input, keys, .. } => {
            same_columns(node, input)?;
            keys.iter().try_for_each(|k| mentions(&k.expr, &set(&input.vars)))
        }
        PlanOp::Group { input, keys, aggregates, sorted } => {
            let available = set(&input.vars);
            rule(set(keys).is_subset(&available), || "keys that the input lacks".into())?;
            let prefix: VarSet = input.sorted_by.iter().copied().take(keys.len()).collect();
            rule(!*sorted || prefix == set(keys), || "the input is not grouped by the keys".into())?;
            let outputs = keys.iter().copied().chain(aggregates.iter().map(|a| a.output));
            rule(node.vars == Vec::from_iter(outputs), || "columns".into())?;
            aggregates.iter().filter_map(|a| a.argument.as_ref()).try_for_each(|e| mentions(e, &available))
        }
        PlanOp::Path { input, subject, object, graph, .. } => {
            rule(!matches!(graph, GraphScope::Named { slot: Slot::Any, .. }), || {
                "a path over any graph".into()
            })?;
            match input {
                Some(input) => {
                    let known =
                        |slot: &TermSlot| term_slot_var(slot).is_none_or(|var| input.certain.contains(&var));
                    let graph_is_known = graph_var(graph)
                        .is_none_or(|var| input.certain.contains(&var) && (known(subject) || known(object)));
                    rule(graph_is_known, || "a path from rows without their graph".into())?;
                    added(node, input, [subject, object])
                }
                None => {
                    let mut columns = terms([subject, object]);
                    columns.extend(&graph_var(graph).into_iter().collect());
                    rule(set(&node.vars) == columns, || "columns".into())
                }
            }
        }
        PlanOp::Spool { columns, .. } => rule(columns.len() == node.vars.len(), || "columns".into()),
        PlanOp::ForEachGraph { var, pattern, .. } => {
            let mut columns: VarSet = pattern.scope.values().copied().collect();
            columns.insert(*var);
            rule(columns == set(&node.vars), || "columns".into())
        }
        PlanOp::Service { input, call, kind, filter } => {
            service(node, input.as_deref(), call, (*kind, filter.as_ref()))
        }
        // No rules beside those for all.
        _ => Ok(()),
    }
}

fn service(
    node: &PlanNode,
    input: Option<&PlanNode>,
    call: &ServiceCall,
    (kind, filter): (JoinKind, Option<&Expr>),
) -> Result<(), Problem> {
    let (columns, own) = (set(&node.vars), set(&call.columns));
    rule(set(&call.certain).is_subset(&own), || "certain, but not wanted".into())?;
    let Some(input) = input else {
        rule(kind == JoinKind::Inner && filter.is_none(), || "a join without an input".into())?;
        return rule(columns == own, || "columns".into());
    };
    let left = set(&input.vars);
    if let TermSlot::Var(var) = &call.endpoint {
        rule(left.contains(*var), || "the input lacks the endpoint".into())?;
    }
    filter.map_or(Ok(()), |filter| mentions(filter, &left.union(&own)))?;
    let expected = match kind {
        JoinKind::Inner | JoinKind::Left => left.union(&own),
        JoinKind::Semi | JoinKind::Anti => left,
        JoinKind::Minus => return Err("MINUS with bindings".into()),
    };
    rule(columns == expected, || "columns".into())
}

fn terms<'a>(slots: impl IntoIterator<Item = &'a TermSlot>) -> VarSet {
    slots.into_iter().filter_map(term_slot_var).collect()
}

/// The columns are those of the input and those of the slots.
fn added<'a>(
    node: &PlanNode,
    input: &PlanNode,
    slots: impl IntoIterator<Item = &'a TermSlot>,
) -> Result<(), Problem> {
    let all = set(&input.vars).union(&terms(slots));
    rule(set(&node.vars) == all && node.vars.starts_with(&input.vars), || "columns".into())
}

fn same_columns(node: &PlanNode, input: &PlanNode) -> Result<(), Problem> {
    rule(node.vars == input.vars, || "other columns than its input".into())
}

fn mentions(expr: &Expr, available: &VarSet) -> Result<(), Problem> {
    let missing = expr.vars().minus(available);
    rule(missing.is_empty(), || format!("an expression mentions {missing:?}, which no input has"))
}

fn scan(node: &PlanNode, pattern: &ScanPattern) -> Result<(), Problem> {
    constants_first(pattern, &VarSet::new())?;
    let (vars, sorted_by) = crate::physical::scan_columns(pattern);
    rule(vars == node.vars, || "columns".into())?;
    rule(sorted_by.starts_with(&node.sorted_by), || format!("sorted by {:?}", node.sorted_by))
}

fn slot_at(pattern: &ScanPattern, position: Position) -> Option<Slot> {
    match (position, &pattern.graph) {
        (Position::S, _) => Some(pattern.subject),
        (Position::P, _) => Some(pattern.predicate),
        (Position::O, _) => Some(pattern.object),
        (Position::G, GraphScope::Named { slot, .. }) => Some(*slot),
        (Position::G, _) => None,
    }
}

/// The constants, and the variables that act as such, come first in the order. A graph that is no prefix is checked row by row.
fn constants_first(pattern: &ScanPattern, bound: &VarSet) -> Result<(), Problem> {
    let fixed = |p: &Position| match slot_at(pattern, *p) {
        Some(Slot::Const(_)) => true,
        Some(Slot::Var(v)) => bound.contains(v),
        Some(Slot::Any) | None => false,
    };
    let positions = pattern.order.positions();
    let prefix = positions.iter().take_while(|p| fixed(p)).count();
    let late = positions[prefix..].iter().filter(|p| fixed(p));
    let graph_is_variable = graph_var(&pattern.graph).is_some();
    let mut late = late.filter(|p| **p != Position::G || graph_is_variable);
    rule(late.next().is_none(), || format!("constants are no prefix of {}", pattern.order.name()))?;
    let named = matches!(pattern.graph, GraphScope::Named { .. });
    rule(pattern.order != Order::Gspo || named, || "GSPO holds named graphs only".into())
}

fn multiway(node: &PlanNode, tries: &[TriePattern]) -> Result<(), Problem> {
    let mut all = VarSet::new();
    for TriePattern { pattern, .. } in tries {
        constants_first(pattern, &VarSet::new())?;
        rule(pattern.order != Order::Gspo, || "GSPO, where a graph is checked row by row".into())?;
        let slots = [pattern.subject, pattern.predicate, pattern.object];
        rule(!slots.contains(&Slot::Any), || "matches that count, but are not told apart".into())?;
        let unclear = matches!(pattern.graph, GraphScope::Named { slot: Slot::Var(_) | Slot::Any, .. });
        rule(!unclear, || "a variable graph".into())?;
        let (levels, _) = crate::physical::scan_columns(pattern);
        let variables = slots.iter().filter(|slot| matches!(slot, Slot::Var(_))).count();
        rule(!levels.is_empty() && levels.len() == variables, || "no variable, or one twice".into())?;
        let in_sequence = Vec::from_iter(node.vars.iter().copied().filter(|v| levels.contains(v)));
        rule(levels == in_sequence, || "levels in another sequence than the columns".into())?;
        all.extend(&set(&levels));
    }
    rule(all == set(&node.vars) && node.vars == node.sorted_by, || "columns".into())?;
    rule(set(&node.certain) == all, || "all columns are certain".into())
}

fn join(
    node: &PlanNode,
    left: &PlanNode,
    right: &PlanNode,
    kind: JoinKind,
    condition: &JoinCondition,
) -> Result<(), Problem> {
    let (on, maybe) = (set(&condition.on), set(&condition.maybe));
    let (l, r) = (set(&left.vars), set(&right.vars));
    rule(on.union(&maybe) == l.intersect(&r), || "the condition misses shared columns".into())?;
    rule(on.is_disjoint(&maybe), || "a column both sure and maybe".into())?;
    let sure = set(&left.certain).intersect(&set(&right.certain));
    rule(on.is_subset(&sure), || "joins on columns that may be unbound".into())?;
    if let Some(filter) = &condition.filter {
        mentions(filter, &l.union(&r))?;
    }
    let (vars, certain) = match kind {
        JoinKind::Inner => (l.union(&r), set(&left.certain).union(&set(&right.certain))),
        JoinKind::Left => (l.union(&r), set(&left.certain)),
        JoinKind::Semi | JoinKind::Anti | JoinKind::Minus => (l.clone(), set(&left.certain)),
    };
    rule(set(&node.vars) == vars && node.vars.starts_with(&left.vars), || "columns".into())?;
    rule(set(&node.certain).is_subset(&certain), || "too many certain columns".into())?;
    let kept = left.sorted_by.starts_with(&node.sorted_by);
    rule(kept, || "an order that the left has not".into())?;
    let unsure = node.sorted_by.iter().any(|v| maybe.contains(*v)) && vars.len() > l.len();
    rule(!unsure, || "sorted by a column that the right may fill".into())
}

fn merge(
    left: &PlanNode,
    right: &PlanNode,
    kind: JoinKind,
    condition: &JoinCondition,
) -> Result<(), Problem> {
    rule(kind != JoinKind::Minus, || "a merge join cannot be MINUS".into())?;
    rule(!condition.on.is_empty() && condition.maybe.is_empty(), || "on what?".into())?;
    rule(left.sorted_by.starts_with(&condition.on), || "the left is not sorted".into())?;
    rule(right.sorted_by.starts_with(&condition.on), || "the right is not sorted".into())
}

fn lookup(
    node: &PlanNode,
    input: &PlanNode,
    pattern: &ScanPattern,
    kind: JoinKind,
    condition: &JoinCondition,
) -> Result<(), Problem> {
    rule(kind != JoinKind::Minus, || "a look-up cannot be MINUS".into())?;
    rule(condition.maybe.is_empty() && !condition.on.is_empty(), || "on what?".into())?;
    constants_first(pattern, &set(&condition.on))?;
    let (vars, _) = crate::physical::scan_columns(pattern);
    let (own, l) = (set(&vars), set(&input.vars));
    rule(set(&condition.on) == own.intersect(&l), || "the condition misses shared columns".into())?;
    rule(set(&condition.on).is_subset(&set(&input.certain)), || "keys may be unbound".into())?;
    if let Some(filter) = &condition.filter {
        mentions(filter, &l.union(&own))?;
    }
    let columns = match kind {
        JoinKind::Inner | JoinKind::Left => l.union(&own),
        JoinKind::Semi | JoinKind::Anti | JoinKind::Minus => l,
    };
    rule(set(&node.vars) == columns && node.vars.starts_with(&input.vars), || "columns".into())?;
    rule(input.sorted_by.starts_with(&node.sorted_by), || "an order that the input has not".into())
}
