//! How two geometries lie to each other: the dimensionally extended nine-intersection model, and the relations of simple features,
//! Egenhofer and the region connection calculus that are patterns of it (GeoSPARQL 1.1, sections 9.4 to 9.6).

use crate::arrangement::Arrangement;
use crate::error::GeoError;
use crate::geometry::{Geometry, bounds_of};
use crate::parts::{Parts, ends};
use crate::segments;
use crate::validity::is_simple;
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::dimensions::{Dimensions, HasDimensions};
use geo::relate::IntersectionMatrix;
use geo::{Intersects, MultiPoint, Relate};
use std::borrow::Cow;
use std::str::FromStr;

/// A relation that is told by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both have the same points.
    Equals,
    /// They have no point in common.
    Disjoint,
    /// They have a point in common.
    Intersects,
    /// They have points in common, but their interiors have none.
    Touches,
    /// Some of the interior of each is in the other, and what they share is of less dimensions.
    Crosses,
    /// The first is in the second.
    Within,
    /// The second is in the first.
    Contains,
    /// Each has some of the other, and what they share has as many dimensions.
    Overlaps,
    /// One of these patterns matches.
    Patterns(&'static [&'static str]),
}

/// The relations by the local names of their functions and properties.
pub const RELATIONS: [(&str, Relation); 24] = [
    ("sfEquals", Relation::Equals),
    ("sfDisjoint", Relation::Disjoint),
    ("sfIntersects", Relation::Intersects),
    ("sfTouches", Relation::Touches),
    ("sfCrosses", Relation::Crosses),
    ("sfWithin", Relation::Within),
    ("sfContains", Relation::Contains),
    ("sfOverlaps", Relation::Overlaps),
    ("ehEquals", Relation::Equals),
    ("ehDisjoint", Relation::Disjoint),
    ("ehMeet", Relation::Touches),
    ("ehOverlap", Relation::Patterns(&["T*T***T**"])),
    ("ehCovers", Relation::Patterns(&["T*TFT*FF*"])),
    ("ehCoveredBy", Relation::Patterns(&["TFF*TFT**"])),
    ("ehInside", Relation::Patterns(&["TFF*FFT**"])),
    ("ehContains", Relation::Patterns(&["T*TFF*FF*"])),
    ("rcc8eq", Relation::Patterns(&["TFFFTFFFT"])),
    ("rcc8dc", Relation::Patterns(&["FFTFFTTTT"])),
    ("rcc8ec", Relation::Patterns(&["FFTFTTTTT"])),
    ("rcc8po", Relation::Patterns(&["TTTTTTTTT"])),
    ("rcc8tppi", Relation::Patterns(&["TTTFTTFFT"])),
    ("rcc8tpp", Relation::Patterns(&["TFFTTFTTT"])),
    ("rcc8ntpp", Relation::Patterns(&["TFFTFFTTT"])),
    ("rcc8ntppi", Relation::Patterns(&["TTTFFTFFT"])),
];

/// The relation with this local name.
pub fn named(name: &str) -> Option<Relation> {
    RELATIONS.iter().find(|(known, _)| *known == name).map(|(_, relation)| *relation)
}

/// Whether two geometries are so related.
///
/// # Errors
///
/// Where a geometry is not valid or they are too large, or there is no way from the reference system of the second to that of the first.
pub fn holds(relation: Relation, a: &Geometry, b: &Geometry) -> Result<bool, GeoError> {
    let matrix = matrix(a, b)?;
    Ok(match relation {
        Relation::Equals => matrix.is_equal_topo(),
        Relation::Disjoint => matrix.is_disjoint(),
        Relation::Intersects => matrix.is_intersects(),
        Relation::Touches => matrix.is_touches(),
        Relation::Crosses => matrix.is_crosses(),
        Relation::Within => matrix.is_within(),
        Relation::Contains => matrix.is_contains(),
        Relation::Overlaps => matrix.is_overlaps(),
        Relation::Patterns(patterns) => {
            patterns.iter().any(|pattern| matrix.matches(pattern).unwrap_or(false))
        }
    })
}

/// Whether the matrix of two geometries matches a pattern of nine of `T`, `F`, `*`, `0`, `1` and `2`.
///
/// # Errors
///
/// As [`holds`], and where the pattern is none.
pub fn matches(a: &Geometry, b: &Geometry, pattern: &str) -> Result<bool, GeoError> {
    let is_pattern = pattern.len() == 9 && pattern.bytes().all(|byte| b"TF*012".contains(&byte));
    if !is_pattern {
        return Err(GeoError::NoAnswer {
            operation: "relate",
            what: "what is no pattern of nine of T, F, *, 0, 1 and 2",
        });
    }
    let matrix = matrix(a, b)?;
    matrix.matches(pattern).map_err(|_| GeoError::Invalid)
}

fn matrix(a: &Geometry, b: &Geometry) -> Result<IntersectionMatrix, GeoError> {
    let other = b.shape_in(a.crs())?;
    let bounds = match &other {
        Cow::Borrowed(_) => b.bounds(),
        Cow::Owned(shape) => bounds_of(shape),
    };
    let apart = match (a.bounds(), bounds) {
        (Some(a), Some(b)) => !a.intersects(&b),
        _ => true,
    };
    if apart {
        return disjoint_matrix(dimensions(a.shape()), dimensions(&other));
    }
    a.check_valid()?;
    b.check_valid()?;
    if let Some(matrix) = of_point(a.shape(), &other)? {
        return Ok(matrix);
    }
    let of_b = matches!(other, Cow::Borrowed(_)).then_some(b);
    let is_small = a.points() + b.points() <= LIBRARY_POINTS;
    let plain = || of_one_dimension(a.shape(), Some(a)).zip(of_one_dimension(&other, of_b));
    let Some((shape, other)) = is_small.then(plain).flatten() else {
        return parse(&Arrangement::of([&Parts::of(a.shape()), &Parts::of(&other)])?.matrix());
    };
    segments::allow_together(&shape, &other)?;
    Ok(shape.relate(&*other))
}

/// Points of two shapes that are left to the library, which cannot be stopped. Our own way is slower for small ones, and may be stopped.
const LIBRARY_POINTS: usize = 20_000;

/// The dimensions of a shape's inside and edge.
fn dimensions(shape: &geo::Geometry) -> [Dimensions; 2] {
    let edge = match shape {
        geo::Geometry::MultiLineString(_) | geo::Geometry::GeometryCollection(_) => {
            let parts = Parts::of(shape);
            match (parts.areas.is_empty(), ends(&parts.lines).is_empty()) {
                (false, _) => Dimensions::OneDimensional,
                (true, false) => Dimensions::ZeroDimensional,
                (true, true) => Dimensions::Empty,
            }
        }
        _ => shape.boundary_dimensions(),
    };
    [shape.dimensions(), edge]
}

/// The matrix of shapes without a point in common, by the dimensions of their insides and edges.
fn disjoint_matrix(a: [Dimensions; 2], b: [Dimensions; 2]) -> Result<IntersectionMatrix, GeoError> {
    let letter = |dimensions| match dimensions {
        Dimensions::Empty => 'F',
        Dimensions::ZeroDimensional => '0',
        Dimensions::OneDimensional => '1',
        Dimensions::TwoDimensional => '2',
    };
    let ([inside_a, edge_a], [inside_b, edge_b]) = (a.map(letter), b.map(letter));
    parse(&format!("FF{inside_a}FF{edge_a}{inside_b}{edge_b}2"))
}

fn parse(matrix: &str) -> Result<IntersectionMatrix, GeoError> {
    IntersectionMatrix::from_str(matrix).map_err(|_| GeoError::Invalid)
}

/// The matrix of a point and an area, which is asked for most, without a graph of both.
fn of_point(a: &geo::Geometry, b: &geo::Geometry) -> Result<Option<IntersectionMatrix>, GeoError> {
    use geo::Geometry::{MultiPolygon, Point, Polygon};
    let matrix = match (a, b) {
        (Point(point), Polygon(_) | MultiPolygon(_)) => match position(*point, b) {
            CoordPos::Inside => "0FFFFF212",
            CoordPos::OnBoundary => "F0FFFF212",
            CoordPos::Outside => "FF0FFF212",
        },
        (Polygon(_) | MultiPolygon(_), Point(point)) => match position(*point, a) {
            CoordPos::Inside => "0F2FF1FF2",
            CoordPos::OnBoundary => "FF20F1FF2",
            CoordPos::Outside => "FF2FF10F2",
        },
        (Point(a), Point(b)) if a == b => "0FFFFFFF2",
        (Point(_), Point(_)) => "FF0FFF0F2",
        _ => return Ok(None),
    };
    parse(matrix).map(Some)
}

/// Where a point is in an area. The library takes a corner in which two polygons touch for outside.
fn position(point: geo::Point, area: &geo::Geometry) -> CoordPos {
    let geo::Geometry::MultiPolygon(polygons) = area else { return area.coordinate_position(&point.0) };
    let mut found = CoordPos::Outside;
    for polygon in polygons {
        match polygon.coordinate_position(&point.0) {
            CoordPos::Inside => return CoordPos::Inside,
            CoordPos::OnBoundary => found = CoordPos::OnBoundary,
            CoordPos::Outside => {}
        }
    }
    found
}

/// A shape as points, a line or areas alone; none of a collection of several kinds, or of areas, which may overlap, and of many lines, in which ends that meet are no edge: the
/// library takes some for one. `whole` is the geometry whose shape it is, where that is not a transformed one.
fn of_one_dimension<'s>(
    shape: &'s geo::Geometry,
    whole: Option<&Geometry>,
) -> Option<Cow<'s, geo::Geometry>> {
    let is_simple_line = || whole.map_or_else(|| is_simple(shape), Geometry::is_simple).unwrap_or(true);
    match shape {
        geo::Geometry::MultiLineString(lines) if lines.0.len() > 1 => return None,
        // The library misses pieces of lines that cross or touch themselves.
        geo::Geometry::LineString(_) | geo::Geometry::MultiLineString(_) if !is_simple_line() => {
            return None;
        }
        geo::Geometry::GeometryCollection(_) => {}
        _ => return Some(Cow::Borrowed(shape)),
    }
    let mut parts = Parts::of(shape);
    match (parts.count(), parts.areas.len()) {
        (0 | 1, 0) if parts.lines.is_empty() => Some(Cow::Owned(MultiPoint(parts.points).into())),
        (1, 0) if parts.lines.len() == 1 => {
            let line = parts.lines.pop().map(geo::Geometry::from)?;
            is_simple(&line).unwrap_or(true).then_some(Cow::Owned(line))
        }
        (1, 1) => parts.areas.pop().map(|area| Cow::Owned(area.into())),
        _ => None,
    }
}
