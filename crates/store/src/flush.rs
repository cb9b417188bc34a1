//! From the delta to segments: one of what it inserts, with a dictionary of its new terms, and one of what it deletes.

use crate::delta::{OWN_TERM, Row, Run, is_delta_term};
use crate::error::StoreError;
use crate::load::direct::{DirectSegment, remove_segment};
use crate::manifest::{SegmentEntry, Sign};
use crate::store::Store;
use crate::version::Version;
use crate::writer::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;

/// Rows that get their final ids at once.
const CHUNK_ROWS: usize = 1 << 14;

/// Writes segments of a run, with the terms of the tip's delta, durably. No manifest names them yet.
pub fn write_segments(
    store: &Store,
    tip: &Version,
    run: &Run,
    options: &WriteOptions,
    cancel: &CancelToken,
) -> Result<Vec<SegmentEntry>, StoreError> {
    let flush = Flush { store, tip, options, cancel };
    let writer = store.writer()?;
    let first = writer.take_segments(2);
    let mut entries = Vec::new();
    let mut work = || -> Result<(), StoreError> {
        if !run.inserts.is_empty() {
            entries.push(flush.insertions(run.inserts.rows(Order::Spog), first)?);
        }
        if !run.deletes.is_empty() {
            let number = first + entries.len() as u64;
            let terms = entries.first().map_or([0; Section::COUNT], |entry| entry.terms);
            entries.push(flush.deletions(run.deletes.rows(Order::Spog), number, terms)?);
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
    Ok(entries)
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
}

impl Flush<'_> {
    fn insertions(&self, rows: &[Row], number: u64) -> Result<SegmentEntry, StoreError> {
        let bases = self.tip.manifest.terms();
        self.tip.delta.terms().sorted(|terms, ranks| {
            let final_id = |bits: u64| {
                let id = ValueId::from_bits(bits);
                let section = id.kind().and_then(lode_rdf::Kind::section);
                match section.filter(|_| is_delta_term(id)) {
                    Some(section) => {
                        let index = id.payload() & (OWN_TERM - 1);
                        let rank = ranks.get(index as usize).copied().unwrap_or(0);
                        ValueId::new(section.kind(), bases[section as usize] + rank).to_bits()
                    }
                    None => bits,
                }
            };
            self.write(Sign::Insertions, rows, number, bases, terms, &final_id)
        })
    }

    fn deletions(
        &self,
        rows: &[Row],
        number: u64,
        new_terms: [u64; Section::COUNT],
    ) -> Result<SegmentEntry, StoreError> {
        let mut bases = self.tip.manifest.terms();
        bases.iter_mut().zip(new_terms).for_each(|(base, new)| *base += new);
        self.write(Sign::Deletions, rows, number, bases, &[], &|bits| bits)
    }

    fn write(
        &self,
        sign: Sign,
        rows: &[Row],
        number: u64,
        bases: [u64; Section::COUNT],
        terms: &[(Section, &[u8])],
        final_id: &dyn Fn(u64) -> u64,
    ) -> Result<SegmentEntry, StoreError> {
        let quads = |visit: &mut dyn FnMut(&[Row]) -> Result<(), StoreError>| {
            let mut chunk = Vec::with_capacity(CHUNK_ROWS);
            for rows in rows.chunks(CHUNK_ROWS) {
                chunk.clear();
                chunk.extend(rows.iter().map(|row| row.map(final_id)));
                visit(&chunk)?;
            }
            Ok(())
        };
        let WriteOptions { threads, memory_bytes, .. } = *self.options;
        let (store, cancel) = (self.store, self.cancel);
        let segment = DirectSegment { store, number, sign, bases, terms, threads, memory_bytes, cancel };
        Ok(segment.write(&quads)?)
    }
}
