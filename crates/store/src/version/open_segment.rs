//! An open segment, and what becomes of its files.

use crate::chores::Chores;
use crate::error::StoreError;
use crate::index_files::{IndexFiles, PLACES};
use crate::manifest::SegmentEntry;
use crate::word_files::{WORDS, Words};
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, Dictionary, Order, PackedError, Permutation, ReadContext, Segment};
use lode_rdf::value_id::Section;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

/// An open segment, and where its terms are in the number space.
#[derive(Debug, Clone)]
pub struct OpenSegment {
    /// Its line in the manifest.
    pub entry: SegmentEntry,
    /// Its files.
    pub segment: Segment,
    /// Orders that are known to be damaged.
    damaged: [bool; Order::COUNT],
    /// What becomes of its files. Dropped after them.
    folder: Arc<SegmentFolder>,
}

/// The folder of an open segment. It is removed with the last version that holds it, once no manifest names it.
#[derive(Debug)]
struct SegmentFolder {
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    /// Where blocks of its words are kept.
    cache: Arc<BlockCache>,
    /// The index of its words, once that was opened.
    words: OnceLock<Words>,
    /// The index of its geometries, once that was opened.
    places: OnceLock<IndexFiles>,
    /// Once it is obsolete: who removes it. That may be a query's thread, which should not be kept by it.
    remover: OnceLock<Arc<Chores>>,
}

impl SegmentFolder {
    fn set_obsolete(&self, remover: &Arc<Chores>) {
        self.remover.get_or_init(|| Arc::clone(remover));
    }
}

impl Drop for SegmentFolder {
    fn drop(&mut self) {
        if let Some(remover) = self.remover.get() {
            remover.remove(&*self.vfs, &self.path);
        }
    }
}

impl OpenSegment {
    /// A segment that has been opened in the folder of a database.
    pub fn new(
        vfs: &Arc<dyn Vfs>,
        database: &Path,
        entry: &SegmentEntry,
        segment: Segment,
        cache: &Arc<BlockCache>,
    ) -> Self {
        let folder = SegmentFolder {
            vfs: Arc::clone(vfs),
            path: database.join(entry.folder()),
            cache: Arc::clone(cache),
            words: OnceLock::new(),
            places: OnceLock::new(),
            remover: OnceLock::new(),
        };
        Self { entry: entry.clone(), segment, damaged: Default::default(), folder: Arc::new(folder) }
    }

    /// The same segment under another line of a manifest.
    #[must_use]
    pub fn with_entry(&self, entry: &SegmentEntry) -> Self {
        Self { entry: entry.clone(), ..self.clone() }
    }

    /// The same segment for a reader.
    #[must_use]
    pub fn read_by(&self, context: &Arc<ReadContext>) -> Self {
        Self { segment: self.segment.read_by(context), ..self.clone() }
    }

    /// Says that no manifest names the segment any more: `remover` has its files when the last version that holds it is dropped.
    pub fn set_obsolete(&self, remover: &Arc<Chores>) {
        self.folder.set_obsolete(remover);
    }

    /// The length of one of its files.
    pub fn file_bytes(&self, name: &str) -> Result<u64, StoreError> {
        let path = self.folder.path.join(name);
        self.folder.vfs.open(&path).map(|file| file.len()).map_err(StoreError::io(&path))
    }

    /// Whether both are of the same open files.
    #[cfg(test)]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.folder, &other.folder)
    }

    /// What tells later whether anybody still has it open. Keeps nothing open itself.
    pub fn mark(&self) -> SegmentMark {
        SegmentMark { number: self.entry.number, folder: Arc::downgrade(&self.folder) }
    }

    /// One of its permutations.
    pub fn permutation(&self, order: Order) -> &Permutation {
        self.segment.permutation(order)
    }

    /// Notes that an order is damaged.
    pub fn note_damage(&mut self, order: Order) {
        self.damaged[order as usize] = true;
    }

    /// Whether an order is known to be damaged.
    pub fn has_damage(&self) -> bool {
        self.damaged.contains(&true)
    }

    /// The permutation of an order, or where that is damaged, one whose rows begin with the same position.
    pub fn sound_permutation(&self, order: Order) -> &Permutation {
        let sound = order.twin().filter(|twin| self.damaged[order as usize] && !self.damaged[*twin as usize]);
        self.permutation(sound.unwrap_or(order))
    }

    /// A permutation of all quads: SPOG, or where that is damaged, another one.
    pub fn whole_permutation(&self) -> &Permutation {
        let whole = Order::ALL.into_iter().filter(|order| *order != Order::Gspo);
        let sound = whole.into_iter().find(|order| !self.damaged[*order as usize]);
        self.permutation(sound.unwrap_or(Order::Spog))
    }

    /// Its dictionary, if it brought new terms.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.segment.dictionary()
    }

    /// Whether it has an index of its words.
    pub fn has_words(&self) -> bool {
        self.folder.words.get().is_some() || WORDS.is_in(&*self.folder.vfs, &self.folder.path)
    }

    /// The index of its words, which may have been made since it was opened.
    pub fn words(&self) -> Result<Option<Words>, PackedError> {
        let SegmentFolder { vfs, path, cache, words, .. } = &*self.folder;
        if let Some(words) = words.get() {
            return Ok(Some(words.clone()));
        }
        let opened = Words::open(&**vfs, path, cache)?;
        Ok(opened.map(|opened| words.get_or_init(|| opened).clone()))
    }

    /// Whether it has an index of its geometries.
    pub fn has_places(&self) -> bool {
        self.folder.places.get().is_some() || PLACES.is_in(&*self.folder.vfs, &self.folder.path)
    }

    /// The index of its geometries, which may have been made since it was opened.
    pub fn places(&self) -> Result<Option<IndexFiles>, PackedError> {
        let SegmentFolder { vfs, path, cache, places, .. } = &*self.folder;
        if let Some(places) = places.get() {
            return Ok(Some(places.clone()));
        }
        let opened = IndexFiles::open(&PLACES, &**vfs, path, cache)?;
        Ok(opened.map(|opened| places.get_or_init(|| opened).clone()))
    }

    /// The number of the first term of a section in its dictionary.
    pub fn base(&self, section: Section) -> u64 {
        self.segment.meta().bases[section as usize]
    }
}

/// A segment that somebody had open.
#[derive(Debug, Clone)]
pub struct SegmentMark {
    /// Its number.
    pub number: u64,
    folder: Weak<SegmentFolder>,
}

impl SegmentMark {
    /// Whether anybody has it open still.
    pub fn is_open(&self) -> bool {
        self.folder.strong_count() > 0
    }

    /// As [`OpenSegment::set_obsolete`]; false where nobody has it open any more, so that nobody will remove its files.
    pub fn set_obsolete(&self, remover: &Arc<Chores>) -> bool {
        let folder = self.folder.upgrade();
        folder.is_some_and(|folder| {
            folder.set_obsolete(remover);
            true
        })
    }
}
