//! Intersection, union and difference of shapes of any kind: areas by the library, and lines that are cut by areas for a union or a difference; lines and points
//! that both have in common, also where areas only touch, by [`crate::arrangement`].

use crate::arrangement::Arrangement;
use crate::error::GeoError;
use crate::geometry::collection;
use crate::parts::{Parts, oriented};
use crate::segments::{self, Segment};
use crate::watch;
use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{
    BooleanOps, Coord, CoordsIter, Intersects, Line, LineString, MultiLineString, MultiPoint, MultiPolygon,
    Point, unary_union,
};

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
    watch::before_work_on(a.coords_count() + b.coords_count())?;
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
        false => whole(a).intersection(&whole(b)).0,
    };
    let cut = Arrangement::of([a, b])?;
    Ok(Parts { points: sorted(cut.common_points()), lines: cut.common_lines(), areas })
}

fn union(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas = unary_union(&oriented(a.areas.iter().chain(&b.areas)));
    let mut lines: Vec<LineString> = Vec::new();
    for line in a.lines.iter().chain(&b.lines) {
        let outside = clip(std::slice::from_ref(line), &areas, true);
        lines.extend(without(&outside, &lines)?);
    }
    let mut parts = Parts { points: Vec::new(), lines, areas: areas.0 };
    let mut points = sorted(a.points.iter().chain(&b.points).copied().collect());
    points.retain(|point| !covers(&parts, point));
    parts.points = points;
    Ok(parts)
}

fn difference(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas_b = whole(b);
    let areas = whole(a).difference(&areas_b).0;
    let lines = without(&clip(&a.lines, &areas_b, true), &b.lines)?;
    let points = a.points.iter().filter(|point| !covers(b, point)).copied().collect();
    Ok(Parts { points: sorted(points), lines, areas })
}

fn whole(parts: &Parts) -> MultiPolygon {
    match parts.areas.as_slice() {
        [] | [_] => MultiPolygon(parts.areas.clone()),
        // Members of a collection may overlap.
        areas => unary_union(&oriented(areas)),
    }
}

fn clip(lines: &[LineString], area: &MultiPolygon, outside: bool) -> Vec<LineString> {
    if lines.is_empty() || area.0.is_empty() {
        return if outside { lines.to_vec() } else { Vec::new() };
    }
    let cut = area.clip(&MultiLineString(lines.to_vec()), outside);
    cut.0.into_iter().filter(|line| line.0.len() > 1).collect()
}

fn covers(parts: &Parts, point: &Point) -> bool {
    parts.areas.iter().any(|area| area.intersects(point))
        || parts.lines.iter().any(|line| line.intersects(point))
        || parts.points.contains(point)
}

fn sorted(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x().total_cmp(&b.x()).then(a.y().total_cmp(&b.y())));
    points.dedup();
    points
}

fn segments_of(lines: &[LineString]) -> Vec<Segment> {
    let shape = geo::Geometry::MultiLineString(MultiLineString(lines.to_vec()));
    segments::of_paths(&segments::paths(&shape))
}

/// Lines without what runs together with others.
fn without(lines: &[LineString], others: &[LineString]) -> Result<Vec<LineString>, GeoError> {
    if others.is_empty() || lines.is_empty() {
        return Ok(lines.to_vec());
    }
    let mine = segments_of(lines);
    let mut covered: Vec<Vec<(f64, f64)>> = vec![Vec::new(); mine.len()];
    let numbered: std::collections::HashMap<(usize, usize), usize> =
        mine.iter().enumerate().map(|(at, segment)| ((segment.path, segment.number), at)).collect();
    segments::each_pair_between(&mine, &segments_of(others), |one, other| {
        if let Some(LineIntersection::Collinear { intersection }) = line_intersection(one.line, other.line) {
            let (from, to) = (part_of(one.line, intersection.start), part_of(one.line, intersection.end));
            let slot = numbered.get(&(one.path, one.number)).and_then(|at| covered.get_mut(*at));
            if let Some(slot) = slot {
                slot.push((from.min(to), from.max(to)));
            }
        }
    })?;
    let mut left = Vec::new();
    for (segment, covered) in mine.iter().zip(&mut covered) {
        covered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut from = 0.0;
        for (start, end) in covered.iter().copied().chain([(1.0, 1.0)]) {
            if start > from {
                let piece = [along(segment.line, from), along(segment.line, start)];
                left.push((segment.path, piece));
            }
            from = end.max(from);
        }
    }
    let mut out: Vec<(usize, LineString)> = Vec::new();
    for (path, [start, end]) in left {
        match out.last_mut() {
            Some((known, line)) if *known == path && line.0.last() == Some(&start) => line.0.push(end),
            _ => out.push((path, LineString(vec![start, end]))),
        }
    }
    Ok(out.into_iter().map(|(_, line)| line).collect())
}

fn part_of(line: Line, coord: Coord) -> f64 {
    let (delta, to) = (line.delta(), coord - line.start);
    let part = if delta.x.abs() > delta.y.abs() { to.x / delta.x } else { to.y / delta.y };
    part.clamp(0.0, 1.0)
}

fn along(line: Line, part: f64) -> Coord {
    if part >= 1.0 { line.end } else { line.start + line.delta() * part }
}
