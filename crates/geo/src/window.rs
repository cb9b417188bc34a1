//! Where a geometry can be that passes a test with a constant one: boxes in the plane of its coordinates, outside of which none passes. An index of boxes finds those
//! within; the test itself stays with who asks.
//!
//! Tests of relations look at the plane, so an antimeridian is nothing to them. Distances in metres between longitudes and latitudes are on the earth: a box grows by
//! as many degrees as the distance has at most, goes on beyond the antimeridian, and goes all the way round where it reaches a pole. What is kept of a geometry
//! ([`extent`]) has room for both: its box in the plane, and what its segments need as geodesics.

use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::parts::Parts;
use crate::relate::Relation;
use crate::unit::Unit;
use geo::LineString;
use std::borrow::Cow;

/// The least radius of curvature of the ellipsoid of WGS 84, in metres: no geodesic is shorter than the same way on a sphere of this size.
pub(crate) const LEAST_RADIUS: f64 = 6_335_439.0;
/// Room for what is lost when numbers are rounded: a part, and degrees.
const SLACK: f64 = 1e-9;
/// Longitudes further from 0 are not told from each other.
const LONGITUDE_MAX: f64 = 360.0;
/// Boxes of at most so many degrees are not looked at closer.
const NARROW: f64 = 0.5;

/// A box; its sides belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The least easting or longitude, and the least northing or latitude.
    pub min: [f64; 2],
    /// The greatest ones.
    pub max: [f64; 2],
}

impl Bounds {
    fn of(rect: geo::Rect) -> Self {
        Self { min: [rect.min().x, rect.min().y], max: [rect.max().x, rect.max().y] }
    }

    fn grown(self, by: f64) -> Self {
        Self { min: self.min.map(|x| x - by), max: self.max.map(|x| x + by) }
    }

    /// Whether both have a point in common.
    pub fn meets(&self, other: &Self) -> bool {
        (0..2).all(|axis| self.min[axis] <= other.max[axis] && other.min[axis] <= self.max[axis])
    }
}

/// Where geometries can be that pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Windows {
    /// Boxes do not tell.
    Everywhere,
    /// Within one of these.
    Boxes(Vec<Bounds>),
}

impl Windows {
    /// Whether one meets a box.
    pub fn meet(&self, bounds: &Bounds) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Boxes(boxes) => boxes.iter().any(|window| window.meets(bounds)),
        }
    }
}

/// What is asked of two geometries.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// That they are so related.
    Relation(Relation),
    /// That their matrix has this pattern.
    Pattern(String),
    /// That they are no further apart.
    Distance {
        /// Than this,
        most: f64,
        /// of these.
        unit: Unit,
    },
}

impl Test {
    /// Whether only geometries that have a point in common pass, or that are so near.
    pub(crate) fn needs_nearness(&self) -> bool {
        let has_common = |pattern: &str| {
            [0, 1, 3, 4].into_iter().any(|at| !matches!(pattern.as_bytes().get(at), None | Some(b'F' | b'*')))
        };
        match self {
            Self::Relation(Relation::Disjoint) => false,
            Self::Relation(Relation::Patterns(patterns)) => {
                patterns.iter().all(|pattern| has_common(pattern))
            }
            Self::Relation(_) => true,
            Self::Pattern(pattern) => has_common(pattern),
            Self::Distance { .. } => true,
        }
    }
}

/// A test of any geometry with a constant one.
#[derive(Debug, Clone)]
pub struct Search {
    constant: Geometry,
    is_first: bool,
    test: Test,
}

impl Search {
    /// A test in which the constant is the first or the second of both; none where boxes tell nothing.
    pub fn new(constant: Geometry, is_first: bool, test: Test) -> Option<Self> {
        // All empty geometries are equal, and have no box.
        (!constant.is_empty() && test.needs_nearness()).then_some(Self { constant, is_first, test })
    }

    /// Where geometries of a plane can be that pass; see [`extent`].
    pub fn windows(&self, plane: &Crs) -> Windows {
        windows(&self.constant, self.is_first, &self.test, plane)
    }
}

/// Where geometries of a plane can be that pass a test with this one, which is the first or the second of both.
pub(crate) fn windows(one: &Geometry, is_first: bool, test: &Test, plane: &Crs) -> Windows {
    // The second is brought into the plane of the first.
    if is_first && !one.crs().same_plane(plane) {
        return Windows::Everywhere;
    }
    // Angles are measured between longitudes and latitudes, also of what has no image in this plane.
    let is_angle = matches!(test, Test::Distance { unit: Unit::Angle(_), .. });
    if is_angle && !plane.is_geographic() {
        return Windows::Everywhere;
    }
    let Ok(one) = in_plane(one, plane) else {
        return Windows::Boxes(Vec::new());
    };
    let Some(bounds) = one.bounds().map(Bounds::of) else { return Windows::Boxes(Vec::new()) };
    let Test::Distance { most, unit } = test else { return Windows::Boxes(vec![bounds]) };
    if most.is_nan() || *most < 0.0 {
        return Windows::Boxes(Vec::new());
    }
    match (plane.is_geographic(), *unit) {
        (_, Unit::Area(_)) => Windows::Boxes(Vec::new()),
        (_, Unit::Angle(degrees)) => flat(bounds, most * degrees),
        (false, Unit::Length(metres)) => flat(bounds, most * metres / plane.metres()),
        (true, Unit::Length(metres)) => match extent(&one) {
            Some(extent) => around(extent, most * metres),
            None => Windows::Boxes(Vec::new()),
        },
    }
}

fn in_plane<'a>(one: &'a Geometry, plane: &Crs) -> Result<Cow<'a, Geometry>, GeoError> {
    if one.crs().same_plane(plane) {
        return Ok(Cow::Borrowed(one));
    }
    one.transform(plane).map(Cow::Owned)
}

/// What is around a box in a plane.
fn flat(bounds: Bounds, distance: f64) -> Windows {
    let largest = bounds.min.iter().chain(&bounds.max).fold(distance, |most, x| most.max(x.abs()));
    let grown = bounds.grown(distance + largest * SLACK);
    if grown.min.iter().chain(&grown.max).all(|x| x.is_finite()) {
        Windows::Boxes(vec![grown])
    } else {
        Windows::Everywhere
    }
}

/// What is around a box of longitudes and latitudes, on the earth.
fn around(bounds: Bounds, metres: f64) -> Windows {
    let angle = metres / LEAST_RADIUS;
    let degrees = angle.to_degrees() * (1.0 + SLACK) + SLACK;
    if !degrees.is_finite() {
        return Windows::Everywhere;
    }
    let ([west, south], [east, north]) = (bounds.min, bounds.max);
    let (south_end, north_end) = (south - degrees, north + degrees);
    let all_round = Bounds { min: [f64::NEG_INFINITY, south_end], max: [f64::INFINITY, north_end] };
    if south_end <= -90.0 || north_end >= 90.0 || degrees >= 90.0 {
        return Windows::Boxes(vec![all_round]);
    }
    let furthest = south.abs().max(north.abs()).to_radians().cos();
    let sine = degrees.to_radians().sin() / furthest;
    if sine >= 1.0 || !sine.is_finite() {
        return Windows::Boxes(vec![all_round]);
    }
    let wider = sine.asin().to_degrees() * (1.0 + SLACK) + SLACK;
    let (west, east) = (west - wider, east + wider);
    if east - west >= 360.0 {
        return Windows::Boxes(vec![all_round]);
    }
    // Longitudes may be written with any number of turns, up to where they are no longer told from each other.
    let turns = (-3..=3).map(f64::from).map(|turn| turn * 360.0);
    let boxes = turns
        .map(|turn| Bounds { min: [west + turn - SLACK, south_end], max: [east + turn + SLACK, north_end] });
    Windows::Boxes(boxes.collect())
}

/// The box that is kept of a geometry: around its points, and, where these are longitudes and latitudes, around the geodesics between them. None of an empty one.
pub fn extent(geometry: &Geometry) -> Option<Bounds> {
    let bounds = Bounds::of(geometry.bounds()?);
    let ([west, south], [east, north]) = (bounds.min, bounds.max);
    if !geometry.crs().is_geographic() {
        return Some(bounds);
    }
    if west < -LONGITUDE_MAX || east > LONGITUDE_MAX {
        return Some(all_round(bounds));
    }
    let shape = geometry.shape();
    if matches!(shape, geo::Geometry::Point(_) | geo::Geometry::MultiPoint(_)) {
        return Some(bounds);
    }
    let width = east - west;
    let widest = if width <= NARROW { width } else { widest_segment(shape) };
    if widest > 90.0 {
        return Some(all_round(bounds));
    }
    // A great circle between places of one latitude, at most 90 degrees apart, leaves it by less than an eighth of the square of half of that.
    let bulge = widest * widest * (1_f64.to_radians() / 16.0) * 1.25 + SLACK;
    Some(Bounds { min: [west, south - bulge], max: [east, north + bulge] })
}

/// All longitudes.
fn all_round(bounds: Bounds) -> Bounds {
    Bounds {
        min: [f64::NEG_INFINITY, bounds.min[1].min(-90.0)],
        max: [f64::INFINITY, bounds.max[1].max(90.0)],
    }
}

/// The greatest difference in longitude between the ends of a segment.
fn widest_segment(shape: &geo::Geometry) -> f64 {
    let parts = Parts::of(shape);
    let rings = parts.areas.iter().flat_map(|area| std::iter::once(area.exterior()).chain(area.interiors()));
    let lines: Vec<&LineString> = parts.lines.iter().chain(rings).collect();
    let widths = lines.iter().flat_map(|line| line.lines()).map(|line| (line.end.x - line.start.x).abs());
    widths.fold(0.0, f64::max)
}

/// The cells of a plane: 2^32 by 2^32 of them, in which boxes are kept. What is outside of the plane is in the cells at its edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    least: f64,
    cells: f64,
}

impl Grid {
    /// That of a plane: cells of 3 cm, on the earth and elsewhere.
    pub fn of(plane: &Crs) -> Self {
        match plane.is_geographic() {
            true => Self { least: -512.0, cells: f64::from(1 << 22) },
            false => Self { least: -f64::from(1 << 26), cells: 32.0 },
        }
    }

    /// The column and the row in which a place is. Those of a box's corners tell all cells that it has a part of.
    pub fn cell(&self, [x, y]: [f64; 2]) -> [u32; 2] {
        [self.number(x), self.number(y)]
    }

    /// What cells from one to another have room for.
    pub fn bounds(&self, min: [u32; 2], max: [u32; 2]) -> Bounds {
        let side = |number: f64| self.least + number / self.cells;
        Bounds {
            min: min.map(|cell| if cell == 0 { f64::NEG_INFINITY } else { side(f64::from(cell)) }),
            max: max.map(|cell| if cell == u32::MAX { f64::INFINITY } else { side(f64::from(cell) + 1.0) }),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is outside is at the edge"
    )]
    fn number(&self, x: f64) -> u32 {
        ((x - self.least) * self.cells) as u32
    }
}

impl Crs {
    /// One for all systems whose coordinates are in the same plane.
    #[must_use]
    pub fn plane(&self) -> Self {
        if self.same_plane(&Self::Crs84) { Self::Crs84 } else { self.clone() }
    }
}
