//! Conditions on geometries that are the objects of a pattern (`geof:sfWithin(?g, "..."^^geo:wktLiteral)`, `geof:distance(?g, "...") < 1000`), where there is an index of
//! geometries: those that may pass are looked up when the query is planned.
//!
//! They are a set that ids are tested against before the condition itself, which stays. All is as before: objects of patterns are terms of the data, and a geometry that the
//! index does not tell does not pass, or is none, which is an error of the condition and drops the row.

use super::texts::{objects, total};
use crate::expr::Expr;
use crate::id_set::IdSet;
use crate::logical::{Logical, LogicalOp as Op};
use crate::place_search::PlaceSearch;
use crate::statistics::Statistics;
use std::sync::Arc;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    let logical = logical.map_inputs(&mut |input| look_up(input, stats));
    match logical.op {
        Op::Join { members, filters } => {
            let filters = narrowed(&members.iter().collect::<Vec<_>>(), filters, stats);
            Logical::join(members, filters)
        }
        Op::Filter { input, exprs } if matches!(input.op, Op::Scan(_)) => {
            let exprs = narrowed(&[&input], exprs, stats);
            Logical::filter(*input, exprs)
        }
        op => Logical { op, ..logical },
    }
}

/// The same conditions, before each of which stands the set of what may pass.
fn narrowed(members: &[&Logical], filters: Vec<Expr>, stats: &dyn Statistics) -> Vec<Expr> {
    let mut kept = Vec::with_capacity(filters.len());
    for filter in filters {
        let found = PlaceSearch::of(&filter).and_then(|(var, search)| {
            let pattern = members.iter().find_map(|member| objects(member, var))?;
            Some((var, stats.place_candidates(&search)?, total(pattern, stats)))
        });
        if let Some((var, ids, total)) = found {
            let share = ids.len() as f64 / total.max(1.0);
            let ids: IdSet = ids.into_iter().collect();
            kept.push(Expr::Among(Box::new(Expr::Var(var)), Arc::new(ids.keeping(share))));
        }
        kept.push(filter);
    }
    kept
}
