//! The checksum of everything on disk (XXH3, 64 bits), and the cheap mixing that hashes of ids are made with.

use xxhash_rust::xxh3::xxh3_64;

/// XXH3 of `bytes`. Finds damage, not malice.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// High and low half of the 128-bit product, folded: each bit of the result depends on all bits of both factors.
#[inline]
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}
