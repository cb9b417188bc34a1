//! Columns that nobody above needs are not made: a scan then reads fewer columns, and rows stay as many as they were.

use crate::expr::{Expr, vars_of};
use crate::logical::{Logical, LogicalOp as Op, QuadPattern, graph_var, slot_var, term_slot_var};
use crate::plan::{GraphScope, Slot, VarId};
use crate::service_call::ServiceCall;
use crate::var_set::VarSet;
use std::sync::Arc;

/// Rewrites `logical` so that it delivers the columns in `needed` (of those that it has), and as few others as is easy.
pub(super) fn prune(logical: Logical, needed: &VarSet) -> Logical {
    match logical.op {
        Op::Scan(pattern) => Logical::scan(scan(pattern, needed)),
        Op::GraphNames { slot: Slot::Var(var), among } => Logical::graph_names(Slot::Var(var), among),
        Op::Values { columns, rows } => values(columns, rows, needed),
        Op::Spool { number, columns } => {
            let (vars, certain) = (logical.vars, logical.certain);
            let columns = columns.into_iter().filter(|(here, _)| needed.contains(*here)).collect();
            let kept = |set: VarSet| set.intersect(needed);
            Logical { op: Op::Spool { number, columns }, vars: kept(vars), certain: kept(certain) }
        }
        Op::Join { members, filters } => join(members, filters, needed),
        Op::LeftJoin { left, right, filter } => {
            let shared = left.vars.intersect(&right.vars);
            let below = needed.union(&shared).union(&vars_of(&filter));
            Logical::left_join(prune(*left, &below), prune(*right, &below), filter)
        }
        Op::Exists { left, right, filter, negated } => {
            let both = left.vars.intersect(&right.vars).union(&vars_of(&filter));
            let (left, right) = (prune(*left, &needed.union(&both)), prune(*right, &both));
            Logical::exists(left, right, filter, negated)
        }
        Op::Minus { left, right } => {
            let shared = left.vars.intersect(&right.vars);
            let right = exactly(prune(*right, &shared), &shared);
            Logical::minus(prune(*left, &needed.union(&shared)), right)
        }
        Op::Filter { input, exprs } => {
            let below = needed.union(&vars_of(&exprs));
            Logical::filter(prune(*input, &below), exprs)
        }
        Op::Extend { input, var, expr } => {
            if !needed.contains(var) {
                return prune(*input, needed);
            }
            let mut below = needed.union(&expr.vars());
            below.remove(var);
            Logical::extend(prune(*input, &below), var, expr)
        }
        Op::TripleTerm { input: Some(input), term, subject, predicate, object } => {
            let mut below: VarSet =
                [&subject, &predicate, &object].into_iter().filter_map(term_slot_var).collect();
            below.insert(term);
            let input = prune(*input, &needed.union(&below));
            Logical::triple_term(Some(input), term, [subject, predicate, object])
        }
        Op::Union(branches) => Logical::union(branches.into_iter().map(|b| prune(b, needed)).collect()),
        Op::Project { input, columns } => project(*input, columns, needed),
        Op::Distinct(input) => {
            let all = input.vars.clone();
            Logical::distinct(exactly(prune(*input, &all), &all))
        }
        Op::Reduced(input) => {
            let all = input.vars.clone();
            Logical::reduced(exactly(prune(*input, &all), &all))
        }
        Op::Sort { input, keys, limit } => {
            let below = needed.union(&vars_of(keys.iter().map(|k| &k.expr)));
            Logical::sort(prune(*input, &below), keys, limit)
        }
        Op::Slice { input, start, length } => Logical::slice(prune(*input, needed), start, length),
        Op::LimitBy { input, keys, start, length } => {
            let below = needed.union(&keys.iter().copied().collect());
            Logical::limit_by(prune(*input, &below), keys, start, length)
        }
        Op::Group { input, keys, aggregates } => {
            let aggregates: Vec<_> = aggregates.into_iter().filter(|a| needed.contains(a.output)).collect();
            let counts_rows = aggregates.iter().any(|a| a.argument.is_none() && a.distinct);
            let mut below: VarSet = keys.iter().copied().collect();
            below.extend(&vars_of(aggregates.iter().filter_map(|a| a.argument.as_ref())));
            if counts_rows {
                below.extend(&input.vars);
            }
            Logical::group(prune(*input, &below), keys, aggregates)
        }
        Op::Service { input, call } => service(input.map(|input| *input), Arc::unwrap_or_clone(call), needed),
        _ => logical,
    }
}

/// The columns of a service that are wanted, and those that it is joined by; at least one, because without any all would be asked for.
fn service(input: Option<Logical>, mut call: ServiceCall, needed: &VarSet) -> Logical {
    let mut wanted = needed.clone();
    if let Some(input) = &input {
        wanted.extend(&input.vars);
    }
    let first = call.columns.first().copied();
    call.columns.retain(|var| wanted.contains(*var));
    if call.columns.is_empty() {
        call.columns.extend(first);
    }
    call.certain.retain(|var| call.columns.contains(var));
    let mut below = needed.clone();
    below.extend(&call.columns.iter().copied().chain(term_slot_var(&call.endpoint)).collect());
    Logical::service(input.map(|input| prune(input, &below)), Arc::new(call))
}

/// Drops columns beyond `columns`, where their presence would be seen.
fn exactly(input: Logical, columns: &VarSet) -> Logical {
    if input.vars.is_subset(columns) {
        return input;
    }
    let kept = input.vars.intersect(columns);
    Logical::project(input, kept.as_slice().to_vec())
}

fn scan(pattern: QuadPattern, needed: &VarSet) -> QuadPattern {
    let slots = [pattern.subject, pattern.predicate, pattern.object];
    let graph = graph_var(&pattern.graph);
    let occurrences =
        |var: VarId| slots.iter().filter_map(slot_var).chain(graph).filter(|v| *v == var).count();
    let keep = |slot: Slot| match slot {
        Slot::Var(var) if !needed.contains(var) && occurrences(var) == 1 => Slot::Any,
        other => other,
    };
    let [subject, predicate, object] = slots.map(keep);
    let graph = match pattern.graph {
        GraphScope::Named { slot, among } => GraphScope::Named { slot: keep(slot), among },
        other => other,
    };
    QuadPattern { subject, predicate, object, graph, objects: pattern.objects }
}

fn values(columns: Vec<VarId>, rows: Vec<Vec<Option<lode_rdf::Term>>>, needed: &VarSet) -> Logical {
    if columns.iter().all(|v| needed.contains(*v)) {
        return Logical::values(columns, rows);
    }
    let kept: Vec<bool> = columns.iter().map(|v| needed.contains(*v)).collect();
    let narrow = |row: Vec<Option<lode_rdf::Term>>| {
        row.into_iter().zip(&kept).filter(|(_, keep)| **keep).map(|(term, _)| term).collect()
    };
    let rows = rows.into_iter().map(narrow).collect();
    Logical::values(columns.into_iter().filter(|v| needed.contains(*v)).collect(), rows)
}

fn join(members: Vec<Logical>, filters: Vec<Expr>, needed: &VarSet) -> Logical {
    let mut below = needed.union(&vars_of(&filters));
    let mut seen = VarSet::new();
    for member in &members {
        below.extend(&seen.intersect(&member.vars));
        seen.extend(&member.vars);
    }
    Logical::join(members.into_iter().map(|m| prune(m, &below)).collect(), filters)
}

fn project(input: Logical, columns: Vec<VarId>, needed: &VarSet) -> Logical {
    let columns: Vec<VarId> = columns.into_iter().filter(|v| needed.contains(*v)).collect();
    let below: VarSet = columns.iter().copied().collect();
    Logical::project(prune(input, &below), columns)
}
