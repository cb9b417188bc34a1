//! Whether two shapes have a point in common, and how far they are apart in the plane, however large they are: trees of the edges of both are compared, and not all
//! edges with all.

use crate::error::GeoError;
use crate::parts::Parts;
use crate::rays::Rays;
use crate::tree::{self, Tree};
use crate::watch::Watch;
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::{Coord, Line};

/// Places that are looked for in all areas one by one; for more a tree of the areas' edges is made first.
const PLACES_FEW: usize = 8;

/// The shortest distance in the plane.
///
/// # Errors
///
/// Where one has no edge and no point, there are too many edges around its places, or time is up.
pub fn distance(a: &Parts, b: &Parts) -> Result<f64, GeoError> {
    let mut watch = Watch::new();
    if are_inside(a, b, &mut watch)? || are_inside(b, a, &mut watch)? {
        return Ok(0.0);
    }
    match nearest(a, b, f64::INFINITY, &mut watch)? {
        Some(distance) => Ok(distance),
        None => Err(GeoError::NoAnswer { operation: "distance", what: "an empty geometry" }),
    }
}

/// Whether they have a point in common.
///
/// # Errors
///
/// As [`distance`].
pub fn meet(a: &Parts, b: &Parts) -> Result<bool, GeoError> {
    let mut watch = Watch::new();
    Ok(are_inside(a, b, &mut watch)?
        || are_inside(b, a, &mut watch)?
        || nearest(a, b, 0.0, &mut watch)?.is_some())
}

/// The distance of what is nearest on the edges of both, if it is no greater than `most`.
fn nearest(a: &Parts, b: &Parts, most: f64, watch: &mut Watch) -> Result<Option<f64>, GeoError> {
    let mut tree = |parts: &Parts| Tree::<Line, 2>::new(parts.edges().collect(), watch);
    let (a, b) = (tree(a)?, tree(b)?);
    Ok(tree::nearest(&a, &b, most, watch)?.map(|(distance, ..)| distance))
}

/// Whether some part of a shape is inside of an area of another. Of parts that cross an edge that need not be found out.
fn are_inside(parts: &Parts, of: &Parts, watch: &mut Watch) -> Result<bool, GeoError> {
    if of.areas.is_empty() {
        return Ok(false);
    }
    let first = |line: &geo::LineString| line.0.first().copied();
    let places: Vec<Coord> = parts
        .points
        .iter()
        .map(|point| point.0)
        .chain(parts.lines.iter().filter_map(first))
        .chain(parts.areas.iter().filter_map(|area| first(area.exterior())))
        .collect();
    if places.len() <= PLACES_FEW {
        for (area, place) in of.areas.iter().flat_map(|area| places.iter().map(move |place| (area, place))) {
            watch.check_after(area.exterior().0.len())?;
            if area.coordinate_position(place) != CoordPos::Outside {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let mut rays = Rays::new(of.area_edges(), watch)?;
    for place in places {
        if rays.are_around(place, &[], watch)? {
            return Ok(true);
        }
    }
    Ok(false)
}
