//! Immutable packed files: dictionary, permutations, segments. No threads, locks or clocks here: writers take sorted
//! input and end in `finish()`, readers never mutate.

mod ahead;
mod block;
mod bytes;
mod cached_parts;
pub mod characteristic_sets;
mod codec;
pub mod dictionary;
pub mod error;
mod file_names;
pub mod fingerprint;
pub mod format;
#[doc(hidden)]
pub mod hostile;
mod index_parts;
mod kept;
pub mod order;
mod part;
pub mod permutation;
mod read_context;
pub mod rows;
pub mod segment;
mod warm;

#[cfg(test)]
mod read_ahead_tests;

pub use ahead::Flights;
pub use cached_parts::{CachedPart, cached_parts, warm};
pub use characteristic_sets::{CharacteristicSets, Star, StarMember};
pub use dictionary::{Dictionary, DictionaryInfo, DictionaryWriter, KeyHash, Terms};
pub use error::PackedError;
pub use index_parts::index_parts;
pub use lode_base::block_cache::{BlockCache, CacheCounters, CacheMemory};
pub use order::{Order, Position};
pub use permutation::{BlockBounds, Cursor, Permutation, PermutationInfo, PermutationWriter};
pub use read_context::ReadContext;
pub use segment::{Segment, SegmentMeta};
pub use warm::{OnWarmed, Warmed};
