//! Plans on the wire: the leaf as bytes, and what else a worker runs.

use crate::failure::{self, Fault};
use crate::leaf::{FragmentExec, Site};
use crate::part::Part;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion_distributed::{NetworkBoundaryExt, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// The codec of a head (without a site) or of a worker.
#[derive(Debug, Clone)]
pub struct Codec(pub Option<Arc<Site>>);

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // Over ranges or over inputs, of which all are spread over equally many partitions.
        let partitions = |input: &Arc<dyn ExecutionPlan>| input.output_partitioning().partition_count();
        let is_fine = |part: &Part| {
            part.ranges.is_empty() != inputs.is_empty()
                && inputs.windows(2).all(|pair| partitions(&pair[0]) == partitions(&pair[1]))
        };
        match Part::read(bytes).filter(is_fine) {
            Some(part) => Ok(Arc::new(FragmentExec::over(part, inputs.to_vec(), self.0.clone()))),
            None => Err(failure::error(Fault::Query, "bytes that are no fragment")),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(leaf) = node.downcast_ref::<FragmentExec>() else {
            return internal_err!("{} does not travel", node.name());
        };
        bytes.extend(leaf.part().write());
        Ok(())
    }
}

/// Refuses operators that no head sends: DataFusion has many that read files or whatever else.
pub fn check(event: WorkerPlanRewriteEvent<'_>) -> Result<WorkerPlanRewriteEventResponse> {
    event.plan.apply(|node| {
        let is_ours = node.is::<FragmentExec>()
            || node.is::<RepartitionExec>()
            || node.is::<CoalescePartitionsExec>()
            || node.is_network_boundary();
        match is_ours {
            true => Ok(TreeNodeRecursion::Continue),
            false => Err(failure::error(Fault::Query, &format!("workers do not run {}", node.name()))),
        }
    })?;
    Ok(WorkerPlanRewriteEventResponse::new(event.plan))
}

#[cfg(test)]
mod tests {
    //! What workers refuse.
    use super::*;
    use datafusion::arrow::datatypes::Schema;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::prelude::SessionConfig;

    fn checked(plan: Arc<dyn ExecutionPlan>) -> Result<()> {
        let session_config = &SessionConfig::new();
        check(WorkerPlanRewriteEvent { plan, session_config }).map(drop)
    }

    #[test]
    fn only_what_heads_send_is_run() {
        let stranger: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
        assert!(checked(Arc::clone(&stranger)).is_err());
        assert!(checked(Arc::new(CoalescePartitionsExec::new(stranger))).is_err());
        let part = Part {
            database: 1,
            version: 1,
            time_left: None,
            columns: Arc::default(),
            fragment: Arc::default(),
            ranges: vec![Vec::new()],
            waiting_bytes: 0,
            spread: None,
        };
        assert!(checked(Arc::new(FragmentExec::new(part, None))).is_ok());
    }
}
