//! A segment: a folder with seven permutations, a dictionary (unless all its terms are in older segments), the characteristic sets of
//! its subjects, and a small sealed description that says which files belong together.

mod meta;

pub use meta::{CharacteristicSetsInfo, META_BYTES_MAX, META_FILE, SegmentMeta, SegmentOrigin};

use crate::characteristic_sets::{self, CharacteristicSets};
use crate::dictionary::Dictionary;
use crate::error::{Damage, PackedError, io_error};
pub use crate::file_names::{DICTIONARY_FILE, STARS_FILE, permutation_file_name};
use crate::format::STARS_BYTES_MAX;
use crate::order::Order;
use crate::part::{PartPath, SWAPPED};
use crate::permutation::{Permutation, PermutationInfo};
use crate::read_context::ReadContext;
use lode_base::block_cache::BlockCache;
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::vfs::{Vfs, WriteFile};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A segment. Clones share it.
#[derive(Debug, Clone)]
pub struct Segment(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    meta: SegmentMeta,
    permutations: [Permutation; Order::COUNT],
    dictionary: Option<Dictionary>,
    characteristic_sets: Option<Arc<CharacteristicSetsFile>>,
}

/// The file of the characteristic sets.
#[derive(Debug)]
struct CharacteristicSetsFile {
    path: PartPath,
    info: CharacteristicSetsInfo,
    /// What was found: none where they are missing or damaged.
    read: OnceLock<Option<CharacteristicSets>>,
}

impl CharacteristicSetsFile {
    fn get(&self) -> Result<&CharacteristicSets, PackedError> {
        let found = match self.read.get() {
            Some(found) => found,
            None => {
                let found = self.read()?;
                self.read.get_or_init(|| found)
            }
        };
        found.as_ref().ok_or_else(|| UNREADABLE_STARS.at(self.path.name(), 0))
    }

    /// Only damage is found once for all: what the file system refuses now it may grant the next time.
    fn read(&self) -> Result<Option<CharacteristicSets>, PackedError> {
        match read_characteristic_sets(&self.path, self.info) {
            Err(PackedError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error @ PackedError::Io { .. }) => Err(error),
            found => Ok(found.ok()),
        }
    }
}

impl Segment {
    /// Opens all files of a segment's folder and makes sure that they are the ones the description names.
    ///
    /// # Errors
    ///
    /// [`PackedError::Io`] where a file cannot be read, [`PackedError::Corruption`] where one is damaged or not the
    /// one that the description names, [`PackedError::Version`] where another version wrote it.
    pub fn open(vfs: &Arc<dyn Vfs>, folder: &Path, cache: &Arc<BlockCache>) -> Result<Self, PackedError> {
        let segment = Self::open_when_read(vfs, folder, cache)?;
        segment.open_files()?;
        Ok(segment)
    }

    /// Reads the description alone. Each file is opened when something in it is first wanted, and then it is made sure that it is the one
    /// that the description names.
    ///
    /// # Errors
    ///
    /// The same for the description alone: see [`SegmentMeta::read`].
    pub fn open_when_read(
        vfs: &Arc<dyn Vfs>,
        folder: &Path,
        cache: &Arc<BlockCache>,
    ) -> Result<Self, PackedError> {
        let meta = SegmentMeta::read(&**vfs, folder)?;
        let part = |file: &str| PartPath::new(vfs, folder, file);
        let permutation = |info: &PermutationInfo| {
            Permutation::at_path(part(permutation_file_name(info.order)), *info, Arc::clone(cache))
        };
        let permutations = meta.permutations.each_ref().map(permutation);
        let dictionary =
            meta.dictionary.map(|info| Dictionary::at_path(part(DICTIONARY_FILE), info, Arc::clone(cache)));
        let characteristic_sets =
            |info| Arc::new(CharacteristicSetsFile { path: part(STARS_FILE), info, read: OnceLock::new() });
        let characteristic_sets = meta.characteristic_sets.map(characteristic_sets);
        Ok(Self(Arc::new(Inner { meta, permutations, dictionary, characteristic_sets })))
    }

    /// Opens all files that are not open yet, so that they can be read whoever removes them.
    ///
    /// # Errors
    ///
    /// As [`Segment::open`]. Characteristic sets that cannot be read are no error.
    pub fn open_files(&self) -> Result<(), PackedError> {
        self.0.permutations.iter().try_for_each(Permutation::open_file)?;
        self.dictionary().map_or(Ok(()), Dictionary::open_file)?;
        self.characteristic_sets();
        Ok(())
    }

    /// The same files for a reader.
    #[must_use]
    pub fn read_by(&self, context: &Arc<ReadContext>) -> Self {
        Self(Arc::new(Inner {
            meta: self.0.meta.clone(),
            permutations: self
                .0
                .permutations
                .each_ref()
                .map(|permutation| permutation.read_by(Some(context))),
            dictionary: self.0.dictionary.as_ref().map(|dictionary| dictionary.read_by(Some(context))),
            characteristic_sets: self.0.characteristic_sets.clone(),
        }))
    }

    /// The description.
    pub fn meta(&self) -> &SegmentMeta {
        &self.0.meta
    }

    /// One of the permutations.
    pub fn permutation(&self, order: Order) -> &Permutation {
        &self.0.permutations[order as usize]
    }

    /// The dictionary, if the segment has one.
    pub fn dictionary(&self) -> Option<&Dictionary> {
        self.0.dictionary.as_ref()
    }

    /// The characteristic sets, unless the segment was written before there were any, or they cannot be read: queries are right without.
    pub fn characteristic_sets(&self) -> Option<&CharacteristicSets> {
        self.0.characteristic_sets.as_deref()?.get().ok()
    }

    /// Reads the quads, and makes sure that the characteristic sets are theirs.
    ///
    /// # Errors
    ///
    /// [`PackedError::Corruption`] where they are missing, damaged or not those of the quads,
    /// [`PackedError::Cancelled`] where `cancel` says so; else as reading the quads.
    pub fn verify_stars(&self, cancel: &CancelToken) -> Result<(), PackedError> {
        let Some(file) = &self.0.characteristic_sets else { return Ok(()) };
        let characteristic_sets = file.get()?;
        if characteristic_sets::gather(
            self.permutation(Order::Spog),
            characteristic_sets.class_predicate(),
            &|| cancel.check(),
        )? != *characteristic_sets
        {
            return Err(Damage("the sets of predicates are not those of the quads").at(&STARS_FILE.into(), 0));
        }
        Ok(())
    }

    /// Reads and checks every file, and that all permutations hold the same quads. `on_progress` hears rows and terms
    /// done since it was called last.
    ///
    /// # Errors
    ///
    /// The first that is found: [`PackedError::Corruption`] where something is damaged or files do not belong
    /// together; else as [`Segment::open`], and [`PackedError::Cancelled`] where `cancel` says so.
    pub fn verify(&self, cancel: &CancelToken, on_progress: &mut dyn FnMut(u64)) -> Result<(), PackedError> {
        let spog = self.permutation(Order::Spog).info();
        for permutation in &self.0.permutations {
            let info = permutation.verify(cancel, on_progress)?;
            let same = info.rows == spog.rows && info.fingerprint == spog.fingerprint;
            if info.order != Order::Gspo && !same {
                let name = Arc::from(permutation_file_name(info.order));
                return Err(Damage("a permutation holds other quads than the others").at(&name, 0));
            }
        }
        if let Some(dictionary) = self.dictionary() {
            dictionary.verify(cancel, on_progress)?;
        }
        self.verify_stars(cancel)
    }
}

/// Counts the characteristic sets of a segment whose other files are there, and writes them into its folder. The file is the caller's
/// to sync. `check` is asked for each block.
///
/// # Errors
///
/// [`PackedError::Io`] where the file cannot be written, [`PackedError::Cancelled`] where `check` says so; else as
/// reading the quads.
pub fn write_characteristic_sets(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    meta: &SegmentMeta,
    check: &dyn Fn() -> Result<(), Cancelled>,
) -> Result<(CharacteristicSetsInfo, Box<dyn WriteFile>), PackedError> {
    let cache = Arc::new(BlockCache::new(0));
    let part = |file: &str| PartPath::new(vfs, folder, file);
    let spog = meta.permutations[Order::Spog as usize];
    let spog = Permutation::at_path(part(permutation_file_name(spog.order)), spog, Arc::clone(&cache));
    let class_predicate = match meta.dictionary {
        Some(info) => Dictionary::at_path(part(DICTIONARY_FILE), info, cache).find(Section::Iri, RDF_TYPE)?,
        None => None,
    };
    let id = |rank| ValueId::new(Kind::Iri, meta.bases[Section::Iri as usize] + rank).to_bits();
    let bytes = characteristic_sets::gather(&spog, class_predicate.map(id), check)?.encode();
    let path = folder.join(STARS_FILE);
    let name: Arc<str> = Arc::from(path.to_string_lossy());
    let mut file = vfs.create(&path).map_err(io_error(&name))?;
    file.write_all(&bytes).map_err(io_error(&name))?;
    file.flush().map_err(io_error(&name))?;
    Ok((CharacteristicSetsInfo::of(&bytes), file))
}

/// The key of the predicate whose objects are classes.
const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const UNREADABLE_STARS: Damage = Damage(
    "the sets of predicates are missing or damaged; queries go without, a compaction counts them anew",
);

fn read_characteristic_sets(
    path: &PartPath,
    info: CharacteristicSetsInfo,
) -> Result<CharacteristicSets, PackedError> {
    let (name, file) = (path.name(), path.open_once()?);
    if file.len() != info.bytes || info.bytes > STARS_BYTES_MAX {
        return Err(SWAPPED.at(name, 0));
    }
    let mut bytes = vec![0; info.bytes as usize];
    file.read_exact_at(&mut bytes, 0).map_err(io_error(name))?;
    let characteristic_sets = CharacteristicSets::decode(&bytes, name)?;
    if CharacteristicSetsInfo::of(&bytes) != info {
        return Err(SWAPPED.at(name, 0));
    }
    Ok(characteristic_sets)
}

#[cfg(test)]
mod tests;
