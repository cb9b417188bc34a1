//! A sorted set of packed quads that is read more than once: in memory, or in one temporary file.

use lode_base::external_sort::{Merge, SortedRows};
use lode_base::memory_budget::Reservation;
use lode_base::radix_sort::SortRow;
use lode_base::row_file::{BLOCK_ROWS, RowFileReader, RowFileWriter};
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sorted rows without duplicates.
#[derive(Debug)]
pub struct RowSet<R> {
    /// How many.
    pub rows: u64,
    store: Store<R>,
    /// Memory held for them.
    _reservation: Option<Reservation>,
}

#[derive(Debug)]
enum Store<R> {
    Memory(Vec<R>),
    File { vfs: Arc<dyn Vfs>, path: PathBuf },
}

impl<R: SortRow> RowSet<R> {
    /// Rows in memory.
    pub fn in_memory(rows: Vec<R>, reservation: Option<Reservation>) -> Self {
        Self { rows: rows.len() as u64, store: Store::Memory(rows), _reservation: reservation }
    }

    /// Takes sorted rows, writing them to `path` if they are not in memory. `keep` may drop rows.
    pub fn collect<E: From<io::Error>>(
        sorted: SortedRows<R>,
        reservation: Option<Reservation>,
        vfs: &Arc<dyn Vfs>,
        path: &Path,
        keep: &mut dyn FnMut(&mut Vec<R>) -> Result<(), E>,
    ) -> Result<Self, E> {
        match sorted {
            SortedRows::Memory(mut rows) => {
                keep(&mut rows)?;
                Ok(Self::in_memory(rows, reservation))
            }
            SortedRows::Runs(merge) => {
                let rows = write_all(merge, &**vfs, path, keep)?;
                let store = Store::File { vfs: Arc::clone(vfs), path: path.to_owned() };
                Ok(Self { rows, store, _reservation: reservation })
            }
        }
    }

    /// The buffer of rows that were in memory, to be used for others; there are none left.
    pub fn take_buffer(&mut self) -> Vec<R> {
        self.rows = 0;
        match &mut self.store {
            Store::Memory(rows) => std::mem::take(rows),
            Store::File { .. } => Vec::new(),
        }
    }

    /// All rows, if they are in memory.
    pub fn in_one_slice(&self) -> Option<&[R]> {
        match &self.store {
            Store::Memory(rows) => Some(rows),
            Store::File { .. } => None,
        }
    }

    /// Reads the rows from the start.
    pub fn reader(&self) -> io::Result<RowReader<'_, R>> {
        Ok(match &self.store {
            Store::Memory(rows) => RowReader::Memory(rows),
            Store::File { vfs, path } => {
                RowReader::File { file: RowFileReader::open(&**vfs, path)?, block: Vec::new() }
            }
        })
    }
}

impl<R> Drop for RowSet<R> {
    fn drop(&mut self) {
        if let Store::File { vfs, path } = &self.store {
            // A file that cannot be removed now goes with its folder.
            let _ = vfs.remove(path);
        }
    }
}

fn write_all<R: SortRow, E: From<io::Error>>(
    mut merge: Merge<R>,
    vfs: &dyn Vfs,
    path: &Path,
    keep: &mut dyn FnMut(&mut Vec<R>) -> Result<(), E>,
) -> Result<u64, E> {
    let mut file = RowFileWriter::create(vfs, path)?;
    let mut block = Vec::new();
    while merge.next(&mut block)? {
        keep(&mut block)?;
        file.push(&block)?;
    }
    Ok(file.finish()?)
}

/// Reads a [`RowSet`] block by block.
#[derive(Debug)]
pub enum RowReader<'a, R> {
    /// What is left of rows in memory.
    Memory(&'a [R]),
    /// Rows of a file.
    File {
        /// The file.
        file: RowFileReader<R>,
        /// The current block.
        block: Vec<R>,
    },
}

impl<R: SortRow> RowReader<'_, R> {
    /// The next rows, at most [`BLOCK_ROWS`]; none at the end.
    pub fn next(&mut self) -> io::Result<&[R]> {
        match self {
            Self::Memory(rows) => {
                let (block, rest) = rows.split_at(rows.len().min(BLOCK_ROWS));
                *rows = rest;
                Ok(block)
            }
            Self::File { file, block } => {
                file.next(block)?;
                Ok(block)
            }
        }
    }
}
