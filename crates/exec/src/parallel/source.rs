//! Where a consumer that does not care for order gets its rows: one operator, or several threads over shared morsels.

use super::gather::Gather;
use super::sub_plan::{SubPlan, Wrap};
use crate::morsel::Assignment;
use crate::operator::BoxOp;
use crate::profile::NodeCounters;
use crate::shared::Shared;
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_scheduler::run_team;
use lode_sparql::PlanNode;
use std::sync::Arc;

/// The source.
pub(crate) enum Source {
    /// One operator.
    Single(BoxOp),
    /// Several threads.
    Parallel(SubPlan),
}

impl Source {
    /// Of the rows of `node`, for a consumer without need for order.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        assignment: Assignment<'_>,
        node: &PlanNode,
    ) -> Result<Self, ExecError> {
        if assignment.is_whole()
            && let Some(sub_plan) = SubPlan::new(shared, node)?
        {
            return Ok(Self::Parallel(sub_plan));
        }
        Ok(Self::Single(shared.build(assignment, node, false)?))
    }

    /// Feeds all rows to local states, one per thread, and returns these. What that takes is charged to `counters`.
    pub(crate) fn drain<L: Send + 'static>(
        self,
        counters: &Arc<NodeCounters>,
        make: impl Fn() -> Result<L, ExecError> + Send + Sync + 'static,
        consume: impl Fn(&mut L, &mut Batch) -> Result<(), ExecError> + Send + Sync + 'static,
    ) -> Result<Vec<L>, ExecError> {
        let feed = move |input: &mut BoxOp| {
            let mut local = make()?;
            let mut batch = Batch::default();
            while input.next(&mut batch)? {
                consume(&mut local, &mut batch)?;
            }
            Ok(local)
        };
        match self {
            Self::Single(mut input) => Ok(vec![feed(&mut input)?]),
            Self::Parallel(source) => {
                let source = source.prepare()?;
                let counters = Arc::clone(counters);
                run_team(source.threads(), move || {
                    let _at_work = source.work();
                    let result = counters.measure(|| feed(&mut source.sharing_pipeline()));
                    if result.is_err() {
                        source.close();
                    }
                    result
                })
            }
        }
    }

    /// The same, with an operator around what each thread does where several make the rows.
    pub(crate) fn each_thread(self, wrap: Wrap) -> Self {
        match self {
            Self::Parallel(source) => Self::Parallel(source.each_thread(wrap)),
            single => single,
        }
    }

    /// One operator that delivers all rows.
    pub(crate) fn into_operator(self) -> BoxOp {
        match self {
            Self::Single(input) => input,
            Self::Parallel(source) => Box::new(Gather::new(source)),
        }
    }
}

/// The operator of `node`. `ordered`: the consumer relies on the order that the plan promises.
pub(crate) fn operator(
    shared: &Arc<Shared>,
    assignment: Assignment<'_>,
    node: &PlanNode,
    ordered: bool,
) -> Result<BoxOp, ExecError> {
    if ordered {
        shared.build(assignment, node, true)
    } else {
        Ok(Source::new(shared, assignment, node)?.into_operator())
    }
}
