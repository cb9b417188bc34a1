//! Writes one order of the new segment: the rows of all segments with their new ids, merged.
//!
//! A segment's rows are in the order of old ids. Among terms of one old dictionary new ids ascend as old ones did, but a
//! segment also uses terms of older dictionaries, and those interleave with its own. So each segment is split, at the first column,
//! into *sources*: ranges of rows whose first column has terms of one old dictionary, and in which new first ids ascend. The
//! sources are read side by side, some thousand rows each; all rows that come before the least of the last ids read are
//! complete, are sorted (they are nearly) and written. A group of equal first ids that is larger than what is read at once is
//! merged in the same way by the next column.
//!
//! What is complete is complete in all segments, so a quad that one of them inserts and another deletes is left out there and then.
//!
//! So everything is read once and in sequence, nothing goes to temporary files, and memory depends on the number of segments and not on
//! their size.

use super::merge_source::{Source, read_rows};
use super::net::net;
use crate::compact::id_remap::{Ascent, IdRemap};
use crate::delta::Row;
use crate::manifest::Sign;
use crate::progress::LoadProgress;
use crate::segment_builder::{BuildError, OrderOutput};
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_base::vfs::Vfs;
use lode_packed::{Order, PackedError, Permutation, PermutationInfo};
use std::ops::Range;
use std::path::Path;

/// The fewest rows that a source reads at once; in tests so few that groups larger than that are common.
pub const SOURCE_ROWS_MIN: usize = if cfg!(test) { 4 } else { 256 };
/// The most rows that a source reads at once.
const SOURCE_ROWS_MAX: usize = 1 << 14;
/// Bytes of memory for each row that a source reads at once: in its buffer and among the sorted; and as much again for the sources of
/// the next column.
pub const ROW_BYTES: usize = 4 * size_of::<Row>();

/// What the merges of all orders share.
#[derive(Debug)]
pub struct MergeContext<'a> {
    /// The file system.
    pub vfs: &'a dyn Vfs,
    /// Folder of the new segment.
    pub insertions: &'a Path,
    /// Folder of the new segment of what is deleted; none where nothing can be left to delete.
    pub deletions: Option<&'a Path>,
    /// The old segments, and what to take their rows for.
    pub layers: &'a [(&'a OpenSegment, Sign)],
    /// New ids.
    pub remap: &'a IdRemap,
    /// Where in the old ids new ids ascend.
    pub ascents: &'a [Ascent],
    /// Memory of one merge.
    pub memory_bytes: usize,
    /// Asked every few thousand rows.
    pub throttle: &'a Throttle,
    /// Told as often.
    pub progress: &'a LoadProgress,
}

/// What a merge has written of one order.
#[derive(Debug, Clone, Copy)]
pub struct MergedOrder {
    /// Quads that are inserted.
    pub insertions: PermutationInfo,
    /// Quads that are deleted, where there can be some.
    pub deletions: Option<PermutationInfo>,
}

/// Writes an order and makes its files durable.
pub fn merge_order(order: Order, context: &MergeContext<'_>) -> Result<MergedOrder, BuildError> {
    let create = |folder| OrderOutput::create(context.vfs, folder, order);
    let mut merge = OrderMerge {
        context,
        permutations: context
            .layers
            .iter()
            .map(|(segment, sign)| (segment.permutation(order), *sign))
            .collect(),
        source_rows: SOURCE_ROWS_MIN,
        inserted: Vec::new(),
        deleted: Vec::new(),
        columns: Default::default(),
        insertions: create(context.insertions)?,
        deletions: context.deletions.map(create).transpose()?,
    };
    let whole = merge.permutations.iter().map(|(permutation, _)| 0..permutation.rows()).collect();
    merge.merge(&[], whole)?;
    Ok(MergedOrder {
        insertions: merge.insertions.finish()?,
        deletions: merge.deletions.map(OrderOutput::finish).transpose()?,
    })
}

struct OrderMerge<'a> {
    context: &'a MergeContext<'a>,
    /// The order in each segment.
    permutations: Vec<(&'a Permutation, Sign)>,
    /// Rows that a source reads at once.
    source_rows: usize,
    /// Rows that are complete.
    inserted: Vec<Row>,
    deleted: Vec<Row>,
    /// Scratch room for columns.
    columns: [Vec<u64>; 4],
    insertions: OrderOutput,
    deletions: Option<OrderOutput>,
}

/// A group of rows that does not fit into what a source reads at once.
struct Group {
    old: u64,
    new: u64,
}

impl OrderMerge<'_> {
    /// Merges ranges of rows, one of each segment, all of which begin with the old ids `prefix`.
    fn merge(&mut self, prefix: &[u64], ranges: Vec<Range<u64>>) -> Result<(), BuildError> {
        let column = prefix.len();
        let mut sources = self.sources(prefix, ranges)?;
        loop {
            self.context.throttle.check()?;
            let bound = self.fill(&mut sources, column)?;
            for source in &mut sources {
                let rows = match source.sign {
                    Sign::Insertions => &mut self.inserted,
                    Sign::Deletions => &mut self.deleted,
                    // Not among the layers.
                    Sign::TermsOnly => continue,
                };
                source.take_before(bound.as_ref().map(|group| group.new), column, rows);
            }
            sources.retain(|source| !source.is_exhausted());
            if !self.inserted.is_empty() || !self.deleted.is_empty() {
                self.write_complete()?;
                continue;
            }
            let Some(group) = bound else { return Ok(()) };
            self.merge_group(&group, prefix, &mut sources)?;
        }
    }

    /// Splits the ranges into sources.
    fn sources(&mut self, prefix: &[u64], ranges: Vec<Range<u64>>) -> Result<Vec<Source>, BuildError> {
        let mut sources = Vec::new();
        for (segment, rows) in ranges.into_iter().enumerate() {
            let (permutation, sign) = self.permutations[segment];
            if rows.end - rows.start <= SOURCE_ROWS_MIN as u64 {
                sources.extend(Source::new((permutation, sign), rows, 0, true));
                continue;
            }
            let mut start = rows.start;
            for (at, ascent) in self.context.ascents.iter().enumerate() {
                let end = match self.context.ascents.get(at + 1) {
                    None => rows.end,
                    Some(next) => {
                        let key: Vec<u64> = prefix.iter().copied().chain([next.start]).collect();
                        permutation.lower_bound(&key, start..rows.end)?
                    }
                };
                sources.extend(Source::new((permutation, sign), start..end, ascent.floor, false));
                start = end;
            }
        }
        if prefix.is_empty() {
            let rows = self.context.memory_bytes / (ROW_BYTES * sources.len().max(1));
            self.source_rows = rows.clamp(SOURCE_ROWS_MIN, SOURCE_ROWS_MAX);
        }
        Ok(sources)
    }

    /// Reads on until all rows before the bound that it returns are there. No bound: all rows are there.
    fn fill(&mut self, sources: &mut [Source], column: usize) -> Result<Option<Group>, BuildError> {
        let mut bound: Option<Group> = None;
        // Sources that were not begun may wait as long as others have lesser ids.
        sources.sort_by_key(|source| (!source.is_begun(), source.floor));
        for source in sources {
            if !source.is_begun() && bound.as_ref().is_some_and(|group| group.new < source.floor) {
                break;
            }
            if source.waiting() <= self.source_rows / 2 {
                let rows = if source.is_small { usize::MAX } else { self.source_rows - source.waiting() };
                read_rows(source, rows, column, &mut self.columns, &self.context.remap.map)?;
            }
            if let Some((old, new)) = source.last_unless_done(column)
                && bound.as_ref().is_none_or(|group| new < group.new)
            {
                bound = Some(Group { old, new });
            }
        }
        Ok(bound)
    }

    /// Writes all rows of a group, by the columns after `prefix` and the one that the group has in common.
    fn merge_group(
        &mut self,
        group: &Group,
        prefix: &[u64],
        sources: &mut Vec<Source>,
    ) -> Result<(), BuildError> {
        let column = prefix.len();
        let key: Vec<u64> = prefix.iter().copied().chain([group.old]).collect();
        if key.len() > 3 {
            return Err(self.contradiction("repeats rows"));
        }
        let ranges: Result<Vec<_>, PackedError> =
            self.permutations.iter().map(|(permutation, _)| permutation.range(&key)).collect();
        self.merge(&key, ranges?)?;
        let after: Vec<u64> = prefix.iter().copied().chain([group.old + 1]).collect();
        for source in &mut *sources {
            source.skip_group(group.new, column, &after)?;
        }
        sources.retain(|source| !source.is_exhausted());
        Ok(())
    }

    fn write_complete(&mut self) -> Result<(), BuildError> {
        self.context.progress.add_rows_written((self.inserted.len() + self.deleted.len()) as u64);
        // A stable sort makes use of stretches that are sorted: each source brings some, most often long ones.
        self.inserted.sort();
        if !self.deleted.is_empty() {
            self.deleted.sort();
            if !net(&mut self.inserted, &mut self.deleted) {
                return Err(self.contradiction("has a quad that is inserted or deleted twice"));
            }
        }
        let remap = self.context.remap;
        if remap.finish(&mut self.inserted).and_then(|()| remap.finish(&mut self.deleted)).is_err() {
            return Err(self.contradiction("uses a term that no quad seemed to use"));
        }
        self.insertions.push(&self.inserted)?;
        match &mut self.deletions {
            Some(deletions) => deletions.push(&self.deleted)?,
            None if self.deleted.is_empty() => {}
            None => return Err(self.contradiction("lacks a quad that is deleted")),
        }
        self.inserted.clear();
        self.deleted.clear();
        Ok(())
    }

    fn contradiction(&self, what: &str) -> BuildError {
        BuildError::Inconsistent(format!("{} {what}", self.insertions.path().display()))
    }
}
