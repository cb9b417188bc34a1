//! Segments from quads that have ids already: of the delta, or of quads that a large transaction inserts or deletes.
//!
//! The same sorts and writers as in a load, without its reading and its merging of terms. Quads are walked through twice: once to see
//! which predicates, graphs and inline values there are, and once to pack them.

use super::build_error::BuildError;
use super::class::Class;
use super::copy_file::copy_file;
use super::dictionary_pipeline::DictionaryPipeline;
use super::layout::{Layout, PackedRow};
use super::orders::write_orders;
use super::orders_context::OrdersContext;
use super::row_set::RowSet;
use super::seal::{NewFiles, NewOrigin, seal_segment};
use super::term_codes::{ClassCounts, TermCodes};
use super::term_index::TermIndex;
use super::working_memory::working_bytes;
use crate::delta::Row;
use crate::error::StoreError;
use crate::manifest::{SegmentEntry, segment_folder, spill_folder};
use crate::progress::LoadProgress;
use crate::store::Store;
use crate::throttle::Throttle;
use lode_base::cancel::CancelToken;
use lode_base::external_sort::{ExternalSorter, SortOptions};
use lode_base::memory_budget::MemoryBudget;
use lode_base::vfs::Vfs;
use lode_packed::segment::DICTIONARY_FILE;
use lode_packed::{DictionaryInfo, Order, PermutationInfo, Position};
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;
use std::path::Path;
use std::sync::Arc;

/// A segment to be written, and with what.
pub struct DirectSegment<'a> {
    /// The database.
    pub store: &'a Store,
    /// What it is.
    pub origin: NewOrigin,
    /// Terms of the dictionaries before it.
    pub bases: [u64; Section::COUNT],
    /// Terms of its own dictionary, sorted by section and key.
    pub terms: &'a [(Section, &'a [u8])],
    /// Threads.
    pub threads: usize,
    /// Bytes of memory.
    pub memory_bytes: usize,
    /// Stops the work.
    pub cancel: &'a CancelToken,
}

impl DirectSegment<'_> {
    /// Writes the segment, durably. No manifest names it yet; what a failure leaves is for [`remove_segment`].
    pub fn write(&self, quads: Quads<'_>) -> Result<SegmentEntry, BuildError> {
        self.write_with(quads, &|context| write_dictionary(self.terms, context))
    }

    /// The same, with a copy of a dictionary instead of terms.
    pub fn write_beside(
        &self,
        quads: Quads<'_>,
        dictionary: Option<(DictionaryInfo, &Path)>,
    ) -> Result<SegmentEntry, BuildError> {
        self.write_with(quads, &|context| {
            let Some((info, from)) = dictionary else { return Ok(None) };
            copy_file(&**context.vfs, from, &context.segment.join(DICTIONARY_FILE))?;
            Ok(Some(info))
        })
    }

    fn write_with(
        &self,
        quads: Quads<'_>,
        dictionary: &dyn Fn(&DirectContext<'_>) -> Result<Option<DictionaryInfo>, BuildError>,
    ) -> Result<SegmentEntry, BuildError> {
        let (store, number, bases) = (self.store, self.origin.number, self.bases);
        let (vfs, folder) = (store.vfs(), store.folder());
        let (segment, spill) = (folder.join(segment_folder(number)), folder.join(spill_folder(number)));
        for folder in [&segment, &spill] {
            vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let context = DirectContext {
            vfs,
            segment: &segment,
            spill: &spill,
            threads: self.threads.max(1),
            memory_bytes: self.memory_bytes,
            cancel: self.cancel,
        };
        let dictionary = dictionary(&context)?;
        let terms = dictionary.map_or([0; Section::COUNT], |dictionary| dictionary.counts);
        let mut all_terms = bases;
        all_terms.iter_mut().zip(terms).for_each(|(base, count)| *base += count);
        let permutations = write_quads(quads, all_terms, store.next_blank(), &context)?;
        let (files, check) = (NewFiles { permutations, dictionary, bases }, || self.cancel.check());
        let new = seal_segment(store, files, self.origin.clone(), &segment, &check)?;
        vfs.remove_dir_all(&spill).map_err(StoreError::io(&spill))?;
        Ok(new.entry)
    }
}

/// Removes the folders of a segment that no manifest names.
pub fn remove_segment(store: &Store, number: u64) {
    for folder in [segment_folder(number), spill_folder(number)] {
        // What cannot be removed now is removed when the database is next opened for writing.
        let _ = store.vfs().remove_dir_all(&store.folder().join(folder));
    }
}

/// Where a segment is written to, and with what.
struct DirectContext<'a> {
    vfs: &'a Arc<dyn Vfs>,
    segment: &'a Path,
    /// For temporary files.
    spill: &'a Path,
    threads: usize,
    memory_bytes: usize,
    cancel: &'a CancelToken,
}

/// Ids that are gathered before they are sorted again.
const DISTINCT_SLACK: usize = 1 << 14;

/// Calls its argument with all quads (S, P, O, G), in any order, some at a time; as often as it is asked.
pub type Quads<'a> = &'a dyn Fn(&mut dyn FnMut(&[Row]) -> Result<(), StoreError>) -> Result<(), StoreError>;

/// Writes a dictionary of terms (sorted by section and key) and makes it durable; none where there are no terms.
fn write_dictionary(
    terms: &[(Section, &[u8])],
    context: &DirectContext<'_>,
) -> Result<Option<DictionaryInfo>, BuildError> {
    let path = context.segment.join(DICTIONARY_FILE);
    let written = std::thread::scope(|scope| {
        let mut pipeline = DictionaryPipeline::start(scope, context.threads - 1, context.vfs, &path);
        for (section, key) in terms {
            pipeline.push(*section, key)?;
        }
        pipeline.finish()
    })?;
    let Some((info, file)) = written else { return Ok(None) };
    file.sync()?;
    Ok(Some(info))
}

/// Writes all orders of a segment and makes their files durable. Terms have numbers below `terms`, blank nodes below `blanks`.
fn write_quads(
    quads: Quads<'_>,
    terms: [u64; Section::COUNT],
    blanks: u64,
    context: &DirectContext<'_>,
) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
    let codes = Codes::new(quads, terms, blanks)?;
    match codes.layout.key_bits() {
        0..=64 => write_packed::<u64>(quads, &codes, context),
        65..=128 => write_packed::<u128>(quads, &codes, context),
        _ => Err(BuildError::Limit("terms")),
    }
}

fn write_packed<R: PackedRow>(
    quads: Quads<'_>,
    codes: &Codes,
    context: &DirectContext<'_>,
) -> Result<[PermutationInfo; Order::COUNT], BuildError> {
    let working = working_bytes(context.memory_bytes);
    let memory = MemoryBudget::new(working);
    let options = SortOptions {
        vfs: Arc::clone(context.vfs),
        folder: context.spill.to_owned(),
        name: "quads".to_owned(),
        bits: 0..codes.layout.key_bits(),
        memory_bytes: (working / 2).max(1 << 20),
        threads: context.threads,
    };
    let io = |source| BuildError::temporary(context.spill, source);
    let shape = codes.layout.shape(Order::Spog);
    let mut sorter: ExternalSorter<R> = ExternalSorter::new(options, codes.quads);
    let mut packed = Vec::new();
    let mut failed = Ok(());
    quads(&mut |rows| {
        context.cancel.check()?;
        packed.clear();
        packed.extend(rows.iter().map(|row| R::pack(codes.fields(row), shape.shifts)));
        if failed.is_ok() {
            failed = sorter.push(&packed);
        }
        Ok(())
    })?;
    failed.map_err(io)?;
    let (sorted, buffer) = sorter.finish_with_buffer().map_err(io)?;
    let path = context.spill.join("spog.sorted");
    let rows = RowSet::collect(sorted, None, context.vfs, &path, &mut |_: &mut Vec<R>| Ok(())).map_err(io)?;
    let progress = LoadProgress::default();
    let context = OrdersContext {
        vfs: context.vfs,
        segment: context.segment,
        spill: context.spill,
        threads: context.threads,
        memory: &memory,
        throttle: &Throttle::full(context.cancel),
        progress: &progress,
        layout: &codes.layout,
    };
    write_orders(rows, buffer, &context)
}

/// From ids to the codes of packed rows.
struct Codes {
    layout: Layout,
    /// Ids, sorted.
    inline: Vec<u64>,
    predicates: Vec<u64>,
    graphs: Vec<u64>,
    quads: usize,
}

impl Codes {
    fn new(quads: Quads<'_>, terms: [u64; Section::COUNT], blanks: u64) -> Result<Self, StoreError> {
        let (mut inline, mut predicates, mut graphs) =
            (Distinct::default(), Distinct::default(), Distinct::default());
        let mut count = 0;
        quads(&mut |rows| {
            count += rows.len();
            for [s, p, o, g] in rows {
                predicates.add(*p);
                graphs.add(*g);
                [s, o]
                    .into_iter()
                    .filter(|id| Class::of_id(**id) == Class::Inline)
                    .for_each(|id| inline.add(*id));
            }
            Ok(())
        })?;
        let (inline, predicates, mut graphs) = (inline.finish(), predicates.finish(), graphs.finish());
        graphs.retain(|graph| *graph != ValueId::DEFAULT_GRAPH.to_bits());
        let counts = ClassCounts::of_numbers(inline.clone(), blanks, &terms);
        let term_codes = TermCodes::new(counts);
        let codes = |ids: &[u64]| -> Vec<u64> {
            ids.iter().map(|id| term_codes.code(TermIndex::of_id(*id, &inline))).collect()
        };
        let (predicate_codes, graph_codes) = (codes(&predicates), codes(&graphs));
        let layout = Layout::new(term_codes, predicate_codes, graph_codes);
        Ok(Self { layout, inline, predicates, graphs, quads: count })
    }

    fn fields(&self, row: &Row) -> [u64; 4] {
        let code = |id: u64| self.layout.terms.code(TermIndex::of_id(id, &self.inline));
        let place = |ids: &[u64], id: u64| ids.partition_point(|before| *before < id) as u64;
        let [s, p, o, g] = [Position::S, Position::P, Position::O, Position::G].map(|at| row[at as usize]);
        let graph = if g == ValueId::DEFAULT_GRAPH.to_bits() { 0 } else { place(&self.graphs, g) + 1 };
        [code(s), place(&self.predicates, p), code(o), graph]
    }
}

/// Gathers distinct ids.
#[derive(Default)]
struct Distinct {
    ids: Vec<u64>,
    /// How many there were when they were last sorted.
    sorted: usize,
}

impl Distinct {
    fn add(&mut self, id: u64) {
        if self.ids.last() == Some(&id) {
            return;
        }
        if self.ids.len() >= 2 * self.sorted + DISTINCT_SLACK {
            self.sort();
        }
        self.ids.push(id);
    }

    fn sort(&mut self) {
        self.ids.sort_unstable();
        self.ids.dedup();
        self.sorted = self.ids.len();
    }

    fn finish(mut self) -> Vec<u64> {
        self.sort();
        self.ids
    }
}
