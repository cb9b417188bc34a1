//! The fifth phase: sorts the rows of a part and writes them in all orders, beside the part's dictionary: a segment of which only has to be said whose it
//! is.

use super::context::TaskContext;
use super::numbering::Numbering;
use super::publish::EXISTING_FILE;
use super::record::Record;
use super::rows::rows_file;
use super::task::{Phase, Task};
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::load::existing_quads::ExistingQuads;
use crate::load::subject_sort::Collect;
use crate::segment_builder::{Class, Layout, OrdersContext, PackedRow, RowSet, write_orders};
use crate::throttle::Throttle;
use lode_base::external_sort::{ExternalSorter, SortOptions};
use lode_base::memory_budget::MemoryBudget;
use lode_base::row_file::RowFileReader;
use lode_packed::segment::{DICTIONARY_FILE, SegmentOrigin, write_characteristic_sets};
use lode_packed::{BlockCache, Dictionary, DictionaryInfo, Order, PermutationInfo, SegmentMeta};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A sort gets so much at least.
const SORT_BYTES_MIN: usize = 4 << 20;

/// Writes the segment of a part.
pub fn write_part(part: usize, folder: &Path, context: &TaskContext<'_>) -> Result<(), LoadError> {
    let numbering = Numbering::read(context)?;
    let files = rows_of(part, context)?;
    let (permutations, existing) = match numbering.layout.key_bits() {
        0..=64 => sort_and_write::<u64>(&files, &numbering.layout, folder, context)?,
        _ => sort_and_write::<u128>(&files, &numbering.layout, folder, context)?,
    };
    if context.plan.base.is_some() {
        let mut record = Record::default();
        record.number(existing);
        record.write(&**context.vfs(), &folder.join(EXISTING_FILE))?;
    }
    let dictionary = dictionary_of(part, &numbering, folder, context)?;
    let next_blank = numbering.all(Class::Blank);
    let (origin, bases) = (SegmentOrigin { next_blank, ..SegmentOrigin::default() }, numbering.bases(part));
    let mut meta = SegmentMeta { origin, permutations, dictionary, bases, characteristic_sets: None };
    let vfs = context.vfs();
    if meta.quads() > 0 {
        let check = || context.cancel.check();
        meta.characteristic_sets = Some(write_characteristic_sets(vfs, folder, &meta, &check)?.0);
    }
    let mut description = meta.write(&**vfs, folder)?;
    Ok(description.flush().map_err(StoreError::io(folder))?)
}

/// The files with the rows of a part, one of each shard.
fn rows_of(part: usize, context: &TaskContext<'_>) -> Result<Vec<PathBuf>, StoreError> {
    // Triple terms that have a segment of their own have none.
    let shards = 0..if part < context.plan.parts { context.plan.shards.len() } else { 0 };
    let folder = |number| context.board.input(Task::new(Phase::Rows, number));
    shards.map(|number| Ok(folder(number)?.join(rows_file(part)))).collect()
}

/// The dictionary of a part, which becomes a file of the segment.
fn dictionary_of(
    part: usize,
    numbering: &Numbering,
    folder: &Path,
    context: &TaskContext<'_>,
) -> Result<Option<DictionaryInfo>, LoadError> {
    let vfs = context.vfs();
    let Some(terms) = numbering.parts.get(part) else { return Ok(None) };
    let from = terms.folder.join(DICTIONARY_FILE);
    if !vfs.exists(&from) {
        return Ok(None);
    }
    super::publish::link_or_copy(&**vfs, &from, &folder.join(DICTIONARY_FILE))?;
    let file = vfs.open(&from).map_err(StoreError::io(&from))?;
    let cache = Arc::new(BlockCache::new(0));
    Ok(Some(Dictionary::open(file, &from.to_string_lossy(), cache)?.info()))
}

/// Writes the orders of the rows that the database does not have yet; what these are, and how many it has.
fn sort_and_write<R: PackedRow>(
    files: &[PathBuf],
    layout: &Layout,
    folder: &Path,
    context: &TaskContext<'_>,
) -> Result<([PermutationInfo; Order::COUNT], u64), LoadError> {
    let vfs = context.vfs();
    // Not in the segment's own folder, all of which is made durable.
    let spill = PathBuf::from(format!("{}.spill", folder.display()));
    vfs.create_dir_all(&spill).map_err(StoreError::io(&spill))?;
    let io = context.io(&spill);
    let memory = MemoryBudget::new(context.working_bytes.saturating_sub(layout.bytes()));
    let mut rows_expected = 0_u64;
    for path in files {
        rows_expected += vfs.open(path).map_err(StoreError::io(path))?.len() / R::BYTES as u64;
    }
    let rows_expected = usize::try_from(rows_expected).unwrap_or(usize::MAX);
    let wanted = rows_expected.saturating_mul(2 * R::BYTES);
    let memory_bytes = wanted.min(memory.free() / 4 * 3).max(SORT_BYTES_MIN);
    let reservation = memory.reserve(memory_bytes).ok();
    let options = SortOptions {
        vfs: Arc::clone(vfs),
        folder: spill.clone(),
        name: "quads".to_owned(),
        bits: 0..layout.key_bits(),
        memory_bytes,
        threads: 1,
    };
    let mut sorter = ExternalSorter::<R>::new(options, rows_expected);
    let mut block = Vec::new();
    for path in files {
        let mut file = RowFileReader::<R>::open(&**vfs, path).map_err(StoreError::io(path))?;
        while file.next(&mut block).map_err(StoreError::io(path))? {
            context.cancel.check()?;
            sorter.push(&block).map_err(&io)?;
        }
    }
    let (sorted, buffer) = sorter.finish_with_buffer().map_err(&io)?;
    let path = spill.join("spog.sorted");
    let base = context.base()?;
    let mut dropped = 0;
    let (mut existing, shape) = (ExistingQuads::new(&base), layout.shape(Order::Spog));
    let rows = RowSet::collect(sorted, reservation, vfs, &path, &mut |rows: &mut Vec<R>| {
        context.cancel.check().map_err(Collect::Cancelled)?;
        let before = rows.len();
        existing.drop_from(rows, layout, shape).map_err(Collect::Store)?;
        dropped += (before - rows.len()) as u64;
        Ok(())
    });
    let rows = rows.map_err(|error: Collect| error.of_load(&io))?;
    let orders = OrdersContext {
        vfs,
        segment: folder,
        spill: &spill,
        threads: 1,
        memory: &memory,
        throttle: &Throttle::full(context.cancel),
        progress: context.progress,
        layout,
    };
    let permutations = write_orders(rows, buffer, &orders)?;
    // What cannot be removed now goes with the work folder.
    let _ = vfs.remove_dir_all(&spill);
    Ok((permutations, dropped))
}
