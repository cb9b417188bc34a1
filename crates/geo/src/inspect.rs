//! What a geometry is: its dimensions, its parts, its extent (GeoSPARQL 1.1, section 8.7).

use crate::error::GeoError;
use crate::geometry::{Geometry, Kind};
use crate::vocabulary::SF;
use geo::dimensions::{Dimensions, HasDimensions};

/// The IRI of its class among simple features.
pub fn class(geometry: &Geometry) -> String {
    format!("{SF}{}", geometry.kind().class())
}

/// 0 for points, 1 for lines, 2 for areas, and the greatest of its parts for a collection.
pub fn dimension(geometry: &Geometry) -> i64 {
    match geometry.kind() {
        Kind::Point | Kind::MultiPoint => 0,
        Kind::LineString | Kind::MultiLineString => 1,
        Kind::GeometryCollection => match geometry.shape().dimensions() {
            Dimensions::Empty | Dimensions::ZeroDimensional => 0,
            Dimensions::OneDimensional => 1,
            Dimensions::TwoDimensional => 2,
        },
        Kind::Polygon | Kind::Triangle | Kind::MultiPolygon | Kind::Tin | Kind::PolyhedralSurface => 2,
    }
}

/// How many numbers each point has.
pub fn coordinate_dimension(geometry: &Geometry) -> i64 {
    spatial_dimension(geometry) + i64::from(geometry.measures().is_some())
}

/// How many of them say where it is.
pub fn spatial_dimension(geometry: &Geometry) -> i64 {
    2 + i64::from(geometry.heights().is_some())
}

/// Whether its lines do not cross or touch themselves.
///
/// # Errors
///
/// Where that takes too long.
pub fn is_simple(geometry: &Geometry) -> Result<bool, GeoError> {
    geometry.is_simple()
}

/// How many geometries it is made of: one, unless it is a collection.
pub fn parts(geometry: &Geometry) -> usize {
    match geometry.shape() {
        geo::Geometry::MultiPoint(points) if geometry.kind() == Kind::MultiPoint => points.0.len(),
        // The empty point.
        geo::Geometry::MultiPoint(_) => 1,
        geo::Geometry::MultiLineString(lines) => lines.0.len(),
        geo::Geometry::MultiPolygon(polygons) => polygons.0.len(),
        geo::Geometry::GeometryCollection(members) => members.0.len(),
        _ => 1,
    }
}

/// One of these, counted from 1.
pub fn part(geometry: &Geometry, number: usize) -> Option<Geometry> {
    let at = number.checked_sub(1)?;
    let (shape, before): (geo::Geometry, usize) = match geometry.shape() {
        geo::Geometry::MultiPoint(points) if geometry.kind() == Kind::MultiPoint => {
            ((*points.0.get(at)?).into(), at)
        }
        geo::Geometry::MultiLineString(lines) => {
            let line = lines.0.get(at)?.clone();
            (line.into(), lines.iter().take(at).map(geo::CoordsIter::coords_count).sum())
        }
        geo::Geometry::MultiPolygon(polygons) => {
            let polygon = polygons.0.get(at)?.clone();
            (polygon.into(), polygons.iter().take(at).map(geo::CoordsIter::coords_count).sum())
        }
        geo::Geometry::GeometryCollection(members) => {
            let member = members.0.get(at)?.clone();
            (member, members.iter().take(at).map(geo::CoordsIter::coords_count).sum())
        }
        _ if at == 0 => return Some(geometry.clone()),
        _ => return None,
    };
    let points = geo::CoordsIter::coords_count(&shape);
    let those =
        |numbers: Option<&[f64]>| numbers.and_then(|all| Some(all.get(before..before + points)?.to_vec()));
    let (heights, measures) = (those(geometry.heights()), those(geometry.measures()));
    let kind = match geometry.kind() {
        Kind::Tin => Kind::Triangle,
        _ => Kind::of(&shape),
    };
    Some(Geometry::new(geometry.crs().clone(), kind, shape, heights, measures))
}

/// An axis of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Easting or longitude.
    X,
    /// Northing or latitude.
    Y,
    /// Height.
    Z,
}

/// The least and the greatest coordinate on an axis; none of an empty geometry, and of one without heights.
pub fn extent(geometry: &Geometry, axis: Axis) -> Option<(f64, f64)> {
    let bounds = geometry.bounds()?;
    match axis {
        Axis::X => Some((bounds.min().x, bounds.max().x)),
        Axis::Y => Some((bounds.min().y, bounds.max().y)),
        Axis::Z => {
            let heights = geometry.heights().filter(|heights| !heights.is_empty())?;
            let (least, greatest) = (f64::INFINITY, f64::NEG_INFINITY);
            Some(heights.iter().fold((least, greatest), |(a, b), height| (a.min(*height), b.max(*height))))
        }
    }
}
