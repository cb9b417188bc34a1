//! Parts of a join that have no variable in common, but a condition on a geometry of each: joined by it, rather than multiplied and then filtered.

use super::node::{self, Planned};
use crate::expr::Expr;
use crate::place_search::PlaceJoin;
use crate::plan::JoinKind;

/// Two parts, the first before the second, whose geometries a condition relates: which, and the number of the condition.
pub(super) fn related(parts: &[Vec<Planned>], filters: &[Expr]) -> Option<(usize, usize, usize)> {
    let pairs = (0..parts.len()).flat_map(|i| (i + 1..parts.len()).map(move |j| (i, j)));
    let mut pairs = pairs.filter(|_| !filters.is_empty());
    pairs.find_map(|(i, j)| {
        let (left, right) = (parts.get(i)?.first()?, parts.get(j)?.first()?);
        let (filter, _) = PlaceJoin::between(filters, &left.node.vars, &right.node.vars)?;
        Some((i, j, filter))
    })
}

/// The join of two parts by such a condition. Fewer geometries are kept, and looked for with more.
pub(super) fn joined(one: Vec<Planned>, other: Vec<Planned>, filter: &Expr) -> Vec<Planned> {
    let rows = |plans: &[Planned]| plans.first().map_or(0.0, |plan| plan.node.rows);
    let (left, right) = if rows(&one) >= rows(&other) { (one, other) } else { (other, one) };
    let Some(right) = right.into_iter().next() else { return Vec::new() };
    let join = |left| node::hash_join(left, right.clone(), JoinKind::Inner, Some(filter.clone()));
    left.into_iter().map(join).collect()
}

/// Takes such a condition out of those on a join of two sides that have no variable in common.
pub(super) fn taken(left: &Planned, right: &Planned, filters: &mut Vec<Expr>) -> Option<Expr> {
    if filters.is_empty() || !left.vars().is_disjoint(&right.vars()) {
        return None;
    }
    let (at, _) = PlaceJoin::between(filters, &left.node.vars, &right.node.vars)?;
    Some(filters.remove(at))
}
