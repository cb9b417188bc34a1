//! Plans of DataFusion, made by hand: leaves, what is above them at the workers, and the exchanges between.

use crate::columns::Column;
use crate::in_turn::InTurnExec;
use crate::leaf::FragmentExec;
use crate::part::Part;
use datafusion::common::Result;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::Column as ColumnExpr;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion_distributed::{DistributedLeafExec, NetworkCoalesceExec, NetworkShuffleExec};
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::Arc;

/// What the rows of a fragment go through before the head has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above {
    /// Nothing, and the ranges come one after the other.
    InOrder,
    /// Nothing.
    Nothing,
    /// Equal rows become one, at the worker that has all of them; counts of them are added up.
    Groups,
}

/// Partitions of a task that puts groups together.
const GROUP_PARTITIONS: usize = 2;

/// A plan for so many tasks, of which the first gets the first ranges. `part` has all but the ranges.
pub fn plan(
    part: &Part,
    ranges: &[Range<ValueId>],
    tasks: usize,
    above: Above,
) -> Result<Arc<dyn ExecutionPlan>> {
    // In order, each task has one partition: see `InTurnExec`.
    let partitions = match above {
        Above::InOrder => 1,
        Above::Nothing | Above::Groups => ranges.len().div_ceil(tasks).max(1),
    };
    let leaf = leaf(part, ranges, tasks, partitions)?;
    Ok(match above {
        Above::InOrder => Arc::new(InTurnExec::new(Arc::new(NetworkCoalesceExec::try_new(leaf, tasks, 1)?))),
        Above::Nothing => {
            Arc::new(CoalescePartitionsExec::new(Arc::new(NetworkCoalesceExec::try_new(leaf, tasks, 1)?)))
        }
        Above::Groups => {
            let groups = groups(leaf, &part.columns, tasks)?;
            Arc::new(CoalescePartitionsExec::new(Arc::new(NetworkCoalesceExec::try_new(groups, tasks, 1)?)))
        }
    })
}

/// The leaf, with the variant of each task. Tasks get neighbouring ranges.
fn leaf(
    part: &Part,
    ranges: &[Range<ValueId>],
    tasks: usize,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let of_task = |task: usize| {
        let from = ranges.len() * task / tasks;
        let to = ranges.len() * (task + 1) / tasks;
        let own = ranges.get(from..to).unwrap_or_default();
        let of_partition = |partition: usize| {
            let (from, to) = (own.len() * partition / partitions, own.len() * (partition + 1) / partitions);
            own.get(from..to).unwrap_or_default().to_vec()
        };
        Part { ranges: (0..partitions).map(of_partition).collect(), ..part.clone() }
    };
    let exec = |part: Part| -> Arc<dyn ExecutionPlan> { Arc::new(FragmentExec::new(part, None)) };
    let variants = (0..tasks).map(|task| exec(of_task(task)));
    Ok(Arc::new(DistributedLeafExec::try_new(exec(of_task(0)), variants)?))
}

/// Rows with equal ids meet at one worker, and become one.
fn groups(leaf: Arc<dyn ExecutionPlan>, columns: &[Column], tasks: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = leaf.schema();
    let of = |column: Column| {
        let places = columns.iter().enumerate().filter(move |(_, own)| **own == column);
        places.map(|(place, _)| (Arc::new(ColumnExpr::new(&format!("c{place}"), place)), format!("c{place}")))
    };
    let keys: Vec<(Arc<dyn PhysicalExpr>, String)> =
        of(Column::Id).map(|(column, name)| (column as Arc<dyn PhysicalExpr>, name)).collect();
    let by = keys.iter().map(|(key, _)| Arc::clone(key)).collect();
    let spread = RepartitionExec::try_new(leaf, Partitioning::Hash(by, GROUP_PARTITIONS))?;
    let exchange = Arc::new(NetworkShuffleExec::try_new(Arc::new(spread), tasks)?);
    let sum = |(column, name): (Arc<ColumnExpr>, String)| {
        let builder = AggregateExprBuilder::new(sum_udaf(), vec![column as Arc<dyn PhysicalExpr>]);
        Ok(Arc::new(builder.schema(Arc::clone(&schema)).alias(name).build()?))
    };
    let sums = of(Column::Count).map(sum).collect::<Result<Vec<_>>>()?;
    let filters = vec![None; sums.len()];
    let group_by = PhysicalGroupBy::new_single(keys);
    let mode = AggregateMode::SinglePartitioned;
    Ok(Arc::new(AggregateExec::try_new(mode, group_by, sums, filters, exchange, schema)?))
}

#[cfg(test)]
mod tests {
    //! What leaves claim, and that no range is lost.
    use super::*;
    use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};

    fn id(number: u64) -> ValueId {
        ValueId::from_bits(number)
    }

    fn part() -> Part {
        let columns = vec![Column::Count, Column::Id, Column::Id].into();
        Part {
            database: 1,
            version: 2,
            time_left: None,
            columns,
            fragment: Arc::default(),
            ranges: Vec::new(),
        }
    }

    /// All leaves, with the variants of tasks.
    fn leaves(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
        let mut found = Vec::new();
        plan.apply(|node| {
            if let Some(leaf) = node.downcast_ref::<DistributedLeafExec>() {
                found.push(Arc::clone(node));
                found.push(Arc::clone(leaf.original()));
                found.extend(leaf.variants().iter().cloned());
            } else if node.children().is_empty() {
                found.push(Arc::clone(node));
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .unwrap();
        found
    }

    /// A leaf that claims to be partitioned by hash gives wrong answers without a word where it meets a real exchange.
    #[test]
    fn no_leaf_claims_to_be_partitioned_by_anything() {
        for above in [Above::InOrder, Above::Nothing, Above::Groups] {
            for (tasks, ranges) in [(2, 0), (2, 1), (2, 2), (3, 7), (4, 16)] {
                let ranges: Vec<_> = (0..ranges).map(|n| id(n * 10)..id(n * 10 + 10)).collect();
                let plan = plan(&part(), &ranges, tasks, above).unwrap();
                let leaves = leaves(&plan);
                assert!(leaves.len() >= tasks + 2, "{above:?}");
                for leaf in leaves {
                    let claims = leaf.properties().output_partitioning();
                    assert!(matches!(claims, Partitioning::UnknownPartitioning(_)), "{above:?}: {claims:?}");
                    assert!(leaf.properties().output_ordering().is_none());
                }
            }
        }
    }

    #[test]
    fn each_range_is_in_one_task_in_its_turn() {
        for above in [Above::InOrder, Above::Nothing, Above::Groups] {
            for (tasks, count) in [(2, 0), (2, 1), (2, 5), (3, 3), (3, 8), (5, 4), (7, 100)] {
                let ranges: Vec<_> = (0..count).map(|n| id(n * 10)..id(n * 10 + 10)).collect();
                let plan = plan(&part(), &ranges, tasks, above).unwrap();
                let mut found = Vec::new();
                plan.apply(|node| {
                    if let Some(leaf) = node.downcast_ref::<DistributedLeafExec>() {
                        assert_eq!(leaf.variants().len(), tasks);
                        for variant in leaf.variants() {
                            let part = variant.downcast_ref::<FragmentExec>().unwrap().part();
                            if above == Above::InOrder {
                                assert_eq!(part.ranges.len(), 1);
                            }
                            found.extend(part.ranges.iter().flatten().cloned());
                        }
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
                .unwrap();
                assert_eq!(found, ranges, "{above:?}, {tasks} tasks");
            }
        }
    }
}
