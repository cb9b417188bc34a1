//! From the delta to segments: one of what it inserts, with a dictionary of its new terms, and one of what it deletes.

use crate::delta::{ChangeSet, Keys, OWN_TERM, Row, is_delta_term};
use crate::error::StoreError;
use crate::manifest::{SegmentEntry, Sign};
use crate::segment_builder::{DirectSegment, NewOrigin, remove_segment};
use crate::store::Store;
use crate::version::Version;
use crate::write_options::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};

/// Rows that get their final ids at once.
const CHUNK_ROWS: usize = 1 << 14;
/// How often rows are in memory while segments are written of them, besides in the delta.
const ROW_COPIES: usize = 3;

/// Segments of a change set.
pub struct Flushed {
    /// One of insertions, one of deletions, or one of them; none of an empty change set.
    pub entries: Vec<SegmentEntry>,
    /// Ids of the delta's terms there.
    pub final_ids: FinalIds,
}

/// The ids that terms of a delta have in the segment that was written of it.
pub struct FinalIds {
    /// Terms of the dictionaries before the segment's.
    bases: [u64; Section::COUNT],
    /// The places of the terms in their sections, in the order of their arrival; none where no dictionary was written.
    ranks: Vec<u64>,
}

impl FinalIds {
    /// The id of one of the delta's terms; none if it is in no dictionary.
    pub fn id(&self, id: ValueId) -> Option<ValueId> {
        let section = id.kind().and_then(Kind::section)?;
        let rank = self.ranks.get((id.payload() & (OWN_TERM - 1)) as usize)?;
        Some(ValueId::new(section.kind(), self.bases[section as usize] + rank))
    }

    fn of_bits(&self, bits: u64) -> u64 {
        let id = ValueId::from_bits(bits);
        if is_delta_term(id) { self.id(id).map_or(bits, ValueId::to_bits) } else { bits }
    }
}

/// Writes segments of a change set on top of those of `tip`, with all of the delta's terms `keys`, durably. No manifest names them yet.
pub fn write_segments(
    store: &Store,
    tip: &Version,
    keys: &Keys,
    change_set: &ChangeSet,
    cancel: &CancelToken,
) -> Result<Flushed, StoreError> {
    let writer = store.writer()?;
    // The rows of an order, their final form, and the column that is packed.
    let _held = writer.options.memory.hold(change_set.len().saturating_mul(ROW_COPIES * size_of::<Row>()));
    let bases = tip.manifest.terms();
    let mut flush = Flush {
        store,
        tip,
        options: &writer.options,
        cancel,
        final_ids: FinalIds { bases, ranks: Vec::new() },
        is_followed: false,
    };
    let first = writer.take_segments(2);
    let mut entries = Vec::new();
    let mut work = || -> Result<(), StoreError> {
        if !change_set.inserts.is_empty() {
            flush.is_followed = !change_set.deletes.is_empty();
            entries.push(flush.insertions(change_set.inserts.rows(Order::Spog), keys, first)?);
            flush.is_followed = false;
        }
        if !change_set.deletes.is_empty() {
            let number = first + entries.len() as u64;
            let terms = entries.first().map_or([0; Section::COUNT], |entry| entry.terms);
            entries.push(flush.deletions(change_set.deletes.rows(Order::Spog), number, terms)?);
        }
        Ok(())
    };
    let written = work();
    if let Err(error) = written {
        (first..first + 2).for_each(|number| remove_segment(store, number));
        writer.give_back_segments(first, 2, 0);
        return Err(error);
    }
    writer.give_back_segments(first, 2, entries.len() as u64);
    Ok(Flushed { entries, final_ids: flush.final_ids })
}

/// Removes segments that no manifest names.
pub fn remove_segments(store: &Store, entries: &[SegmentEntry]) {
    entries.iter().for_each(|entry| remove_segment(store, entry.number));
}

struct Flush<'a> {
    store: &'a Store,
    tip: &'a Version,
    options: &'a WriteOptions,
    cancel: &'a CancelToken,
    final_ids: FinalIds,
    /// Whether another segment of the same change set is to come.
    is_followed: bool,
}

impl Flush<'_> {
    fn insertions(&mut self, rows: &[Row], keys: &Keys, number: u64) -> Result<SegmentEntry, StoreError> {
        keys.sorted(|terms, ranks| {
            self.final_ids.ranks = ranks.to_vec();
            self.write(Sign::Insertions, rows, number, self.final_ids.bases, terms)
        })
    }

    fn deletions(
        &self,
        rows: &[Row],
        number: u64,
        new_terms: [u64; Section::COUNT],
    ) -> Result<SegmentEntry, StoreError> {
        let mut bases = self.final_ids.bases;
        bases.iter_mut().zip(new_terms).for_each(|(base, new)| *base += new);
        self.write(Sign::Deletions, rows, number, bases, &[])
    }

    fn write(
        &self,
        sign: Sign,
        rows: &[Row],
        number: u64,
        bases: [u64; Section::COUNT],
        terms: &[(Section, &[u8])],
    ) -> Result<SegmentEntry, StoreError> {
        let quads = |visit: &mut dyn FnMut(&[Row]) -> Result<(), StoreError>| {
            let mut chunk = Vec::with_capacity(CHUNK_ROWS);
            for rows in rows.chunks(CHUNK_ROWS) {
                chunk.clear();
                chunk.extend(rows.iter().map(|row| row.map(|bits| self.final_ids.of_bits(bits))));
                visit(&chunk)?;
            }
            Ok(())
        };
        let &WriteOptions { threads, memory_bytes, .. } = self.options;
        let (store, cancel) = (self.store, self.cancel);
        let origin = NewOrigin::new(number, sign, self.tip.number, self.tip.numbering());
        let origin = NewOrigin { is_followed: self.is_followed, ..origin };
        let segment = DirectSegment { store, origin, bases, terms, threads, memory_bytes, cancel };
        Ok(segment.write(&quads)?)
    }
}
