//! What a permutation file and its blocks are known to hold.

use crate::order::Order;
use std::ops::Range;

/// What a permutation file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermutationInfo {
    /// The sort order.
    pub order: Order,
    /// Quads.
    pub rows: u64,
    /// Length of the file.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
    /// Wrapping sum of [`quad_hash`](crate::fingerprint::quad_hash) over all quads: equal for all orders of one set.
    pub fingerprint: u64,
    /// Distinct values of the first column.
    pub distinct_first: u64,
    /// Checksum at the end of the footer, which depends on every byte of the file through the checksums it covers.
    pub checksum: u64,
}

/// What the index knows of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockBounds {
    /// Its rows.
    pub rows: Range<u64>,
    /// Its first row.
    pub first: [u64; 4],
    /// The least value of each column.
    pub min: [u64; 4],
    /// The greatest value of each column.
    pub max: [u64; 4],
}
