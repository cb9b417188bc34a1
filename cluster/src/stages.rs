//! Plans of DataFusion, made by hand: leaves, what is made of their rows at the workers, and the exchanges between.

use crate::channels::STREAM_BYTES;
use crate::columns::name;
use crate::in_turn::InTurnExec;
use crate::leaf::FragmentExec;
use crate::part::{Part, Spread};
use crate::session::EXCHANGE_BYTES;
use crate::stage::{Above, Stage};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::expressions::Column as ColumnExpr;
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion_distributed::{DistributedLeafExec, NetworkCoalesceExec, NetworkShuffleExec};
use lode_fragment::Input;
use std::sync::Arc;
use std::time::Duration;

/// Partitions of a task that is made of exchanged rows: one, so that each connection is read by one of them, which reads its inputs one after the other. Of
/// two, one could wait for rows that are behind those of the other, which waits for rows of another input.
const PARTITIONS: usize = 1;

/// The plan by which the head gets the rows of a stage.
pub fn plan(stages: &[Stage], number: usize, time_left: Option<Duration>) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(stage) = stages.get(number) else { return internal_err!("there is no stage {number}") };
    let rows =
        Arc::new(NetworkCoalesceExec::try_new(tasks(stages, stage, None, time_left)?, stage.tasks, 1)?);
    Ok(match stage.above {
        Above::InOrder => Arc::new(InTurnExec::new(rows)),
        Above::Nothing | Above::Exchange => Arc::new(CoalescePartitionsExec::new(rows)),
    })
}

/// The fragments whose tasks are the stages of the plan of one, in the order of the numbers that these get: what a stage is made of comes before it.
pub fn in_plan(stages: &[Stage], number: usize) -> Vec<usize> {
    let inputs = stages.get(number).map_or(&[] as &[Input], |stage| &stage.fragment.inputs);
    let mut all: Vec<usize> =
        inputs.iter().flat_map(|input| in_plan(stages, input.fragment as usize)).collect();
    all.push(number);
    all
}

/// What each task of a stage runs, and over whom its rows are spread.
fn tasks(
    stages: &[Stage],
    stage: &Stage,
    spread: Option<Spread>,
    time_left: Option<Duration>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if stage.fragment.inputs.is_empty() {
        return leaf(stage, spread, time_left);
    }
    let (mut inputs, mut connections) = (Vec::new(), 0);
    for input in &stage.fragment.inputs {
        let Some(from) = stages.get(input.fragment as usize) else {
            return internal_err!("there is no stage {}", input.fragment);
        };
        connections += from.tasks as u64;
        let spread = Spread { by: input.by.clone(), takers: stage.tasks };
        inputs.push(exchange(tasks(stages, from, Some(spread), time_left)?, input, from.tasks)?);
    }
    let waiting_bytes = connections.saturating_mul((EXCHANGE_BYTES + STREAM_BYTES) as u64);
    let part = Part { time_left, waiting_bytes, spread, ..stage.part.clone() };
    Ok(Arc::new(FragmentExec::over(part, inputs, None)))
}

/// Rows of so many tasks, those with the same ids in some columns at one place. Who makes the rows spreads them: the repartition in this plan only tells
/// datafusion-distributed of what kind the boundary is, and no worker runs it.
fn exchange(rows: Arc<dyn ExecutionPlan>, input: &Input, tasks: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let column = |place: &usize| Arc::new(ColumnExpr::new(&name(*place), *place)) as Arc<dyn PhysicalExpr>;
    let by = input.by.iter().map(column).collect();
    let spread = RepartitionExec::try_new(rows, Partitioning::Hash(by, PARTITIONS))?;
    Ok(Arc::new(NetworkShuffleExec::try_new(Arc::new(spread), tasks)?))
}

/// The leaf, with the variant of each task. Tasks get neighbouring ranges.
fn leaf(
    stage: &Stage,
    spread: Option<Spread>,
    time_left: Option<Duration>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let Stage { part, ranges, tasks, .. } = stage;
    // In order, each task has one partition: see `InTurnExec`.
    let partitions = match stage.above {
        Above::InOrder => 1,
        Above::Nothing | Above::Exchange => ranges.len().div_ceil(*tasks).max(1),
    };
    let of_task = |task: usize| {
        let from = ranges.len() * task / tasks;
        let to = ranges.len() * (task + 1) / tasks;
        let own = ranges.get(from..to).unwrap_or_default();
        let of_partition = |partition: usize| {
            let (from, to) = (own.len() * partition / partitions, own.len() * (partition + 1) / partitions);
            own.get(from..to).unwrap_or_default().to_vec()
        };
        let ranges = (0..partitions).map(of_partition).collect();
        Part { ranges, time_left, spread: spread.clone(), ..part.clone() }
    };
    let exec = |part: Part| -> Arc<dyn ExecutionPlan> { Arc::new(FragmentExec::new(part, None)) };
    let variants = (0..*tasks).map(|task| exec(of_task(task)));
    Ok(Arc::new(DistributedLeafExec::try_new(exec(of_task(0)), variants)?))
}

#[cfg(test)]
mod tests {
    //! What leaves claim, and that no range is lost.
    use super::*;
    use crate::columns::Column;
    use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
    use lode_fragment::Fragment;
    use lode_rdf::ValueId;
    use lode_sparql::plan::Dataset;
    use lode_sparql::{GraphScope, Plan, PlanNode, PlanOp, VarTable};
    use std::ops::Range;
    use std::sync::atomic::AtomicU64;

    fn ranges(count: u64) -> Vec<Range<ValueId>> {
        let id = ValueId::from_bits;
        (0..count).map(|n| id(n * 10)..id(n * 10 + 10)).collect()
    }

    fn fragment(inputs: Vec<Input>) -> Fragment {
        let (vars, certain, sorted_by) = Default::default();
        let root = PlanNode { id: 0, op: PlanOp::Unit, vars, certain, sorted_by, rows: 1.0, cost: 1.0 };
        let (default, hidden) = (GraphScope::Default, Arc::default());
        let dataset =
            Dataset { default, named: None, base_iri: None, schema: None, hidden, relates_places: false };
        let plan = Arc::new(Plan::of_rows(root, VarTable::default(), Arc::new(dataset)));
        let now = "2020-01-01T00:00:00Z".parse().unwrap();
        Fragment { database: 1, version: 2, now, visible: None, plan, inputs, terms: Vec::new() }
    }

    fn stage(above: Above, tasks: usize, ranges: Vec<Range<ValueId>>, inputs: Vec<Input>) -> Stage {
        let part = Part {
            database: 1,
            version: 2,
            time_left: None,
            columns: vec![Column::Term, Column::Id, Column::Id].into(),
            fragment: Arc::default(),
            ranges: Vec::new(),
            waiting_bytes: 0,
            spread: None,
        };
        let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Stage { fragment: fragment(inputs), part, ranges, tasks, above, key: None, rows, bytes }
    }

    /// One stage, or two whose rows a third is made of.
    fn of_kind(above: Above, tasks: usize, count: u64) -> Vec<Stage> {
        if above != Above::Exchange {
            return vec![stage(above, tasks, ranges(count), Vec::new())];
        }
        let inputs = vec![Input { fragment: 0, by: vec![1] }, Input { fragment: 1, by: vec![2] }];
        vec![
            stage(above, tasks, ranges(count), Vec::new()),
            stage(above, tasks, ranges(count), Vec::new()),
            stage(Above::Nothing, 2 * tasks, Vec::new(), inputs),
        ]
    }

    fn planned(above: Above, tasks: usize, count: u64) -> Arc<dyn ExecutionPlan> {
        let stages = of_kind(above, tasks, count);
        plan(&stages, stages.len() - 1, None).unwrap()
    }

    /// All leaves with the variants of tasks, and what is made of exchanged rows.
    fn claiming(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
        let mut found = Vec::new();
        plan.apply(|node| {
            if let Some(leaf) = node.downcast_ref::<DistributedLeafExec>() {
                found.push(Arc::clone(node));
                found.push(Arc::clone(leaf.original()));
                found.extend(leaf.variants().iter().cloned());
            } else if node.children().is_empty() || node.is::<FragmentExec>() {
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
        for above in [Above::InOrder, Above::Nothing, Above::Exchange] {
            for (tasks, count) in [(2, 0), (2, 1), (2, 2), (3, 7), (4, 16)] {
                let claiming = claiming(&planned(above, tasks, count));
                let exchanged = usize::from(above == Above::Exchange);
                assert!(claiming.len() >= (tasks + 2) * (1 + exchanged) + exchanged, "{above:?}");
                for node in claiming {
                    let claims = node.properties().output_partitioning();
                    assert!(matches!(claims, Partitioning::UnknownPartitioning(_)), "{above:?}: {claims:?}");
                    assert!(node.properties().output_ordering().is_none());
                }
            }
        }
    }

    #[test]
    fn each_range_is_in_one_task_in_its_turn() {
        for above in [Above::InOrder, Above::Nothing, Above::Exchange] {
            for (tasks, count) in [(2, 0), (2, 1), (2, 5), (3, 3), (3, 8), (5, 4), (7, 100)] {
                let mut found = Vec::new();
                planned(above, tasks, count)
                    .apply(|node| {
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
                let mut each = ranges(count);
                if above == Above::Exchange {
                    each.extend(ranges(count));
                }
                assert_eq!(found, each, "{above:?}, {tasks} tasks");
            }
        }
    }

    #[test]
    fn what_waits_on_connections_is_told() {
        let plan = planned(Above::Exchange, 3, 6);
        let mut told = Vec::new();
        plan.apply(|node| {
            if let Some(fragment) =
                node.downcast_ref::<FragmentExec>().filter(|node| !node.children().is_empty())
            {
                told.push(fragment.part().waiting_bytes);
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .unwrap();
        assert_eq!(told, [6 * (EXCHANGE_BYTES + STREAM_BYTES) as u64]);
    }
}
