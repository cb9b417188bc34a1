//! Merges all orders at once, in memory: for segments that fit there.
//!
//! Only one order is read. Its rows are packed into one integer each, as in a load, sorted, and written in all orders by what also writes
//! those of a load. That takes half the time of merging each order by itself, and several times the memory.

use super::job::{MergedOrders, OrdersJob};
use super::net::net;
use super::row_packer::{Codes, Packer};
use crate::compact::compaction::Compaction;
use crate::compact::first_column::FirstIds;
use crate::error::StoreError;
use crate::manifest::Sign;
use crate::segment_builder::{BuildError, OrdersContext, PackedRow, RowSet, write_orders};
use lode_base::huge;
use lode_base::memory_budget::MemoryBudget;
use lode_base::radix_sort::{SortRow, radix_sort};
use lode_packed::{Order, Permutation, PermutationInfo};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Rows that a thread packs at once.
const JOB_ROWS: u64 = if cfg!(test) { 16 } else { 1 << 17 };
/// Buffers of all rows that there are at once, at most: two of sorted rows, and one for each of two jobs.
pub const BUFFERS: usize = 4;
/// What temporary files of groups too large for a sort in memory are written to, in the folder of the new segment.
const SPILL: &str = "spill";

/// Merges all orders of some segments in memory; none where there is not enough. `ids` are those of the segments.
pub fn merge_in_memory(
    compaction: &Compaction<'_>,
    job: &OrdersJob<'_>,
    ids: &FirstIds,
) -> Result<Option<MergedOrders>, BuildError> {
    let Some(inline) = &ids.inline else { return Ok(None) };
    let held = job.remap.memory_bytes() + ids.memory_bytes();
    let memory_bytes = compaction.working_bytes.saturating_sub(2 * held);
    let rows: u64 = job.layers.iter().map(|(segment, _)| segment.permutation(Order::Spog).rows()).sum();
    let codes = Codes::new(job.remap, ids, inline, job.terms, compaction.store.next_blank());
    let bits = codes.layout.key_bits();
    let row_bytes = if bits <= 64 { u64::BYTES } else { u128::BYTES };
    let fits = usize::try_from(rows).is_ok_and(|rows| rows <= memory_bytes / (BUFFERS * row_bytes));
    if !fits || bits > 128 {
        return Ok(None);
    }
    let merge = InMemoryMerge { compaction, job, codes: &codes, memory_bytes };
    if bits <= 64 { merge.run::<u64>() } else { merge.run::<u128>() }.map(Some)
}

struct InMemoryMerge<'a> {
    compaction: &'a Compaction<'a>,
    job: &'a OrdersJob<'a>,
    codes: &'a Codes<'a>,
    memory_bytes: usize,
}

/// Rows of one segment, and where they go.
struct PackJob<'a, R> {
    permutation: &'a Permutation,
    rows: Range<u64>,
    out: &'a mut [R],
    /// How many of them there are: those of dropped terms are left out.
    packed: &'a mut usize,
}

impl InMemoryMerge<'_> {
    fn run<R: PackedRow>(&self) -> Result<MergedOrders, BuildError> {
        let mut inserted = self.pack::<R>(Sign::Insertions)?;
        let mut deleted = self.pack::<R>(Sign::Deletions)?;
        let bits = 0..self.codes.layout.key_bits();
        let mut scratch = huge::zeros(inserted.len().max(deleted.len()));
        touch(&mut scratch, self.compaction.threads);
        for rows in [&mut inserted, &mut deleted] {
            self.job.throttle.check()?;
            radix_sort(rows, &mut scratch, bits.clone(), self.compaction.threads);
        }
        if !deleted.is_empty() && !net(&mut inserted, &mut deleted) {
            return Err(contradiction("has a quad that is inserted or deleted twice"));
        }
        let layers = self.job.layers.iter();
        let old: i128 = layers.map(|(segment, sign)| sign.of(segment.permutation(Order::Spog).rows())).sum();
        if inserted.len() as i128 - deleted.len() as i128 != old {
            return Err(contradiction("does not hold the quads of the old segments"));
        }
        let insertions = self.write(inserted, scratch, self.job.insertions)?;
        let deletions = match self.job.deletions {
            Some(folder) => Some(self.write(deleted, Vec::new(), folder)?),
            None if deleted.is_empty() => None,
            None => return Err(contradiction("lacks a quad that is deleted")),
        };
        Ok(MergedOrders { insertions, deletions })
    }

    /// The rows of all segments that insert or delete, in no order.
    fn pack<R: PackedRow>(&self, wanted: Sign) -> Result<Vec<R>, BuildError> {
        let mut pieces = Vec::new();
        for (segment, _) in self.job.layers.iter().filter(|(_, sign)| *sign == wanted) {
            let permutation = segment.whole_permutation();
            let starts = (0..permutation.rows()).step_by(JOB_ROWS as usize);
            pieces.extend(starts.map(|start| (permutation, start..permutation.rows().min(start + JOB_ROWS))));
        }
        let length = |(_, rows): &(&Permutation, Range<u64>)| (rows.end - rows.start) as usize;
        let mut all: Vec<R> = huge::zeros(pieces.iter().map(length).sum());
        let mut packed = vec![0; pieces.len()];
        let (mut rest, mut jobs) = (all.as_mut_slice(), Vec::new());
        for (piece, packed) in pieces.iter().zip(&mut packed) {
            let (out, more) = rest.split_at_mut(length(piece));
            jobs.push(PackJob { permutation: piece.0, rows: piece.1.clone(), out, packed });
            rest = more;
        }
        self.work(jobs)?;
        close_gaps(&mut all, pieces.iter().map(length).zip(packed));
        Ok(all)
    }

    /// Does jobs with all threads.
    fn work<R: PackedRow>(&self, jobs: Vec<PackJob<'_, R>>) -> Result<(), BuildError> {
        let threads = self.compaction.threads.min(jobs.len());
        let jobs = Mutex::new(jobs.into_iter());
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            let mut packer = Packer::new(self.codes);
            while let Some(job) = next() {
                if let Err(error) = self.pack_rows(job, &mut packer) {
                    // The others end with the jobs that they have begun.
                    while next().is_some() {}
                    return Err(error);
                }
            }
            Ok(())
        };
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

    fn pack_rows<R: PackedRow>(
        &self,
        job: PackJob<'_, R>,
        packer: &mut Packer<'_>,
    ) -> Result<(), BuildError> {
        let mut cursor = job.permutation.cursor(job.rows, 0b1111);
        loop {
            self.job.throttle.check()?;
            let out = job.out.get_mut(*job.packed..).unwrap_or_default();
            let Some(rows) = packer.pack(&mut cursor, job.permutation.order(), out)? else { return Ok(()) };
            *job.packed += rows;
        }
    }

    /// Writes all orders of sorted rows. `buffer` is any that is not needed any more.
    fn write<R: PackedRow>(
        &self,
        rows: Vec<R>,
        buffer: Vec<R>,
        folder: &Path,
    ) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
        let compaction = self.compaction;
        let spill = folder.join(SPILL);
        let vfs = compaction.store.vfs();
        vfs.create_dir_all(&spill).map_err(StoreError::io(&spill))?;
        let memory = MemoryBudget::new(self.memory_bytes.saturating_sub(rows.capacity() * R::BYTES));
        let context = OrdersContext {
            vfs,
            segment: folder,
            spill: &spill,
            threads: compaction.threads,
            memory: &memory,
            throttle: self.job.throttle,
            progress: compaction.progress,
            layout: &self.codes.layout,
        };
        let written = write_orders(RowSet::in_memory(rows, None), buffer, &context)?;
        vfs.remove_dir_all(&spill).map_err(StoreError::io(&spill))?;
        Ok(written)
    }
}

/// Touches memory first with all threads: the kernel clears it then, which takes as long as a pass of a sort, and the first such pass has one
/// thread.
fn touch<R: SortRow>(rows: &mut [R], threads: usize) {
    const PAGE_BYTES: usize = 4096;
    let part = rows.len().div_ceil(threads.max(1)).max(PAGE_BYTES);
    std::thread::scope(|scope| {
        for part in rows.chunks_mut(part) {
            scope
                .spawn(|| part.iter_mut().step_by(PAGE_BYTES / R::BYTES).for_each(|row| *row = R::default()));
        }
    });
}

/// Moves what is at the beginning of pieces (their lengths, and how much is there) together.
fn close_gaps<R: Copy>(rows: &mut Vec<R>, pieces: impl Iterator<Item = (usize, usize)>) {
    let (mut start, mut end) = (0, 0);
    for (length, filled) in pieces {
        if start != end {
            rows.copy_within(start..start + filled, end);
        }
        start += length;
        end += filled;
    }
    rows.truncate(end);
}

fn contradiction(what: &str) -> BuildError {
    BuildError::Inconsistent(format!("what was merged {what}"))
}
