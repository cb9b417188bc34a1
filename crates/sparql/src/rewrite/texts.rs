//! `text:matches(?text, "query")` over the objects of a pattern, where there is an index of words: the texts that it finds are looked up when the query is planned.
//!
//! Few of them, beside the rows of the pattern, are rows that are joined, so that a plan may begin with them; many are a set that ids are tested against. The condition
//! itself stays where the index tells candidates only. All is as before: objects of patterns are terms of the data, the index tells all of these that match, each once, and
//! a text that it does not tell does not match, or is no text, which is an error of the condition and drops the row.
//!
//! Of the first rows by `text:score(?text, "query")`, descending, those of the best texts are enough: as many texts as have so many rows in the pattern, and all others that are
//! as good as the worst of them, where anything else decides among these.

use crate::expr::Expr;
use crate::id_set::{IdList, IdSet};
use crate::logical::{Logical, LogicalOp as Op, QuadPattern};
use crate::plan::{GraphScope, Slot, VarId};
use crate::statistics::{Statistics, TextHits};
use crate::text_search::{MATCHES, SCORE};
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use std::sync::Arc;

/// Rows of a pattern that are read in the time in which one object is looked up in it.
const ROWS_PER_ID: f64 = 16.0;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = match logical.op {
        Op::Slice { input, start, length: Some(length) } => {
            let rows = start.saturating_add(length);
            Logical::slice(best_first(*input, rows, stats), start, Some(length))
        }
        op => Logical { op, ..logical },
    };
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
            Some((var, total, least_rows(&members, stats), stats.text_hits(query)?))
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
fn search(filter: &Expr) -> Option<(VarId, &str)> {
    of_text(filter, MATCHES)
}

/// The variable and the query of a call of this name.
fn of_text<'e>(expr: &'e Expr, name: &str) -> Option<(VarId, &'e str)> {
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

/// The same first rows of a sort by score, of few texts.
fn best_first(logical: Logical, rows: usize, stats: &dyn Statistics) -> Logical {
    match logical.op {
        Op::Project { input, columns } => Logical::project(best_first(*input, rows, stats), columns),
        Op::Sort { input, keys, limit } => {
            let input = match keys.first() {
                Some(key) if key.descending => {
                    let wanted = Wanted { rows: rows as u64, all_equals: keys.len() > 1 };
                    wanted.restrict(*input, &key.expr, stats)
                }
                _ => *input,
            };
            Logical::sort(input, keys, limit)
        }
        op => Logical { op, ..logical },
    }
}

/// How many of the first rows are wanted, and whether something else than the score decides among those that are equally good.
#[derive(Clone, Copy)]
struct Wanted {
    rows: u64,
    all_equals: bool,
}

impl Wanted {
    /// The rows with the greatest values of `by`, and perhaps others.
    fn restrict(self, logical: Logical, by: &Expr, stats: &dyn Statistics) -> Logical {
        match logical.op {
            Op::Project { input, columns } => Logical::project(self.restrict(*input, by, stats), columns),
            Op::Extend { input, var, expr } => {
                let by = if *by == Expr::Var(var) { &expr } else { by };
                let input = self.restrict(*input, by, stats);
                Logical::extend(input, var, expr)
            }
            Op::Distinct(input) => Logical::distinct(self.restrict_distinct(*input, by, stats)),
            Op::Join { members, filters } => match members.as_slice() {
                [member] => match self.best(member, &filters, by, false, stats) {
                    Some((var, list)) => Logical::join(
                        members.into_iter().chain([Logical::ids(var, list)]).collect(),
                        Vec::new(),
                    ),
                    None => Logical::join(members, filters),
                },
                _ => Logical::join(members, filters),
            },
            Op::Filter { input, exprs } => match self.best(&input, &exprs, by, false, stats) {
                Some((var, list)) => Logical::join(vec![*input, Logical::ids(var, list)], Vec::new()),
                None => Logical::filter(*input, exprs),
            },
            op => Logical { op, ..logical },
        }
    }

    /// The same below a DISTINCT: each text is a row.
    fn restrict_distinct(self, logical: Logical, by: &Expr, stats: &dyn Statistics) -> Logical {
        let Op::Project { input, columns } = logical.op else { return logical };
        let input = match input.op {
            Op::Filter { input: pattern, exprs } if columns.len() == 1 => {
                match self.best(&pattern, &exprs, by, true, stats) {
                    Some((var, list)) => Logical::join(vec![*pattern, Logical::ids(var, list)], Vec::new()),
                    None => Logical::filter(*pattern, exprs),
                }
            }
            op => Logical { op, ..*input },
        };
        Logical::project(input, columns)
    }

    /// The best objects of a pattern of which one condition is wanted, a search, by the score of the same search.
    fn best(
        self,
        member: &Logical,
        filters: &[Expr],
        by: &Expr,
        distinct: bool,
        stats: &dyn Statistics,
    ) -> Option<(VarId, IdList)> {
        let [filter] = filters else { return None };
        let (var, query) = search(filter)?;
        let pattern = objects(member, var).filter(|_| of_text(by, SCORE) == Some((var, query)))?;
        // Each quad of a text is a row.
        let is_plain = matches!(pattern.graph, GraphScope::Default | GraphScope::Union)
            && !stats.has_named_graphs()
            && pattern.objects.is_none();
        let subject = |id: ValueId| match (pattern.subject, pattern.predicate) {
            (Slot::Const(subject), Slot::Const(predicate)) => {
                Some(stats.count(Order::Spog, &[subject, predicate, id]))
            }
            (Slot::Const(subject), Slot::Any) => Some(stats.count(Order::Sopg, &[subject, id])),
            (Slot::Const(subject), Slot::Var(other)) if other != var => {
                Some(stats.count(Order::Sopg, &[subject, id]))
            }
            (Slot::Var(own), _) | (_, Slot::Var(own)) if own == var => None,
            (Slot::Var(own), Slot::Var(other)) if own == other => None,
            (_, Slot::Const(predicate)) => Some(stats.count(Order::Posg, &[predicate, id])),
            _ => Some(stats.count(Order::Ospg, &[id])),
        };
        let least = if distinct { 1 } else { u64::MAX };
        let mut rows_of = |id: ValueId| subject(id).unwrap_or(0).min(least);
        let list = is_plain.then(|| stats.best_texts(query, self.rows, self.all_equals, &mut rows_of))??;
        Some((var, list))
    }
}
