//! Geometries: the literals of GeoSPARQL 1.1, and what can be told and made of them.
//!
//! A [`Geometry`] is a literal that was read ([`read`]): a shape in the plane of its coordinate reference system ([`Crs`]), always with the
//! easting or the longitude first, whatever the order of the system's axes. What works on one or two of them is in a module each. Nothing
//! here knows a query: `lode-eval` has the functions by their IRIs.
//!
//! Geometries come from anybody, so all of them are bounded ([`limits`]): how long, how deep, how many points, and how many pairs of segments
//! an operation may have to look at. Beyond that, and where a geometry is not valid for an operation, there is an error and no answer.

mod apart;
mod arrangement;
mod box_tree;
pub mod construct;
mod corners;
mod cover;
mod crs;
mod error;
mod geometry;
pub mod inspect;
pub mod limits;
pub mod measure;
mod nearest;
mod overlay;
pub mod pairs;
mod parts;
pub mod proximity;
mod rays;
pub mod read;
pub mod relate;
mod segments;
#[cfg(test)]
mod tests;
mod tree;
mod unit;
mod validity;
pub mod vocabulary;
mod watch;
pub mod window;
pub mod write;

pub use crs::Crs;
pub use error::GeoError;
pub use geometry::{Geometry, Kind};
pub use unit::Unit;
