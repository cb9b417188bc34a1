//! The last step before a new segment may be named by a manifest: its characteristic sets are counted, it gets a description that says
//! which segment it is and where it comes from, and everything of it is made durable.

use crate::error::StoreError;
use crate::manifest::{SegmentEntry, Sign};
use crate::store::Store;
use crate::version::OpenSegment;
use lode_base::cancel::Cancelled;
use lode_base::identity::random_identity;
use lode_packed::segment::{SegmentOrigin, write_characteristic_sets};
use lode_packed::{DictionaryInfo, Order, PermutationInfo, SegmentMeta};
use lode_rdf::value_id::Section;
use std::path::Path;

/// The files of a segment, which are durable.
#[derive(Debug, Clone, Copy)]
pub struct NewFiles {
    /// The permutations, by the number of their order.
    pub permutations: [PermutationInfo; Order::COUNT],
    /// The dictionary, if there is one.
    pub dictionary: Option<DictionaryInfo>,
    /// Terms of the dictionaries before it.
    pub bases: [u64; Section::COUNT],
}

impl NewFiles {
    /// Quads in them.
    pub fn quads(&self) -> u64 {
        self.permutations[Order::Spog as usize].rows
    }
}

/// What a segment is to its database: what its description says besides what the store knows.
#[derive(Debug, Clone)]
pub struct NewOrigin {
    /// Its number, which is taken.
    pub number: u64,
    /// What its quads are.
    pub sign: Sign,
    /// Whether a compaction writes it.
    pub is_merge: bool,
    /// See [`SegmentOrigin::is_followed`].
    pub is_followed: bool,
    /// See [`SegmentOrigin::version`].
    pub version: u64,
    /// Where its ids come from: see [`SegmentOrigin::numbering`].
    pub numbering: u64,
    /// Numbers of segments that the database has not any more with it.
    pub replaces: Vec<u64>,
    /// Numbers of segments of which it has only the dictionaries with it.
    pub empties: Vec<u64>,
    /// See [`SegmentOrigin::buried`].
    pub buried: Vec<u64>,
}

impl NewOrigin {
    /// Of a segment that replaces none.
    pub fn new(number: u64, sign: Sign, version: u64, numbering: u64) -> Self {
        let [replaces, empties, buried] = Default::default();
        let (is_merge, is_followed) = (false, false);
        Self { number, sign, is_merge, is_followed, version, numbering, replaces, empties, buried }
    }

    /// Says that it replaces some segments wholly. What their descriptions say goes with them, so this one says what counts still.
    #[must_use]
    pub fn replacing<'a>(mut self, store: &Store, replaced: impl Iterator<Item = &'a OpenSegment>) -> Self {
        let (named, current) = (store.snapshot_catalog(), store.version());
        for open in replaced {
            self.replaces.push(open.entry.number);
            let SegmentOrigin { replaces, empties, buried, .. } = &open.segment.meta().origin;
            self.buried.extend(replaces.iter().chain(buried).filter(|number| named.names(**number)));
            self.empties.extend(empties);
        }
        let is_there = |number: &u64| current.manifest.segments.iter().any(|entry| entry.number == *number);
        let Self { replaces, empties, buried, .. } = &mut self;
        empties.retain(|number| is_there(number) && !replaces.contains(number));
        for numbers in [empties, buried] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        self
    }
}

/// A segment that is durable and that no manifest names yet.
#[derive(Debug)]
pub struct NewSegment {
    /// Its line in the manifest.
    pub entry: SegmentEntry,
    /// Its description.
    pub meta: SegmentMeta,
}

/// Writes the characteristic sets and the description of a segment into its folder, and makes them and the folders durable. `check` is
/// asked for each block.
pub fn seal_segment(
    store: &Store,
    files: NewFiles,
    origin: NewOrigin,
    folder: &Path,
    check: &dyn Fn() -> Result<(), Cancelled>,
) -> Result<NewSegment, StoreError> {
    let (vfs, sign) = (store.vfs(), origin.sign);
    let NewFiles { permutations, dictionary, bases } = files;
    let origin = described(store, origin)?;
    let mut meta = SegmentMeta { origin, permutations, dictionary, bases, characteristic_sets: None };
    // Quads that are deleted are not those of whole subjects.
    if sign == Sign::Insertions && meta.quads() > 0 {
        let (info, mut file) = write_characteristic_sets(vfs, folder, &meta, check)?;
        file.sync().map_err(StoreError::io(folder))?;
        meta.characteristic_sets = Some(info);
    }
    let mut description = meta.write(&**vfs, folder)?;
    description.sync().map_err(StoreError::io(folder))?;
    vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    vfs.sync_dir(store.folder()).map_err(StoreError::io(store.folder()))?;
    Ok(NewSegment { entry: SegmentEntry::of(&meta), meta })
}

fn described(store: &Store, origin: NewOrigin) -> Result<SegmentOrigin, StoreError> {
    let writer = store.writer()?;
    let NewOrigin { number, sign, is_merge, is_followed, version, numbering, .. } = origin;
    Ok(SegmentOrigin {
        identity: random_identity(),
        database: store.version().manifest.database,
        number,
        is_deletions: sign == Sign::Deletions,
        is_merge,
        is_followed,
        version,
        numbering,
        next_blank: writer.next_blank(),
        next_log: writer.next_log(),
        replaces: origin.replaces,
        empties: origin.empties,
        buried: origin.buried,
    })
}
