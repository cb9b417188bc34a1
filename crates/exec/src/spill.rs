//! Temporary files of rows: what blocking operators cannot hold under the memory budget.
//!
//! A file is a sequence of chunks, each a number of rows column by column, eight bytes an id. The list of chunks stays in
//! memory. Files vanish when dropped, their folder with the execution.

use crate::profile::NodeCounters;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::remove_soon;
use lode_sparql::VarId;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How many partitions a spilling operator makes.
pub(crate) const PARTITIONS: usize = 32;

const ID_BYTES: usize = size_of::<u64>();

/// The folder of one execution's temporary files, made when first needed.
#[derive(Debug)]
pub(crate) struct SpillArea {
    vfs: Arc<dyn Vfs>,
    parent: PathBuf,
    folder: OnceLock<PathBuf>,
    next: AtomicU64,
}

impl SpillArea {
    /// An area below `parent`.
    pub(crate) fn new(parent: PathBuf) -> Arc<Self> {
        Arc::new(Self { vfs: RealVfs::shared(), parent, folder: OnceLock::new(), next: AtomicU64::new(0) })
    }

    fn folder(&self) -> Result<&PathBuf, ExecError> {
        static AREAS: AtomicU64 = AtomicU64::new(0);
        if self.folder.get().is_none() {
            let number = AREAS.fetch_add(1, Ordering::Relaxed);
            let folder = self.parent.join(format!("lode-spill-{}-{number}", std::process::id()));
            self.vfs.create_dir_all(&folder)?;
            // A second thread may have been faster; its folder is then the one in use, and this one goes.
            if let Err(mine) = self.folder.set(folder) {
                self.vfs.remove_dir_all(&mine)?;
            }
        }
        self.folder.get().ok_or_else(|| ExecError::Spill(std::io::ErrorKind::NotFound.into()))
    }

    /// A new file for rows of these columns.
    pub(crate) fn file(
        self: &Arc<Self>,
        vars: &Arc<[VarId]>,
        counters: &Arc<NodeCounters>,
    ) -> Result<SpillFile, ExecError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder()?.join(format!("{number}.rows"));
        Ok(SpillFile {
            file: TempFile { area: Arc::clone(self), path, bytes: None },
            counters: Arc::clone(counters),
            vars: Arc::clone(vars),
            writer: None,
            chunks: Vec::new(),
            pending: Batch::new(Arc::clone(vars)),
            bytes: 0,
            rows: 0,
        })
    }
}

impl Drop for SpillArea {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.get() {
            // Nothing can be done about a folder that stays: it is a temporary one.
            let _ = self.vfs.remove_dir_all(folder);
        }
    }
}

/// A file that vanishes when dropped.
#[derive(Debug)]
struct TempFile {
    area: Arc<SpillArea>,
    path: PathBuf,
    /// How long it is, once it exists.
    bytes: Option<u64>,
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let Some(bytes) = self.bytes else { return };
        let (area, path) = (Arc::clone(&self.area), std::mem::take(&mut self.path));
        remove_soon(bytes, move || {
            // The folder goes later; a file that stays until then does no harm.
            let _ = area.vfs.remove(&path);
        });
    }
}

#[derive(Debug, Clone, Copy)]
struct Chunk {
    offset: u64,
    rows: usize,
}

/// A file that rows are appended to.
#[derive(Debug)]
pub(crate) struct SpillFile {
    counters: Arc<NodeCounters>,
    vars: Arc<[VarId]>,
    // Before `file`: it is closed before that removes it.
    writer: Option<Box<dyn WriteFile>>,
    chunks: Vec<Chunk>,
    pending: Batch,
    bytes: u64,
    rows: u64,
    file: TempFile,
}

/// Rows gathered before a chunk is written.
const CHUNK_ROWS: usize = 1024;

impl SpillFile {
    /// Appends the rows of `batch` numbered in `selection`; its columns are those of the file.
    pub(crate) fn push_selected(&mut self, batch: &Batch, selection: &[u32]) -> Result<(), ExecError> {
        for part in selection.chunks(CHUNK_ROWS) {
            self.pending.append_selected(batch, part);
            self.write_full()?;
        }
        Ok(())
    }

    /// Appends all rows of `batch`; its columns are those of the file.
    pub(crate) fn push(&mut self, batch: &Batch) -> Result<(), ExecError> {
        let mut start = 0;
        while start < batch.rows {
            let end = (start + CHUNK_ROWS).min(batch.rows);
            self.pending.append_range(batch, start, end);
            self.write_full()?;
            start = end;
        }
        Ok(())
    }

    fn write_full(&mut self) -> Result<(), ExecError> {
        if self.pending.rows >= CHUNK_ROWS { self.write_chunk() } else { Ok(()) }
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
        if self.writer.is_none() {
            self.writer = Some(self.file.area.vfs.create(&self.file.path)?);
            self.file.bytes = Some(0);
        }
        if let Some(writer) = &mut self.writer {
            writer.write_all(&bytes)?;
        }
        self.chunks.push(Chunk { offset: self.bytes, rows });
        self.bytes += bytes.len() as u64;
        self.file.bytes = Some(self.bytes);
        self.rows += rows as u64;
        self.counters.spill(bytes.len() as u64);
        self.pending.clear();
        Ok(())
    }

    /// Ends writing; what comes out can be read, also several times at once.
    pub(crate) fn finish(mut self) -> Result<SpilledRows, ExecError> {
        self.write_chunk()?;
        let reader = match self.writer.take() {
            None => None,
            Some(mut writer) => {
                writer.flush()?;
                drop(writer);
                Some(self.file.area.vfs.open(&self.file.path)?)
            }
        };
        let Self { vars, chunks, rows, file, .. } = self;
        Ok(SpilledRows { reader, vars, chunks, rows, _file: file })
    }
}

/// A finished file.
#[derive(Debug)]
pub(crate) struct SpilledRows {
    reader: Option<Arc<dyn ReadAt>>,
    vars: Arc<[VarId]>,
    chunks: Vec<Chunk>,
    rows: u64,
    _file: TempFile,
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
        let (Some(reader), Some(chunk)) = (&self.reader, self.chunks.get(chunk)) else { return Ok(()) };
        let mut bytes = vec![0; chunk.rows * ID_BYTES];
        let mut offset = chunk.offset;
        for column in &mut out.columns {
            reader.read_exact_at(&mut bytes, offset)?;
            offset += bytes.len() as u64;
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
    ) -> Result<Self, ExecError> {
        let files = (0..count).map(|_| area.file(vars, counters)).collect::<Result<_, _>>()?;
        Ok(Self { files, selections: vec![Vec::new(); count] })
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
