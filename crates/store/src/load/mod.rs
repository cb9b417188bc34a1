//! Bulk load: any amount of RDF into a new segment, with bounded memory, published in one step.
//!
//! The way of a quad: sources are read and parsed by several threads (`lode_ingest`), each gathering terms and rows ([`gather`]) into runs that go to temporary files when memory is short ([`run`]). The terms of all
//! runs are merged ([`term_merge`]): that writes the dictionary and tells every run the numbers of its terms. Rows, packed
//! into integers ([`Layout`]), are sorted ([`subject_sort`]) and written in all orders ([`write_orders`]). Then the segment
//! is made durable and the manifest switched. Until then the database is what it was.

mod arena;
mod dictionary_numbers;
mod error;
mod existing_quads;
mod gather;
mod interner;
mod lay_out;
mod options;
pub mod parts;
mod predicate_cache;
mod removal;
mod replace;
mod run;
mod run_codes;
mod run_rows;
mod subject_sort;
mod term_cursor;
mod term_merge;
mod term_roles;
mod term_sort;

#[cfg(test)]
mod replace_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unit_tests;

use crate::error::StoreError;
use crate::manifest::{Inferences, Manifest, Sign, segment_folder, spill_folder};
use crate::segment_builder::{
    BuildError, Class, DictionaryPipeline, Layout, NewFile, NewFiles, NewOrigin, OVERHEAD_BYTES,
    OrdersContext, PackedRow, seal_segment, working_bytes, write_orders,
};
use crate::store::Store;
use crate::throttle::Throttle;
use crate::version::Version;
use crate::write_stall::stall_while_crowded;
use dictionary_numbers::DictionaryNumbers;
use gather::{Gatherer, SpillTo};
use lay_out::lay_out;
use lode_base::host::{peak_resident_bytes, processor_seconds};
use lode_base::memory_budget::MemoryBudget;
use lode_base::vfs::Vfs;
use lode_ingest::{Quarantine, ReadContext, SourcesRead, ValidateOptions, read_sources};
use lode_packed::segment::DICTIONARY_FILE;
use lode_packed::{DictionaryInfo, Order, PermutationInfo, SegmentMeta};
use lode_rdf::value_id::Section;
use removal::{Removal, Removed};
use run::{Run, TermStore, frame_bytes};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use subject_sort::{RunRows, sort_by_subject};
use term_merge::{MergeContext, Merged, merge_terms};

pub use crate::progress::{LoadProgress, ProgressSample, Stage, StageSeconds};
pub use error::LoadError;
pub use lode_ingest::{
    FilePart, IngestError, Opened, Opener, Skipped, Source, SourceReport, ValidateReport, is_loadable,
    read_document,
};
pub use options::{LoadOptions, LoadReport};
pub use replace::Replace;

/// What a predicate or graph name takes in a list: its code and its id, while the list grows to twice that.
const NAME_BYTES: usize = 4 * size_of::<u64>();
/// What the merge of terms may hold of long terms, where the rest of the memory leaves no more.
const HEAD_BYTES: usize = 8 << 20;
/// With less memory than this for tables, no threads help to compress the dictionary: what they hold would be the most of all.
const HELPED_BYTES: usize = 16 << 20;

/// Loads sources into a store that was opened for writing. On any error the store is as it was. Others may write while the sources are read.
///
/// # Errors
/// Where a source is not well-formed and there is no quarantine for what is bad in it, cannot be read, or is of no known format; where
/// the memory does not suffice, the disk is full, a file cannot be written, the store was opened for reading, or the load was cancelled.
pub fn load(
    store: &Store,
    sources: Vec<Source>,
    options: LoadOptions,
    progress: &Arc<LoadProgress>,
) -> Result<LoadReport, LoadError> {
    store.refuse_unchecked()?;
    store.check_room()?;
    let number = store.writer()?.take_segments(1);
    let loader = Loader {
        store,
        number,
        segment: store.folder().join(segment_folder(number)),
        spill: store.folder().join(spill_folder(number)),
        threads: options.threads.max(1),
        working_bytes: working_bytes(options.memory_bytes),
        cancel: options.cancel.clone(),
        progress,
        watch: Mutex::new(Watch::default()),
        wide_rows: wide_rows(&options),
        list_bytes_max: list_bytes_max(&options),
        blanks: Mutex::default(),
    };
    let result = loader.run(sources, options);
    let useless = match &result {
        Ok(report) => report.added == 0,
        Err(error) => !error.is_in_doubt(),
    };
    loader.clean(useless);
    if useless {
        let writer = store.writer()?;
        writer.give_back_segments(number, 1, 0);
        let (first, taken) = *loader.blanks.lock().unwrap_or_else(PoisonError::into_inner);
        writer.give_back_blanks(first, taken, 0);
    }
    if let Some(report) = result.as_ref().ok().filter(|report| report.added > 0) {
        store.keep_prefixes(report.sources.iter().flat_map(|source| source.notes.prefixes.iter()));
    }
    progress.set_stage(Stage::Done);
    result
}

/// Reads and checks sources as [`load`] does, and does nothing with what is in them.
///
/// # Errors
/// Where the base IRI is none, what is set aside cannot be written, or the reading was cancelled. What is wrong with sources is in the report.
pub fn validate(
    sources: Vec<Source>,
    options: LoadOptions,
    progress: &Arc<LoadProgress>,
) -> Result<ValidateReport, LoadError> {
    let parse = options.parse_options()?;
    let options = ValidateOptions {
        threads: options.threads,
        memory_bytes: options.memory_bytes,
        format: options.format,
        parse: &parse,
        quarantine: options.quarantine,
        cancel: &options.cancel,
    };
    let report = lode_ingest::validate(sources, options, progress.read());
    progress.set_stage(Stage::Done);
    Ok(report?)
}

#[cfg(test)]
fn wide_rows(options: &LoadOptions) -> bool {
    options.wide_rows
}

#[cfg(not(test))]
fn wide_rows(_: &LoadOptions) -> bool {
    false
}

#[cfg(test)]
fn list_bytes_max(options: &LoadOptions) -> usize {
    if options.no_lists { 0 } else { usize::MAX }
}

#[cfg(not(test))]
fn list_bytes_max(_: &LoadOptions) -> usize {
    usize::MAX
}

/// The runs of all workers, and what was found in the sources.
type Gathered = SourcesRead<Vec<Run>>;

#[derive(Default)]
struct Watch {
    started: Option<Instant>,
    stages: [Duration; Stage::COUNT],
}

struct Loader<'a> {
    store: &'a Store,
    /// Of the new segment.
    number: u64,
    segment: PathBuf,
    spill: PathBuf,
    threads: usize,
    working_bytes: usize,
    cancel: lode_base::cancel::CancelToken,
    progress: &'a Arc<LoadProgress>,
    watch: Mutex<Watch>,
    wide_rows: bool,
    list_bytes_max: usize,
    /// The first number for blank nodes that was taken, and how many were.
    blanks: Mutex<(u64, u64)>,
}

/// What the terms of a load became.
struct Numbered {
    runs: Vec<RunRows>,
    rows: u64,
    layout: Layout,
    dictionary: Option<(DictionaryInfo, NewFile)>,
    old: [u64; Section::COUNT],
    given: [u64; Section::COUNT],
    distinct: [u64; Class::COUNT],
    /// Bytes still held by the runs.
    held_bytes: usize,
}

/// What sorting and writing brought.
struct Written {
    permutations: [PermutationInfo; Order::COUNT],
    duplicates: u64,
    existing: u64,
}

impl Loader<'_> {
    fn vfs(&self) -> &Arc<dyn Vfs> {
        self.store.vfs()
    }

    /// Runs one stage and notes how long it took.
    fn stage<T>(&self, stage: Stage, work: impl FnOnce() -> Result<T, LoadError>) -> Result<T, LoadError> {
        self.progress.set_stage(stage);
        self.cancel.check()?;
        let start = Instant::now();
        let result = work();
        if let Ok(mut watch) = self.watch.lock() {
            watch.started.get_or_insert(start);
            watch.stages[stage as usize] += start.elapsed();
        }
        result
    }

    fn run(&self, sources: Vec<Source>, options: LoadOptions) -> Result<LoadReport, LoadError> {
        let total: Option<u64> = sources.iter().map(Source::stored_bytes).sum();
        self.progress.read().set_bytes_total(total.unwrap_or(0));
        for folder in [&self.spill, &self.segment] {
            self.vfs().create_dir_all(folder).map_err(StoreError::io(folder))?;
        }
        let removal = Removal::of(&options);
        let gathered = self.stage(Stage::Reading, || self.read(sources, options))?;
        stall_while_crowded(self.store, &self.cancel)?;
        self.store.write(&self.cancel, |version| {
            let Some(removed) = Removed::new(self.store, version, &removal)? else {
                return self.add(version, gathered);
            };
            let result = self.add(&removed.version, gathered).and_then(|report| {
                if report.added == 0 {
                    removed.publish(self.store)?;
                }
                Ok(LoadReport { removed: removed.quads, ..report })
            });
            if result.as_ref().map_or_else(LoadError::is_in_doubt, |_| true) {
                removed.keep();
            }
            result
        })
    }

    /// Adds what was read to a version, and publishes it if that is something.
    fn add(&self, version: &Arc<Version>, gathered: Gathered) -> Result<LoadReport, LoadError> {
        let quads = self.progress.sample().quads;
        let quarantined = gathered.quarantined;
        let (reports, skipped) = (gathered.sources.clone(), gathered.skipped.clone());
        let numbered = self.stage(Stage::Terms, || self.number_terms(version, gathered))?;
        let (old, given, distinct) = (numbered.old, numbered.given, numbered.distinct);
        let rows = numbered.rows;
        let (written, dictionary) = self.write(version, numbered)?;
        let permutations = written.permutations;
        let added = permutations[Order::Spog as usize].rows;
        let files = NewFiles { permutations, dictionary, bases: old };
        let segment = if added > 0 {
            Some(self.stage(Stage::Publishing, || self.publish(version, files))?)
        } else {
            None
        };
        let watch = self.watch.lock().map(|watch| watch.stages).unwrap_or_default();
        Ok(LoadReport {
            quads: quads.max(rows),
            added,
            removed: 0,
            duplicates: written.duplicates,
            existing: written.existing,
            quarantined,
            new_terms: given,
            blank_nodes: distinct[Class::Blank as usize],
            inline_values: distinct[Class::Inline as usize],
            source_bytes: self.progress.sample().bytes_read,
            sources: reports,
            skipped,
            segment,
            seconds: StageSeconds::new(watch),
            peak_resident_bytes: peak_resident_bytes(),
            processor_seconds: processor_seconds(),
        })
    }

    fn read(&self, sources: Vec<Source>, options: LoadOptions) -> Result<Gathered, LoadError> {
        let parse = options.parse_options()?;
        let context = ReadContext {
            vfs: self.vfs(),
            spill: &self.spill,
            threads: self.threads,
            memory_bytes: self.working_bytes,
            format: options.format,
            one_graph: options.one_graph,
            parse: &parse,
            quarantine: options.quarantine.map(Quarantine::new),
            cancel: &self.cancel,
            progress: self.progress.read(),
        };
        let graph = options.graph.map(lode_rdf::NamedNode::into_string);
        read_sources(sources, &context, &|worker, memory_bytes| {
            let to = SpillTo { vfs: self.vfs(), folder: &self.spill, worker, for_others: false };
            Gatherer::new(to, memory_bytes, graph.clone())
        })
    }

    /// Merges the terms of all runs and lays out the codes of quads.
    fn number_terms(&self, version: &Arc<Version>, gathered: Gathered) -> Result<Numbered, LoadError> {
        let runs: Vec<Run> = gathered.outputs.into_iter().flatten().collect();
        let terms = runs.iter().map(|run| u64::from(run.terms)).sum();
        // Transactions that are being prepared take numbers, too: so as many are taken as there can be blank nodes.
        let first_blank = self.store.writer()?.take_blanks(terms);
        let took = |count| *self.blanks.lock().unwrap_or_else(PoisonError::into_inner) = (first_blank, count);
        took(terms);
        let list_bytes = self.list_bytes(&runs);
        let context = MergeContext {
            vfs: self.vfs(),
            folder: &self.spill,
            next_blank: first_blank,
            cancel: &self.cancel,
            progress: self.progress,
            frame_bytes: frame_bytes(self.working_bytes / self.threads),
            head_bytes: self.head_bytes(&runs),
            inline_max: list_bytes / size_of::<u64>(),
            names_max: list_bytes / NAME_BYTES,
        };
        let path = self.segment.join(DICTIONARY_FILE);
        let (merged, old, given, dictionary) = std::thread::scope(|scope| {
            let helpers = if self.working_bytes < HELPED_BYTES { 0 } else { self.threads - 1 };
            let pipeline = DictionaryPipeline::start(scope, helpers, self.vfs(), &path);
            let mut numbers = DictionaryNumbers::new(version, pipeline, terms, self.threads - 1);
            let merged = merge_terms(&runs, &mut numbers, &context)?;
            let (old, given) = (numbers.old(), numbers.given());
            Ok::<_, LoadError>((merged, old, given, numbers.finish()?))
        })?;
        let distinct = merged.distinct;
        self.store.writer()?.give_back_blanks(first_blank, terms, distinct[Class::Blank as usize]);
        took(distinct[Class::Blank as usize]);
        let rows = runs.iter().map(|run| run.row_count).sum();
        let Merged { counts, predicates, graphs, codes, .. } = merged;
        let layout = lay_out(counts, [predicates, graphs], old, given);
        let held_bytes = layout.bytes() + runs.iter().map(held_bytes).sum::<usize>();
        let runs = runs.into_iter().zip(codes).map(|(run, codes)| RunRows {
            rows: run.rows,
            codes,
            predicates: run.predicates,
            graphs: run.graphs,
        });
        let runs = runs.collect();
        Ok(Numbered { runs, rows, layout, dictionary, old, given, distinct, held_bytes })
    }

    /// Bytes that each of the lists of inline values, predicates and graph names may take, beside the runs in memory.
    fn list_bytes(&self, runs: &[Run]) -> usize {
        let held: usize = runs.iter().map(|run| run.store.bytes()).sum();
        (self.working_bytes.saturating_sub(held) / 8).max(self.working_bytes / 32).min(self.list_bytes_max)
    }

    /// Bytes of the current term of each run on disk that the merge may hold.
    fn head_bytes(&self, runs: &[Run]) -> usize {
        let held: usize = runs.iter().map(|run| run.store.bytes()).sum();
        let all = (self.working_bytes.saturating_sub(held) / 4).max(HEAD_BYTES.min(self.working_bytes / 2));
        all / runs.len().max(1)
    }

    fn write(
        &self,
        version: &Arc<Version>,
        numbered: Numbered,
    ) -> Result<(Written, Option<DictionaryInfo>), LoadError> {
        match numbered.layout.key_bits() {
            0..=64 if !self.wide_rows => self.write_packed::<u64>(version, numbered),
            0..=128 => self.write_packed::<u128>(version, numbered),
            _ => Err(too_wide(&numbered)),
        }
    }

    fn write_packed<R: PackedRow>(
        &self,
        version: &Arc<Version>,
        numbered: Numbered,
    ) -> Result<(Written, Option<DictionaryInfo>), LoadError> {
        let memory = MemoryBudget::new(self.working_bytes.saturating_sub(numbered.held_bytes));
        let context = OrdersContext {
            vfs: self.vfs(),
            segment: &self.segment,
            spill: &self.spill,
            threads: self.threads,
            memory: &memory,
            throttle: &Throttle::full(&self.cancel),
            progress: self.progress,
            layout: &numbered.layout,
        };
        let (info, file) = numbered.dictionary.unzip();
        let (runs, rows) = (numbered.runs, numbered.rows);
        let work = || -> Result<Written, LoadError> {
            let sorted =
                self.stage(Stage::Sorting, || sort_by_subject::<R>(runs, rows, version, &context))?;
            self.progress.set_rows_to_write(6 * sorted.rows.rows);
            let (duplicates, existing) = (sorted.duplicates, sorted.existing);
            let permutations =
                self.stage(Stage::Writing, || Ok(write_orders(sorted.rows, sorted.buffer, &context)?))?;
            Ok(Written { permutations, duplicates, existing })
        };
        // The dictionary is made durable while quads are sorted.
        let (written, synced) = std::thread::scope(|scope| {
            let sync = file.map(|file| scope.spawn(|| file.sync()));
            let written = work();
            let synced = sync
                .map_or(Ok(()), |sync| sync.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (written, synced)
        });
        let written = written?;
        synced?;
        Ok((written, info))
    }

    /// Makes the segment durable and part of the current version; its description.
    fn publish(&self, version: &Arc<Version>, files: NewFiles) -> Result<SegmentMeta, LoadError> {
        let origin = NewOrigin::new(self.number, Sign::Insertions, version.number, version.numbering());
        let new = seal_segment(self.store, files, origin, &self.segment, &|| self.cancel.check())?;
        let before = &version.manifest;
        let inferences = before.inferences.clone().map(Inferences::stale);
        let mut manifest = Manifest { version: before.version + 1, inferences, ..before.clone() };
        manifest.segments.push(new.entry);
        self.store.publish(self.store.writer()?.numbered(manifest))?;
        Ok(new.meta)
    }

    /// Removes temporary files, and the segment if it did not become part of the database. What cannot be removed now is
    /// removed when the database is next opened for writing.
    fn clean(&self, segment_too: bool) {
        let _ = self.vfs().remove_dir_all(&self.spill);
        if segment_too {
            let _ = self.vfs().remove_dir_all(&self.segment);
        }
    }
}

/// Bytes that a run holds while its rows wait to be sorted.
fn held_bytes(run: &Run) -> usize {
    match run.store {
        TermStore::Memory { .. } => {
            run.terms as usize * 8 + usize::try_from(run.row_count).unwrap_or(usize::MAX).saturating_mul(12)
        }
        TermStore::File { .. } => 0,
    }
}

/// Rows are too wide if nothing is listed: with so much memory everything is.
fn too_wide(numbered: &Numbered) -> LoadError {
    let values = numbered.distinct[Class::Inline as usize] * size_of::<u64>() as u64;
    let names = numbered.distinct[Class::Iri as usize] * NAME_BYTES as u64;
    let bytes = OVERHEAD_BYTES as u64 + 8 * values.max(names);
    let what = "so many distinct values, predicates and graph names";
    LoadError::Build(BuildError::Memory { what, bytes: usize::try_from(bytes).unwrap_or(usize::MAX) })
}
