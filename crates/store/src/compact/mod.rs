//! Compaction: all segments of a database become one, maximally packed, in which ids of a kind compare like their terms again.
//!
//! The dictionaries are merged ([`terms`]); that gives every term a new number, kept in a [`term_map`]. Then each order is
//! merged by itself, from the same order of the old segments, with the new ids ([`order_merge`], [`orders`]). Blank nodes and inline values keep
//! their ids, and so do the keys of triple terms, which hold no dictionary numbers. At last the manifest is switched; the old
//! segments' files go when nobody reads them any more. Until the switch the database is what it was, and nothing but
//! the new segment is written: old and new together are all the space that is needed.

mod order_merge;
mod orders;
mod source;
mod term_map;
mod terms;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::load::dictionary_pipeline::{DictionaryPipeline, NewFile};
use crate::load::{LoadError, LoadProgress, OVERHEAD_BYTES, Stage, StageSeconds, WORKING_BYTES_MIN};
use crate::manifest::{Manifest, SegmentEntry, Sign, segment_folder};
use crate::seal::seal_segment;
use crate::store::Store;
use crate::version::Version;
use lode_base::cancel::CancelToken;
use lode_base::host::peak_resident_bytes;
use lode_packed::segment::DICTIONARY_FILE;
use lode_packed::{DictionaryInfo, Order, SegmentMeta};
use lode_rdf::value_id::Section;
use order_merge::MergeContext;
use orders::merge_orders;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use term_map::TermMap;
use terms::{TermsContext, merge_dictionaries};

/// How to compact.
#[derive(Debug, Clone)]
pub struct CompactOptions {
    /// Threads that merge and write.
    pub threads: usize,
    /// Bytes of memory that the process shall not exceed.
    pub memory_bytes: usize,
    /// Also writes anew a database that has one segment.
    pub force: bool,
    /// Stops the compaction.
    pub cancel: CancelToken,
}

impl Default for CompactOptions {
    fn default() -> Self {
        let crate::LoadOptions { threads, memory_bytes, .. } = crate::LoadOptions::default();
        Self { threads, memory_bytes, force: false, cancel: CancelToken::default() }
    }
}

/// What a compaction did.
#[derive(Debug, Clone)]
pub struct CompactReport {
    /// Segments that there were.
    pub segments: u64,
    /// Quads of the database.
    pub quads: u64,
    /// Terms in its dictionaries.
    pub terms: u64,
    /// Bytes of the old segments.
    pub bytes_before: u64,
    /// The new segment; none where there was nothing to do.
    pub segment: Option<SegmentMeta>,
    /// Where the time went.
    pub seconds: StageSeconds,
    /// The most memory the process has had resident, where that can be told.
    pub peak_resident_bytes: Option<u64>,
}

/// Compacts a store that was opened for writing. On any error the store is as it was.
pub fn compact(
    store: &Store,
    options: &CompactOptions,
    progress: &Arc<LoadProgress>,
) -> Result<CompactReport, LoadError> {
    let report = store.write(&options.cancel, |version| {
        let folder = store.folder().join(segment_folder(version.manifest.next_segment));
        let mut compactor = Compactor {
            store,
            version,
            options,
            progress,
            folder,
            working_bytes: options.memory_bytes.saturating_sub(OVERHEAD_BYTES).max(WORKING_BYTES_MIN),
            stages: [Duration::ZERO; Stage::COUNT],
        };
        compactor.run()
    });
    progress.set_stage(Stage::Done);
    report
}

struct Compactor<'a> {
    store: &'a Store,
    version: &'a Arc<Version>,
    options: &'a CompactOptions,
    progress: &'a Arc<LoadProgress>,
    /// Of the new segment.
    folder: PathBuf,
    working_bytes: usize,
    stages: [Duration; Stage::COUNT],
}

impl Compactor<'_> {
    fn run(&mut self) -> Result<CompactReport, LoadError> {
        let manifest = &self.version.manifest;
        let segments = self.version.segments.len();
        let worthwhile = segments > 1 || (self.options.force && segments == 1);
        let segment = if worthwhile { Some(self.rewrite()?) } else { None };
        Ok(CompactReport {
            segments: segments as u64,
            quads: manifest.quads(),
            terms: manifest.terms().iter().sum(),
            bytes_before: self.version.segments.iter().map(|open| open.segment.meta().bytes()).sum(),
            segment,
            seconds: StageSeconds::new(self.stages),
            peak_resident_bytes: peak_resident_bytes(),
        })
    }

    fn rewrite(&mut self) -> Result<SegmentMeta, LoadError> {
        let vfs = Arc::clone(self.store.vfs());
        self.progress.add_quads(self.version.manifest.quads());
        let result = vfs
            .create_dir_all(&self.folder)
            .map_err(|source| StoreError::io(&self.folder)(source).into())
            .and_then(|()| self.write())
            .and_then(|meta| self.stage(Stage::Publishing, |this| this.publish(&meta)).map(|()| meta));
        if result.as_ref().is_err_and(|error| !error.is_in_doubt()) {
            // What cannot be removed now is removed when the database is next opened for writing.
            let _ = vfs.remove_dir_all(&self.folder);
        }
        result
    }

    /// Runs one stage and notes how long it took.
    fn stage<T>(
        &mut self,
        stage: Stage,
        work: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        self.progress.set_stage(stage);
        self.options.cancel.check()?;
        let start = Instant::now();
        let result = work(self);
        self.stages[stage as usize] += start.elapsed();
        result
    }

    /// Writes all files of the new segment but its description.
    fn write(&mut self) -> Result<SegmentMeta, LoadError> {
        let (map, dictionary) = self.stage(Stage::Terms, |this| this.merge_terms())?;
        let (dictionary, file) = dictionary.unzip();
        // The dictionary is made durable while the orders are written.
        let (permutations, synced) = std::thread::scope(|scope| {
            let sync = file.map(|file: NewFile| scope.spawn(|| file.sync()));
            let permutations = self.stage(Stage::Writing, |this| this.merge_orders(&map));
            let synced = sync
                .map_or(Ok(()), |sync| sync.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (permutations, synced)
        });
        let permutations = permutations?;
        synced?;
        Ok(SegmentMeta { permutations, dictionary, bases: [0; Section::COUNT] })
    }

    fn merge_terms(&self) -> Result<(TermMap, Option<(DictionaryInfo, NewFile)>), LoadError> {
        let context = TermsContext {
            map_bytes_max: self.working_bytes / 2,
            helpers: 4 * (self.options.threads.max(1) - 1),
            cancel: &self.options.cancel,
            progress: self.progress,
        };
        let path = self.folder.join(DICTIONARY_FILE);
        std::thread::scope(|scope| {
            let helpers = self.options.threads.max(1) - 1;
            let mut pipeline = DictionaryPipeline::start(scope, helpers, self.store.vfs(), &path);
            let map = merge_dictionaries(self.version, &mut pipeline, &context)?;
            Ok((map, pipeline.finish()?))
        })
    }

    fn merge_orders(&self, map: &TermMap) -> Result<[lode_packed::PermutationInfo; Order::COUNT], LoadError> {
        let threads = self.options.threads.clamp(1, Order::COUNT);
        let map_bytes = map.memory_bytes();
        let context = MergeContext {
            vfs: &**self.store.vfs(),
            folder: &self.folder,
            segments: &self.version.segments,
            map,
            ascents: &map.ascents(),
            memory_bytes: self.working_bytes.saturating_sub(map_bytes) / threads,
            cancel: &self.options.cancel,
            progress: self.progress,
        };
        let rows = |order| -> u64 {
            self.version.segments.iter().map(|segment| segment.permutation(order).rows()).sum()
        };
        self.progress.set_rows_to_write(Order::ALL.into_iter().map(rows).sum());
        merge_orders(threads, &context)
    }

    /// Makes the new segment durable and the only one of the current version.
    fn publish(&self, meta: &SegmentMeta) -> Result<(), LoadError> {
        seal_segment(meta, &**self.store.vfs(), &self.folder, self.store.folder())?;
        let before = &self.version.manifest;
        let entry = SegmentEntry {
            number: before.next_segment,
            sign: Sign::Insertions,
            quads: meta.quads(),
            terms: meta.dictionary.map_or([0; Section::COUNT], |dictionary| dictionary.counts),
            fingerprint: meta.permutations[Order::Spog as usize].fingerprint,
        };
        if entry.terms != before.terms() {
            return Err(LoadError::Inconsistent("the new dictionary lacks terms".to_owned()));
        }
        let manifest = Manifest {
            version: before.version + 1,
            next_segment: before.next_segment + 1,
            segments: vec![entry],
            ..before.clone()
        };
        Ok(self.store.publish(manifest)?)
    }
}
