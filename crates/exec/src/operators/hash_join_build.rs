//! The build side of a hash join: made once by whichever thread needs it first, with the help of others, and shared by all that probe.
//!
//! While the budget allows, all rows go into one table. Else all rows go to disk, partitioned by the hash of their key, and the
//! join proceeds partition by partition.

use super::hash_index::INDEX_ROW_BYTES;
use super::hash_table::HashTable;
use super::spatial::{SPATIAL_ROW_BYTES, SpatialTest};
use crate::morsel::Assignment;
use crate::parallel::Source;
use crate::profile::NodeCounters;
use crate::reservation::ReservedRows;
use crate::shared::{BuildOnce, Shared};
use crate::spill::{PARTITIONS, Partitions, SpilledRows};
use crate::spill_area::SpillArea;
use lode_eval::batch::{Batch, Mapping, position};
use lode_eval::error::ExecError;
use lode_eval::hash::{hash_columns, partition};
use lode_rdf::ValueId;
use lode_scheduler::lock;
use lode_sparql::plan::JoinCondition;
use lode_sparql::{PlanNode, PlanOp, VarId};
use std::sync::{Arc, Mutex};

/// The right side, ready.
#[derive(Debug)]
pub(crate) enum Built {
    /// In memory.
    Table(HashTable),
    /// On disk, by partition of the hash of `on`.
    Spilled(Vec<SpilledRows>),
}

/// The columns that a build side keeps, and its keys among them.
#[derive(Debug, Clone)]
pub(crate) struct BuildColumns {
    pub(crate) vars: Arc<[VarId]>,
    pub(crate) on: Vec<usize>,
    pub(crate) maybe: Vec<usize>,
}

impl BuildColumns {
    /// What a join with this condition and these output columns needs of its right side.
    pub(crate) fn new(right: &PlanNode, condition: &JoinCondition, out: &[VarId]) -> Self {
        let keep = |var: &&VarId| {
            condition.filter.is_some()
                || condition.on.contains(var)
                || condition.maybe.contains(var)
                || out.contains(var)
        };
        let vars: Arc<[VarId]> = right.vars.iter().filter(keep).copied().collect();
        let columns = |list: &[VarId]| list.iter().filter_map(|var| position(&vars, *var)).collect();
        Self { on: columns(&condition.on), maybe: columns(&condition.maybe), vars: Arc::clone(&vars) }
    }
}

/// How many partitions a build side that goes to disk has: without a key, all rows can match all.
pub(crate) fn partition_count(on: &[usize]) -> usize {
    if on.is_empty() { 1 } else { PARTITIONS }
}

impl BuildOnce for Built {
    fn make(shared: &Arc<Shared>, node: &PlanNode) -> Result<Self, ExecError> {
        make(shared, node)
    }
}

/// Where threads put rows once memory is short.
struct Overflow {
    area: Arc<SpillArea>,
    counters: Arc<NodeCounters>,
    columns: BuildColumns,
    partitions: Mutex<Option<Partitions>>,
}

impl Overflow {
    fn push(&self, rows: &Batch) -> Result<(), ExecError> {
        let count = partition_count(&self.columns.on);
        let keys: Vec<&[ValueId]> = self.columns.on.iter().map(|c| rows.columns[*c].as_slice()).collect();
        let mut hashes = Vec::new();
        hash_columns(&keys, rows.rows, &mut hashes);
        let mut partitions = lock(&self.partitions);
        let mut open = match partitions.take() {
            Some(open) => open,
            None => Partitions::new(&self.area, &self.columns.vars, &self.counters, count),
        };
        let all = 0..u32::try_from(rows.rows).unwrap_or(u32::MAX);
        let result = open.push(rows, all, |row| partition(hashes[row], 0, count));
        *partitions = Some(open);
        result
    }
}

/// One thread's part of the build.
struct Local {
    mapping: Mapping,
    mapped: Batch,
    held: ReservedRows,
    spilling: bool,
}

fn make(shared: &Arc<Shared>, node: &PlanNode) -> Result<Built, ExecError> {
    let PlanOp::HashJoin { left, right, condition, .. } = &node.op else {
        return Err(ExecError::Internal("a build side of no hash join".into()));
    };
    let counters = shared.counters(node.id);
    let columns = BuildColumns::new(right, condition, &node.vars);
    let overflow = Arc::new(Overflow {
        area: Arc::clone(&shared.area),
        counters: Arc::clone(&counters),
        columns: columns.clone(),
        partitions: Mutex::default(),
    });
    let spatial = SpatialTest::of(left, right, condition).map(|(test, _)| test);
    let row_bytes = extra_bytes(spatial.as_ref());
    let locals = fill(shared, right, &overflow, row_bytes)?;
    let spilled = lock(&overflow.partitions).is_some();
    if spilled {
        for local in locals {
            overflow.push(&local.held.rows)?;
        }
        let partitions = lock(&overflow.partitions).take();
        let files = partitions.map_or_else(|| Ok(Vec::new()), Partitions::finish)?;
        return Ok(Built::Spilled(files));
    }
    let mut rows = Batch::new(Arc::clone(&columns.vars));
    let mut reservations = Vec::new();
    for local in locals {
        let (part, reservation) = local.held.into_parts();
        if rows.rows == 0 {
            rows = part;
        } else {
            rows.append_range(&part, 0, part.rows);
        }
        reservations.push(reservation);
    }
    counters.hold(rows.bytes() + rows.rows * row_bytes);
    let table = HashTable::new(&shared.cx, rows, columns.on, columns.maybe, reservations);
    Ok(Built::Table(table.with_spatial(&shared.cx, spatial.as_ref())?))
}

/// Bytes of a row in a table beside its values.
pub(crate) fn extra_bytes(spatial: Option<&SpatialTest>) -> usize {
    if spatial.is_some() { SPATIAL_ROW_BYTES } else { INDEX_ROW_BYTES }
}

fn fill(
    shared: &Arc<Shared>,
    right: &PlanNode,
    overflow: &Arc<Overflow>,
    extra_bytes: usize,
) -> Result<Vec<Local>, ExecError> {
    let source = Source::new(shared, Assignment::default(), right)?;
    let cx = Arc::clone(&shared.cx);
    let vars = Arc::clone(&overflow.columns.vars);
    let mapping = Mapping::new(&right.vars, &vars);
    let make = move || {
        let held = ReservedRows::new(&cx, &vars, extra_bytes);
        Ok(Local { mapping: mapping.clone(), mapped: Batch::default(), held, spilling: false })
    };
    let cx = Arc::clone(&shared.cx);
    let overflow = Arc::clone(overflow);
    source.drain(&overflow.counters.clone(), make, move |local: &mut Local, batch: &mut Batch| {
        cx.cancel.check()?;
        local.mapping.apply(batch, &mut local.mapped);
        if !local.spilling && local.held.append(&local.mapped) {
            return Ok(());
        }
        if !local.spilling {
            local.spilling = true;
            overflow.push(&local.held.rows)?;
            local.held.release()?;
        }
        overflow.push(&local.mapped)
    })
}
