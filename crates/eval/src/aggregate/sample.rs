//! SAMPLE: the first value of each group.

use super::grow::grow;
use super::state::{Kernel, State, same};
use crate::context::EvalContext;
use crate::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::steps::steps;
use lode_sparql::AggregateFunction;
use lode_sparql::aggregate::InParts;
use lode_sparql::function::ValueType;

/// The entry.
pub static SAMPLE: AggregateFunction = AggregateFunction::new(
    "SAMPLE",
    ValueType::Term,
    ValueType::Term,
    &Kernel(|_| Box::<Samples>::default()),
)
.of_distinct_values()
.in_parts(InParts::Same);

/// The first bound value of each group.
#[derive(Debug, Default)]
struct Samples(Vec<ValueId>);

impl State for Samples {
    fn resize(&mut self, groups: usize) {
        grow(&mut self.0, groups, ValueId::UNDEF);
    }

    fn update(&mut self, _: &EvalContext, groups: &[u32], values: &[ValueId]) -> Result<(), ExecError> {
        for (group, value) in groups.iter().zip(values) {
            if let Some(sample) = self.0.get_mut(*group as usize)
                && sample.is_undef()
            {
                *sample = *value;
            }
        }
        Ok(())
    }

    fn merge(&mut self, cx: &EvalContext, other: Box<dyn State>, groups: &[u32]) -> Result<(), ExecError> {
        let Some(more) = same::<Self>(other).map(|other| other.0) else { return Ok(()) };
        for step in steps(groups.len().min(more.len()), &cx.cancel) {
            let step = step?;
            self.update(cx, &groups[step.clone()], &more[step])?;
        }
        Ok(())
    }

    fn finish(&self, _: &EvalContext, group: usize) -> Result<ValueId, ExecError> {
        Ok(self.0.get(group).copied().unwrap_or_default())
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<ValueId>()
    }
}
