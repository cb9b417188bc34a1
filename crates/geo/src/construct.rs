//! Geometries that are made of others: buffers, hulls, boundaries and what sets of points are together (GeoSPARQL 1.1, sections 8.7.2 and 9.3).

pub use crate::overlay::Operation;

use crate::crs::{Crs, LocalPlane};
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind, collection};
use crate::limits::{BUFFER_POINTS_MAX, OUTLINE_POINTS_MAX};
use crate::overlay;
use crate::parts::{Parts, ends};
use crate::segments;
use crate::unit::Unit;
use crate::watch::{self, Watch};
use geo::concave_hull::ConcaveHullOptions;
use geo::{
    Area, BoundingRect, Buffer, Centroid, ConcaveHull, ConvexHull, Coord, CoordsIter, LineString,
    MultiLineString, MultiPoint, MultiPolygon, Point, Polygon,
};
use std::borrow::Cow;
use std::f64::consts::PI;

/// What an operation on sets of points makes of two geometries, in the reference system of the first.
///
/// # Errors
///
/// Where one is not valid or they are too large, or there is no way from one reference system to the other.
pub fn overlay(operation: Operation, a: &Geometry, b: &Geometry) -> Result<Geometry, GeoError> {
    a.check_valid()?;
    b.check_valid()?;
    let other = b.shape_in(a.crs())?;
    Ok(Geometry::made(a.crs(), overlay::overlay(operation, a.shape(), &other)?))
}

/// All points within a distance of a geometry. On longitudes and latitudes, metres are metres around its middle.
///
/// # Errors
///
/// Where it is not valid or too large, the unit is one of area, or there is no plane around it in which distances are nearly true.
pub fn buffer(geometry: &Geometry, radius: f64, unit: Unit) -> Result<Geometry, GeoError> {
    let no_answer = |what| GeoError::NoAnswer { operation: "buffer", what };
    if !radius.is_finite() {
        return Err(no_answer("a radius that is no number"));
    }
    geometry.check_valid()?;
    few_points(geometry, BUFFER_POINTS_MAX)?;
    let crs = geometry.crs();
    if geometry.is_empty() {
        return Ok(Geometry::made(crs, collection(Vec::new())));
    }
    let in_plane = |shape: &geo::Geometry, radius: f64| -> Result<geo::Geometry, GeoError> {
        let bounds = shape.bounding_rect().ok_or(no_answer("an empty geometry"))?;
        // What is much smaller than the radius, or the radius than that, is lost in the library's grid.
        let size = bounds.width().max(bounds.height()).max(bounds.max().x.abs()).max(bounds.max().y.abs());
        if radius.abs() > 1e12 || (radius != 0.0 && radius.abs() < size * 1e-9) {
            return Err(no_answer("a radius so much larger or smaller than the geometry"));
        }
        Ok(simple(cut_at_turns(shape).buffer(radius)))
    };
    let shape = match (crs.is_geographic(), unit) {
        (_, Unit::Area(_)) => return Err(no_answer("a unit of area")),
        (true, Unit::Angle(degrees)) => in_plane(geometry.shape(), radius * degrees)?,
        (false, Unit::Length(metres)) => in_plane(geometry.shape(), radius * metres / crs.metres())?,
        (false, Unit::Angle(degrees)) => {
            let there = geometry.shape_in(&Crs::Crs84)?;
            Crs::Crs84.transform(crs, &in_plane(&there, radius * degrees)?)?
        }
        (true, Unit::Length(metres)) => {
            let radius = radius * metres;
            let bounds = geometry.bounds().ok_or(no_answer("an empty geometry"))?;
            let too_far = bounds.width() > 60.0 || bounds.height() > 60.0 || radius.abs() > 3e6;
            if too_far || bounds.min().y < -90.0 || bounds.max().y > 90.0 {
                return Err(no_answer("a geometry or a radius of a large part of the earth"));
            }
            let plane = LocalPlane::around(bounds.center()).ok_or(no_answer("this place"))?;
            let flat = plane.flatten(geometry.shape()).ok_or(no_answer("this place"))?;
            plane.unflatten(&in_plane(&flat, radius)?).ok_or(no_answer("this place"))?
        }
    };
    Ok(Geometry::made(crs, shape))
}

/// The same with lines cut where they turn back: the library makes no round end there.
fn cut_at_turns(shape: &geo::Geometry) -> Cow<'_, geo::Geometry> {
    let lines: Vec<&LineString> = match shape {
        geo::Geometry::LineString(line) => vec![line],
        geo::Geometry::MultiLineString(lines) => lines.iter().collect(),
        _ => return Cow::Borrowed(shape),
    };
    let mut pieces: Vec<LineString> = Vec::new();
    for line in &lines {
        let mut piece: Vec<Coord> = Vec::new();
        for coord in line.coords().copied() {
            if let [.., before, last] = piece.as_slice()
                && turns_back(*before, *last, coord)
            {
                let last = *last;
                pieces.push(LineString(std::mem::replace(&mut piece, vec![last])));
            }
            if piece.last() != Some(&coord) {
                piece.push(coord);
            }
        }
        pieces.push(LineString(piece));
    }
    if pieces.len() == lines.len() {
        return Cow::Borrowed(shape);
    }
    Cow::Owned(MultiLineString(pieces).into())
}

/// Whether the way from one place over another to a third goes back, or nearly so.
fn turns_back(from: Coord, over: Coord, to: Coord) -> bool {
    let (there, back) = (over - from, to - over);
    let along = there.x * back.x + there.y * back.y;
    let across = there.x * back.y - there.y * back.x;
    along < 0.0 && across.abs() < -along * 0.01
}

/// One polygon where there is only one.
fn simple(areas: MultiPolygon) -> geo::Geometry {
    match <[Polygon; 1]>::try_from(areas.0) {
        Ok([area]) => area.into(),
        Err(areas) => MultiPolygon(areas).into(),
    }
}

fn few_points(geometry: &Geometry, limit: usize) -> Result<(), GeoError> {
    if geometry.points() > limit {
        return Err(GeoError::TooLarge { what: "points", limit });
    }
    Ok(())
}

/// The smallest convex area around a geometry, or the line or point that this is.
pub fn convex_hull(geometry: &Geometry) -> Geometry {
    Geometry::made(geometry.crs(), hull_of(geometry.shape()))
}

fn hull_of(shape: &geo::Geometry) -> geo::Geometry {
    let mut coords: Vec<Coord> = shape.coords_iter().collect();
    coords.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    coords.dedup();
    match coords.as_slice() {
        [] => collection(Vec::new()),
        [one] => Point(*one).into(),
        _ => {
            let hull = MultiPoint(coords.iter().copied().map(Point).collect()).convex_hull();
            match (hull.unsigned_area() > 0.0, coords.first(), coords.last()) {
                (false, Some(first), Some(last)) => LineString(vec![*first, *last]).into(),
                _ => hull.into(),
            }
        }
    }
}

/// An area around a geometry that follows it more closely, of at least a part (0 to 1) of that of the convex hull, where one is given.
///
/// # Errors
///
/// Where it is too large.
pub fn concave_hull(geometry: &Geometry, part: Option<f64>) -> Result<Geometry, GeoError> {
    few_points(geometry, OUTLINE_POINTS_MAX)?;
    watch::before_work_on(geometry.points())?;
    let convex = hull_of(geometry.shape());
    let crs = geometry.crs();
    let area = convex.unsigned_area();
    if area <= 0.0 || part.is_some_and(|part| part >= 1.0 || part.is_nan()) {
        return Ok(Geometry::made(crs, convex));
    }
    let mut points: Vec<Point> = geometry.shape().coords_iter().map(Point).collect();
    points.sort_by(|a, b| a.x().total_cmp(&b.x()).then(a.y().total_cmp(&b.y())));
    points.dedup();
    let points = MultiPoint(points);
    let hull =
        |concavity: f64| points.concave_hull_with_options(ConcaveHullOptions::default().concavity(concavity));
    let Some(part) = part else { return Ok(Geometry::made(crs, hull(2.0).into())) };
    for concavity in [1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0] {
        let hull = hull(concavity);
        if hull.unsigned_area() >= area * part {
            return Ok(Geometry::made(crs, hull.into()));
        }
    }
    Ok(Geometry::made(crs, convex))
}

/// The box around a geometry, or the line or point that this is.
pub fn envelope(geometry: &Geometry) -> Geometry {
    Geometry::made(geometry.crs(), geometry.bounds().map_or_else(|| collection(Vec::new()), boxed))
}

fn boxed(bounds: geo::Rect) -> geo::Geometry {
    let (least, greatest) = (bounds.min(), bounds.max());
    if least == greatest {
        Point(least).into()
    } else if least.x == greatest.x || least.y == greatest.y {
        LineString(vec![least, greatest]).into()
    } else {
        bounds.to_polygon().into()
    }
}

/// The ends of lines, and the edges of areas.
///
/// # Errors
///
/// Of a collection of geometries of any kind there is none.
pub fn boundary(geometry: &Geometry) -> Result<Geometry, GeoError> {
    if geometry.kind() == Kind::GeometryCollection && !geometry.is_empty() {
        return Err(GeoError::NoAnswer { operation: "boundary", what: "a collection of geometries" });
    }
    let parts = Parts::of(geometry.shape());
    let shape = if !parts.areas.is_empty() {
        let rings = |area: &Polygon| {
            std::iter::once(area.exterior()).chain(area.interiors()).cloned().collect::<Vec<_>>()
        };
        let rings: Vec<LineString> = parts.areas.iter().flat_map(rings).collect();
        match <[LineString; 1]>::try_from(rings) {
            Ok([ring]) => ring.into(),
            Err(rings) => MultiLineString(rings).into(),
        }
    } else if !parts.lines.is_empty() {
        MultiPoint(ends(&parts.lines).into_iter().map(Point).collect()).into()
    } else {
        collection(Vec::new())
    };
    Ok(Geometry::made(geometry.crs(), shape))
}

/// The middle of its area, its lines or its points: of what has most dimensions.
pub fn centroid(geometry: &Geometry) -> Option<Geometry> {
    Some(Geometry::made(geometry.crs(), geometry.shape().centroid()?.into()))
}

/// Corners of a circle.
const CORNERS: u32 = 64;

/// The smallest circle around a geometry, as a polygon that has all of it.
///
/// # Errors
///
/// Where time is up.
pub fn bounding_circle(geometry: &Geometry) -> Result<Geometry, GeoError> {
    let shape = match smallest_circle(geometry.shape())? {
        None => collection(Vec::new()),
        Some((centre, 0.0)) => Point(centre).into(),
        Some((centre, radius)) => {
            // The edges touch the circle.
            let radius = radius / (PI / f64::from(CORNERS)).cos() * (1.0 + 1e-12);
            let corner = |number: u32| {
                let angle = 2.0 * PI * f64::from(number % CORNERS) / f64::from(CORNERS);
                Coord { x: centre.x + radius * angle.cos(), y: centre.y + radius * angle.sin() }
            };
            Polygon::new(LineString((0..=CORNERS).map(corner).collect()), Vec::new()).into()
        }
    };
    Ok(Geometry::made(geometry.crs(), shape))
}

/// Welzl's algorithm over the corners of the convex hull, in their order: the circle moves outwards until all are in it.
fn smallest_circle(shape: &geo::Geometry) -> Result<Option<(Coord, f64)>, GeoError> {
    let mut watch = Watch::new();
    watch.before_work_on(shape.coords_count())?;
    let mut corners: Vec<Coord> = hull_of(shape).coords_iter().collect();
    corners.dedup();
    // Any order is right. One that jumps around keeps the number of steps small.
    let step = (corners.len() * 5 / 8) | 1;
    let count = corners.len();
    let corners: Vec<Coord> = (0..count)
        .filter_map(|at| corners.get((at * step) % count).copied())
        .chain(corners.iter().copied())
        .collect();
    let holds =
        |(centre, radius): (Coord, f64), coord: Coord| distance(centre, coord) <= radius * (1.0 + 1e-12);
    let Some(first) = corners.first() else { return Ok(None) };
    let mut circle = (*first, 0.0);
    for (at, first) in corners.iter().enumerate() {
        watch.check()?;
        if holds(circle, *first) {
            continue;
        }
        circle = (*first, 0.0);
        for (to, second) in corners.iter().take(at).enumerate() {
            watch.check()?;
            if holds(circle, *second) {
                continue;
            }
            let centre = (*first + *second) / 2.0;
            circle = (centre, distance(centre, *first));
            for third in corners.iter().take(to) {
                watch.check()?;
                if !holds(circle, *third) {
                    circle = through(*first, *second, *third).unwrap_or(circle);
                }
            }
        }
    }
    Ok(Some(circle))
}

fn distance(a: Coord, b: Coord) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// The circle through three places; none where they are on a line.
fn through(a: Coord, b: Coord, c: Coord) -> Option<(Coord, f64)> {
    let (b, c) = (b - a, c - a);
    let twice = 2.0 * (b.x * c.y - b.y * c.x);
    if twice == 0.0 {
        return None;
    }
    let (bb, cc) = (b.x * b.x + b.y * b.y, c.x * c.x + c.y * c.y);
    let centre = Coord { x: (c.y * bb - b.y * cc) / twice, y: (b.x * cc - c.x * bb) / twice };
    let radius = centre.x.hypot(centre.y);
    radius.is_finite().then_some((a + centre, radius))
}

/// An aggregate of geometries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathering {
    /// The box around all of them.
    BoundingBox,
    /// The smallest circle around all of them.
    BoundingCircle,
    /// The middle of all of them.
    Centroid,
    /// The concave hull of all of them.
    ConcaveHull,
    /// The convex hull of all of them.
    ConvexHull,
    /// Their union.
    Union,
}

/// What an aggregate makes of geometries, in the reference system of the first.
///
/// # Errors
///
/// Where there is none, one is not valid, they are too large together, or there is no way from one reference system to that of the first.
pub fn gather(gathering: Gathering, geometries: &[std::sync::Arc<Geometry>]) -> Result<Geometry, GeoError> {
    let Some(first) = geometries.first() else {
        return Err(GeoError::NoAnswer { operation: "an aggregate", what: "no geometry" });
    };
    let crs = first.crs();
    let mut shapes: Vec<geo::Geometry> = Vec::with_capacity(geometries.len());
    let mut watch = Watch::new();
    for geometry in geometries {
        watch.check()?;
        if gathering == Gathering::Union {
            geometry.check_valid()?;
        }
        shapes.push(geometry.shape_in(crs)?.into_owned());
    }
    if gathering == Gathering::Union {
        let points: usize = geometries.iter().map(|geometry| geometry.points()).sum();
        if points > UNION_POINTS_MAX {
            return Err(GeoError::TooLarge { what: "points", limit: UNION_POINTS_MAX });
        }
        let all = collection(shapes.clone());
        segments::each_pair(&segments::of_paths(&segments::paths(&all)), |_, _| {})?;
        return Ok(Geometry::made(crs, overlay::union_of(shapes)?));
    }
    let all = Geometry::made(crs, collection(shapes));
    watch::before_work_on(all.points())?;
    match gathering {
        Gathering::BoundingBox => Ok(envelope(&all)),
        Gathering::BoundingCircle => bounding_circle(&all),
        Gathering::ConvexHull => Ok(convex_hull(&all)),
        Gathering::ConcaveHull => concave_hull(&all, None),
        Gathering::Centroid => {
            centroid(&all).ok_or(GeoError::NoAnswer { operation: "aggCentroid", what: "empty geometries" })
        }
        Gathering::Union => Err(GeoError::Invalid),
    }
}

/// Points of all geometries of a union.
const UNION_POINTS_MAX: usize = 200_000;
