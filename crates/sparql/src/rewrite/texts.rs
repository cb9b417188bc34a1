//! `text:matches(?text, "query")` over the objects of a pattern, where there is an index of words: the texts that it finds are looked up when the query is planned.
//!
//! Few of them are rows that are joined, so that a plan may begin with them; many are a set that ids are tested against. The condition itself stays where the index tells
//! candidates only. All is as before: objects of patterns are terms of the data, the index tells all of these that match, each once, and a text that it does not tell
//! does not match, or is no text, which is an error of the condition and drops the row.

use crate::expr::Expr;
use crate::id_set::IdSet;
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{Slot, VarId};
use crate::statistics::{Statistics, TextHits};
use crate::text_search::MATCHES;
use lode_packed::Order;
use lode_rdf::Term;
use std::sync::Arc;

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
            Some((var, total, stats.text_hits(query)?))
        });
        let Some((var, total, hits)) = found else {
            kept.push(filter);
            continue;
        };
        let TextHits { ids, terms, is_exact } = hits;
        match terms {
            Some(terms) => {
                members.push(Logical::values(
                    vec![var],
                    terms.into_iter().map(|term| vec![Some(term)]).collect(),
                ));
            }
            None => {
                let share = ids.len() as f64 / total.max(1.0);
                let ids: IdSet = ids.into_iter().collect();
                kept.push(Expr::Among(Box::new(Expr::Var(var)), Arc::new(ids.keeping(share))));
            }
        }
        if !is_exact {
            kept.push(filter);
        }
    }
    Logical::join(members, kept)
}

/// The variable and the query of a condition that is a search.
fn search(filter: &Expr) -> Option<(VarId, &str)> {
    match filter {
        Expr::Call(callee, arguments) if callee.name() == MATCHES => match arguments.as_slice() {
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
