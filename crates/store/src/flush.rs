//! From the delta to segments: one of what it inserts, with a dictionary of its new terms, and one of what it deletes.

use crate::delta::{OWN_TERM, Row, Run, is_delta_term};
use crate::error::StoreError;
use crate::load::direct::{DirectContext, write_dictionary, write_quads};
use crate::manifest::{SegmentEntry, Sign, segment_folder, spill_folder};
use crate::seal::seal_segment;
use crate::store::Store;
use crate::version::Version;
use crate::writer::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_packed::{Order, SegmentMeta};
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
        remove_folders(store, first..first + 2);
        writer.give_back_segments(first, 2, 0);
        return Err(error);
    }
    writer.give_back_segments(first, 2, entries.len() as u64);
    Ok(entries)
}

/// Removes segments that no manifest names.
pub fn remove_segments(store: &Store, entries: &[SegmentEntry]) {
    entries.iter().for_each(|entry| remove_folders(store, entry.number..entry.number + 1));
}

fn remove_folders(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        // What cannot be removed now is removed when the database is next opened for writing.
        let _ = store.vfs().remove_dir_all(&store.folder().join(segment_folder(number)));
        let _ = store.vfs().remove_dir_all(&store.folder().join(spill_folder(number)));
    }
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
            let mut counts = [0; Section::COUNT];
            terms.iter().for_each(|(section, _)| counts[*section as usize] += 1);
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
            self.write(Sign::Insertions, rows, number, (bases, counts), terms, &final_id)
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
        self.write(Sign::Deletions, rows, number, (bases, [0; Section::COUNT]), &[], &|bits| bits)
    }

    /// Writes one segment. `terms`: bases and counts of its dictionary.
    fn write(
        &self,
        sign: Sign,
        rows: &[Row],
        number: u64,
        (bases, counts): ([u64; Section::COUNT], [u64; Section::COUNT]),
        terms: &[(Section, &[u8])],
        final_id: &dyn Fn(u64) -> u64,
    ) -> Result<SegmentEntry, StoreError> {
        let (vfs, folder) = (self.store.vfs(), self.store.folder());
        let (segment, spill) = (folder.join(segment_folder(number)), folder.join(spill_folder(number)));
        for folder in [&segment, &spill] {
            vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let context = DirectContext {
            vfs,
            segment: &segment,
            spill: &spill,
            threads: self.options.threads.max(1),
            memory_bytes: self.options.memory_bytes,
            cancel: self.cancel,
        };
        let dictionary = write_dictionary(terms, &context)?;
        let mut all_terms = bases;
        all_terms.iter_mut().zip(counts).for_each(|(base, count)| *base += count);
        let quads = |visit: &mut dyn FnMut(&[Row]) -> Result<(), StoreError>| {
            let mut chunk = Vec::with_capacity(CHUNK_ROWS);
            for rows in rows.chunks(CHUNK_ROWS) {
                chunk.clear();
                chunk.extend(rows.iter().map(|row| row.map(final_id)));
                visit(&chunk)?;
            }
            Ok(())
        };
        let permutations = write_quads(&quads, all_terms, self.store.next_blank(), &context)?;
        let meta = SegmentMeta { permutations, dictionary, bases };
        seal_segment(&meta, &**vfs, &segment, folder)?;
        vfs.remove_dir_all(&spill).map_err(StoreError::io(&spill))?;
        let fingerprint = meta.permutations[Order::Spog as usize].fingerprint;
        Ok(SegmentEntry { number, sign, quads: meta.quads(), terms: counts, fingerprint })
    }
}
