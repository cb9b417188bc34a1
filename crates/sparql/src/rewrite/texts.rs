//! `text:matches(?text, "query")` over the objects of a pattern, where there is an index of words: the texts that it finds are looked up when the query is planned.
//!
//! Few of them, beside the rows of the pattern, are rows that are joined, so that a plan may begin with them; many are a set that ids are tested against. The condition
//! itself stays where the index tells candidates only. All is as before: objects of patterns are terms of the data, the index tells all of these that match, each once, and
//! a text that it does not tell does not match, or is no text, which is an error of the condition and drops the row.

use crate::expr::Expr;
use crate::id_set::IdSet;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{Slot, VarId};
use crate::statistics::{Statistics, TextHits};
use crate::text_search::MATCHES;
use lode_packed::Order;
use lode_rdf::Term;
use std::sync::Arc;

/// Rows of a pattern that are read in the time in which one object is looked up in it.
const ROWS_PER_ID: f64 = 16.0;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, stats));
    match logical.op {
        Op::Join { members, filters } => joined(members, filters, stats),
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => {
            if exprs.iter().any(|expr| search(expr).is_some()) {
                joined(vec![*input], exprs, stats)
            } else {
                Logical::filter(*input, exprs)
            }
        }
        op => Logical { op, ..logical },
    }
}

fn joined(mut members: Vec<Logical>, filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut kept = Vec::with_capacity(filters.len());
    for filter in filters {
        let found = search(&filter).and_then(|(var, query)| {
            let pattern = members.iter().find_map(|member| objects(member, var))?;
            let total = total(pattern, stats);
            let hits = stats.text_hits(query, pattern.text_scope())?;
            Some((var, total, least_rows(&members, stats), hits))
        });
        let Some((var, total, least, hits)) = found else {
            kept.push(filter);
            continue;
        };
        let TextHits { ids, list, is_exact } = hits;
        match list {
            Some(list) if begins(list.ids.len(), total, least) => members.push(Logical::ids(var, list)),
            _ => kept.push(among(var, ids, total)),
        }
        if !is_exact {
            kept.push(filter);
        }
    }
    Logical::join(members, kept)
}

/// Whether so many ids, which a pattern of so many rows has as objects, are better begun with than tested against: they are few, and no other pattern has fewer rows.
pub(super) fn begins(ids: usize, total: f64, least: f64) -> bool {
    let count = ids as f64;
    count <= least && count * ROWS_PER_ID <= total
}

/// The condition that the object of a pattern of so many rows is one of these.
pub(super) fn among(var: VarId, ids: IdSet, total: f64) -> Expr {
    let share = ids.len() as f64 / total.max(1.0);
    Expr::Among(Box::new(Expr::Var(var)), Arc::new(ids.keeping(share)))
}

/// The rows of the pattern that has the fewest.
pub(super) fn least_rows(members: &[Logical], stats: &dyn Statistics) -> f64 {
    members.iter().map(|member| rows_of(member, stats)).fold(f64::INFINITY, f64::min)
}

/// The variable and the query of a condition that is a search.
pub(super) fn search(filter: &Expr) -> Option<(VarId, &str)> {
    of_text(filter, MATCHES)
}

/// The variable and the query of a call of this name.
pub(super) fn of_text<'e>(expr: &'e Expr, name: &str) -> Option<(VarId, &'e str)> {
    match expr {
        Expr::Call(callee, arguments) if callee.name() == name => match arguments.as_slice() {
            [Expr::Var(var), Expr::Const(Term::Literal(query))] => Some((*var, query.value())),
            _ => None,
        },
        _ => None,
    }
}

/// The pattern whose objects a variable is.
pub(super) fn objects(member: &Logical, var: VarId) -> Option<&QuadPattern> {
    match &member.op {
        Op::Scan(pattern) if pattern.object == Slot::Var(var) => Some(pattern),
        _ => None,
    }
}

/// How many rows a pattern has, whatever its subject.
pub(super) fn total(pattern: &QuadPattern, stats: &dyn Statistics) -> f64 {
    match pattern.predicate {
        Slot::Const(predicate) => stats.count(Order::Psog, &[predicate]) as f64,
        _ => stats.quad_count() as f64,
    }
}

/// How many rows a member has, if it is a pattern.
fn rows_of(member: &Logical, stats: &dyn Statistics) -> f64 {
    let Op::Scan(QuadPattern { subject, predicate, object, .. }) = &member.op else { return f64::INFINITY };
    let count = match (*subject, *predicate, *object) {
        (Slot::Const(s), Slot::Const(p), Slot::Const(o)) => stats.count(Order::Spog, &[s, p, o]),
        (Slot::Const(s), Slot::Const(p), _) => stats.count(Order::Spog, &[s, p]),
        (Slot::Const(s), _, Slot::Const(o)) => stats.count(Order::Sopg, &[s, o]),
        (Slot::Const(s), _, _) => stats.count(Order::Spog, &[s]),
        (_, Slot::Const(p), Slot::Const(o)) => stats.count(Order::Posg, &[p, o]),
        (_, Slot::Const(p), _) => stats.count(Order::Psog, &[p]),
        (_, _, Slot::Const(o)) => stats.count(Order::Ospg, &[o]),
        _ => stats.quad_count(),
    };
    count as f64
}
