//! Partitions one after the other, at the head: the rows of ranges stay in the order of the ranges, while all of them are made at once.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures_util::StreamExt;
use futures_util::stream::iter;
use std::fmt;
use std::sync::Arc;

/// Batches of a partition that wait for their turn; then nobody reads on from who makes them.
const BATCHES_AHEAD: usize = 4;

/// The operator. Each partition of its input has to come over a connection of its own: of one that is shared by several, the later ones would fill what
/// it holds before the first is through.
#[derive(Debug)]
pub struct InTurnExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl InTurnExec {
    pub fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for InTurnExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InTurnExec")
    }
}

impl ExecutionPlan for InTurnExec {
    fn name(&self) -> &str {
        "InTurnExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self::new(input))),
            _ => internal_err!("InTurnExec has one input"),
        }
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let partitions = self.input.output_partitioning().partition_count();
        let ahead = (0..partitions).map(|partition| {
            let mut builder = RecordBatchReceiverStream::builder(self.schema(), BATCHES_AHEAD);
            let (input, context, sender) = (Arc::clone(&self.input), Arc::clone(&context), builder.tx());
            builder.spawn(async move {
                let mut rows = input.execute(partition, context)?;
                while let Some(batch) = rows.next().await {
                    if sender.send(batch).await.is_err() {
                        break;
                    }
                }
                Ok(())
            });
            builder.build()
        });
        let rows = iter(ahead.collect::<Vec<_>>()).flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
