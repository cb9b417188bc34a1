//! Writes what the newest segments of a version amount to: a segment of what they insert, with one dictionary of all their terms, and
//! a segment of what they delete of older ones, if they do.

use crate::compact::compaction::Compaction;
use crate::compact::dictionary_merge::{TermsContext, merge_dictionaries};
use crate::compact::error::CompactError;
use crate::compact::first_column::FirstIds;
use crate::compact::id_remap::IdRemap;
use crate::compact::orders::OrdersJob;
use crate::compact::used::UsedTerms;
use crate::manifest::Sign;
use crate::progress::Stage;
use crate::segment_builder::{
    BuildError, DictionaryPipeline, NewFile, NewFiles, NewFolders, NewOrigin, NewSegment, seal_segment,
};
use crate::version::OpenSegment;
use lode_packed::DictionaryInfo;
use lode_packed::segment::DICTIONARY_FILE;
use lode_rdf::value_id::Section;
use std::path::Path;

/// What was written in place of segments.
#[derive(Debug)]
pub struct Merged {
    /// Insertions, then deletions; what would be empty is left out.
    pub segments: Vec<NewSegment>,
    /// The new numbers of terms.
    pub remap: IdRemap,
}

fn has_quads((_, sign): &(&OpenSegment, Sign)) -> bool {
    *sign != Sign::TermsOnly
}

impl<'a> Compaction<'a> {
    /// Writes the new segments, durably.
    pub fn merge(&mut self, folders: &mut NewFolders<'_>) -> Result<Merged, CompactError> {
        let (number, folder) = folders.create()?;
        let layers: Vec<(&OpenSegment, Sign)> =
            self.merged().iter().map(|segment| (segment, segment.entry.sign)).filter(has_quads).collect();
        // All that the oldest segments delete they have inserted.
        let may_delete = self.from > 0 && layers.iter().any(|(_, sign)| *sign == Sign::Deletions);
        let deletions = may_delete.then(|| folders.create()).transpose()?;
        let mut ids = FirstIds::new();
        let (remap, dictionary) =
            self.stage(Stage::Terms, |this| this.merge_terms(&layers, &folder, &mut ids))?;
        self.check_overtaken()?;
        self.dropped = remap.dropped();
        self.numbering = if remap.is_identity() { self.version.numbering() } else { number };
        let (dictionary, file) = dictionary.unzip();
        let counts = dictionary.map_or([0; Section::COUNT], |dictionary| dictionary.counts);
        let mut terms = self.bases();
        terms.iter_mut().zip(counts).for_each(|(base, terms)| *base += terms);
        let job = OrdersJob {
            layers: &layers,
            remap: &remap,
            ids: &ids,
            terms,
            insertions: &folder,
            deletions: deletions.as_ref().map(|(_, folder)| folder.as_path()),
            throttle: self.throttle,
        };
        // The dictionary is made durable while the orders are written.
        let (orders, synced) = std::thread::scope(|scope| {
            let sync = file.map(|file: NewFile| scope.spawn(|| file.sync()));
            let orders = self.stage(Stage::Writing, |this| this.merge_orders(&job));
            let synced = sync
                .map_or(Ok(()), |sync| sync.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (orders, synced)
        });
        let orders = orders?;
        synced?;
        let files = NewFiles { permutations: orders.insertions, dictionary, bases: self.bases() };
        let kept: u64 = terms.iter().sum();
        if kept + self.dropped != self.version.manifest.terms().iter().sum::<u64>() {
            return Err(BuildError::Inconsistent("the new dictionary lacks terms".to_owned()).into());
        }
        let mut segments = Vec::new();
        let version = self.version.manifest.version;
        let origin = self.origin(number, Sign::Insertions, version, self.merged());
        // Without anything in it, too, if nothing else on the disk would tell which segments, or the quads of which, are gone.
        let is_needed = !(origin.empties.is_empty() && origin.buried.is_empty())
            || self.merged().iter().any(|open| self.is_kept(open));
        if files.quads() > 0 || dictionary.is_some() || is_needed {
            segments.push(self.seal(files, origin, &folder)?);
        } else {
            folders.remove(&folder);
        }
        if let (Some(permutations), Some((number, folder))) = (orders.deletions, deletions) {
            let files = NewFiles { permutations, dictionary: None, bases: terms };
            if files.quads() > 0 {
                let origin = self.origin(number, Sign::Deletions, version, self.merged());
                segments.push(self.seal(files, origin, &folder)?);
            } else {
                folders.remove(&folder);
            }
        }
        Ok(Merged { segments, remap })
    }

    /// Whether a snapshot keeps a segment on the disk, also where the current version does not name it.
    fn is_kept(&self, open: &OpenSegment) -> bool {
        self.store.snapshot_catalog().names(open.entry.number)
    }

    /// What a new segment is, which takes the place of others.
    pub fn origin(&self, number: u64, sign: Sign, version: u64, replaced: &[OpenSegment]) -> NewOrigin {
        let origin = NewOrigin::new(number, sign, version, self.numbering);
        NewOrigin { is_merge: true, ..origin }.replacing(self.store, replaced.iter())
    }

    /// Makes a segment durable whose files are.
    pub fn seal(
        &self,
        files: NewFiles,
        origin: NewOrigin,
        folder: &Path,
    ) -> Result<NewSegment, CompactError> {
        Ok(seal_segment(self.store, files, origin, folder, &|| self.throttle.check())?)
    }

    fn merge_terms(
        &self,
        layers: &[(&OpenSegment, Sign)],
        folder: &Path,
        ids: &mut FirstIds,
    ) -> Result<(IdRemap, Option<(DictionaryInfo, NewFile)>), CompactError> {
        let (start, end) = (self.bases(), self.version.manifest.terms());
        let inline_max = self.inline_max();
        let mut note = |order, id| ids.note(order, id, inline_max);
        let used = UsedTerms::find(layers, &self.version.delta, start, end, self.throttle, &mut note)?;
        ids.finish();
        let context = TermsContext {
            used: used.as_ref(),
            map_bytes_max: self.working_bytes / 2,
            helpers: 4 * (self.threads - 1),
            throttle: self.throttle,
            progress: self.progress,
        };
        let path = folder.join(DICTIONARY_FILE);
        std::thread::scope(|scope| {
            let mut pipeline = DictionaryPipeline::start(scope, self.threads - 1, self.store.vfs(), &path);
            let remap = merge_dictionaries(self.merged(), start, &mut pipeline, &context)?;
            Ok((remap, pipeline.finish()?))
        })
    }

    /// Inline values that one may hold in memory.
    pub fn inline_max(&self) -> usize {
        self.working_bytes / 16 / size_of::<u64>()
    }

    /// The segments that are merged.
    fn merged(&self) -> &'a [OpenSegment] {
        self.version.segments.get(self.from..).unwrap_or_default()
    }

    /// The first numbers of their terms.
    fn bases(&self) -> [u64; Section::COUNT] {
        let mut bases = [0; Section::COUNT];
        for segment in self.version.segments.iter().take(self.from) {
            bases.iter_mut().zip(segment.entry.terms).for_each(|(base, terms)| *base += terms);
        }
        bases
    }
}
