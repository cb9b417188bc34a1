//! An index of the geometries of a segment: a tree of boxes for each plane, so that a condition on where something is does not read all of them.
//!
//! It is two files beside the segment's own ([`crate::index_files`]): a dictionary of the planes, and the trees as rows. A geometry is its place among the literals with a
//! datatype of the segment's dictionary, so that the index stays right when numbers before the segment change. The boxes find candidates; whether these pass is for
//! the condition itself to say.

#[cfg(feature = "geo")]
mod build;
#[cfg(feature = "geo")]
mod hilbert;
#[cfg(feature = "geo")]
mod nearest;
#[cfg(feature = "geo")]
mod ranges;
#[cfg(feature = "geo")]
mod search;
#[cfg(feature = "geo")]
mod tree;

#[cfg(feature = "geo")]
pub(crate) use build::index_in_turn;
#[cfg(feature = "geo")]
pub use build::{NoGeometry, PlacesOptions, PlacesReport, drop_places, index_places, keeps_places};
#[cfg(feature = "geo")]
pub use nearest::Nearest;
