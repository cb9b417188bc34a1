//! A variable that must be one term is that term: `FILTER(?x = <iri>)`, `sameTerm(?x, t)` and a row of VALUES go into the
//! patterns, where they become part of an index prefix. A variable that must be one of several IRIs is joined with them.
//!
//! Only IRIs, for `=` and IN: literals can be equal without being the same term.

use super::groups::each_group;
use crate::expr::Expr;
use crate::logical::{Logical, LogicalOp as Op};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::Statistics;
use lode_rdf::{Term, ValueId};

/// Longer lists stay filters.
const LIST_MAX: usize = 1_000;

/// Rewrites all join groups and filtered patterns.
pub(super) fn replace(logical: Logical, stats: &dyn Statistics) -> Logical {
    each_group(logical, &mut |members, filters| group(members, filters, stats))
}

fn group(mut members: Vec<Logical>, mut filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut known: Vec<(VarId, Term)> = Vec::new();
    single_rows(&mut members, &mut filters);
    while !stats.is_cancelled()
        && let Some((at, var, term)) = find(&members, &filters)
    {
        filters.remove(at);
        let id = stats.id_of(&term);
        for member in &mut members {
            if member.vars.contains(var) {
                *member = with_constant(member, var, id);
            }
        }
        for filter in &mut filters {
            filter.substitute(var, &term);
        }
        known.push((var, term));
    }
    lists(&mut members, &mut filters);
    // The variables that were replaced are columns still.
    let joined = Logical::group_of(members, filters);
    known.into_iter().fold(joined, |input, (var, term)| Logical::extend(input, var, Expr::Const(term)))
}

/// VALUES of one row without UNDEF become conditions, if patterns bind all their variables.
fn single_rows(members: &mut Vec<Logical>, filters: &mut Vec<Expr>) {
    let mut at = 0;
    while at < members.len() {
        let Some(row) = only_row(&members[at]) else {
            at += 1;
            continue;
        };
        let replaceable = row.iter().all(|(var, _)| {
            let mut others = members.iter().enumerate().filter(|(i, m)| *i != at && m.vars.contains(*var));
            let bound = others.clone().next().is_some();
            bound
                && others.all(|(_, m)| matches!(m.op, Op::Scan(_)))
                && !filters.iter().any(|f| f.has_exists() && f.vars().contains(*var))
        });
        if replaceable && members.len() > 1 {
            members.remove(at);
            for (var, term) in row {
                filters.push(Expr::SameTerm(Box::new(Expr::Var(var)), Box::new(Expr::Const(term))));
            }
        } else {
            at += 1;
        }
    }
}

fn only_row(member: &Logical) -> Option<Vec<(VarId, Term)>> {
    let Op::Values { columns, rows } = &member.op else { return None };
    let [row] = rows.as_slice() else { return None };
    columns.iter().zip(row).map(|(var, term)| Some((*var, term.clone()?))).collect()
}

/// A filter that makes a variable constant which only patterns bind.
fn find(members: &[Logical], filters: &[Expr]) -> Option<(usize, VarId, Term)> {
    filters.iter().enumerate().find_map(|(i, filter)| {
        let (var, term) = required(filter)?;
        let mut bound = false;
        for member in members.iter().filter(|m| m.vars.contains(var)) {
            if !matches!(member.op, Op::Scan(_)) {
                return None;
            }
            bound = true;
        }
        let in_exists = filters.iter().any(|f| f.has_exists() && f.vars().contains(var));
        (bound && !in_exists).then(|| (i, var, term.clone()))
    })
}

/// The variable and term of a condition that makes them the same.
fn required(filter: &Expr) -> Option<(VarId, &Term)> {
    let (a, b, exact) = match filter {
        Expr::SameTerm(a, b) => (a, b, true),
        Expr::Equal(a, b) => (a, b, false),
        _ => return None,
    };
    let (var, term) = match (&**a, &**b) {
        (Expr::Var(var), Expr::Const(term)) | (Expr::Const(term), Expr::Var(var)) => (*var, term),
        _ => return None,
    };
    (exact || matches!(term, Term::NamedNode(_))).then_some((var, term))
}

fn with_constant(member: &Logical, var: VarId, id: Option<ValueId>) -> Logical {
    let mut rest = member.vars.clone();
    rest.remove(var);
    let (Op::Scan(pattern), Some(id)) = (&member.op, id) else { return Logical::empty(rest) };
    let put = |slot: Slot| if slot == Slot::Var(var) { Slot::Const(id) } else { slot };
    let graph = match &pattern.graph {
        GraphScope::Named { slot: Slot::Var(g), among } if *g == var => {
            if among.as_deref().is_some_and(|ids| ids.binary_search(&id).is_err()) {
                return Logical::empty(rest);
            }
            GraphScope::Named { slot: Slot::Const(id), among: None }
        }
        other => other.clone(),
    };
    Logical::scan(pattern.with_slots(put, graph))
}

/// `?x IN (<a>, <b>)` and `?x = <a> || ?x = <b>` of a variable that a pattern binds become a join with the IRIs, which can be
/// looked up.
fn lists(members: &mut Vec<Logical>, filters: &mut Vec<Expr>) {
    let mut kept = Vec::with_capacity(filters.len());
    for filter in filters.drain(..) {
        let list = alternatives(&filter)
            .filter(|(var, _)| members.iter().any(|m| matches!(m.op, Op::Scan(_)) && m.vars.contains(*var)));
        match list {
            Some((var, mut terms)) => {
                terms.sort_by(|a, b| a.as_str().cmp(b.as_str()));
                terms.dedup();
                let rows = terms.into_iter().map(|t| vec![Some(Term::from(t))]).collect();
                members.push(Logical::values(vec![var], rows));
            }
            None => kept.push(filter),
        }
    }
    *filters = kept;
}

/// The variable and the IRIs of a condition that it is one of them.
fn alternatives(filter: &Expr) -> Option<(VarId, Vec<lode_rdf::NamedNode>)> {
    let iri = |e: &Expr| match e {
        Expr::Const(Term::NamedNode(iri)) => Some(iri.clone()),
        _ => None,
    };
    match filter {
        Expr::In(needle, list) if !list.is_empty() && list.len() <= LIST_MAX => {
            let Expr::Var(var) = &**needle else { return None };
            Some((*var, list.iter().map(iri).collect::<Option<_>>()?))
        }
        Expr::Or(parts) if parts.len() <= LIST_MAX => {
            let mut all = Vec::with_capacity(parts.len());
            let mut common = None;
            for part in parts {
                let (var, terms) = match required(part) {
                    Some((var, Term::NamedNode(term))) => (var, vec![term.clone()]),
                    _ => alternatives(part)?,
                };
                if *common.get_or_insert(var) != var {
                    return None;
                }
                all.extend(terms);
            }
            common.map(|var| (var, all))
        }
        _ => None,
    }
}
