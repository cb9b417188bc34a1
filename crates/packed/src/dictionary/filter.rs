//! A filter says whether a key can be among the terms of a page, so that a term that a dictionary does not have costs none of its
//! blocks.
//!
//! It is a binary fuse filter (Graf and Lemire, *Binary Fuse Filters: Fast and Smaller Than Xor Filters*, JEA 2022): a key has a
//! slot in each of three neighbouring segments of slots, and the exclusive or of the three is the key's 8 bits. Of other keys one
//! in 256 passes. It takes about 10 bits a term.

use crate::bytes::Reader;
use crate::error::Damage;
use lode_base::block_cache::CachedBlock;
use lode_base::checksum::checksum;
use lode_base::varint::write_varint;

/// A segment has at most 2 to this power slots.
const SEGMENT_BITS_MAX: u32 = 18;
/// Tries to build a filter; each fails about once in a hundred times.
const SEEDS: u8 = 100;

/// What filters look at of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHash(u32);

impl KeyHash {
    /// Of a key of any section.
    #[inline]
    pub fn of(key: &[u8]) -> Self {
        Self(checksum(key) as u32)
    }
}

/// How the slots of a filter are divided.
#[derive(Debug, Clone, Copy, Default)]
struct Shape {
    seed: u8,
    /// Slots of a segment: 2 to this power.
    segment_bits: u32,
    /// Segments in which a key can have its first slot; there are two more.
    segments: u32,
}

impl Shape {
    /// For `keys` keys, by the paper's formulas.
    fn for_keys(keys: usize) -> Self {
        let log = (keys.max(2) as f64).ln();
        let segment_bits = ((log / 3.33_f64.ln() + 2.25) as u32).min(SEGMENT_BITS_MAX);
        let factor = (0.875 + 0.25 * 1e6_f64.ln() / log).max(1.125);
        let slots = (keys as f64 * factor).ceil() as usize;
        let segments = slots.div_ceil(1 << segment_bits).saturating_sub(2).max(1) as u32;
        Self { seed: 0, segment_bits, segments }
    }

    fn slots(self) -> usize {
        (self.segments as usize + 2) << self.segment_bits
    }

    /// All 64 bits depend on all of the hash and on the seed (the end of MurmurHash3).
    #[inline]
    fn mix(self, hash: KeyHash) -> u64 {
        let mut bits = u64::from(hash.0) | u64::from(self.seed) << 32;
        bits = (bits ^ (bits >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        bits = (bits ^ (bits >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        bits ^ (bits >> 33)
    }

    /// The three slots of a key, which are different ones.
    #[inline]
    fn places(self, mixed: u64) -> [usize; 3] {
        let segment = 1_usize << self.segment_bits;
        let firsts = u128::from(self.segments) << self.segment_bits;
        let first = ((u128::from(mixed) * firsts) >> 64) as usize;
        let inside = |bits: u64| bits as usize & (segment - 1);
        [first, (first + segment) ^ inside(mixed >> 18), (first + 2 * segment) ^ inside(mixed)]
    }
}

/// The 8 bits of a key.
#[inline]
fn fingerprint(mixed: u64) -> u8 {
    (mixed ^ (mixed >> 32)) as u8
}

/// The filter of a page.
#[derive(Debug, Default)]
pub(super) struct Filter {
    shape: Shape,
    /// None where there is no filter.
    slots: Vec<u8>,
}

impl CachedBlock for Filter {
    fn bytes(&self) -> usize {
        self.slots.capacity() + size_of::<Self>()
    }
}

impl Filter {
    /// Reads what [`FilterBuilder::build`] wrote.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader::new(bytes);
        let (seed, segment_bits) = (reader.u8()?, u32::from(reader.u8()?));
        let segments = reader.count(bytes.len())? as u32;
        let shape = Shape { seed, segment_bits, segments };
        let slots = reader.rest();
        if segment_bits > SEGMENT_BITS_MAX || segments == 0 || slots.len() != shape.slots() {
            return Err(Damage("a filter does not have the length that it says"));
        }
        Ok(Self { shape, slots: slots.to_vec() })
    }

    /// Whether a key with this hash can be among those that the filter was made of.
    #[inline]
    pub(super) fn may_have(&self, hash: KeyHash) -> bool {
        if self.slots.is_empty() {
            return true;
        }
        let mixed = self.shape.mix(hash);
        let slots = self.shape.places(mixed).map(|place| self.slots.get(place).copied().unwrap_or(0));
        slots[0] ^ slots[1] ^ slots[2] == fingerprint(mixed)
    }
}

/// Builds filters. Keeps its memory from one to the next.
#[derive(Debug, Default)]
pub(super) struct FilterBuilder {
    hashes: Vec<KeyHash>,
    /// For each slot: 4 times the keys that have it, and the exclusive or of which of their slots it is.
    counts: Vec<u8>,
    /// For each slot: the exclusive or of its keys.
    keys: Vec<u64>,
    /// Slots of one key.
    single: Vec<usize>,
    /// Keys in the order in which they were taken out, each with which of its slots only it had.
    order: Vec<(u64, u8)>,
    slots: Vec<u8>,
}

impl FilterBuilder {
    /// Appends the filter of keys with these hashes, of which some may be equal. Appends nothing where no filter is found.
    pub(super) fn build(&mut self, hashes: &[KeyHash], out: &mut Vec<u8>) {
        self.hashes.clear();
        self.hashes.extend_from_slice(hashes);
        let mut shape = Shape::for_keys(hashes.len());
        for seed in 0..SEEDS {
            shape.seed = seed;
            if self.take_out(shape) {
                self.fill(shape);
                out.extend_from_slice(&[seed, shape.segment_bits as u8]);
                write_varint(out, u64::from(shape.segments));
                out.extend_from_slice(&self.slots);
                return;
            }
            if seed == 0 {
                // Two of a kind always fail, and are rare.
                self.hashes.sort_unstable_by_key(|hash| hash.0);
                self.hashes.dedup();
            }
        }
    }

    /// Takes out key after key that has a slot for itself; whether that works for all.
    fn take_out(&mut self, shape: Shape) -> bool {
        let slots = shape.slots();
        self.counts.clear();
        self.counts.resize(slots, 0);
        self.keys.clear();
        self.keys.resize(slots, 0);
        let mut overflow = false;
        for hash in &self.hashes {
            let mixed = shape.mix(*hash);
            for (which, place) in (0..).zip(shape.places(mixed)) {
                let count = self.counts[place].wrapping_add(4) ^ which;
                overflow |= count < 4;
                self.counts[place] = count;
                self.keys[place] ^= mixed;
            }
        }
        self.order.clear();
        self.single.clear();
        self.single.extend((0..slots).filter(|slot| self.counts[*slot] >> 2 == 1));
        while let Some(slot) = self.single.pop() {
            if self.counts[slot] >> 2 != 1 {
                continue;
            }
            let (mixed, own) = (self.keys[slot], self.counts[slot] & 3);
            self.order.push((mixed, own));
            for (which, place) in (0..).zip(shape.places(mixed)) {
                self.counts[place] = self.counts[place].wrapping_sub(4) ^ which;
                self.keys[place] ^= mixed;
                if self.counts[place] >> 2 == 1 {
                    self.single.push(place);
                }
            }
        }
        !overflow && self.order.len() == self.hashes.len()
    }

    /// Gives each key's own slot what makes the three give its fingerprint; slots of keys taken out later come first.
    fn fill(&mut self, shape: Shape) {
        self.slots.clear();
        self.slots.resize(shape.slots(), 0);
        for &(mixed, own) in self.order.iter().rev() {
            let places = shape.places(mixed);
            // Its own slot is still 0.
            let bits = places.iter().fold(fingerprint(mixed), |bits, place| bits ^ self.slots[*place]);
            self.slots[places[usize::from(own)]] = bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(keys: std::ops::Range<u64>) -> Vec<KeyHash> {
        keys.map(|key| KeyHash::of(&key.to_le_bytes())).collect()
    }

    #[test]
    fn has_all_its_keys_and_few_others() {
        let mut builder = FilterBuilder::default();
        for count in (1..40).chain([100, 999, 5000, 32_768, 200_000]) {
            let own = hashes(0..count);
            let mut bytes = Vec::new();
            builder.build(&own, &mut bytes);
            let filter = Filter::decode(&bytes).unwrap();
            assert!(own.iter().all(|hash| filter.may_have(*hash)), "{count}");
            let others = hashes(1 << 40..(1 << 40) + 100_000);
            let passed = others.into_iter().filter(|hash| filter.may_have(*hash)).count();
            assert!(passed < 700, "{passed} of 100000 pass a filter of {count}");
            if count > 4000 {
                let bits = bytes.len() as f64 * 8.0 / count as f64;
                assert!(bits < 11.0, "{bits} bits a key of {count}");
            }
        }
    }

    #[test]
    fn equal_hashes_are_fine() {
        let mut own = hashes(0..1000);
        own.extend_from_within(100..150);
        let mut bytes = Vec::new();
        FilterBuilder::default().build(&own, &mut bytes);
        let filter = Filter::decode(&bytes).unwrap();
        assert!(!bytes.is_empty() && own.into_iter().all(|hash| filter.may_have(hash)));
    }

    #[test]
    fn golden_bytes() {
        let mut bytes = Vec::new();
        FilterBuilder::default().build(&hashes(0..3), &mut bytes);
        assert_eq!(bytes, b"\x00\x03\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x6A\0\x54\0\xF8");
    }

    #[test]
    fn damage_is_an_error_and_no_filter_lets_all_pass() {
        assert!(Filter::decode(&[]).unwrap().may_have(KeyHash(7)));
        let mut bytes = Vec::new();
        FilterBuilder::default().build(&hashes(0..100), &mut bytes);
        assert!(Filter::decode(&bytes[1..]).is_err());
        for end in 1..bytes.len() {
            assert!(Filter::decode(&bytes[..end]).is_err());
        }
        assert!(Filter::decode(&[0, 200, 1, 0, 0, 0]).is_err());
        assert!(Filter::decode(&[0, 0, 0, 0, 0]).is_err());
    }
}
