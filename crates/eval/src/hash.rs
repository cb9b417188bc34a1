//! Hashing rows of ids: one multiply-and-fold per column, over whole batches, so that a row is hashed once.

use lode_rdf::ValueId;

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;

/// Folds `value` into `hash`.
#[inline]
pub fn mix(hash: u64, value: u64) -> u64 {
    let product = u128::from(hash ^ value ^ SEED) * u128::from(FACTOR);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    (low ^ high).rotate_left(23).wrapping_mul(SEED)
}

/// Spreads the bits of an id over a hash.
#[inline]
pub fn spread(id: ValueId) -> u64 {
    let hash = id.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^ (hash >> 32)
}

/// A finished hash of one id.
#[inline]
pub fn hash_id(id: ValueId) -> u64 {
    mix(0, id.to_bits())
}

/// The hashes of `rows` rows over `columns`, into `hashes` (replaced). Without columns all hashes are 0.
pub fn hash_columns(columns: &[&[ValueId]], rows: usize, hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.resize(rows, 0);
    for column in columns {
        for (hash, id) in hashes.iter_mut().zip(*column) {
            *hash = mix(*hash, id.to_bits());
        }
    }
}

/// The partition, of `count` (a power of two), that a hash falls in at a level of partitioning. Different levels use
/// different bits; tables use the low bits.
#[inline]
pub fn partition(hash: u64, level: u32, count: usize) -> usize {
    let remixed = mix(u64::from(level) + 1, hash);
    usize::try_from(remixed >> 40).unwrap_or(0) & (count - 1)
}

/// A set's hasher for keys that are ids or small tuples of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0, value);
    }
}

/// Builds [`IdHasher`]s.
pub type IdHash = std::hash::BuildHasherDefault<IdHasher>;
