//! The hash join whose right side is on disk: the left side goes to disk likewise, then partition meets partition.
//!
//! Of a right partition as much as memory holds is made a table, probed with the whole left partition, and so on until the
//! partition's end. A bit per left row tells whether it has matched anywhere; rows that did not are dealt with at the end. Where the
//! left's order matters, result rows carry the number of their left row and are sorted by it.

use super::distinct::SEQUENCE;
use super::hash_join_build::{BuildColumns, Built, extra_bytes, partition_count};
use super::hash_table::{HashTable, Prober};
use super::join_output::{JoinOutput, Pairs};
use super::sort_spec::{KeyOrder, SortSpec};
use super::sorted_runs::SortedRows;
use super::sorter::Sorter;
use super::spatial::SpatialTest;
use super::{BoxOp, Operator};
use crate::profile::NodeCounters;
use crate::shared::Shared;
use crate::spill::{Partitions, SpilledRows};
use lode_eval::batch::{Batch, NO_ROW, position};
use lode_eval::error::ExecError;
use lode_eval::hash::{hash_columns, partition};
use lode_rdf::ValueId;
use lode_sparql::{JoinKind, PlanNode, PlanOp, VarId};
use std::sync::Arc;

/// Right rows that are made a table whatever the budget.
const TABLE_ROWS_MIN: usize = 1024;

/// A right partition's part that is in memory.
struct Pass {
    table: HashTable,
    /// The left chunk being probed, and the number of its first row in the partition.
    chunk: usize,
    first_row: usize,
    probing: bool,
}

enum Stage {
    /// Probing with a part of the right partition.
    Probe(Box<Pass>),
    /// Dealing with left rows that never matched, from this chunk and row number on.
    Unmatched { chunk: usize, first_row: usize },
}

/// The operator.
pub(crate) struct SpilledJoin {
    shared: Arc<Shared>,
    counters: Arc<NodeCounters>,
    kind: JoinKind,
    built: Arc<Built>,
    columns: BuildColumns,
    input: Option<BoxOp>,
    left_vars: Arc<[VarId]>,
    left_on: Vec<usize>,
    left_files: Vec<SpilledRows>,
    output: JoinOutput,
    prober: Prober,
    spatial: Option<SpatialTest>,
    partition: usize,
    right_chunk: usize,
    stage: Option<Stage>,
    matched: Vec<bool>,
    left: Batch,
    pairs: Pairs,
    no_right: Batch,
    vars: Arc<[VarId]>,
    order: Option<Order>,
}

/// Restores the order of the left rows.
struct Order {
    sorted: Option<SortedRows>,
    buffer: Batch,
}

impl SpilledJoin {
    /// The join of `node`, whose build side is `built`.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        node: &PlanNode,
        input: BoxOp,
        built: Arc<Built>,
        vars: &Arc<[VarId]>,
        ordered: bool,
    ) -> Result<Self, ExecError> {
        let PlanOp::HashJoin { left, right, kind, condition } = &node.op else {
            return Err(ExecError::Internal("not a hash join".into()));
        };
        let columns = BuildColumns::new(right, condition, vars);
        let mut left_vars = left.vars.clone();
        left_vars.push(SEQUENCE);
        let mut out_vars = vars.to_vec();
        if ordered {
            out_vars.insert(0, SEQUENCE);
        }
        let out_vars: Arc<[VarId]> = out_vars.into();
        let both = |list: &[VarId]| -> Vec<usize> {
            let shared = list.iter().filter(|var| columns.vars.contains(var));
            shared.filter_map(|var| position(&left.vars, *var)).collect()
        };
        let (left_on, left_maybe) = (both(&condition.on), both(&condition.maybe));
        let spatial = SpatialTest::of(left, right, condition);
        let checked = spatial.as_ref().map_or(condition, |(_, rest)| rest);
        let one_suffices =
            checked.filter.is_none() && matches!(kind, JoinKind::Semi | JoinKind::Anti | JoinKind::Minus);
        let must_share = *kind == JoinKind::Minus;
        Ok(Self {
            shared: Arc::clone(shared),
            counters: shared.counters(node.id),
            kind: *kind,
            output: JoinOutput::new(*kind, checked, &left_vars, &columns.vars, &out_vars),
            prober: Prober::new(left_on.clone(), left_maybe, must_share, one_suffices)
                .with_spatial(spatial.as_ref().map(|(test, _)| test)),
            spatial: spatial.map(|(test, _)| test),
            no_right: Batch::new(Arc::clone(&columns.vars)),
            columns,
            built,
            input: Some(input),
            left_vars: left_vars.into(),
            left_on,
            left_files: Vec::new(),
            partition: 0,
            right_chunk: 0,
            stage: None,
            matched: Vec::new(),
            left: Batch::default(),
            pairs: Pairs::default(),
            vars: Arc::clone(vars),
            order: ordered.then(|| Order { sorted: None, buffer: Batch::default() }),
        })
    }

    fn right_files(&self) -> &[SpilledRows] {
        match &*self.built {
            Built::Spilled(files) => files,
            Built::Table(_) => &[],
        }
    }

    /// Writes the left side to disk.
    fn partition_left(&mut self, mut input: BoxOp) -> Result<(), ExecError> {
        let count = partition_count(&self.columns.on);
        let mut partitions = Partitions::new(&self.shared.area, &self.left_vars, &self.counters, count);
        let mut batch = Batch::default();
        let mut hashes = Vec::new();
        let mut sequence = 0;
        while input.next(&mut batch)? {
            self.shared.cx.cancel.check()?;
            let keys: Vec<&[ValueId]> = self.left_on.iter().map(|c| batch.columns[*c].as_slice()).collect();
            hash_columns(&keys, batch.rows, &mut hashes);
            let numbers = sequence..sequence + batch.rows as u64;
            sequence = numbers.end;
            batch.columns.push(numbers.map(ValueId::from_bits).collect());
            let all = 0..u32::try_from(batch.rows).unwrap_or(u32::MAX);
            partitions.push(&batch, all, |row| partition(hashes[row], 0, count))?;
        }
        self.left_files = partitions.finish()?;
        self.begin_partition();
        Ok(())
    }

    fn begin_partition(&mut self) {
        self.right_chunk = 0;
        self.stage = None;
        self.matched.clear();
        if let Some(file) = self.left_files.get(self.partition) {
            self.matched.resize(usize::try_from(file.rows()).unwrap_or(0), false);
        }
    }

    /// Makes a table of the next part of the right partition; `None` at its end.
    fn next_pass(&mut self) -> Result<Option<Box<Pass>>, ExecError> {
        let Some(file) = self.right_files().get(self.partition) else { return Ok(None) };
        if self.right_chunk >= file.chunks() {
            return Ok(None);
        }
        let mut rows = Batch::new(Arc::clone(&self.columns.vars));
        let row_bytes = rows.columns.len() * size_of::<ValueId>() + extra_bytes(self.spatial.as_ref());
        let mut reservation = self.shared.cx.budget.reserve_spillable();
        let mut chunk = self.right_chunk;
        while chunk < file.chunks() {
            let more = file.chunk_rows(chunk);
            let fits = reservation.grow(more * row_bytes).is_ok();
            if !fits && rows.rows + more > TABLE_ROWS_MIN && rows.rows > 0 {
                break;
            }
            file.read(chunk, &mut rows)?;
            chunk += 1;
        }
        self.right_chunk = chunk;
        self.counters.hold(reservation.bytes());
        let columns = self.columns.clone();
        let table = HashTable::new(&self.shared.cx, rows, columns.on, columns.maybe, vec![reservation])
            .with_spatial(&self.shared.cx, self.spatial.as_ref())?;
        self.prober.change_table();
        Ok(Some(Box::new(Pass { table, chunk: 0, first_row: 0, probing: false })))
    }

    /// The next result rows, in no order; `false` at the end.
    fn step(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        if let Some(input) = self.input.take() {
            self.partition_left(input)?;
        }
        self.output.reset(out);
        while out.rows == 0 {
            self.shared.cx.cancel.check()?;
            if self.partition >= self.left_files.len() {
                return Ok(false);
            }
            match self.stage.take() {
                None => {
                    self.stage = match self.next_pass()? {
                        Some(pass) => Some(Stage::Probe(pass)),
                        None => Some(Stage::Unmatched { chunk: 0, first_row: 0 }),
                    };
                }
                Some(Stage::Probe(pass)) => {
                    if let Some(pass) = self.probe(pass, out)? {
                        self.stage = Some(Stage::Probe(pass));
                    }
                }
                Some(Stage::Unmatched { chunk, first_row }) => {
                    self.unmatched(chunk, first_row, out)?;
                }
            }
        }
        Ok(true)
    }

    /// Probes on; `None`: all left rows have been.
    fn probe(&mut self, mut pass: Box<Pass>, out: &mut Batch) -> Result<Option<Box<Pass>>, ExecError> {
        let file = &self.left_files[self.partition];
        if !pass.probing {
            if pass.chunk >= file.chunks() {
                return Ok(None);
            }
            self.left.reset(&self.left_vars);
            file.read(pass.chunk, &mut self.left)?;
            self.prober.begin();
            pass.probing = true;
        }
        self.pairs.clear();
        let cx = &self.shared.cx;
        self.prober.candidates(cx, &pass.table, &self.left, &mut self.pairs, cx.batch_rows)?;
        // Of a query that is cancelled the index may be incomplete.
        cx.cancel.check()?;
        self.output.filter(cx, &self.left, &pass.table.rows, &mut self.pairs)?;
        let mut first_matches = Pairs::default();
        for (left, right) in self.pairs.left.iter().zip(&self.pairs.right) {
            let matched = &mut self.matched[pass.first_row + *left as usize];
            if !std::mem::replace(matched, true) {
                first_matches.push(*left, *right);
            }
        }
        match self.kind {
            JoinKind::Inner | JoinKind::Left => {
                self.output.emit(&self.left, &pass.table.rows, &self.pairs, out);
            }
            JoinKind::Semi => {
                self.output.emit(&self.left, &pass.table.rows, &first_matches, out);
            }
            JoinKind::Anti | JoinKind::Minus => {}
        }
        if self.prober.is_done(&self.left) {
            pass.probing = false;
            pass.chunk += 1;
            pass.first_row += self.left.rows;
        }
        Ok(Some(pass))
    }

    fn unmatched(&mut self, chunk: usize, first_row: usize, out: &mut Batch) -> Result<(), ExecError> {
        let file = &self.left_files[self.partition];
        let wanted = matches!(self.kind, JoinKind::Left | JoinKind::Anti | JoinKind::Minus);
        if !wanted || chunk >= file.chunks() {
            self.partition += 1;
            self.begin_partition();
            return Ok(());
        }
        self.left.reset(&self.left_vars);
        file.read(chunk, &mut self.left)?;
        self.pairs.clear();
        for row in 0..self.left.rows {
            if !self.matched[first_row + row] {
                self.pairs.push(u32::try_from(row).unwrap_or(u32::MAX - 1), NO_ROW);
            }
        }
        self.output.emit(&self.left, &self.no_right, &self.pairs, out);
        self.stage = Some(Stage::Unmatched { chunk: chunk + 1, first_row: first_row + self.left.rows });
        Ok(())
    }

    fn sort_all(&mut self) -> Result<SortedRows, ExecError> {
        let mut vars = vec![SEQUENCE];
        vars.extend_from_slice(&self.vars);
        let mut sorter = Sorter::new(SortSpec {
            cx: Arc::clone(&self.shared.cx),
            area: Arc::clone(&self.shared.area),
            counters: Arc::clone(&self.counters),
            vars: vars.into(),
            keys: 1,
            order: KeyOrder::Bits,
            limit: None,
        });
        let mut batch = Batch::default();
        while self.step(&mut batch)? {
            sorter.push(&batch)?;
        }
        sorter.finish()
    }
}

impl Operator for SpilledJoin {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        let Some(mut order) = self.order.take() else { return self.step(out) };
        let mut sorted = match order.sorted.take() {
            Some(sorted) => sorted,
            None => self.sort_all()?,
        };
        out.reset(&self.vars);
        let more = sorted.next(&mut order.buffer)?;
        out.rows = order.buffer.rows;
        for (from, to) in order.buffer.columns.iter_mut().skip(1).zip(&mut out.columns) {
            std::mem::swap(from, to);
        }
        self.order = Some(Order { sorted: Some(sorted), buffer: order.buffer });
        Ok(more)
    }
}
