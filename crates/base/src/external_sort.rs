//! Sorting more rows than memory holds: sorted runs go to temporary files, which are merged when read.

use crate::huge;
use crate::radix_sort::{SortRow, radix_sort};
use crate::row_file::{BLOCK_ROWS, RowFileReader, RowFileWriter};
use crate::vfs::Vfs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs merged at once: each needs a block in memory, and more make the merge slow.
const MERGE_WIDTH_MAX: usize = 256;
/// Rows of a block of a run, at least.
const BLOCK_ROWS_MIN: usize = 512;

/// How to sort.
#[derive(Debug, Clone)]
pub struct SortOptions {
    /// Where runs go.
    pub vfs: Arc<dyn Vfs>,
    /// The existing folder for them.
    pub folder: PathBuf,
    /// Start of their names, unique in the folder.
    pub name: String,
    /// Bits above these are never set, and rows that are equal in them are pushed in ascending order.
    pub bits: Range<u32>,
    /// Most bytes for rows and the scratch room to sort them.
    pub memory_bytes: usize,
    /// Threads to sort with.
    pub threads: usize,
}

/// Takes rows in any order, gives them back sorted and without duplicates.
#[derive(Debug)]
pub struct ExternalSorter<R> {
    options: SortOptions,
    rows: Vec<R>,
    rows_max: usize,
    /// Room to sort.
    scratch: Vec<R>,
    runs: Vec<PathBuf>,
    runs_made: usize,
}

impl<R: SortRow> ExternalSorter<R> {
    /// A sorter that expects about `rows_expected` rows.
    pub fn new(options: SortOptions, rows_expected: usize) -> Self {
        Self::with_buffer(options, rows_expected, Vec::new())
    }

    /// Like [`ExternalSorter::new`], and uses a buffer that is not needed any more: writing to fresh memory is slow.
    pub fn with_buffer(options: SortOptions, rows_expected: usize, mut buffer: Vec<R>) -> Self {
        let rows_max = (options.memory_bytes / (2 * R::BYTES)).max(BLOCK_ROWS);
        let wanted = rows_expected.min(rows_max);
        buffer.clear();
        let rows = if (wanted..=rows_max).contains(&buffer.capacity()) {
            buffer
        } else {
            huge::with_capacity(wanted)
        };
        Self { options, rows, rows_max, scratch: Vec::new(), runs: Vec::new(), runs_made: 0 }
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// Where rows that find no room in memory cannot be written.
    pub fn push(&mut self, mut rows: &[R]) -> io::Result<()> {
        while !rows.is_empty() {
            // Only for rows that find no room: those that just fit stay in memory.
            if self.rows.len() >= self.rows_max {
                self.spill()?;
            }
            let room = self.rows_max - self.rows.len();
            let (now, later) = rows.split_at(room.min(rows.len()));
            self.reserve(now.len());
            self.rows.extend_from_slice(now);
            rows = later;
        }
        Ok(())
    }

    /// Grows by half at a time and never beyond the limit.
    fn reserve(&mut self, more: usize) {
        let needed = self.rows.len() + more;
        if needed > self.rows.capacity() {
            let target = needed.max(self.rows.capacity() + self.rows.capacity() / 2).min(self.rows_max);
            self.rows.reserve_exact(target - self.rows.len());
        }
    }

    fn sort(&mut self) {
        if self.scratch.capacity() < self.rows.len() {
            self.scratch = huge::with_capacity(self.rows.len());
        }
        radix_sort(&mut self.rows, &mut self.scratch, self.options.bits.clone(), self.options.threads);
        self.rows.dedup();
    }

    fn run_path(&mut self) -> PathBuf {
        let path = self.options.folder.join(format!("{}-{}.rows", self.options.name, self.runs_made));
        self.runs_made += 1;
        path
    }

    /// A merge holds a block of each run, in bytes and as rows: no more than the sort may take.
    fn run_file(&self, path: &Path) -> io::Result<RowFileWriter<R>> {
        let block_rows = self.options.memory_bytes / (MERGE_WIDTH_MAX * 2 * R::BYTES);
        RowFileWriter::with_blocks_of(&*self.options.vfs, path, block_rows.max(BLOCK_ROWS_MIN))
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        let path = self.run_path();
        let mut file = self.run_file(&path)?;
        file.push(&self.rows)?;
        file.finish()?;
        self.rows.clear();
        self.runs.push(path);
        Ok(())
    }

    /// Ends the input.
    ///
    /// # Errors
    ///
    /// As [`Self::finish_with_buffer`].
    pub fn finish(self) -> io::Result<SortedRows<R>> {
        Ok(self.finish_with_buffer()?.0)
    }

    /// Ends the input, and gives back a buffer of as many rows if all fitted.
    ///
    /// # Errors
    ///
    /// Where sorted runs cannot be written or read again. If all rows fitted into memory it does not fail.
    pub fn finish_with_buffer(mut self) -> io::Result<(SortedRows<R>, Vec<R>)> {
        if self.runs.is_empty() {
            self.sort();
            return Ok((SortedRows::Memory(self.rows), self.scratch));
        }
        if !self.rows.is_empty() {
            self.spill()?;
        }
        (self.rows, self.scratch) = (Vec::new(), Vec::new());
        while self.runs.len() > MERGE_WIDTH_MAX {
            self.merge_oldest()?;
        }
        let merge = Merge::open(&self.options.vfs, std::mem::take(&mut self.runs))?;
        Ok((SortedRows::Runs(merge), Vec::new()))
    }

    /// Merges as many runs as one merge takes into one.
    fn merge_oldest(&mut self) -> io::Result<()> {
        let rest = self.runs.split_off(MERGE_WIDTH_MAX);
        let oldest = std::mem::replace(&mut self.runs, rest);
        let path = self.run_path();
        let mut file = self.run_file(&path)?;
        let mut merge = Merge::open(&self.options.vfs, oldest)?;
        let mut rows = Vec::new();
        while merge.next(&mut rows)? {
            file.push(&rows)?;
        }
        file.finish()?;
        self.runs.push(path);
        Ok(())
    }
}

/// Sorted rows without duplicates.
#[derive(Debug)]
pub enum SortedRows<R> {
    /// They all fitted.
    Memory(Vec<R>),
    /// They are in files.
    Runs(Merge<R>),
}

/// A merge of sorted files, which are removed as it is dropped.
#[derive(Debug)]
pub struct Merge<R> {
    vfs: Arc<dyn Vfs>,
    paths: Vec<PathBuf>,
    inputs: Vec<Input<R>>,
    heads: BinaryHeap<Reverse<(R, usize)>>,
    last: Option<R>,
}

#[derive(Debug)]
struct Input<R> {
    file: RowFileReader<R>,
    rows: Vec<R>,
    at: usize,
}

impl<R: SortRow> Input<R> {
    fn head(&mut self) -> io::Result<Option<R>> {
        if self.at >= self.rows.len() {
            self.at = 0;
            if !self.file.next(&mut self.rows)? {
                return Ok(None);
            }
        }
        Ok(self.rows.get(self.at).copied())
    }
}

impl<R: SortRow> Merge<R> {
    fn open(vfs: &Arc<dyn Vfs>, paths: Vec<PathBuf>) -> io::Result<Self> {
        let mut merge =
            Self { vfs: Arc::clone(vfs), paths, inputs: Vec::new(), heads: BinaryHeap::new(), last: None };
        for path in &merge.paths {
            let file = RowFileReader::open(&**vfs, path)?;
            merge.inputs.push(Input { file, rows: Vec::new(), at: 0 });
        }
        for (number, input) in merge.inputs.iter_mut().enumerate() {
            if let Some(head) = input.head()? {
                merge.heads.push(Reverse((head, number)));
            }
        }
        Ok(merge)
    }

    /// Replaces `rows` by the next block; false at the end.
    ///
    /// # Errors
    ///
    /// `InvalidData` where a run is damaged; else where one cannot be read.
    pub fn next(&mut self, rows: &mut Vec<R>) -> io::Result<bool> {
        rows.clear();
        while rows.len() < BLOCK_ROWS {
            let Some(Reverse((_, number))) = self.heads.pop() else { break };
            let bound = self.heads.peek().map(|Reverse((row, _))| *row);
            let Some(input) = self.inputs.get_mut(number) else { break };
            // Takes from this input as long as it is the smallest, without touching the heap.
            while let Some(row) = input.head()? {
                if bound.is_some_and(|bound| row > bound) || rows.len() >= BLOCK_ROWS {
                    self.heads.push(Reverse((row, number)));
                    break;
                }
                input.at += 1;
                if self.last != Some(row) {
                    self.last = Some(row);
                    rows.push(row);
                }
            }
        }
        Ok(!rows.is_empty())
    }
}

impl<R> Drop for Merge<R> {
    fn drop(&mut self) {
        self.inputs.clear();
        for path in &self.paths {
            // A file that cannot be removed now goes with its folder.
            let _ = self.vfs.remove(path);
        }
    }
}
