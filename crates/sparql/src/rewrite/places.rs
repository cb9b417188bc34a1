//! Conditions on geometries that are the objects of a pattern (`geof:sfWithin(?g, "..."^^geo:wktLiteral)`, `geof:distance(?g, "...") < 1000`), where there is an index of
//! geometries: those that may pass are looked up when the query is planned.
//!
//! Few of them, beside the rows of the pattern, are rows that are joined, so that a plan may begin with them; many are a set that ids are tested against. The condition itself
//! stays. All is as before: objects of patterns are terms of the data, and a geometry that the
//! index does not tell does not pass, or is none, which is an error of the condition and drops the row.

use super::texts::{among, begins, least_rows, objects, total};
use crate::expr::Expr;
use crate::id_set::{IdList, IdSet};
use crate::logical::{Logical, LogicalOp as Op};
use crate::place_search::PlaceSearch;
use crate::statistics::Statistics;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, stats));
    match logical.op {
        Op::Join { members, filters } => narrowed(members, filters, stats),
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => {
            if exprs.iter().any(|expr| PlaceSearch::of(expr).is_some()) {
                narrowed(vec![*input], exprs, stats)
            } else {
                Logical::filter(*input, exprs)
            }
        }
        op => Logical { op, ..logical },
    }
}

/// The set of the same ids.
pub(super) fn set_of(list: IdList) -> IdSet {
    IdSet::of(|| list.ids.iter().copied()).holding(list.held)
}

/// The join of these, with what may pass before each condition that an index knows of.
fn narrowed(mut members: Vec<Logical>, filters: Vec<Expr>, stats: &dyn Statistics) -> Logical {
    let mut kept = Vec::with_capacity(filters.len());
    for filter in filters {
        let found = PlaceSearch::of(&filter).and_then(|(var, search)| {
            let pattern = members.iter().find_map(|member| objects(member, var))?;
            let total = total(pattern, stats);
            Some((var, total, least_rows(&members, stats), stats.place_candidates(&search)?))
        });
        if let Some((var, total, least, list)) = found {
            match begins(list.ids.len(), total, least) {
                true => members.push(Logical::ids(var, list)),
                false => kept.push(among(var, set_of(list), total)),
            }
        }
        kept.push(filter);
    }
    Logical::join(members, kept)
}
