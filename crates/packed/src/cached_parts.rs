//! The parts of a segment that a cache keeps blocks of, by numbers that stay: what a list of hot blocks is made of, and how such blocks are
//! brought into the cache again.

use crate::error::Result;
use crate::order::Order;
use crate::segment::Segment;
use crate::warm::OnWarmed;
use std::ops::ControlFlow;

/// What of a segment the cache has blocks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CachedPart {
    /// Rows in an order.
    Rows(Order),
    /// Terms of the dictionary.
    Terms,
    /// Filters of the dictionary, by the numbers of the first blocks that they are of.
    Filters,
}

const TERMS: u8 = 16;
const FILTERS: u8 = 17;

impl CachedPart {
    /// Its number in files, which stays.
    pub fn number(self) -> u8 {
        match self {
            Self::Rows(order) => order as u8,
            Self::Terms => TERMS,
            Self::Filters => FILTERS,
        }
    }

    /// The part with a number.
    pub fn of_number(number: u8) -> Option<Self> {
        match number {
            TERMS => Some(Self::Terms),
            FILTERS => Some(Self::Filters),
            _ => Order::ALL.get(usize::from(number)).copied().map(Self::Rows),
        }
    }
}

/// Brings into the cache what it has room for of a part of a segment: blocks by their numbers, which ascend. Numbers that there are not
/// are passed over. Breaks off where `on_warmed` says so.
///
/// # Errors
/// Where a file cannot be read or is damaged, or the reader was called off.
pub fn warm(
    segment: &Segment,
    part: CachedPart,
    blocks: &[u64],
    on_warmed: OnWarmed<'_>,
) -> Result<ControlFlow<()>> {
    match (part, segment.dictionary()) {
        (CachedPart::Rows(order), _) => segment.permutation(order).warm(blocks, on_warmed),
        (CachedPart::Terms, Some(dictionary)) => dictionary.warm(blocks, on_warmed),
        (CachedPart::Filters, Some(dictionary)) => dictionary.warm_filters(blocks, on_warmed),
        (CachedPart::Terms | CachedPart::Filters, None) => Ok(ControlFlow::Continue(())),
    }
}

/// The parts of a segment, and the number of each in the keys of its cache.
pub fn cached_parts(segment: &Segment) -> Vec<(CachedPart, u64)> {
    let mut parts: Vec<(CachedPart, u64)> =
        Order::ALL.map(|order| (CachedPart::Rows(order), segment.permutation(order).cache_file())).to_vec();
    if let Some(dictionary) = segment.dictionary() {
        let (terms, filters) = dictionary.cache_files();
        parts.extend([(CachedPart::Terms, terms), (CachedPart::Filters, filters)]);
    }
    parts
}
