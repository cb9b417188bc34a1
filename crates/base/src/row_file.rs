//! Files of packed rows for work that does not fit memory: written once, read once or a few times, thrown away.
//!
//! A file is a sequence of blocks, each a frame ([`frame_file`](crate::frame_file)) of some rows (little endian). They are temporary, so
//! there is no index and no version; the checksum is there because a wrong row would end up in a database.

use crate::frame_file::{LENGTH_BYTES, read_frame_within, seal_frame};
use crate::radix_sort::SortRow;
use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a block.
pub const BLOCK_ROWS: usize = 8192;

/// Writes rows to a file.
#[derive(Debug)]
pub struct RowFileWriter<R> {
    file: Box<dyn WriteFile>,
    bytes: Vec<u8>,
    block_rows: usize,
    rows: u64,
    row: PhantomData<R>,
}

impl<R: SortRow> RowFileWriter<R> {
    /// Creates (or empties) a file.
    ///
    /// # Errors
    ///
    /// Where the file system refuses.
    pub fn create(vfs: &dyn Vfs, path: &Path) -> io::Result<Self> {
        Self::with_blocks_of(vfs, path, BLOCK_ROWS)
    }

    /// The same, with blocks of `block_rows`, at most [`BLOCK_ROWS`]: whoever reads many files at once holds a block of each.
    ///
    /// # Errors
    ///
    /// As [`RowFileWriter::create`].
    pub fn with_blocks_of(vfs: &dyn Vfs, path: &Path, block_rows: usize) -> io::Result<Self> {
        let block_rows = block_rows.clamp(1, BLOCK_ROWS);
        Ok(Self { file: vfs.create(path)?, bytes: Vec::new(), block_rows, rows: 0, row: PhantomData })
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written. It is of no use then.
    pub fn push(&mut self, rows: &[R]) -> io::Result<()> {
        for block in rows.chunks(self.block_rows) {
            self.bytes.clear();
            self.bytes.resize(LENGTH_BYTES + block.len() * R::BYTES, 0);
            let body = self.bytes.get_mut(LENGTH_BYTES..).unwrap_or_default();
            for (out, row) in body.chunks_exact_mut(R::BYTES).zip(block) {
                row.store(out);
            }
            seal_frame(&mut self.bytes)?;
            self.file.write_all(&self.bytes)?;
            self.rows += block.len() as u64;
        }
        Ok(())
    }

    /// Ends the file. It is not made durable: it is temporary.
    ///
    /// # Errors
    ///
    /// Where the last bytes cannot be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.file.flush()?;
        Ok(self.rows)
    }
}

/// Reads the rows of a file from start to end.
#[derive(Debug)]
pub struct RowFileReader<R> {
    file: Arc<dyn ReadAt>,
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
    row: PhantomData<R>,
}

impl<R: SortRow> RowFileReader<R> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Where there is no such file, or it cannot be opened.
    pub fn open(vfs: &dyn Vfs, path: &Path) -> io::Result<Self> {
        let file = vfs.open(path)?;
        Ok(Self { file, path: path.to_owned(), offset: 0, bytes: Vec::new(), row: PhantomData })
    }

    fn damaged(&self) -> io::Error {
        let what = format!("temporary file {} is damaged at byte {}", self.path.display(), self.offset);
        io::Error::new(io::ErrorKind::InvalidData, what)
    }

    /// Replaces `rows` by the next block; false at the end.
    ///
    /// # Errors
    ///
    /// `InvalidData` where the file is damaged; else where it cannot be read.
    pub fn next(&mut self, rows: &mut Vec<R>) -> io::Result<bool> {
        rows.clear();
        if self.offset >= self.file.len() {
            return Ok(false);
        }
        let read = read_frame_within(&*self.file, self.offset, BLOCK_ROWS * R::BYTES, &mut self.bytes);
        let next = read.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => self.damaged(),
            _ => error,
        })?;
        if self.bytes.is_empty() || !self.bytes.len().is_multiple_of(R::BYTES) {
            return Err(self.damaged());
        }
        rows.extend(self.bytes.chunks_exact(R::BYTES).map(R::load));
        self.offset = next;
        self.file.will_read(next, self.file.len());
        Ok(true)
    }
}
