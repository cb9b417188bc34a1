//! Conditions on geometries that are the objects of a pattern (`geof:sfWithin(?g, "..."^^geo:wktLiteral)`, `geof:distance(?g, "...") < 1000`), where there is an index of
//! geometries: those that may pass are looked up when the query is planned.
//!
//! Few of them, beside the rows of the pattern, are rows that are joined, so that a plan may begin with them; many are a set that ids are tested against. The condition itself
//! stays. All is as before: objects of patterns are terms of the data, and a geometry that the
//! index does not tell does not pass, or is none, which is an error of the condition and drops the row.

use super::candidates::{self, Candidates, Indexed};
use super::texts::{least_rows, objects, total};
use crate::expr::Expr;
use crate::logical::Logical;
use crate::place_search::PlaceSearch;
use crate::statistics::Statistics;

/// Looks up what conditions of joins and single patterns ask for.
pub(super) fn look_up(logical: Logical, stats: &dyn Statistics) -> Logical {
    candidates::look_up(logical, &Places(stats))
}

struct Places<'a>(&'a dyn Statistics);

impl Indexed for Places<'_> {
    fn is_one(&self, condition: &Expr) -> bool {
        PlaceSearch::of(condition).is_some()
    }

    fn find(&self, conditions: &[Expr], members: &[Logical]) -> Vec<Candidates> {
        let found = |condition| {
            let (var, search) = PlaceSearch::of(condition)?;
            let pattern = members.iter().find_map(|member| objects(member, var))?;
            let (total, least) = (total(pattern, self.0), least_rows(members, self.0));
            Some(Candidates { var, total, least, list: self.0.place_candidates(&search)? })
        };
        conditions.iter().filter_map(found).collect()
    }
}
