//! Sorted runs of rows, in memory or on disk, and merging them.

use super::sort_spec::{KeyOrder, SortSpec, compare_known};
use crate::context::QueryContext;
use crate::spill::{SpillFile, SpilledRows};
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, gather};
use lode_eval::error::ExecError;
use lode_eval::expr::{self, OrderKey, order_key};
use lode_rdf::ValueId;
use std::cmp::Ordering;
use std::sync::Arc;

/// Runs that are merged at once.
pub(super) const RUNS_MAX: usize = 128;
/// Rows that are merged between two looks at the cancel token.
const MERGED_ROWS_UNCHECKED: usize = 64;
/// The longest sort key that is kept while its run is at its row.
const KEY_BYTES_KEPT: usize = 4 << 10;

/// Rows in order.
pub(crate) enum Run {
    /// In memory, through a permutation.
    Memory(MemoryRun),
    /// In a file.
    File(FileRun),
}

pub(crate) struct MemoryRun {
    rows: Batch,
    permutation: Vec<u32>,
    position: usize,
    _reservation: Reservation,
}

impl MemoryRun {
    /// Rows in the order of a permutation.
    pub(super) fn new(rows: Batch, permutation: Vec<u32>, reservation: Reservation) -> Self {
        Self { rows, permutation, position: 0, _reservation: reservation }
    }
}

pub(crate) struct FileRun {
    file: SpilledRows,
    chunk: usize,
    buffer: Batch,
    position: usize,
}

impl FileRun {
    pub(super) fn new(file: SpilledRows) -> Self {
        let buffer = Batch::new(Arc::clone(file.vars()));
        Self { file, chunk: 0, buffer, position: 0 }
    }
}

impl Run {
    /// The batch and row that come next.
    fn current(&self) -> Option<(&Batch, usize)> {
        match self {
            Self::Memory(run) => run.permutation.get(run.position).map(|row| (&run.rows, *row as usize)),
            Self::File(run) => (run.position < run.buffer.rows).then_some((&run.buffer, run.position)),
        }
    }

    /// Steps over the current row, or to the first one.
    fn advance(&mut self) -> Result<(), ExecError> {
        match self {
            Self::Memory(run) => run.position += 1,
            Self::File(run) => {
                run.position += 1;
                if run.position >= run.buffer.rows {
                    run.load()?;
                }
            }
        }
        Ok(())
    }
}

impl FileRun {
    fn load(&mut self) -> Result<(), ExecError> {
        self.buffer.clear();
        self.position = 0;
        if self.chunk < self.file.chunks() {
            self.file.read(self.chunk, &mut self.buffer)?;
            self.chunk += 1;
        }
        Ok(())
    }
}

/// Merges runs: a binary heap of run numbers by their current rows, earlier runs first among equals.
pub(crate) struct SortedRows {
    spec: SortSpec,
    runs: Vec<Run>,
    heap: Vec<usize>,
    left: usize,
    keys: CurrentKeys,
}

impl SortedRows {
    /// Merges `runs` of sorters of one specification.
    pub(crate) fn merge(spec: SortSpec, mut runs: Vec<Run>) -> Result<Self, ExecError> {
        while runs.len() > RUNS_MAX {
            let rest = runs.split_off(RUNS_MAX);
            // The merged rows came first, and stay first, so that equal rows keep their order.
            runs = vec![merge_into_one(&spec, runs)?];
            runs.extend(rest);
        }
        Self::open(spec, runs)
    }

    fn open(spec: SortSpec, mut runs: Vec<Run>) -> Result<Self, ExecError> {
        for run in &mut runs {
            if let Run::File(file) = run {
                file.load()?;
            }
        }
        let left = spec.limit.unwrap_or(usize::MAX);
        let heap = (0..runs.len()).filter(|i| runs[*i].current().is_some()).collect();
        let mut this = Self { spec, runs, heap, left, keys: CurrentKeys::default() };
        for i in (0..this.heap.len() / 2).rev() {
            this.sift_down(i)?;
        }
        Ok(this)
    }

    /// Replaces `out` by the next rows, all columns; `false` at the end.
    pub(crate) fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.spec.cx.cancel.check()?;
        out.reset(&self.spec.vars);
        let want = self.spec.cx.batch_rows.min(self.left);
        if let ([run], Some(Run::Memory(memory))) =
            (self.heap.as_slice(), self.heap.first().map(|run| &self.runs[*run]))
        {
            let run = *run;
            let end = memory.permutation.len().min(memory.position + want);
            let rows = &memory.permutation[memory.position..end];
            for (from, to) in memory.rows.columns.iter().zip(&mut out.columns) {
                gather(from, rows, to);
            }
            out.rows = rows.len();
            if let Run::Memory(memory) = &mut self.runs[run] {
                memory.position = end;
            }
        } else {
            self.merge_rows(want, out)?;
        }
        self.left -= out.rows;
        Ok(out.rows > 0)
    }

    fn merge_rows(&mut self, want: usize, out: &mut Batch) -> Result<(), ExecError> {
        while out.rows < want {
            // Comparing terms of different runs may read the dictionary, many times for a row.
            if out.rows.is_multiple_of(MERGED_ROWS_UNCHECKED) {
                self.spec.cx.cancel.check()?;
            }
            let Some(first) = self.heap.first().copied() else { return Ok(()) };
            if let Some((batch, row)) = self.runs[first].current() {
                out.append_range(batch, row, row + 1);
            }
            self.runs[first].advance()?;
            self.keys.forget(first);
            if self.runs[first].current().is_none() {
                self.heap.swap_remove(0);
            }
            self.sift_down(0)?;
        }
        Ok(())
    }

    fn sift_down(&mut self, mut i: usize) -> Result<(), ExecError> {
        loop {
            let mut smallest = i;
            for child in [2 * i + 1, 2 * i + 2] {
                if child < self.heap.len() && self.before(self.heap[child], self.heap[smallest])? {
                    smallest = child;
                }
            }
            if smallest == i {
                return Ok(());
            }
            self.heap.swap(i, smallest);
            i = smallest;
        }
    }

    fn before(&mut self, a: usize, b: usize) -> Result<bool, ExecError> {
        let id = |run: usize, key: usize| {
            let (batch, row) = self.runs[run].current()?;
            batch.columns[key].get(row).copied()
        };
        for key in 0..self.spec.keys {
            let (Some(left), Some(right)) = (id(a, key), id(b, key)) else { return Ok(false) };
            let order = match &self.spec.order {
                KeyOrder::Bits => left.cmp(&right),
                KeyOrder::Terms(descending) => {
                    let order = match compare_known(&self.spec.cx, left, right) {
                        Some(order) => order,
                        None => self.keys.compare(&self.spec.cx, key, (a, left), (b, right))?,
                    };
                    if descending[key] { order.reverse() } else { order }
                }
            };
            if order.is_ne() {
                return Ok(order.is_lt());
            }
        }
        Ok(a < b)
    }
}

/// Sort keys of the rows that runs are at: each row is compared with several others, and decoding a key may mean to read a file.
#[derive(Default)]
struct CurrentKeys(Vec<Vec<CurrentKey>>);

#[derive(Clone, Default)]
enum CurrentKey {
    #[default]
    Unknown,
    Known(OrderKey),
    /// Too long to be kept: there may be many runs.
    Long,
}

impl CurrentKeys {
    /// A run has gone on.
    fn forget(&mut self, run: usize) {
        if let Some(keys) = self.0.get_mut(run) {
            keys.clear();
        }
    }

    fn compare(
        &mut self,
        cx: &QueryContext,
        key: usize,
        (a, left): (usize, ValueId),
        (b, right): (usize, ValueId),
    ) -> Result<Ordering, ExecError> {
        self.load(cx, key, a, left)?;
        self.load(cx, key, b, right)?;
        match (&self.0[a][key], &self.0[b][key]) {
            (CurrentKey::Known(left), CurrentKey::Known(right)) => Ok(left.cmp(right)),
            _ => expr::compare(cx, left, right),
        }
    }

    fn load(&mut self, cx: &QueryContext, key: usize, run: usize, id: ValueId) -> Result<(), ExecError> {
        if self.0.len() <= run {
            self.0.resize_with(run + 1, Vec::new);
        }
        let keys = &mut self.0[run];
        if keys.len() <= key {
            keys.resize(key + 1, CurrentKey::Unknown);
        }
        if matches!(keys[key], CurrentKey::Unknown) {
            let known = order_key(cx, id)?;
            let is_short = known.heap_bytes() <= KEY_BYTES_KEPT;
            keys[key] = if is_short { CurrentKey::Known(known) } else { CurrentKey::Long };
        }
        Ok(())
    }
}

/// A file with the rows of some runs.
pub(super) fn merge_into_one(spec: &SortSpec, runs: Vec<Run>) -> Result<Run, ExecError> {
    let mut merged = SortedRows::open(spec.clone(), runs)?;
    let mut file = SpillFile::new(&spec.area, &spec.vars, &spec.counters);
    let mut batch = Batch::new(Arc::clone(&spec.vars));
    while merged.next(&mut batch)? {
        file.push(&batch)?;
    }
    Ok(Run::File(FileRun::new(file.finish()?)))
}
