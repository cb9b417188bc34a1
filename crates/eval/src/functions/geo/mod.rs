//! Functions of geometries: GeoSPARQL 1.1 (`geof:`). What computes them is the crate `lode-geo`; here are their entries, and how they come by the
//! geometries of their arguments.
//!
//! A geometry that cannot be read, one that is not valid for an operation, and one that is too large for it, are errors as any other in an
//! expression: the call has no value.

mod arguments;
mod call;
mod facts;
mod join;
mod measures;
mod problem;
mod relations;
mod search;
mod shapes;
mod texts;
mod virtuoso;

use lode_sparql::Function;

pub use arguments::argument_problem;
pub use join::{geometries, place_pairs};
pub use problem::geometry_problem;
pub use search::{place_proximity, place_search};

/// All of them, by what they are about.
pub(super) static FUNCTIONS: [&[Function]; 6] = [
    &relations::FUNCTIONS,
    &measures::FUNCTIONS,
    &shapes::FUNCTIONS,
    &facts::FUNCTIONS,
    &texts::FUNCTIONS,
    virtuoso::FUNCTIONS.as_flattened(),
];
