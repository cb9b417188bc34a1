//! One version of a database: its manifest, its open segments, and what transactions have changed since.

use crate::delta::{Delta, Row, is_delta_term};
use crate::error::StoreError;
use crate::existing::SegmentQuads;
use crate::manifest::{Manifest, SegmentEntry, Sign};
use lode_base::vfs::Vfs;
use lode_packed::segment::META_FILE;
use lode_packed::{BlockCache, Dictionary, Order, Permutation, Segment};
use lode_rdf::ValueId;
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
///
/// Each quad is inserted by as many of the segments and runs as delete it, or by one more: then it is in the database.
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
        let mut segments = Vec::with_capacity(manifest.segments.len());
        let mut bases = [0_u64; Section::COUNT];
        for entry in &manifest.segments {
            let is_same =
                |open: &&OpenSegment| SegmentEntry { sign: entry.sign, ..open.entry.clone() } == *entry;
            let shared = known.iter().find(is_same);
            let open = match shared {
                Some(open) => OpenSegment { entry: entry.clone(), ..open.clone() },
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
        let (number, next_blank) = (manifest.version, manifest.next_blank);
        let dictionaries = segments.iter().filter(|segment| segment.dictionary().is_some()).count();
        let (segments, delta) = (segments.into(), Delta::default());
        Ok(Self { manifest, segments, dictionaries, delta, number, next_blank })
    }

    /// This version without the quads of some of its segments, by number.
    #[must_use]
    pub fn without(&self, numbers: &[u64]) -> Self {
        let mut version = self.clone();
        version.manifest.segments = retired(&self.manifest.segments, numbers);
        let renewed = self.segments.iter().zip(&version.manifest.segments);
        version.segments =
            renewed.map(|(open, entry)| OpenSegment { entry: entry.clone(), ..open.clone() }).collect();
        version
    }

    /// The segments all of whose quads are in one graph, and of those some at least; none where something else than these segments
    /// says of the graph that a quad is not there.
    pub fn segments_of_graph(&self, graph: ValueId) -> Result<Vec<u64>, StoreError> {
        let of_graph = |segment: &OpenSegment| -> Result<u64, StoreError> {
            let named = segment.permutation(Order::Gspo);
            if graph == ValueId::DEFAULT_GRAPH {
                return Ok(segment.permutation(Order::Spog).rows() - named.rows());
            }
            let rows = named.range(&[graph.to_bits()])?;
            Ok(rows.end - rows.start)
        };
        let is_deleted = |run: &Arc<crate::delta::Run>| {
            let of_graph = |quad: &Row| quad[3] == graph.to_bits();
            run.deletes.rows(Order::Spog).iter().any(of_graph)
        };
        if self.delta.runs().iter().any(is_deleted) {
            return Ok(Vec::new());
        }
        let mut numbers = Vec::new();
        for segment in &*self.segments {
            let quads = of_graph(segment)?;
            match segment.entry.sign {
                Sign::Deletions if quads > 0 => return Ok(Vec::new()),
                Sign::Insertions if quads > 0 && quads == segment.entry.quads => {
                    numbers.push(segment.entry.number);
                }
                _ => {}
            }
        }
        Ok(numbers)
    }

    /// Quads in all graphs.
    pub fn quads(&self) -> u64 {
        let quads = i128::from(self.manifest.quads()) + i128::from(self.delta.net_quads());
        u64::try_from(quads).unwrap_or(0)
    }

    /// For each of `quads` (S, P, O, G; sorted) whether the segments hold it, whatever the delta says.
    pub fn held_by_segments(&self, quads: &[Row]) -> Result<Vec<bool>, StoreError> {
        let mut segments = SegmentQuads::new(self);
        quads.iter().map(|quad| Ok(!has_delta_term(quad) && segments.contains(*quad)?)).collect()
    }

    /// For each of `quads` (S, P, O, G; sorted) whether it is in the database, given what the segments say.
    pub fn visible(&self, quads: &[Row], held_by_segments: &[bool]) -> Vec<bool> {
        let said = self.delta.mentions(quads);
        said.into_iter().zip(held_by_segments).map(|(said, held)| said.unwrap_or(*held)).collect()
    }
}

/// Segments, those with some numbers without their quads.
pub fn retired(segments: &[SegmentEntry], numbers: &[u64]) -> Vec<SegmentEntry> {
    let retire = |entry: &SegmentEntry| {
        let sign = if numbers.contains(&entry.number) { Sign::TermsOnly } else { entry.sign };
        SegmentEntry { sign, ..entry.clone() }
    };
    segments.iter().map(retire).collect()
}

/// No segment holds a quad with a term that none of their dictionaries has.
fn has_delta_term(quad: &Row) -> bool {
    quad.iter().any(|bits| is_delta_term(ValueId::from_bits(*bits)))
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
