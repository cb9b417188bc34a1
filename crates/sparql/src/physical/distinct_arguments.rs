//! `COUNT(DISTINCT ?v)` as a count over distinct rows: where rows come sorted by the group's keys and `?v`, duplicates are neighbours
//! and no table of what was seen is needed; elsewhere the table of distinct rows may go to disk.

use crate::expr::{Aggregate, AggregateFunction as Function, Expr};
use crate::plan::VarId;

/// A group over the distinct rows of some columns.
pub(super) struct OverDistinctRows {
    pub columns: Vec<VarId>,
    pub aggregates: Vec<Aggregate>,
}

/// The same group over distinct rows, where all its aggregates are over the distinct terms of one variable.
pub(super) fn over_distinct_rows(keys: &[VarId], aggregates: &[Aggregate]) -> Option<OverDistinctRows> {
    let argument = |aggregate: &Aggregate| match (&aggregate.function, &aggregate.argument) {
        (
            Function::Count | Function::Sum | Function::Avg | Function::Min | Function::Max,
            Some(Expr::Var(var)),
        ) if aggregate.distinct => Some(*var),
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
