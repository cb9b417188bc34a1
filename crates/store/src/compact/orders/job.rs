//! What a merge of orders reads, where it writes, and what it has written.

use crate::compact::first_column::FirstIds;
use crate::compact::id_remap::IdRemap;
use crate::manifest::Sign;
use crate::throttle::Throttle;
use crate::version::OpenSegment;
use lode_packed::{Order, PermutationInfo};
use lode_rdf::value_id::Section;
use std::path::Path;

/// Where the orders of a merge go, and what it reads.
pub struct OrdersJob<'a> {
    /// The segments, and what to take their rows for.
    pub layers: &'a [(&'a OpenSegment, Sign)],
    /// New ids.
    pub remap: &'a IdRemap,
    /// Ids of the segments.
    pub ids: &'a FirstIds,
    /// New numbers of terms are below these.
    pub terms: [u64; Section::COUNT],
    /// Folder of the new segment.
    pub insertions: &'a Path,
    /// Folder of the new segment of deletions.
    pub deletions: Option<&'a Path>,
    /// How fast.
    pub throttle: &'a Throttle,
}

/// What a merge has written.
#[derive(Debug)]
pub struct MergedOrders {
    /// Of the segment of insertions.
    pub insertions: [PermutationInfo; Order::COUNT],
    /// Of the segment of deletions, if there can be any.
    pub deletions: Option<[PermutationInfo; Order::COUNT]>,
}
