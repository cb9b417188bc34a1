//! One version of a database: its manifest, its open segments, and what transactions have changed since.

mod kept_texts;
mod open_segment;
mod segment_quads;

use crate::delta::{Delta, Row, is_delta_term};
use crate::error::StoreError;
use crate::manifest::{Manifest, SegmentEntry};
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use lode_packed::{BlockCache, PackedError, ReadContext, Segment};
use lode_rdf::ValueId;
use lode_rdf::value_id::Section;
use std::path::Path;
use std::sync::Arc;

pub use kept_texts::{KeptTexts, Uncovered};
pub use open_segment::{OpenSegment, SegmentMark};
pub use segment_quads::SegmentQuads;

/// One version of a database.
///
/// Each quad is inserted by as many of the segments and change sets as delete it, or by one more: then it is in the database.
#[derive(Debug, Clone)]
pub struct Version {
    /// What it consists of.
    pub manifest: Manifest,
    /// Its segments, oldest first.
    pub segments: Arc<[OpenSegment]>,
    /// How many of the segments have a dictionary.
    pub dictionaries: usize,
    /// What came after the segments.
    pub delta: Delta,
    /// Counts the versions, also those that have no manifest of their own.
    pub number: u64,
    /// First blank node number not used.
    pub next_blank: u64,
    /// Where a reader has followed to versions that do not come after those before (see [`Store::follow`](crate::store::Store::follow)): how often.
    pub history: u64,
    /// Which of its texts no index of words has, as far as somebody has asked.
    pub kept_texts: KeptTexts,
}

impl Version {
    /// Opens all segments of a manifest. Segments that `known` has open already are shared.
    pub fn open(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        manifest: Manifest,
        cache: &Arc<BlockCache>,
        known: &[OpenSegment],
    ) -> Result<Self, StoreError> {
        Self::open_by(vfs, folder, manifest, cache, known, Segment::open)
    }

    /// Reads the descriptions of all segments of a manifest; their files are opened when something in them is wanted.
    pub fn open_when_read(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        manifest: Manifest,
        cache: &Arc<BlockCache>,
    ) -> Result<Self, StoreError> {
        Self::open_by(vfs, folder, manifest, cache, &[], Segment::open_when_read)
    }

    fn open_by(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        manifest: Manifest,
        cache: &Arc<BlockCache>,
        known: &[OpenSegment],
        open: OpenSegmentBy,
    ) -> Result<Self, StoreError> {
        let mut segments = Vec::with_capacity(manifest.segments.len());
        let mut bases = [0_u64; Section::COUNT];
        for entry in &manifest.segments {
            let is_same =
                |open: &&OpenSegment| SegmentEntry { sign: entry.sign, ..open.entry.clone() } == *entry;
            let shared = known.iter().find(|open| open.entry.number == entry.number).filter(is_same);
            let open = match shared {
                Some(open) => open.with_entry(entry),
                None => {
                    let segment = open(vfs, &folder.join(entry.folder()), cache)?;
                    check_identity(&segment, folder, &manifest, entry, bases)?;
                    OpenSegment::new(vfs, folder, entry, segment, cache)
                }
            };
            for (base, count) in bases.iter_mut().zip(entry.terms) {
                *base += count;
            }
            segments.push(open);
        }
        let (number, next_blank) = (manifest.version, manifest.next_blank);
        let dictionaries = segments.iter().filter(|segment| segment.dictionary().is_some()).count();
        let (segments, delta) = (segments.into(), Delta::default());
        let kept_texts = KeptTexts::default();
        Ok(Self { manifest, segments, dictionaries, delta, number, next_blank, history: 0, kept_texts })
    }

    /// Opens all files of its segments that are not open yet, so that it can be read whoever removes them.
    pub fn open_files(&self) -> Result<(), StoreError> {
        Ok(self.segments.iter().try_for_each(|open| open.segment.open_files())?)
    }

    /// [`Version::aside_for`] nobody else.
    #[must_use]
    pub fn aside(&self, bytes: usize) -> Self {
        self.aside_for(bytes, None)
    }

    /// The same version for who reads all of it once: the store's cache stays as it is, and what is read is kept in another one
    /// of `bytes` bytes. `other`: whose work it is part of.
    #[must_use]
    pub fn aside_for(&self, bytes: usize, other: Option<&Arc<ReadContext>>) -> Self {
        let cache = Arc::new(BlockCache::new(bytes));
        let context = ReadContext::aside(&cache, other);
        let segments = self.segments.iter().map(|open| open.read_by(&context)).collect();
        Self { segments, ..self.clone() }
    }

    /// Where the ids of its segments come from: the newest compaction that gave terms other numbers.
    pub fn numbering(&self) -> u64 {
        let numberings = self.segments.iter().map(|open| open.segment.meta().origin.numbering);
        numberings.max().unwrap_or(0)
    }

    /// Quads in all graphs.
    pub fn quads(&self) -> u64 {
        let quads = i128::from(self.manifest.quads()) + i128::from(self.delta.net_quads());
        u64::try_from(quads).unwrap_or(0)
    }

    /// For each of `quads` (S, P, O, G; sorted) whether the segments hold it, whatever the delta says.
    pub fn held_by_segments(&self, quads: &[Row]) -> Result<Vec<bool>, StoreError> {
        let mut segments = SegmentQuads::new(&self.segments);
        quads.iter().map(|quad| Ok(!has_delta_term(quad) && segments.contains(*quad)?)).collect()
    }

    /// For each of `quads` (S, P, O, G; sorted) whether it is in the database, given what the segments say.
    pub fn visible(&self, quads: &[Row], held_by_segments: &[bool]) -> Vec<bool> {
        let said = self.delta.mentions(quads);
        said.into_iter().zip(held_by_segments).map(|(said, held)| said.unwrap_or(*held)).collect()
    }
}

/// No segment holds a quad with a term that none of their dictionaries has.
fn has_delta_term(quad: &Row) -> bool {
    quad.iter().any(|bits| is_delta_term(ValueId::from_bits(*bits)))
}

/// Opens the segment in a folder.
type OpenSegmentBy = fn(&Arc<dyn Vfs>, &Path, &Arc<BlockCache>) -> Result<Segment, PackedError>;

/// Makes sure that a segment is the one the manifest means.
fn check_identity(
    segment: &Segment,
    folder: &Path,
    manifest: &Manifest,
    entry: &SegmentEntry,
    bases: [u64; Section::COUNT],
) -> Result<(), StoreError> {
    let meta = segment.meta();
    if !entry.is_of(meta) || meta.bases != bases || meta.origin.database != manifest.database {
        let path = folder.join(entry.folder()).join(META_FILE);
        return Err(StoreError::corruption(&path, 0, "the segment is not the one that the manifest names"));
    }
    Ok(())
}
