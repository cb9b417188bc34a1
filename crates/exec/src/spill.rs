//! Temporary files of rows: what blocking operators cannot hold under the memory budget.
//!
//! A file is a sequence of chunks, each a number of rows column by column, eight bytes an id. The list of chunks stays in
//! memory. All files of an execution are in its [`SpillArea`].

use crate::profile::NodeCounters;
use crate::spill_area::{Space, SpillArea};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_sparql::VarId;
use std::sync::Arc;

/// How many partitions a spilling operator makes.
pub(crate) const PARTITIONS: usize = 32;

const ID_BYTES: usize = size_of::<u64>();

/// Rows gathered before a chunk is written, at most.
const CHUNK_ROWS_MAX: usize = 1024;
/// Where rows are wide, fewer are gathered: about so many bytes, as many partitions gather at once.
const CHUNK_BYTES: usize = 32 << 10;
const CHUNK_ROWS_MIN: usize = 16;

#[derive(Debug, Clone, Copy)]
struct Chunk {
    offset: u64,
    rows: usize,
}

/// A file that rows are appended to.
#[derive(Debug)]
pub(crate) struct SpillFile {
    counters: Arc<NodeCounters>,
    space: Space,
    chunks: Vec<Chunk>,
    chunk_rows: usize,
    pending: Batch,
    rows: u64,
}

impl SpillFile {
    /// A new file for rows of these columns.
    pub(crate) fn new(area: &Arc<SpillArea>, vars: &Arc<[VarId]>, counters: &Arc<NodeCounters>) -> Self {
        let row_bytes = vars.len().max(1) * ID_BYTES;
        Self {
            counters: Arc::clone(counters),
            space: area.space(),
            chunks: Vec::new(),
            chunk_rows: (CHUNK_BYTES / row_bytes).clamp(CHUNK_ROWS_MIN, CHUNK_ROWS_MAX),
            pending: Batch::new(Arc::clone(vars)),
            rows: 0,
        }
    }

    /// Appends the rows of `batch` numbered in `selection`; its columns are those of the file.
    pub(crate) fn push_selected(&mut self, batch: &Batch, selection: &[u32]) -> Result<(), ExecError> {
        for part in selection.chunks(self.chunk_rows) {
            self.pending.append_selected(batch, part);
            self.write_full()?;
        }
        Ok(())
    }

    /// Appends all rows of `batch`; its columns are those of the file.
    pub(crate) fn push(&mut self, batch: &Batch) -> Result<(), ExecError> {
        let mut start = 0;
        while start < batch.rows {
            let end = (start + self.chunk_rows).min(batch.rows);
            self.pending.append_range(batch, start, end);
            self.write_full()?;
            start = end;
        }
        Ok(())
    }

    fn write_full(&mut self) -> Result<(), ExecError> {
        if self.pending.rows >= self.chunk_rows { self.write_chunk() } else { Ok(()) }
    }

    fn write_chunk(&mut self) -> Result<(), ExecError> {
        let rows = self.pending.rows;
        if rows == 0 {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(rows * self.pending.columns.len() * ID_BYTES);
        for column in &self.pending.columns {
            bytes.extend(column.iter().flat_map(|id| id.to_bits().to_le_bytes()));
        }
        let offset = self.space.append(&bytes)?;
        self.chunks.push(Chunk { offset, rows });
        self.rows += rows as u64;
        self.counters.spill(bytes.len() as u64);
        self.pending.clear();
        Ok(())
    }

    /// Ends writing; what comes out can be read, also several times at once.
    pub(crate) fn finish(mut self) -> Result<SpilledRows, ExecError> {
        self.write_chunk()?;
        let Self { space, chunks, rows, pending, .. } = self;
        Ok(SpilledRows { space, vars: pending.vars, chunks, rows })
    }
}

/// A finished file.
#[derive(Debug)]
pub(crate) struct SpilledRows {
    space: Space,
    vars: Arc<[VarId]>,
    chunks: Vec<Chunk>,
    rows: u64,
}

impl SpilledRows {
    /// How many rows it holds.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The columns of its rows.
    pub(crate) fn vars(&self) -> &Arc<[VarId]> {
        &self.vars
    }

    /// How many chunks [`SpilledRows::read`] can read.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// How many rows a chunk has.
    pub(crate) fn chunk_rows(&self, chunk: usize) -> usize {
        self.chunks.get(chunk).map_or(0, |c| c.rows)
    }

    /// Appends the rows of a chunk to `out`, which has the file's columns.
    pub(crate) fn read(&self, chunk: usize, out: &mut Batch) -> Result<(), ExecError> {
        let Some(chunk) = self.chunks.get(chunk) else { return Ok(()) };
        let mut bytes = vec![0; chunk.rows * out.columns.len() * ID_BYTES];
        self.space.read(&mut bytes, chunk.offset)?;
        for (column, bytes) in out.columns.iter_mut().zip(bytes.chunks_exact(chunk.rows * ID_BYTES)) {
            column.extend(bytes.as_chunks::<ID_BYTES>().0.iter().map(|word| from_bytes(*word)));
        }
        out.rows += chunk.rows;
        Ok(())
    }
}

fn from_bytes(word: [u8; ID_BYTES]) -> ValueId {
    ValueId::from_bits(u64::from_le_bytes(word))
}

/// Files for the rows of each partition.
#[derive(Debug)]
pub(crate) struct Partitions {
    files: Vec<SpillFile>,
    selections: Vec<Vec<u32>>,
}

impl Partitions {
    /// `count` empty partitions for rows of these columns.
    pub(crate) fn new(
        area: &Arc<SpillArea>,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
        count: usize,
    ) -> Self {
        let files = (0..count).map(|_| SpillFile::new(area, vars, counters)).collect();
        Self { files, selections: vec![Vec::new(); count] }
    }

    /// Appends each of `rows` of `batch` to the partition that `partition_of` its number gives.
    pub(crate) fn push(
        &mut self,
        batch: &Batch,
        rows: impl Iterator<Item = u32>,
        partition_of: impl Fn(usize) -> usize,
    ) -> Result<(), ExecError> {
        self.selections.iter_mut().for_each(Vec::clear);
        for row in rows {
            self.selections[partition_of(row as usize)].push(row);
        }
        for (file, selection) in self.files.iter_mut().zip(&self.selections) {
            file.push_selected(batch, selection)?;
        }
        Ok(())
    }

    /// Ends writing.
    pub(crate) fn finish(self) -> Result<Vec<SpilledRows>, ExecError> {
        self.files.into_iter().map(SpillFile::finish).collect()
    }
}
