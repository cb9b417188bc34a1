//! COUNT: of rows, and of values.

use super::grow::grow;
use super::state::{Kernel, State, same};
use super::sum::SUM_OF_COUNTS;
use crate::context::EvalContext;
use crate::error::ExecError;
use crate::expr::value_id;
use crate::values::value::Value;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use lode_sparql::aggregate::{Counts, InParts};
use lode_sparql::function::ValueType;

/// `COUNT(*)`: rows.
pub static COUNT_ROWS: AggregateFunction =
    AggregateFunction::new("COUNT(*)", ValueType::Term, ValueType::Integer, &Kernel(|_| Numbers::of(true)))
        .counting(Counts::Rows)
        .in_parts(InParts::As(&SUM_OF_COUNTS));

/// `COUNT(expr)`: values.
pub static COUNT: AggregateFunction =
    AggregateFunction::new("COUNT", ValueType::Term, ValueType::Integer, &Kernel(|_| Numbers::of(false)))
        .counting(Counts::Bound { rows: &COUNT_ROWS })
        .in_parts(InParts::As(&SUM_OF_COUNTS))
        .of_a_set();

/// Numbers of rows or values, one per group.
#[derive(Debug)]
struct Numbers {
    /// Whether rows without a value count.
    rows: bool,
    counts: Vec<u64>,
}

impl Numbers {
    fn of(rows: bool) -> Box<dyn State> {
        Box::new(Self { rows, counts: Vec::new() })
    }
}

impl State for Numbers {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.counts, groups, 0);
    }

    fn update(&mut self, _: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        let mut add = |group: u32, count: bool| {
            if let Some(so_far) = self.counts.get_mut(group as usize) {
                *so_far += u64::from(count);
            }
        };
        match self.rows {
            true => groups.iter().for_each(|group| add(*group, true)),
            false => groups.iter().zip(values).for_each(|(group, value)| add(*group, !value.is_undef())),
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(more) = same::<Self>(other).map(|other| other.counts) else { return Ok(()) };
        for step in steps(groups.len().min(more.len()), &cx.cancel) {
            let step = step?;
            for (group, more) in groups[step.clone()].iter().zip(&more[step]) {
                if let Some(count) = self.counts.get_mut(*group as usize) {
                    *count += more;
                }
            }
        }
        Ok(())
    }

    fn finish(&self, cx: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        let count = self.counts.get(group).copied().unwrap_or(0);
        value_id(cx, i64::try_from(count).ok().map(Value::Integer).as_ref())
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u64>()
    }
}
