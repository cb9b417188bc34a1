//! Intersection, union and difference of shapes of any kind: areas by the library, and lines that are cut by areas for a union or a difference; lines and points
//! that both have in common, also where areas only touch, by [`crate::arrangement`].

use crate::arrangement::Arrangement;
use crate::cover::Cover;
use crate::error::GeoError;
use crate::geometry::collection;
use crate::parts::{Parts, oriented};
use crate::segments::{self, Segment};
use crate::watch::{self, Watch};
use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{
    BooleanOps, Coord, CoordsIter, Line, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon,
    unary_union,
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
        false => in_library(a, b, |a, b| a.intersection(b))?,
    };
    let cut = Arrangement::of([a, b])?;
    Ok(Parts { points: sorted(cut.common_points()), lines: cut.common_lines(), areas })
}

fn union(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas = united(a.areas.iter().chain(&b.areas))?;
    let mut watch = Watch::new();
    let mut lines: Vec<LineString> = Vec::new();
    for line in a.lines.iter().chain(&b.lines) {
        // All lines before it are looked through.
        watch.check_after(lines.len() + 1)?;
        let outside = outside(std::slice::from_ref(line), &areas)?;
        lines.extend(without(&outside, &lines)?);
    }
    let mut parts = Parts { points: Vec::new(), lines, areas: areas.0 };
    let points = sorted(a.points.iter().chain(&b.points).copied().collect());
    parts.points = not_in(points, &parts, &mut watch)?;
    Ok(parts)
}

fn difference(a: &Parts, b: &Parts) -> Result<Parts, GeoError> {
    let areas = match a.areas.is_empty() {
        true => Vec::new(),
        false => in_library(a, b, |a, b| a.difference(b))?,
    };
    let lines = match a.lines.is_empty() {
        true => Vec::new(),
        false => without(&outside(&a.lines, &whole(b)?)?, &b.lines)?,
    };
    let points = not_in(sorted(a.points.clone()), b, &mut Watch::new())?;
    Ok(Parts { points, lines, areas })
}

/// What the library makes of the areas of both. It cannot be stopped.
fn in_library(
    a: &Parts,
    b: &Parts,
    operation: impl Fn(&MultiPolygon, &MultiPolygon) -> MultiPolygon,
) -> Result<Vec<Polygon>, GeoError> {
    let (a, b) = (whole(a)?, whole(b)?);
    watch::before_work_on(a.coords_count() + b.coords_count())?;
    Ok(operation(&a, &b).0)
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
    watch::before_work_on(areas.iter().map(CoordsIter::coords_count).sum())?;
    Ok(unary_union(&areas))
}

/// What of lines is outside of areas.
fn outside(lines: &[LineString], area: &MultiPolygon) -> Result<Vec<LineString>, GeoError> {
    if lines.is_empty() || area.0.is_empty() {
        return Ok(lines.to_vec());
    }
    let lines = MultiLineString(lines.to_vec());
    watch::before_work_on(lines.coords_count() + area.coords_count())?;
    let cut = area.clip(&lines, true);
    Ok(cut.0.into_iter().filter(|line| line.0.len() > 1).collect())
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
