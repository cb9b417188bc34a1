//! Where the parts of a file's index are that come between its blocks: for who wants to have them at hand before a block is asked for, as a reader far away.

use crate::dictionary::Dictionary;
use crate::error::PackedError;
use crate::file_names::{DICTIONARY_FILE, permutation_file_name};
use crate::order::Order;
use crate::permutation::Permutation;
use lode_base::block_cache::BlockCache;
use lode_base::vfs::ReadAt;
use std::ops::Range;
use std::sync::Arc;

/// The places of all pages of the index of a segment's file, ascending; none of other files.
///
/// # Errors
/// Where the file cannot be read, or the upper level of its index is damaged.
pub fn index_parts(file: Arc<dyn ReadAt>, name: &str) -> Result<Vec<Range<u64>>, PackedError> {
    let cache = Arc::new(BlockCache::new(0));
    if name == DICTIONARY_FILE {
        return Dictionary::open(file, name, cache)?.index_parts();
    }
    match Order::ALL.into_iter().any(|order| permutation_file_name(order) == name) {
        true => Permutation::open(file, name, cache)?.index_parts(),
        false => Ok(Vec::new()),
    }
}
