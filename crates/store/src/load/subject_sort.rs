//! The first sort: rows of all runs, with the final codes of their terms, sorted by S, P, O, G, without duplicates and without
//! quads that the database has already.

use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::existing_quads::ExistingQuads;
use crate::load::run::NumberList;
use crate::load::run_codes::RunCodes;
use crate::load::run_rows::{ClosedRows, DEFAULT_GRAPH};
use crate::segment_builder::{Layout, NameFields, OrdersContext, PackedRow, RowSet, RowShape};
use crate::version::Version;
use lode_base::external_sort::{ExternalSorter, SortOptions, SortedRows};
use lode_packed::Order;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// What of a run is still needed once its terms have numbers.
#[derive(Debug)]
pub struct RunRows {
    /// Its quads.
    pub rows: ClosedRows,
    /// Numbers of its terms.
    pub codes: RunCodes,
    /// Numbers in the run of the terms that are predicates.
    pub predicates: NumberList,
    /// Numbers in the run of the terms that are graph names.
    pub graphs: NumberList,
}

/// The sorted quads, and what was dropped on the way.
#[derive(Debug)]
pub struct SubjectSorted<R> {
    /// The quads.
    pub rows: RowSet<R>,
    /// A buffer for as many, if they fitted memory: writing to fresh memory is slow.
    pub buffer: Vec<R>,
    /// Quads that came more than once, counted once less each.
    pub duplicates: u64,
    /// Quads that the database has already.
    pub existing: u64,
}

/// Bytes that an external sort gets at least.
const SORT_BYTES_MIN: usize = 4 << 20;

/// Sorts the rows of all runs.
pub fn sort_by_subject<R: PackedRow>(
    runs: Vec<RunRows>,
    row_count: u64,
    version: &Version,
    context: &OrdersContext<'_>,
) -> Result<SubjectSorted<R>, LoadError> {
    let io = |source| LoadError::temporary(context.spill, source);
    let expected = usize::try_from(row_count).unwrap_or(usize::MAX);
    let wanted = expected.saturating_mul(2 * R::BYTES);
    let memory_bytes = wanted.min(context.memory.free() / 4 * 3).max(SORT_BYTES_MIN);
    let mut reservation = context.memory.reserve(memory_bytes).ok();
    let options = SortOptions {
        vfs: Arc::clone(context.vfs),
        folder: context.spill.to_owned(),
        name: "quads".to_owned(),
        bits: 0..context.layout.key_bits(),
        memory_bytes,
        threads: context.threads,
    };
    let sorter = Mutex::new(ExternalSorter::new(options, expected));
    pack_all(runs, &sorter, context)?;
    let sorter = sorter.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (sorted, buffer) = sorter.finish_with_buffer().map_err(io)?;
    if let (SortedRows::Memory(rows), Some(held)) = (&sorted, &mut reservation) {
        // The scratch room is free again; shrinking never fails.
        let _ = held.resize((rows.capacity() * R::BYTES).min(held.bytes()));
    }
    let shape = context.layout.shape(Order::Spog);
    let mut existing = ExistingQuads::new(version);
    let mut distinct = 0;
    let path = context.spill.join("spog.sorted");
    let rows = RowSet::collect(sorted, reservation, context.vfs, &path, &mut |rows: &mut Vec<R>| {
        context.throttle.check().map_err(Collect::Cancelled)?;
        distinct += rows.len() as u64;
        existing.drop_from(rows, context.layout, shape).map_err(Collect::Store)
    });
    let rows = rows.map_err(|error| error.of_load(io))?;
    Ok(SubjectSorted { duplicates: row_count - distinct, existing: distinct - rows.rows, rows, buffer })
}

/// Why sorted rows could not be collected.
#[derive(Debug)]
pub enum Collect {
    /// A temporary file failed.
    Io(io::Error),
    /// The database could not be read.
    Store(StoreError),
    /// Cancelled.
    Cancelled(lode_base::cancel::Cancelled),
}

impl Collect {
    /// As an error of the load; `io` tells of temporary files.
    pub fn of_load(self, io: impl FnOnce(io::Error) -> LoadError) -> LoadError {
        match self {
            Self::Io(source) => io(source),
            Self::Store(error) => error.into(),
            Self::Cancelled(cancelled) => cancelled.into(),
        }
    }
}

impl From<io::Error> for Collect {
    fn from(source: io::Error) -> Self {
        Self::Io(source)
    }
}

/// Packs the rows of all runs, several runs at once.
fn pack_all<R: PackedRow>(
    runs: Vec<RunRows>,
    sorter: &Mutex<ExternalSorter<R>>,
    context: &OrdersContext<'_>,
) -> Result<(), LoadError> {
    let threads = context.threads.min(runs.len());
    let queue = Mutex::new(runs.into_iter());
    let work = || -> Result<(), LoadError> {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(run) = next else { return Ok(()) };
            pack_run(run, sorter, context)?;
        }
    };
    if threads <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(other);
        }
        result
    })
}

#[inline]
fn get(list: &[u64], at: u32) -> u64 {
    list.get(at as usize).copied().unwrap_or(0)
}

/// The codes of one run's terms, as its rows refer to them.
#[derive(Debug)]
pub struct CodeMaps {
    terms: Vec<u64>,
    /// Fields, not codes.
    predicates: Vec<u64>,
    /// Fields, not codes.
    graphs: Vec<u64>,
}

impl CodeMaps {
    /// Those of a run, and its rows.
    pub fn new(run: RunRows, layout: &Layout) -> io::Result<(Self, ClosedRows)> {
        let codes = run.codes.load()?;
        // Same size in and out, so this is done in place.
        let terms: Vec<u64> = codes.into_iter().map(|index| layout.terms.code(index)).collect();
        let fields = |numbers: NumberList, names: &NameFields| -> io::Result<Vec<u64>> {
            let field = |number: u32| names.field(get(&terms, number), &layout.terms);
            Ok(numbers.load()?.into_iter().map(field).collect())
        };
        let predicates = fields(run.predicates, &layout.predicates)?;
        let graphs = fields(run.graphs, &layout.graphs)?;
        Ok((Self { terms, predicates, graphs }, run.rows))
    }

    /// Packs rows, replacing what is in `out`.
    pub fn pack<R: PackedRow>(
        &self,
        (rows, graphs): (&[[u32; 3]], &[u32]),
        layout: &Layout,
        shape: RowShape,
        out: &mut Vec<R>,
    ) {
        let pack = |[s, p, o]: [u32; 3], graph| {
            let subject = layout.terms.resource(get(&self.terms, s));
            R::pack([subject, get(&self.predicates, p), get(&self.terms, o), graph], shape.shifts)
        };
        out.clear();
        if graphs.is_empty() {
            out.extend(rows.iter().map(|row| pack(*row, 0)));
        } else {
            out.extend(
                rows.iter()
                    .zip(graphs)
                    .map(|(row, g)| pack(*row, if *g == DEFAULT_GRAPH { 0 } else { get(&self.graphs, *g) })),
            );
        }
    }
}

fn pack_run<R: PackedRow>(
    run: RunRows,
    sorter: &Mutex<ExternalSorter<R>>,
    context: &OrdersContext<'_>,
) -> Result<(), LoadError> {
    let io = |source| LoadError::temporary(context.spill, source);
    let shape = context.layout.shape(Order::Spog);
    let (maps, mut rows) = CodeMaps::new(run, context.layout).map_err(io)?;
    let mut packed = Vec::new();
    while let Some(chunk) = rows.next().map_err(io)? {
        for (terms, graphs) in chunk.frames() {
            context.throttle.check()?;
            maps.pack::<R>((terms, graphs), context.layout, shape, &mut packed);
            sorter.lock().unwrap_or_else(PoisonError::into_inner).push(&packed).map_err(io)?;
        }
    }
    Ok(())
}
