//! `COUNT(DISTINCT ?v)` as a count over distinct rows: where rows come sorted by the group's keys and `?v`, duplicates are neighbours
//! and no table of what was seen is needed; elsewhere the table of distinct rows may go to disk.

use crate::expr::{Aggregate, Expr};
use crate::plan::VarId;

/// A group over the distinct rows of some columns.
pub(super) struct OverDistinctRows {
    pub columns: Vec<VarId>,
    pub aggregates: Vec<Aggregate>,
}

/// The same group over distinct rows, where all its aggregates are over the distinct terms of one variable.
pub(super) fn over_distinct_rows(keys: &[VarId], aggregates: &[Aggregate]) -> Option<OverDistinctRows> {
    let argument = |aggregate: &Aggregate| match &aggregate.argument {
        Some(Expr::Var(var)) if aggregate.distinct && aggregate.function.is_of_a_set => Some(*var),
        _ => None,
    };
    let var = argument(aggregates.first()?)?;
    if !aggregates.iter().all(|aggregate| argument(aggregate) == Some(var)) {
        return None;
    }
    let mut columns = keys.to_vec();
    if !columns.contains(&var) {
        columns.push(var);
    }
    let plain = |aggregate: &Aggregate| Aggregate { distinct: false, ..aggregate.clone() };
    Some(OverDistinctRows { columns, aggregates: aggregates.iter().map(plain).collect() })
}
