//! The checksum of everything on disk (XXH3, 64 bits), and the cheap mixing that hashes of ids are made with.

use crate::vfs::ReadAt;
use std::io;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What is read of a file at once for its checksum.
const PIECE_BYTES: u64 = 1 << 20;

/// XXH3 of `bytes`. Finds damage, not malice.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The same of all bytes of a file. `check` is asked before each piece of them.
///
/// # Errors
/// Where the file cannot be read, or `check` says so.
pub fn file_checksum(file: &dyn ReadAt, check: &dyn Fn() -> io::Result<()>) -> io::Result<u64> {
    let (mut hash, mut piece, mut at) = (Xxh3::new(), Vec::new(), 0);
    while at < file.len() {
        check()?;
        piece.resize(PIECE_BYTES.min(file.len() - at) as usize, 0);
        file.read_exact_at(&mut piece, at)?;
        at += piece.len() as u64;
        file.will_read(at, file.len());
        hash.update(&piece);
    }
    Ok(hash.digest())
}

/// High and low half of the 128-bit product, folded: each bit of the result depends on all bits of both factors.
#[inline]
pub const fn fold(a: u64, b: u64) -> u64 {
    let product = (a as u128).wrapping_mul(b as u128);
    (product as u64) ^ ((product >> 64) as u64)
}
