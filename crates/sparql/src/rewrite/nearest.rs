//! The first rows of a pattern by `geof:distance(?g, "..."^^geo:wktLiteral)`, ascending, where there is an index of geometries: those of the nearest geometries are enough, and of
//! all that are as near as the last of them, and of those that have no distance, which come first.
//!
//! The index tells them only where all objects of the pattern are geometries, each once. What sorts and cuts stays, so that rows, ties and their sequence are as before.

use super::candidates::set_of;
use super::texts::{among, begins};
use crate::expr::Expr;
use crate::id_set::IdList;
use crate::logical::{Logical, LogicalOp as Op};
use crate::pattern::GraphScope;
use crate::place_search::PlaceSearch;
use crate::plan::{Slot, VarId};
use crate::statistics::Statistics;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::ops::Range;

/// More rows are not looked for one by one.
const ROWS_MAX: usize = 1000;

/// Looks up what sorts with a limit ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, stats));
    match logical.op {
        Op::Slice { input, start, length: Some(length) } => {
            let rows = start.saturating_add(length);
            let input = if rows > 0 && rows <= ROWS_MAX { first(*input, rows, stats) } else { *input };
            Logical::slice(input, start, Some(length))
        }
        op => Logical { op, ..logical },
    }
}

/// The same first rows of a sort.
fn first(logical: Logical, rows: usize, stats: &dyn Statistics) -> Logical {
    match logical.op {
        Op::Project { input, columns } => Logical::project(first(*input, rows, stats), columns),
        Op::Sort { input, keys, limit } => {
            let input = match keys.first() {
                Some(key) if !key.descending => narrowed(*input, &key.expr, rows, stats),
                _ => *input,
            };
            Logical::sort(input, keys, limit)
        }
        op => Logical { op, ..logical },
    }
}

/// The rows with the least values of `by`, and perhaps others.
fn narrowed(logical: Logical, by: &Expr, rows: usize, stats: &dyn Statistics) -> Logical {
    match logical.op {
        Op::Project { input, columns } => Logical::project(narrowed(*input, by, rows, stats), columns),
        Op::Extend { input, var, expr } => {
            let by = if *by == Expr::Var(var) { &expr } else { by };
            let input = narrowed(*input, by, rows, stats);
            Logical::extend(input, var, expr)
        }
        Op::Scan(_) => match nearest(&logical, by, rows, stats) {
            Some((var, all_rows, list)) if begins(list.ids.len(), all_rows, all_rows) => {
                Logical::join(vec![logical, Logical::ids(var, list)], Vec::new())
            }
            Some((var, all_rows, list)) => Logical::filter(logical, vec![among(var, set_of(list), all_rows)]),
            None => logical,
        },
        op => Logical { op, ..logical },
    }
}

/// The nearest objects of a pattern, which variable they are, and how many rows it has.
fn nearest(scan: &Logical, by: &Expr, rows: usize, stats: &dyn Statistics) -> Option<(VarId, f64, IdList)> {
    let Op::Scan(pattern) = &scan.op else { return None };
    let (var, search) = PlaceSearch::measured(by)?;
    let (Slot::Var(subject), Slot::Const(predicate)) = (pattern.subject, pattern.predicate) else {
        return None;
    };
    let is_plain = pattern.object == Slot::Var(var)
        && subject != var
        && pattern.objects.is_none()
        && matches!(pattern.graph, GraphScope::Default | GraphScope::Union)
        && !stats.has_named_graphs();
    if !is_plain {
        return None;
    }
    let all_rows = stats.count(Order::Posg, &[predicate]);
    let mut rows_of = |ids: Range<ValueId>| stats.count_between(Order::Posg, &[predicate], &ids);
    let list = stats.nearest_places(&search, rows as u64, all_rows, &mut rows_of)?;
    Some((var, all_rows as f64, list))
}
