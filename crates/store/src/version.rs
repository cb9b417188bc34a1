//! One version of a database: its manifest and its open segments.

use crate::error::StoreError;
use crate::manifest::{Manifest, SegmentEntry};
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use lode_packed::{BlockCache, Dictionary, Order, Permutation, Segment};
use lode_rdf::value_id::Section;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An open segment, and where its terms are in the number space.
#[derive(Debug, Clone)]
pub struct OpenSegment {
    /// Its line in the manifest.
    pub entry: SegmentEntry,
    /// Its files.
    pub segment: Segment,
    /// What becomes of its files. Dropped after them.
    folder: Arc<SegmentFolder>,
}

/// The folder of an open segment. It is removed with the last version that holds it, once no manifest names it.
#[derive(Debug)]
struct SegmentFolder {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    is_obsolete: AtomicBool,
}

impl Drop for SegmentFolder {
    fn drop(&mut self) {
        if *self.is_obsolete.get_mut() {
            // What cannot be removed now is removed when the database is next opened for writing.
            let _ = self.vfs.remove_dir_all(&self.path);
        }
    }
}

impl OpenSegment {
    /// Says that no manifest names the segment any more: its files go when the last version that holds it is dropped.
    pub fn set_obsolete(&self) {
        self.folder.is_obsolete.store(true, Ordering::Relaxed);
    }

    /// One of its permutations.
    pub fn permutation(&self, order: Order) -> &Permutation {
        self.segment.permutation(order)
    }

    /// Its dictionary, if it brought new terms.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.segment.dictionary()
    }

    /// The number of the first term of a section in its dictionary.
    pub fn base(&self, section: Section) -> u64 {
        self.segment.meta().bases[section as usize]
    }
}

/// One version of a database.
#[derive(Debug)]
pub struct Version {
    /// What it consists of.
    pub manifest: Manifest,
    /// Its segments, oldest first.
    pub segments: Vec<OpenSegment>,
}

impl Version {
    /// Opens all segments of a manifest. Segments that `known` has open already are shared.
    pub fn open(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        manifest: Manifest,
        cache: &Arc<BlockCache>,
        known: Option<&Self>,
    ) -> Result<Self, StoreError> {
        let mut segments = Vec::with_capacity(manifest.segments.len());
        let mut bases = [0_u64; Section::COUNT];
        for entry in &manifest.segments {
            let shared = known.and_then(|version| version.segments.iter().find(|open| open.entry == *entry));
            let open = match shared {
                Some(open) => open.clone(),
                None => OpenSegment {
                    entry: entry.clone(),
                    segment: open_segment(&**vfs, folder, entry, bases, cache)?,
                    folder: Arc::new(SegmentFolder {
                        vfs: Arc::clone(vfs),
                        path: folder.join(entry.folder()),
                        is_obsolete: AtomicBool::new(false),
                    }),
                },
            };
            for (base, count) in bases.iter_mut().zip(entry.terms) {
                *base += count;
            }
            segments.push(open);
        }
        Ok(Self { manifest, segments })
    }
}

/// Opens a segment and makes sure that it is the one the manifest means.
fn open_segment(
    vfs: &dyn Vfs,
    folder: &Path,
    entry: &SegmentEntry,
    bases: [u64; Section::COUNT],
    cache: &Arc<BlockCache>,
) -> Result<Segment, StoreError> {
    let folder = folder.join(entry.folder());
    let segment = Segment::open(vfs, &folder, cache)?;
    let meta = segment.meta();
    let fingerprint = segment.permutation(Order::Spog).info().fingerprint;
    let terms = meta.dictionary.map_or([0; Section::COUNT], |dictionary| dictionary.counts);
    let fits = meta.quads() == entry.quads
        && fingerprint == entry.fingerprint
        && terms == entry.terms
        && meta.bases == bases;
    if !fits {
        let path = folder.join(META_FILE);
        return Err(StoreError::corruption(&path, 0, "the segment is not the one that the manifest names"));
    }
    Ok(segment)
}
