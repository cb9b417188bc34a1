//! How large geometries and what is done with them may be. Each limit bounds the time of one call, within which a query cannot be stopped.

/// Points of a geometry.
pub const POINTS_MAX: usize = 500_000;
/// The greatest coordinate: products of some of them are still numbers.
pub const COORDINATE_MAX: f64 = 1e50;
/// Geometries in geometries.
pub const DEPTH_MAX: usize = 32;
/// Elements in elements of XML.
pub const XML_DEPTH_MAX: usize = 64;
/// Pairs of segments whose boxes meet that an operation looks at: what they cost is some hundred nanoseconds each.
pub const PAIRS_MAX: usize = 200_000;
/// Below this product of points no pairs are counted: there cannot be too many.
pub const PAIRS_FREE: usize = 100_000;
/// Points of a geometry around which a buffer is made: each becomes a circle or a corner, and what they have in common takes the square of
/// their number in time and memory at worst (a comb of 2,000 points and a great radius: seconds, and 600 MB).
pub const BUFFER_POINTS_MAX: usize = 500;
/// Points of a geometry around which a hull is made.
pub const OUTLINE_POINTS_MAX: usize = 50_000;
