//! How much a compaction writes, before it is done: old and new files are there together until it is.

use crate::manifest::Sign;
use crate::store::Store;
use crate::version::OpenSegment;

/// Bytes that a compaction of all that is in a store writes, more or less, and those that are free on its disk, where that is known.
pub fn room_to_compact(store: &Store) -> (u64, Option<u64>) {
    let free = store.vfs().free_bytes(store.folder()).unwrap_or(None);
    (bytes_of_merged(&store.version().segments), free)
}

/// Bytes of what becomes of segments that are merged, more or less: what they delete goes, with as much of the files.
pub(super) fn bytes_of_merged(merged: &[OpenSegment]) -> u64 {
    let (mut bytes, mut quads, mut deleted) = (0_u64, 0_u64, 0_u64);
    for open in merged {
        match open.entry.sign {
            Sign::Insertions => {
                bytes += open.segment.meta().bytes();
                quads += open.entry.quads;
            }
            Sign::Deletions => deleted += open.entry.quads,
            Sign::TermsOnly => bytes += open.segment.meta().bytes(),
        }
    }
    let kept = u128::from(quads.saturating_sub(deleted));
    u64::try_from(u128::from(bytes) * kept / u128::from(quads.max(1))).unwrap_or(u64::MAX)
}
