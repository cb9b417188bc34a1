//! The description of a segment (`segment.meta`): which it is, what it was made of, and which files belong to it.
//!
//! It is the last file of a segment to be written: a segment with a description is whole. What it says of the segment's origin is
//! enough to tell which segments make up a database whose manifest is lost.

use crate::bytes::{Reader, Unsealed};
use crate::dictionary::DictionaryInfo;
use crate::error::{Damage, PackedError, io_error};
use crate::format::{BLOCK_ROWS, SEGMENT_MAGIC, SEGMENT_VERSION};
use crate::order::Order;
use crate::permutation::PermutationInfo;
use lode_base::checksum::checksum;
use lode_base::vfs::{Vfs, WriteFile};
use lode_rdf::value_id::Section;
use std::path::Path;
use std::sync::Arc;

/// Name of the description's file.
pub const META_FILE: &str = "segment.meta";
/// A longer file is no description.
pub const META_BYTES_MAX: u64 = 16 << 20;

/// Which segment it is, and what it was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SegmentOrigin {
    /// Random number, which no other segment has.
    pub identity: u128,
    /// Random number of the database.
    pub database: u128,
    /// Number of the segment, which gives the folder its name.
    pub number: u64,
    /// Whether its quads are deletions.
    pub is_deletions: bool,
    /// Whether a compaction wrote it: with the others that it wrote it holds the quads of those that it replaces.
    pub is_merge: bool,
    /// Whether it counts only with the segment that has the next number.
    pub is_followed: bool,
    /// Number of the newest version all changes of which are in segments, with this one.
    pub version: u64,
    /// The compaction that its ids come from: the number of the first segment that this wrote; 0 before the first.
    pub numbering: u64,
    /// First blank node number that was not given when it was written.
    pub next_blank: u64,
    /// First log number that was not given when it was written.
    pub next_log: u64,
    /// Numbers of segments that the database has not any more with this one.
    pub replaces: Vec<u64>,
    /// Numbers of segments of which it has only the dictionaries with this one.
    pub empties: Vec<u64>,
    /// Numbers of segments that those in `replaces` had replaced, and that a snapshot keeps.
    pub buried: Vec<u64>,
}

/// What the description says of the characteristic sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharacteristicSetsInfo {
    /// Length of the file.
    pub bytes: u64,
    /// Checksum at its end.
    pub checksum: u64,
}

impl CharacteristicSetsInfo {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let sum = bytes.last_chunk::<8>().copied().unwrap_or_default();
        Self { bytes: bytes.len() as u64, checksum: u64::from_le_bytes(sum) }
    }
}

/// The description of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentMeta {
    /// Which segment it is.
    pub origin: SegmentOrigin,
    /// The permutations, by the number of their order.
    pub permutations: [PermutationInfo; Order::COUNT],
    /// The dictionary, if the segment has one.
    pub dictionary: Option<DictionaryInfo>,
    /// For each section, the number of the dictionary's first term: ids are this plus the rank.
    pub bases: [u64; Section::COUNT],
    /// The characteristic sets; none of segments of deletions, nor of those without quads.
    pub characteristic_sets: Option<CharacteristicSetsInfo>,
}

const DAMAGED: Damage = Damage("the description of the segment is damaged");
const PARTS: Damage =
    Damage("the description names files in several parts, which this version of the program does not read");
const UNSEALED: Unsealed = Unsealed {
    short: DAMAGED,
    changed: Damage("the checksum of the segment's description is wrong"),
    foreign: Damage("not the description of a segment"),
};
/// Of the flags: its quads are deletions.
const DELETIONS: u32 = 1;
/// Of the flags: a compaction wrote it.
const MERGE: u32 = 2;
/// Of the flags: it counts only with the next one.
const FOLLOWED: u32 = 4;

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

    /// The order-independent fingerprint of its quads.
    pub fn fingerprint(&self) -> u64 {
        self.permutations[Order::Spog as usize].fingerprint
    }

    /// Terms in each section of its dictionary.
    pub fn terms(&self) -> [u64; Section::COUNT] {
        self.dictionary.map_or([0; Section::COUNT], |info| info.counts)
    }

    /// Length of all files but the description.
    pub fn bytes(&self) -> u64 {
        let permutations: u64 = self.permutations.iter().map(|info| info.bytes).sum();
        permutations
            + self.dictionary.map_or(0, |info| info.bytes)
            + self.characteristic_sets.map_or(0, |info| info.bytes)
    }

    /// The bytes of the description's file.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = SEGMENT_MAGIC.to_vec();
        out.extend_from_slice(&SEGMENT_VERSION.to_le_bytes());
        let origin = &self.origin;
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(origin.is_deletions, DELETIONS)
            | flag(origin.is_merge, MERGE)
            | flag(origin.is_followed, FOLLOWED);
        out.extend_from_slice(&flags.to_le_bytes());
        out.extend_from_slice(&origin.identity.to_le_bytes());
        out.extend_from_slice(&origin.database.to_le_bytes());
        let mut numbers =
            vec![origin.number, origin.version, origin.numbering, origin.next_blank, origin.next_log];
        for list in [&origin.replaces, &origin.empties, &origin.buried] {
            numbers.push(list.len() as u64);
            numbers.extend_from_slice(list);
        }
        for info in &self.permutations {
            numbers.push(1);
            numbers.extend_from_slice(&[info.rows, info.bytes, info.blocks, info.fingerprint]);
            numbers.extend_from_slice(&[info.distinct_first, info.checksum]);
        }
        numbers.push(u64::from(self.dictionary.is_some()));
        if let Some(info) = &self.dictionary {
            numbers.extend_from_slice(&info.counts);
            numbers.extend_from_slice(&[info.bytes, info.key_bytes, info.blocks, info.checksum]);
        }
        numbers.extend_from_slice(&self.bases);
        numbers.push(u64::from(self.characteristic_sets.is_some()));
        numbers.extend(self.characteristic_sets.iter().flat_map(|info| [info.bytes, info.checksum]));
        out.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        let sum = checksum(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads what [`SegmentMeta::encode`] wrote. `file` is for error messages.
    ///
    /// # Errors
    ///
    /// [`PackedError::Corruption`] where the bytes are damaged, [`PackedError::Version`] where another version wrote
    /// them.
    pub fn decode(bytes: &[u8], file: &str) -> Result<Self, PackedError> {
        let file: Arc<str> = Arc::from(file);
        let (version, body) =
            Reader::sealed(bytes, SEGMENT_MAGIC, &UNSEALED).map_err(|damage| damage.at(&file, 0))?;
        if version != SEGMENT_VERSION {
            return Err(PackedError::Version { file, found: version, supported: SEGMENT_VERSION });
        }
        Self::parse(body).map_err(|damage| damage.at(&file, 0))
    }

    fn parse(mut reader: Reader<'_>) -> Result<Self, Damage> {
        let origin = parse_origin(&mut reader)?;
        let mut permutations = Vec::with_capacity(Order::COUNT);
        for order in Order::ALL {
            permutations.push(parse_permutation(&mut reader, order)?);
        }
        let dictionary = match parts(&mut reader)? {
            0 => None,
            _ => Some(DictionaryInfo {
                counts: numbers(&mut reader)?,
                bytes: reader.u64()?,
                key_bytes: reader.u64()?,
                blocks: reader.u64()?,
                checksum: reader.u64()?,
            }),
        };
        let bases = numbers(&mut reader)?;
        let characteristic_sets = match parts(&mut reader)? {
            0 => None,
            _ => Some(CharacteristicSetsInfo { bytes: reader.u64()?, checksum: reader.u64()? }),
        };
        let permutations = permutations.try_into().map_err(|_| DAMAGED)?;
        if !reader.rest().is_empty() {
            return Err(DAMAGED);
        }
        Ok(Self { origin, permutations, dictionary, bases, characteristic_sets })
    }

    /// Writes the description into the segment's folder and gives the file back: it, the others and the folder are the
    /// caller's to sync.
    ///
    /// # Errors
    ///
    /// [`PackedError::Io`] where the file cannot be written.
    pub fn write(&self, vfs: &dyn Vfs, folder: &Path) -> Result<Box<dyn WriteFile>, PackedError> {
        let path = folder.join(META_FILE);
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let mut file = vfs.create(&path).map_err(io_error(&name))?;
        file.write_all(&self.encode()).map_err(io_error(&name))?;
        file.flush().map_err(io_error(&name))?;
        Ok(file)
    }

    /// Reads the description from the segment's folder.
    ///
    /// # Errors
    ///
    /// [`PackedError::Io`] where the file cannot be read; else as [`SegmentMeta::decode`].
    pub fn read(vfs: &dyn Vfs, folder: &Path) -> Result<Self, PackedError> {
        let path = folder.join(META_FILE);
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let file = vfs.open(&path).map_err(io_error(&name))?;
        if file.len() > META_BYTES_MAX {
            return Err(DAMAGED.at(&name, 0));
        }
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0).map_err(io_error(&name))?;
        Self::decode(&bytes, &name)
    }
}

fn parse_origin(reader: &mut Reader<'_>) -> Result<SegmentOrigin, Damage> {
    let flags = reader.u32()?;
    if flags & !(DELETIONS | MERGE | FOLLOWED) != 0 {
        return Err(DAMAGED);
    }
    Ok(SegmentOrigin {
        is_deletions: flags & DELETIONS != 0,
        is_merge: flags & MERGE != 0,
        is_followed: flags & FOLLOWED != 0,
        identity: reader.u128()?,
        database: reader.u128()?,
        number: reader.u64()?,
        version: reader.u64()?,
        numbering: reader.u64()?,
        next_blank: reader.u64()?,
        next_log: reader.u64()?,
        replaces: list(reader)?,
        empties: list(reader)?,
        buried: list(reader)?,
    })
}

fn parse_permutation(reader: &mut Reader<'_>, order: Order) -> Result<PermutationInfo, Damage> {
    if parts(reader)? != 1 {
        return Err(DAMAGED);
    }
    Ok(PermutationInfo {
        order,
        rows: reader.u64()?,
        bytes: reader.u64()?,
        blocks: reader.u64()?,
        fingerprint: reader.u64()?,
        distinct_first: reader.u64()?,
        checksum: reader.u64()?,
    })
}

/// In how many parts something is.
fn parts(reader: &mut Reader<'_>) -> Result<u64, Damage> {
    match reader.u64()? {
        parts @ 0..=1 => Ok(parts),
        _ => Err(PARTS),
    }
}

fn list(reader: &mut Reader<'_>) -> Result<Vec<u64>, Damage> {
    let count = usize::try_from(reader.u64()?).map_err(|_| DAMAGED)?;
    if count > reader.rest().len() / size_of::<u64>() {
        return Err(DAMAGED);
    }
    (0..count).map(|_| reader.u64()).collect()
}

fn numbers<const N: usize>(reader: &mut Reader<'_>) -> Result<[u64; N], Damage> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = reader.u64()?;
    }
    Ok(numbers)
}
