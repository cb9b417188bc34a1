//! Segments and changes that came while a compaction merged others: they use the old numbers of terms, and perhaps terms that were
//! dropped, since no quad used them when the merge began.

use crate::compact::compaction::Compaction;
use crate::compact::error::CompactError;
use crate::compact::first_column::{FIRST_COLUMN_ORDERS, FirstIds, visit_first_ids};
use crate::compact::id_remap::IdRemap;
use crate::compact::orders::OrdersJob;
use crate::delta::Delta;
use crate::error::StoreError;
use crate::manifest::{SegmentEntry, Sign};
use crate::segment_builder::{
    DirectSegment, NewFiles, NewFolders, NewOrigin, OVERHEAD_BYTES, copy_file, remove_segment,
};
use crate::snapshot::Snapshot;
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_packed::Order;
use lode_packed::segment::DICTIONARY_FILE;
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};
use std::sync::Arc;

/// Rows that get new ids at once.
const CHUNK_ROWS: usize = 1 << 14;
/// Bytes that a dropped term takes which is used again, beside its key.
const REVIVED_BYTES: usize = 128;

/// What is to become of the segments that came later.
pub struct AddedSegments<'a, 'b> {
    /// The compaction.
    pub compaction: &'a Compaction<'b>,
    /// New numbers.
    pub remap: IdRemap,
    /// The segments of the new version so far.
    pub segments: Vec<SegmentEntry>,
    /// Folders of new segments.
    pub folders: &'a mut NewFolders<'b>,
}

impl AddedSegments<'_, '_> {
    /// Writes a segment once more, with the new numbers of terms; before it, if need be, one of dropped terms that it uses.
    pub fn add(&mut self, segment: &OpenSegment, throttle: &Throttle) -> Result<(), CompactError> {
        if self.remap.is_identity() {
            self.segments.push(segment.entry.clone());
            return Ok(());
        }
        let has_quads = segment.entry.sign != Sign::TermsOnly;
        let mut ids = FirstIds::new();
        let dropped =
            if has_quads { self.dropped_of_segment(segment, &mut ids, throttle)? } else { Vec::new() };
        let in_order = dropped.is_empty();
        self.revive(dropped)?;
        let bases = terms_of(&self.segments);
        self.remap.add_later(segment.segment.meta().bases, bases);
        let entry =
            if in_order { self.merge(segment, bases, &ids, throttle)? } else { self.sort(segment, bases)? };
        self.segments.push(entry);
        Ok(())
    }

    /// Makes sure that all terms that a delta uses have new numbers.
    pub fn add_terms_of(&mut self, delta: &Delta) -> Result<(), CompactError> {
        let net = delta.net();
        let mut dropped = Vec::new();
        for set in [&net.inserts, &net.deletes] {
            let rows = set.rows(Order::Spog);
            dropped.extend(rows.as_flattened().iter().filter(|id| self.remap.is_dropped(**id)));
        }
        self.revive(dropped)
    }

    /// Old ids of dropped terms that a segment uses. Notes its ids.
    fn dropped_of_segment(
        &self,
        segment: &OpenSegment,
        ids: &mut FirstIds,
        throttle: &Throttle,
    ) -> Result<Vec<u64>, CompactError> {
        let inline_max = self.compaction.inline_max();
        let mut dropped = Vec::new();
        for order in FIRST_COLUMN_ORDERS {
            visit_first_ids(&[(segment, Sign::Insertions)], order, throttle, &mut |id, _| {
                ids.note(order, id, inline_max);
                if self.remap.is_dropped(id) {
                    dropped.push(id);
                }
            })?;
            if dropped.len() > self.compaction.working_bytes / REVIVED_BYTES {
                return Err(CompactError::Overtaken);
            }
        }
        ids.finish();
        Ok(dropped)
    }

    /// Gives dropped terms new numbers, in a segment that has no quads.
    fn revive(&mut self, mut ids: Vec<u64>) -> Result<(), CompactError> {
        ids.retain(|id| self.remap.id(*id).is_none());
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let compaction = self.compaction;
        let ids: Vec<ValueId> = ids.into_iter().map(ValueId::from_bits).collect();
        let mut keys: Vec<(Section, Vec<u8>, ValueId)> = Vec::with_capacity(ids.len());
        let mut bytes = 0;
        let before = Snapshot::new(Arc::new(compaction.version.clone()));
        before.keys(&ids, &mut |at, key| {
            let section = ids[at].kind().and_then(Kind::section).ok_or(StoreError::UnknownId(ids[at]))?;
            bytes += key.len() + REVIVED_BYTES;
            if bytes <= compaction.working_bytes {
                keys.push((section, key.to_vec(), ids[at]));
            }
            Ok::<_, StoreError>(())
        })?;
        if bytes > compaction.working_bytes {
            // The next merge knows that they are used.
            return Err(CompactError::Overtaken);
        }
        keys.sort_unstable();
        let terms: Vec<(Section, &[u8])> =
            keys.iter().map(|(section, key, _)| (*section, key.as_slice())).collect();
        let bases = terms_of(&self.segments);
        let (number, _) = self.folders.create()?;
        let none = |segment: &DirectSegment<'_>| Ok(segment.write(&|_| Ok(()))?);
        let origin = compaction.origin(number, Sign::Insertions, compaction.version.manifest.version, &[]);
        self.segments.push(direct(compaction, origin, bases, &terms, &none)?);
        let mut next = bases;
        for (section, _, id) in keys {
            let number = &mut next[section as usize];
            self.remap.revive(id.to_bits(), ValueId::new(section.kind(), *number).to_bits());
            *number += 1;
        }
        Ok(())
    }

    /// What the segment is that takes the place of one that came later. All its quads may have been deleted since.
    fn origin(&self, number: u64, segment: &OpenSegment) -> NewOrigin {
        let compaction = self.compaction;
        let version = segment.segment.meta().origin.version.max(compaction.version.manifest.version);
        compaction.origin(number, segment.entry.sign, version, std::slice::from_ref(segment))
    }

    /// Writes a segment whose new ids are in the order of the old ones.
    fn merge(
        &mut self,
        segment: &OpenSegment,
        bases: [u64; Section::COUNT],
        ids: &FirstIds,
        throttle: &Throttle,
    ) -> Result<SegmentEntry, CompactError> {
        let compaction = self.compaction;
        let (number, folder) = self.folders.create()?;
        let old = segment.segment.meta();
        if old.dictionary.is_some() {
            let from = compaction.store.folder().join(segment.entry.folder()).join(DICTIONARY_FILE);
            copy_file(&**compaction.store.vfs(), &from, &folder.join(DICTIONARY_FILE))?;
        }
        // Quads that have been deleted since need not be written.
        let layers = match segment.entry.sign {
            Sign::TermsOnly => &[][..],
            Sign::Insertions | Sign::Deletions => &[(segment, Sign::Insertions)],
        };
        let counts = old.dictionary.map_or([0; Section::COUNT], |dictionary| dictionary.counts);
        let job = OrdersJob {
            layers,
            remap: &self.remap,
            ids,
            terms: std::array::from_fn(|at| bases[at] + counts[at]),
            insertions: &folder,
            deletions: None,
            throttle,
        };
        let permutations = compaction.merge_orders(&job)?.insertions;
        let files = NewFiles { permutations, dictionary: old.dictionary, bases };
        Ok(compaction.seal(files, self.origin(number, segment), &folder)?.entry)
    }

    /// Writes a segment whose new ids are in another order than the old ones.
    fn sort(
        &mut self,
        segment: &OpenSegment,
        bases: [u64; Section::COUNT],
    ) -> Result<SegmentEntry, CompactError> {
        let dictionary = segment.segment.meta().dictionary;
        let from = self.compaction.store.folder().join(segment.entry.folder()).join(DICTIONARY_FILE);
        let permutation = segment.permutation(Order::Spog);
        let remap = &self.remap;
        let quads = |visit: &mut dyn FnMut(&[[u64; 4]]) -> Result<(), StoreError>| {
            let mut cursor = permutation.cursor(0..permutation.rows(), 0b1111);
            let mut columns: [Vec<u64>; 4] = Default::default();
            let mut rows = Vec::new();
            while cursor.next(CHUNK_ROWS, &mut columns)? > 0 {
                rows.clear();
                let new = |id: &u64| remap.id(*id).ok_or(StoreError::UnknownId(ValueId::from_bits(*id)));
                let [s, p, o, g] = &columns;
                for (((s, p), o), g) in s.iter().zip(p).zip(o).zip(g) {
                    rows.push([new(s)?, new(p)?, new(o)?, new(g)?]);
                }
                visit(&rows)?;
                columns.iter_mut().for_each(Vec::clear);
            }
            Ok(())
        };
        let compaction = self.compaction;
        let (number, _) = self.folders.create()?;
        direct(compaction, self.origin(number, segment), bases, &[], &|segment| {
            Ok(segment.write_beside(&quads, dictionary.map(|info| (info, from.as_path())))?)
        })
    }
}

/// Writes a segment of quads in any order.
fn direct(
    compaction: &Compaction<'_>,
    origin: NewOrigin,
    bases: [u64; Section::COUNT],
    terms: &[(Section, &[u8])],
    write: &dyn Fn(&DirectSegment<'_>) -> Result<SegmentEntry, CompactError>,
) -> Result<SegmentEntry, CompactError> {
    let number = origin.number;
    let segment = DirectSegment {
        store: compaction.store,
        origin,
        bases,
        terms,
        threads: compaction.threads,
        memory_bytes: compaction.working_bytes + OVERHEAD_BYTES,
        cancel: compaction.throttle.cancel(),
    };
    let written = write(&segment);
    if written.is_err() {
        remove_segment(compaction.store, number);
    }
    written
}

/// Terms of all segments.
fn terms_of(segments: &[SegmentEntry]) -> [u64; Section::COUNT] {
    let mut sums = [0; Section::COUNT];
    for entry in segments {
        sums.iter_mut().zip(entry.terms).for_each(|(sum, terms)| *sum += terms);
    }
    sums
}
