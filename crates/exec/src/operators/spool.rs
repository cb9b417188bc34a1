//! Rows of a sub-plan that a query has several times: made once, by all threads, and read by all who want them.
//!
//! The rows lie in chunks, in the order in which the sub-plan promises them. While the budget allows they stay in memory;
//! else a part of the work that finds none left writes its rows to a file. Who reads copies the columns wanted from chunk after chunk, so
//! any number can read at once, each from any row on.

use super::{BoxOp, Operator};
use crate::morsel::{Assignment, Part};
use crate::parallel::{Prepared, SubPlan, operator};
use crate::profile::NodeCounters;
use crate::shared::{BuildOnce, Once, Shared};
use crate::spill::{SpillFile, SpilledRows};
use lode_base::memory_budget::Reservation;
use lode_eval::batch::{Batch, position};
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::run_team;
use lode_sparql::{PlanNode, PlanOp, VarId};
use std::cmp::Ordering;
use std::sync::Arc;

/// Some of the rows.
#[derive(Debug)]
enum Chunk {
    /// In memory.
    Held(Batch),
    /// The chunk of this number in a file.
    Spilled(Arc<SpilledRows>, usize),
}

impl Chunk {
    fn rows(&self) -> usize {
        match self {
            Self::Held(batch) => batch.rows,
            Self::Spilled(file, chunk) => file.chunk_rows(*chunk),
        }
    }
}

/// The rows.
#[derive(Debug)]
pub(crate) struct SpoolRows {
    chunks: Vec<Chunk>,
    _reservations: Vec<Reservation>,
}

impl BuildOnce for SpoolRows {
    fn make(shared: &Arc<Shared>, node: &PlanNode) -> Result<Self, ExecError> {
        let PlanOp::Spool { input: Some(input), .. } = &node.op else {
            return Err(ExecError::Internal("no sub-plan to read".into()));
        };
        let counters = shared.counters(node.id);
        let ordered = !input.sorted_by.is_empty();
        let parallel = SubPlan::new(shared, input)?;
        let mut runs = match parallel.filter(|source| !ordered || source.keeps_order()) {
            Some(source) => from_morsels(shared, source, ordered, input, &counters)?,
            None => {
                let operator = operator(shared, Assignment::default(), input, ordered)?;
                vec![(0, MorselRows::new(shared, input, &counters).fill(operator)?)]
            }
        };
        runs.sort_by_key(|(number, _)| *number);
        let (mut chunks, mut reservations) = (Vec::new(), Vec::new());
        for (_, run) in runs {
            reservations.push(run.finish(&mut chunks)?);
        }
        counters.hold(reservations.iter().map(Reservation::bytes).sum());
        Ok(Self { chunks, _reservations: reservations })
    }
}

/// The rows of each morsel, with its number.
fn from_morsels(
    shared: &Arc<Shared>,
    source: SubPlan,
    ordered: bool,
    input: &PlanNode,
    counters: &Arc<NodeCounters>,
) -> Result<Vec<(usize, MorselRows)>, ExecError> {
    let source = source.prepare()?;
    let (shared, counters, node) = (Arc::clone(shared), Arc::clone(counters), input.id);
    let threads = source.threads();
    let runs = run_team(threads, move || {
        let _at_work = source.work();
        let result = counters.measure(|| take_morsels(&shared, &source, node, ordered, &counters));
        if result.is_err() {
            source.close();
        }
        result
    })?;
    Ok(runs.into_iter().flatten().collect())
}

fn take_morsels(
    shared: &Arc<Shared>,
    source: &Prepared,
    node: u32,
    ordered: bool,
    counters: &Arc<NodeCounters>,
) -> Result<Vec<(usize, MorselRows)>, ExecError> {
    let mut runs = Vec::new();
    while let Some((number, operator)) = source.next_morsel(ordered)? {
        let run = MorselRows::new(shared, shared.node(node)?, counters).fill(operator)?;
        runs.push((number, run));
    }
    Ok(runs)
}

/// Rows that come one after the other.
struct MorselRows {
    shared: Arc<Shared>,
    vars: Arc<[VarId]>,
    counters: Arc<NodeCounters>,
    held: Vec<Batch>,
    reservation: Reservation,
    file: Option<SpillFile>,
}

impl MorselRows {
    fn new(shared: &Arc<Shared>, node: &PlanNode, counters: &Arc<NodeCounters>) -> Self {
        Self {
            shared: Arc::clone(shared),
            vars: node.vars.as_slice().into(),
            counters: Arc::clone(counters),
            held: Vec::new(),
            reservation: shared.cx.budget.reserve_spillable(),
            file: None,
        }
    }

    /// Adds all rows of an operator.
    fn fill(mut self, mut operator: BoxOp) -> Result<Self, ExecError> {
        let mut batch = Batch::default();
        while operator.next(&mut batch)? {
            self.shared.cx.cancel.check()?;
            self.push(&mut batch)?;
        }
        Ok(self)
    }

    fn push(&mut self, batch: &mut Batch) -> Result<(), ExecError> {
        if let Some(file) = &mut self.file {
            return file.push(batch);
        }
        let rows_max = self.shared.cx.batch_rows;
        if let Some(last) = self.held.last_mut()
            && last.rows + batch.rows <= rows_max
            && last.bytes() >= rows_max * last.columns.len() * size_of::<ValueId>()
        {
            last.append_range(batch, 0, batch.rows);
            return Ok(());
        }
        // Many rows are taken as they are; few are copied to where there is room for more.
        let few = batch.rows < rows_max / 2;
        let bytes = if few { rows_max * batch.columns.len() * size_of::<ValueId>() } else { batch.bytes() };
        if self.reservation.grow(bytes).is_err() {
            return self.spill(batch);
        }
        if few {
            let mut chunk = Batch::new(Arc::clone(&self.vars));
            chunk.columns.iter_mut().for_each(|column| column.reserve_exact(rows_max));
            chunk.append_range(batch, 0, batch.rows);
            self.held.push(chunk);
        } else {
            self.held.push(std::mem::take(batch));
        }
        Ok(())
    }

    /// Writes what is held and `batch` to a file.
    fn spill(&mut self, batch: &Batch) -> Result<(), ExecError> {
        let mut file = SpillFile::new(&self.shared.area, &self.vars, &self.counters);
        for held in self.held.drain(..) {
            file.push(&held)?;
        }
        self.reservation.resize(0)?;
        file.push(batch)?;
        self.file = Some(file);
        Ok(())
    }

    /// Appends the rows to `chunks`; what they take of the budget.
    fn finish(self, chunks: &mut Vec<Chunk>) -> Result<Reservation, ExecError> {
        chunks.extend(self.held.into_iter().map(Chunk::Held));
        if let Some(file) = self.file {
            let rows = Arc::new(file.finish()?);
            chunks.extend((0..rows.chunks()).map(|chunk| Chunk::Spilled(Arc::clone(&rows), chunk)));
        }
        Ok(self.reservation)
    }
}

/// Has the rows made that `node`, a Spool, reads.
pub(crate) fn prepare(shared: &Arc<Shared>, node: &PlanNode) -> Result<(), ExecError> {
    if let PlanOp::Spool { number, .. } = &node.op {
        shared.once::<SpoolRows>(spool_node(shared, *number)?.id).get(shared)?;
    }
    Ok(())
}

/// The node that has the common sub-plan with this number.
fn spool_node(shared: &Shared, number: u32) -> Result<&PlanNode, ExecError> {
    let has_rows =
        |node: &PlanNode| matches!(&node.op, PlanOp::Spool { number: n, input: Some(_), .. } if *n == number);
    shared.find(&has_rows).ok_or_else(|| no_spool(number))
}

fn no_spool(number: u32) -> ExecError {
    ExecError::Internal(format!("the plan has no common sub-plan {number}"))
}

/// A row: the number of its chunk, and its own in that.
type Place = (usize, usize);

/// The operator: reads the rows, or a part of them.
pub(crate) struct Spool {
    shared: Arc<Shared>,
    rows: Arc<Once<SpoolRows>>,
    vars: Arc<[VarId]>,
    /// For each of `vars` its column in the rows.
    columns: Vec<usize>,
    /// The columns that the rows are sorted by, as they are called here, and in the rows.
    sorted_by: Vec<(VarId, usize)>,
    part: Option<Part>,
    /// The rows, the place of the next one, and that behind the last; made when first needed.
    reading: Option<(Arc<SpoolRows>, Place, Place)>,
    /// The spilled chunk that was read last.
    loaded: Option<(usize, Batch)>,
}

impl Spool {
    /// Reads for `node`; `part`: which rows, if not all.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        node: &PlanNode,
        vars: &Arc<[VarId]>,
        part: Option<Part>,
    ) -> Result<Self, ExecError> {
        let PlanOp::Spool { number, columns, .. } = &node.op else {
            return Err(ExecError::Internal("not a Spool".into()));
        };
        let spool = spool_node(shared, *number)?;
        let input = spool.children().first().copied().ok_or_else(|| no_spool(*number))?;
        let place = |var: &VarId| {
            position(&input.vars, *var)
                .ok_or_else(|| ExecError::Internal("a column that the sub-plan lacks".into()))
        };
        let columns = columns.iter().map(place).collect::<Result<Vec<usize>, _>>()?;
        let column = |var: &VarId| Some((*var, *columns.get(position(vars, *var)?)?));
        let sorted_by = node.sorted_by.iter().map_while(column).collect();
        Ok(Self {
            shared: Arc::clone(shared),
            rows: shared.once(spool.id),
            vars: Arc::clone(vars),
            columns,
            sorted_by,
            part,
            reading: None,
            loaded: None,
        })
    }

    /// Has the rows made, if nobody had yet, and finds the part to be read.
    fn start(&mut self) -> Result<(), ExecError> {
        if self.reading.is_some() {
            return Ok(());
        }
        let rows = self.rows.get(&self.shared)?;
        let count = rows.chunks.len();
        let (start, end) = match self.part.take() {
            None => ((0, 0), (count, 0)),
            Some(Part::Share { number, of }) => ((count * number / of, 0), (count * (number + 1) / of, 0)),
            Some(Part::Range(range)) => {
                let start = self.first_not_before(&rows, (0, 0), &[range.start])?;
                let end = match range.end {
                    ValueId::MAX => (count, 0),
                    end => self.first_not_before(&rows, start, &[end])?,
                };
                (start, end)
            }
        };
        self.reading = Some((rows, start, end));
        Ok(())
    }

    /// The first row from `from` on that does not come before `key` in the leading columns of the order.
    fn first_not_before(
        &mut self,
        rows: &SpoolRows,
        from: Place,
        key: &[ValueId],
    ) -> Result<Place, ExecError> {
        let columns: Vec<usize> = self.sorted_by.iter().take(key.len()).map(|(_, column)| *column).collect();
        let is_before = |batch: &Batch, row: usize| {
            let mut order = columns.iter().zip(key).map(|(column, key)| batch.columns[*column][row].cmp(key));
            order.find(|order| order.is_ne()) == Some(Ordering::Less)
        };
        // Chunks whose last row comes before the key are passed over.
        let (mut low, mut high) = (from.0, rows.chunks.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let before = self.with_chunk(rows, middle, |batch| {
                batch.rows.checked_sub(1).is_some_and(|last| is_before(batch, last))
            })?;
            if before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low == rows.chunks.len() {
            return Ok((low, 0));
        }
        let first = if low == from.0 { from.1 } else { 0 };
        let row = self.with_chunk(rows, low, |batch| {
            let (mut low, mut high) = (first, batch.rows);
            while low < high {
                let middle = low + (high - low) / 2;
                if is_before(batch, middle) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        })?;
        Ok((low, row))
    }

    /// Looks at the rows of a chunk, which are read from disk if need be.
    fn with_chunk<T>(
        &mut self,
        rows: &SpoolRows,
        number: usize,
        look: impl FnOnce(&Batch) -> T,
    ) -> Result<T, ExecError> {
        match rows.chunks.get(number) {
            Some(Chunk::Held(batch)) => Ok(look(batch)),
            Some(Chunk::Spilled(file, chunk)) => {
                let known = self.loaded.take().filter(|(loaded, _)| *loaded == number);
                let loaded = match known {
                    Some(loaded) => loaded,
                    None => {
                        let mut batch = Batch::new(Arc::clone(file.vars()));
                        file.read(*chunk, &mut batch)?;
                        (number, batch)
                    }
                };
                let found = look(&loaded.1);
                self.loaded = Some(loaded);
                Ok(found)
            }
            None => Ok(look(&Batch::default())),
        }
    }
}

impl Operator for Spool {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.start()?;
        self.shared.cx.cancel.check()?;
        out.reset(&self.vars);
        let Some((rows, mut at, end)) = self.reading.clone() else { return Ok(false) };
        while at < end && out.rows == 0 {
            let chunk_rows = rows.chunks.get(at.0).map_or(0, Chunk::rows);
            let last = if at.0 == end.0 { end.1.min(chunk_rows) } else { chunk_rows };
            if at.1 >= last {
                at = (at.0 + 1, 0);
                continue;
            }
            let range = at.1..last.min(at.1 + self.shared.cx.batch_rows);
            let columns = std::mem::take(&mut self.columns);
            self.with_chunk(&rows, at.0, |batch| {
                for (from, to) in columns.iter().zip(&mut out.columns) {
                    to.extend_from_slice(&batch.columns[*from][range.clone()]);
                }
            })?;
            self.columns = columns;
            out.rows = range.len();
            at.1 = range.end;
        }
        self.reading = Some((rows, at, end));
        Ok(out.rows > 0)
    }

    fn skip_to(&mut self, vars: &[VarId], key: &[ValueId]) -> Result<(), ExecError> {
        let leading = self.sorted_by.iter().map(|(var, _)| var).take(vars.len()).eq(vars);
        // Rows that nobody has asked for yet are not made for a hint.
        let Some((rows, at, end)) = self.reading.clone().filter(|_| leading) else { return Ok(()) };
        let at = self.first_not_before(&rows, at, key)?;
        self.reading = Some((rows, at, end));
        Ok(())
    }
}
