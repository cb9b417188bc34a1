//! Intersection, union and difference of shapes of any kind: areas by the library; lines and points, also those in which areas only touch, by
//! [`crate::arrangement`].

use crate::arrangement::Arrangement;
use crate::corners::Corners;
use crate::cover::Cover;
use crate::error::GeoError;
use crate::geometry::collection;
use crate::parts::{Parts, oriented};
use crate::segments;
use crate::validity::is_valid;
use crate::watch::{self, Watch};
use geo::{
    Area, BooleanOps, CoordsIter, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon,
    unary_union,
};

/// Parts of the size of two areas by which that of what is made of them may be another than it should be: the library computes on a grid.
const SIZES_DIFFER: f64 = 1e-6;

/// An operation on sets of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// What is in both.
    Intersection,
    /// What is in one of them.
    Union,
    /// What is in the first and not in the second.
    Difference,
    /// What is in one of them alone.
    SymmetricDifference,
}

/// What an operation makes of two shapes, each of which is valid.
///
/// # Errors
///
/// Where they are too large.
pub fn overlay(
    operation: Operation,
    a: &geo::Geometry,
    b: &geo::Geometry,
) -> Result<geo::Geometry, GeoError> {
    segments::allow_together(a, b)?;
    let (a, b) = (Parts::of(a), Parts::of(b));
    let parts = match operation {
        Operation::Intersection => intersection(&a, &b)?,
        Operation::Union => union(&a, &b)?,
        Operation::Difference => difference(&a, &b)?,
        Operation::SymmetricDifference => {
            let (mine, theirs) = (difference(&a, &b)?, difference(&b, &a)?);
            union(&mine, &theirs)?
        }
    };
    Ok(shape(parts))
}

/// The union of all shapes.
///
/// # Errors
///
/// Where they are too large.
pub fn union_of(shapes: impl IntoIterator<Item = geo::Geometry>) -> Result<geo::Geometry, GeoError> {
    let all = Parts::of(&collection(shapes.into_iter().collect()));
    Ok(shape(union(&all, &Parts::default())?))
}

/// The simplest shape of parts.
fn shape(parts: Parts) -> geo::Geometry {
    let mut shapes: Vec<geo::Geometry> = Vec::new();
    let Parts { mut points, mut lines, mut areas } = parts;
    match (areas.len(), areas.pop()) {
        (1, Some(area)) => shapes.push(area.into()),
        (_, Some(last)) => {
            areas.push(last);
            shapes.push(MultiPolygon(areas).into());
        }
        _ => {}
    }
    match (lines.len(), lines.pop()) {
        (1, Some(line)) => shapes.push(line.into()),
        (_, Some(last)) => {
            lines.push(last);
            shapes.push(MultiLineString(lines).into());
        }
        _ => {}
    }
    match (points.len(), points.pop()) {
        (1, Some(point)) => shapes.push(point.into()),
        (_, Some(last)) => {
            points.push(last);
            shapes.push(MultiPoint(points).into());
        }
        _ => {}
    }
    match (shapes.len(), shapes.pop()) {
        (1, Some(shape)) => shape,
        (_, last) => {
            shapes.extend(last);
            collection(shapes)
        }
    }
}

/// Areas by the library; lines and points are what the shapes have in common where they are cut by each other.
fn intersection(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas = match a.areas.is_empty() || b.areas.is_empty() {
        true => Vec::new(),
        false => in_library(a, b, |a, b| a.intersection(b), |sizes| sizes.common)?,
    };
    let cut = Arrangement::of([a, b])?;
    Ok(Parts { points: sorted(cut.common_points()), lines: cut.common_lines(), areas })
}

fn union(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let both = |one: &[Polygon], other: &[Polygon]| one.iter().chain(other).cloned().collect();
    let around = Parts { areas: both(&a.areas, &b.areas), ..Parts::default() };
    let lines = a.lines.iter().chain(&b.lines).cloned().collect();
    let lines = outside(lines, &around)?;
    let areas = right(united(around.areas.iter())?, || Ok((whole(a)?, whole(b)?)), |sizes| sizes.union)?;
    let mut parts = Parts { points: Vec::new(), lines, areas };
    let points = sorted(a.points.iter().chain(&b.points).copied().collect());
    parts.points = not_in(points, &parts, &mut Watch::new())?;
    Ok(parts)
}

fn difference(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas = match (a.areas.is_empty(), b.areas.is_empty()) {
        (true, _) => Vec::new(),
        (_, true) => whole(a)?.0,
        _ => in_library(a, b, |a, b| a.difference(b), |sizes| sizes.first - sizes.common)?,
    };
    let lines = outside(a.lines.clone(), b)?;
    let points = not_in(sorted(a.points.clone()), b, &mut Watch::new())?;
    Ok(Parts { points, lines, areas })
}

/// What of lines is outside of a shape.
fn outside(lines: Vec<LineString>, shape: &Parts) -> Result<Vec<LineString>, GeoError> {
    if lines.is_empty() {
        return Ok(lines);
    }
    let lines = Parts { lines, ..Parts::default() };
    let shape = Parts { points: Vec::new(), lines: shape.lines.clone(), areas: shape.areas.clone() };
    Ok(Arrangement::of([&lines, &shape])?.lines_outside())
}

/// What the library makes of the areas of both. It cannot be stopped.
fn in_library(
    a: &Parts,
    b: &Parts,
    operation: impl Fn(&MultiPolygon, &MultiPolygon) -> MultiPolygon,
    expected: impl Fn(&Sizes) -> f64,
) -> Result<Vec<Polygon>, GeoError> {
    let (a, b) = (whole(a)?, whole(b)?);
    watch::before_work_on(a.coords_count() + b.coords_count())?;
    let corners = Corners::of(a.0.iter().chain(&b.0));
    let made = corners.put_back(operation(&a, &b))?;
    right(made, || Ok((a, b)), expected)
}

/// Sizes of areas, on the plane.
struct Sizes {
    first: f64,
    common: f64,
    union: f64,
}

/// Areas that the library has made, if they are right: where corners touch edges or each other it sometimes gives a hole to another ring than the one that is around it.
/// So where they are no valid shape, their size has to be the one `expected` of both shapes, and the sizes of these have to fit each other.
///
/// # Errors
///
/// Where they are not.
fn right(
    made: MultiPolygon,
    both: impl FnOnce() -> Result<(MultiPolygon, MultiPolygon), GeoError>,
    expected: impl Fn(&Sizes) -> f64,
) -> Result<Vec<Polygon>, GeoError> {
    let made = geo::Geometry::from(made);
    let is_valid = is_valid(&made)?;
    let geo::Geometry::MultiPolygon(made) = made else { return Ok(Vec::new()) };
    if is_valid {
        return Ok(made.0);
    }
    let (a, b) = both()?;
    watch::before_work_on(2 * (a.coords_count() + b.coords_count()))?;
    let (first, second) = (a.unsigned_area(), b.unsigned_area());
    let sizes = Sizes {
        first,
        common: a.intersection(&b).unsigned_area(),
        union: united(a.0.iter().chain(&b.0))?.unsigned_area(),
    };
    let near = |one: f64, other: f64| (one - other).abs() <= SIZES_DIFFER * (first + second);
    if near(sizes.union + sizes.common, first + second) && near(made.unsigned_area(), expected(&sizes)) {
        return Ok(made.0);
    }
    Err(GeoError::NoAnswer {
        operation: "union, difference or intersection",
        what: "areas that touch each other in single points like these",
    })
}

fn whole(parts: &Parts) -> Result<MultiPolygon, GeoError> {
    match parts.areas.as_slice() {
        [] | [_] => Ok(MultiPolygon(parts.areas.clone())),
        // Members of a collection may overlap.
        areas => united(areas.iter()),
    }
}

/// The union of areas, by the library, which cannot be stopped.
fn united<'a>(areas: impl Iterator<Item = &'a Polygon>) -> Result<MultiPolygon, GeoError> {
    let areas = oriented(areas);
    if areas.len() < 2 {
        return Ok(MultiPolygon(areas));
    }
    watch::before_work_on(areas.iter().map(CoordsIter::coords_count).sum())?;
    let corners = Corners::of(areas.iter());
    corners.put_back(unary_union(&areas))
}

/// The points that are not in a shape.
fn not_in(points: Vec<Point>, parts: &Parts, watch: &mut Watch) -> Result<Vec<Point>, GeoError> {
    if points.is_empty() {
        return Ok(points);
    }
    let mut cover = Cover::of(parts, watch)?;
    let mut others = Vec::new();
    for point in points {
        if !cover.has(point, watch)? {
            others.push(point);
        }
    }
    Ok(others)
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x().total_cmp(&b.x()).then(a.y().total_cmp(&b.y())));
    points.dedup();
    points
}
