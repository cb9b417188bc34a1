//! A segment: a folder with seven permutations, a dictionary (unless all its terms are in older segments), the sets of predicates of
//! its subjects, and a small sealed description that says which files belong together.

use crate::bytes::{Reader, Unsealed};
use crate::dictionary::{Dictionary, DictionaryInfo};
use crate::error::{Damage, PackedError, io_error};
use crate::format::{BLOCK_ROWS, FORMAT_VERSION, SEGMENT_MAGIC, SEGMENT_VERSION, STARS_BYTES_MAX};
use crate::order::Order;
use crate::permutation::{Permutation, PermutationInfo};
use crate::stars::{self, Stars};
use lode_base::block_cache::BlockCache;
use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::checksum::checksum;
use lode_base::vfs::{Vfs, WriteFile};
use lode_rdf::value_id::Section;
use lode_rdf::{Kind, ValueId};
use std::path::Path;
use std::sync::Arc;

/// Name of the dictionary's file.
pub const DICTIONARY_FILE: &str = "dict.lode";
/// Name of the file of the sets of predicates.
pub const STARS_FILE: &str = "stars.lode";
/// Name of the description's file.
pub const META_FILE: &str = "segment.meta";

/// Name of a permutation's file.
pub const fn permutation_file_name(order: Order) -> &'static str {
    match order {
        Order::Spog => "spog.perm",
        Order::Sopg => "sopg.perm",
        Order::Psog => "psog.perm",
        Order::Posg => "posg.perm",
        Order::Ospg => "ospg.perm",
        Order::Opsg => "opsg.perm",
        Order::Gspo => "gspo.perm",
    }
}

/// What the description says of the sets of predicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StarsInfo {
    /// Length of the file.
    pub bytes: u64,
    /// Checksum at its end.
    pub checksum: u64,
}

impl StarsInfo {
    fn of(bytes: &[u8]) -> Self {
        let sum = bytes.last_chunk::<8>().copied().unwrap_or_default();
        Self { bytes: bytes.len() as u64, checksum: u64::from_le_bytes(sum) }
    }
}

/// The description of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentMeta {
    /// The permutations, by the number of their order.
    pub permutations: [PermutationInfo; Order::COUNT],
    /// The dictionary, if the segment has one.
    pub dictionary: Option<DictionaryInfo>,
    /// For each section, the number of the dictionary's first term: ids are this plus the rank.
    pub bases: [u64; Section::COUNT],
    /// The sets of predicates; none in segments that were written before there were any.
    pub stars: Option<StarsInfo>,
}

const DAMAGED: Damage = Damage("the description of the segment is damaged");

impl SegmentMeta {
    /// How full the blocks of the permutations are: rows over rows that the blocks have room for (1 without blocks).
    pub fn block_fill(&self) -> f64 {
        let rows: u64 = self.permutations.iter().map(|info| info.rows).sum();
        let room: u64 = self.permutations.iter().map(|info| info.blocks * BLOCK_ROWS as u64).sum();
        if room == 0 { 1.0 } else { rows as f64 / room as f64 }
    }

    /// Quads of the segment.
    pub fn quads(&self) -> u64 {
        self.permutations[Order::Spog as usize].rows
    }

    /// Length of all files but the description.
    pub fn bytes(&self) -> u64 {
        let permutations: u64 = self.permutations.iter().map(|info| info.bytes).sum();
        permutations + self.dictionary.map_or(0, |info| info.bytes) + self.stars.map_or(0, |info| info.bytes)
    }

    /// The bytes of the description's file.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = SEGMENT_MAGIC.to_vec();
        let version = if self.stars.is_some() { SEGMENT_VERSION } else { FORMAT_VERSION };
        out.extend_from_slice(&version.to_le_bytes());
        out.extend_from_slice(&u32::from(self.dictionary.is_some()).to_le_bytes());
        let mut numbers = Vec::new();
        for info in &self.permutations {
            numbers.extend_from_slice(&[
                info.rows,
                info.bytes,
                info.blocks,
                info.fingerprint,
                info.distinct_first,
                info.checksum,
            ]);
        }
        let info = self.dictionary.unwrap_or_default();
        numbers.extend_from_slice(&info.counts);
        numbers.extend_from_slice(&[info.bytes, info.key_bytes, info.blocks, info.checksum]);
        numbers.extend_from_slice(&self.bases);
        numbers.extend(self.stars.iter().flat_map(|info| [info.bytes, info.checksum]));
        for number in numbers {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads what [`SegmentMeta::encode`] wrote. `file` is for error messages.
    pub fn decode(bytes: &[u8], file: &str) -> Result<Self, PackedError> {
        let file: Arc<str> = Arc::from(file);
        let (version, body) =
            Reader::sealed(bytes, SEGMENT_MAGIC, &UNSEALED).map_err(|damage| damage.at(&file, 0))?;
        if version != FORMAT_VERSION && version != SEGMENT_VERSION {
            return Err(PackedError::Version { file, found: version, supported: SEGMENT_VERSION });
        }
        Self::parse(body, version == SEGMENT_VERSION).map_err(|damage| damage.at(&file, 0))
    }

    fn parse(mut reader: Reader<'_>, has_stars: bool) -> Result<Self, Damage> {
        let has_dictionary = reader.u32()? == 1;
        let mut permutations = Vec::with_capacity(Order::COUNT);
        for order in Order::ALL {
            permutations.push(PermutationInfo {
                order,
                rows: reader.u64()?,
                bytes: reader.u64()?,
                blocks: reader.u64()?,
                fingerprint: reader.u64()?,
                distinct_first: reader.u64()?,
                checksum: reader.u64()?,
            });
        }
        let info = DictionaryInfo {
            counts: numbers(&mut reader)?,
            bytes: reader.u64()?,
            key_bytes: reader.u64()?,
            blocks: reader.u64()?,
            checksum: reader.u64()?,
        };
        let bases = numbers(&mut reader)?;
        let stars =
            if has_stars { Some(StarsInfo { bytes: reader.u64()?, checksum: reader.u64()? }) } else { None };
        let permutations = permutations.try_into().map_err(|_| DAMAGED)?;
        if !reader.rest().is_empty() {
            return Err(DAMAGED);
        }
        Ok(Self { permutations, dictionary: has_dictionary.then_some(info), bases, stars })
    }

    /// Writes the description into the segment's folder and gives the file back: it, the others and the folder are the
    /// caller's to sync.
    pub fn write(&self, vfs: &dyn Vfs, folder: &Path) -> Result<Box<dyn WriteFile>, PackedError> {
        let path = folder.join(META_FILE);
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let mut file = vfs.create(&path).map_err(io_error(&name))?;
        file.write_all(&self.encode()).map_err(io_error(&name))?;
        file.flush().map_err(io_error(&name))?;
        Ok(file)
    }

    /// Reads the description from the segment's folder.
    pub fn read(vfs: &dyn Vfs, folder: &Path) -> Result<Self, PackedError> {
        let path = folder.join(META_FILE);
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let file = vfs.open(&path).map_err(io_error(&name))?;
        let length = usize::try_from(file.len()).ok().filter(|length| *length <= 4096);
        let length = length.ok_or_else(|| DAMAGED.at(&name, 0))?;
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0).map_err(io_error(&name))?;
        Self::decode(&bytes, &name)
    }
}

fn numbers<const N: usize>(reader: &mut Reader<'_>) -> Result<[u64; N], Damage> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = reader.u64()?;
    }
    Ok(numbers)
}

/// An open segment. Clones share it.
#[derive(Debug, Clone)]
pub struct Segment(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    meta: SegmentMeta,
    permutations: [Permutation; Order::COUNT],
    dictionary: Option<Dictionary>,
    /// Or the file that they cannot be read from: queries are right without.
    stars: Option<Result<Stars, Arc<str>>>,
}

impl Segment {
    /// Opens all files of a segment's folder and makes sure that they are the ones the description names.
    pub fn open(vfs: &dyn Vfs, folder: &Path, cache: &Arc<BlockCache>) -> Result<Self, PackedError> {
        let meta = SegmentMeta::read(vfs, folder)?;
        let mut permutations = Vec::with_capacity(Order::COUNT);
        for info in &meta.permutations {
            permutations.push(open_permutation(vfs, folder, cache, *info)?);
        }
        let dictionary = meta.dictionary.map(|info| open_dictionary(vfs, folder, cache, info)).transpose()?;
        let file = |_| Arc::from(folder.join(STARS_FILE).to_string_lossy());
        let stars = meta.stars.map(|info| open_stars(vfs, folder, info).map_err(file));
        let missing = || DAMAGED.at(&Arc::from(META_FILE), 0);
        let permutations = permutations.try_into().map_err(|_| missing())?;
        Ok(Self(Arc::new(Inner { meta, permutations, dictionary, stars })))
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

    /// The sets of predicates, unless the segment was written before there were any, or they are damaged.
    pub fn stars(&self) -> Option<&Stars> {
        self.0.stars.as_ref()?.as_ref().ok()
    }

    /// Reads the quads, and makes sure that the sets of predicates are theirs.
    pub fn verify_stars(&self, cancel: &CancelToken) -> Result<(), PackedError> {
        let stars = match &self.0.stars {
            None => return Ok(()),
            Some(Ok(stars)) => stars,
            Some(Err(file)) => return Err(UNREADABLE_STARS.at(file, 0)),
        };
        if stars::gather(self.permutation(Order::Spog), stars.class_predicate(), &|| cancel.check())?
            != *stars
        {
            return Err(Damage("the sets of predicates are not those of the quads").at(&STARS_FILE.into(), 0));
        }
        Ok(())
    }

    /// Reads and checks every file, and that all permutations hold the same quads. `on_progress` hears rows and terms
    /// done since it was called last.
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

/// Counts the sets of predicates of a segment whose other files are there, and writes them into its folder. The file is the caller's
/// to sync. `check` is asked for each block.
pub fn write_stars(
    vfs: &dyn Vfs,
    folder: &Path,
    meta: &SegmentMeta,
    check: &dyn Fn() -> Result<(), Cancelled>,
) -> Result<(StarsInfo, Box<dyn WriteFile>), PackedError> {
    let cache = Arc::new(BlockCache::new(0));
    let spog = open_permutation(vfs, folder, &cache, meta.permutations[Order::Spog as usize])?;
    let class_predicate = match meta.dictionary {
        Some(info) => open_dictionary(vfs, folder, &cache, info)?.find(Section::Iri, RDF_TYPE)?,
        None => None,
    };
    let id = |rank| ValueId::new(Kind::Iri, meta.bases[Section::Iri as usize] + rank).to_bits();
    let bytes = stars::gather(&spog, class_predicate.map(id), check)?.encode();
    let path = folder.join(STARS_FILE);
    let name: Arc<str> = Arc::from(path.to_string_lossy());
    let mut file = vfs.create(&path).map_err(io_error(&name))?;
    file.write_all(&bytes).map_err(io_error(&name))?;
    file.flush().map_err(io_error(&name))?;
    Ok((StarsInfo::of(&bytes), file))
}

/// The key of the predicate whose objects are classes.
const RDF_TYPE: &[u8] = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const UNSEALED: Unsealed = Unsealed {
    short: DAMAGED,
    changed: Damage("the checksum of the segment's description is wrong"),
    foreign: Damage("not the description of a segment"),
};
const UNREADABLE_STARS: Damage = Damage(
    "the sets of predicates are missing or damaged; queries go without, a compaction counts them anew",
);
const SWAPPED: Damage = Damage("not the file that the segment's description names");

fn open_permutation(
    vfs: &dyn Vfs,
    folder: &Path,
    cache: &Arc<BlockCache>,
    info: PermutationInfo,
) -> Result<Permutation, PackedError> {
    let path = folder.join(permutation_file_name(info.order));
    let name: Arc<str> = Arc::from(path.to_string_lossy());
    let file = vfs.open(&path).map_err(io_error(&name))?;
    let permutation = Permutation::open(file, &name, Arc::clone(cache))?;
    if permutation.info() != info {
        return Err(SWAPPED.at(&name, 0));
    }
    Ok(permutation)
}

fn open_dictionary(
    vfs: &dyn Vfs,
    folder: &Path,
    cache: &Arc<BlockCache>,
    info: DictionaryInfo,
) -> Result<Dictionary, PackedError> {
    let path = folder.join(DICTIONARY_FILE);
    let name: Arc<str> = Arc::from(path.to_string_lossy());
    let file = vfs.open(&path).map_err(io_error(&name))?;
    let dictionary = Dictionary::open(file, &name, Arc::clone(cache))?;
    if dictionary.info() != info {
        return Err(SWAPPED.at(&name, 0));
    }
    Ok(dictionary)
}

fn open_stars(vfs: &dyn Vfs, folder: &Path, info: StarsInfo) -> Result<Stars, PackedError> {
    let path = folder.join(STARS_FILE);
    let name: Arc<str> = Arc::from(path.to_string_lossy());
    let file = vfs.open(&path).map_err(io_error(&name))?;
    if file.len() != info.bytes || info.bytes > STARS_BYTES_MAX {
        return Err(SWAPPED.at(&name, 0));
    }
    let mut bytes = vec![0; info.bytes as usize];
    file.read_exact_at(&mut bytes, 0).map_err(io_error(&name))?;
    let stars = Stars::decode(&bytes, &name)?;
    if StarsInfo::of(&bytes) != info {
        return Err(SWAPPED.at(&name, 0));
    }
    Ok(stars)
}

#[cfg(test)]
mod tests;
