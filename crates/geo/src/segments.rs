//! The segments of shapes, in a tree by their boxes, and how many pairs of them an operation may look at.

use crate::error::GeoError;
use crate::limits::{PAIRS_FREE, PAIRS_MAX};
use crate::tree::{Around, Placed, Tree};
use crate::watch::Watch;
use geo::{Coord, CoordsIter, Geometry, Line, LineString, Polygon};

/// A segment of a line or a ring.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub line: Line,
    /// Which line or ring of the shape.
    pub path: usize,
    /// Which segment of it.
    pub number: usize,
}

impl Placed<2> for Segment {
    fn around(&self) -> Around<2> {
        self.line.around()
    }
}

/// A line or a ring without its repeated points.
#[derive(Debug)]
pub struct Path {
    pub coords: Vec<Coord>,
    /// Of a polygon: which, and whether it is the outer ring.
    pub ring_of: Option<(usize, bool)>,
}

impl Path {
    fn new(line: &LineString, ring_of: Option<(usize, bool)>) -> Self {
        let mut coords = line.0.clone();
        coords.dedup();
        Self { coords, ring_of }
    }

    /// Whether it ends where it begins.
    pub fn is_closed(&self) -> bool {
        self.coords.len() > 2 && self.coords.first() == self.coords.last()
    }
}

/// The lines and rings of a shape.
pub fn paths(shape: &Geometry) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut polygons = 0;
    add_paths(shape, &mut polygons, &mut paths);
    paths
}

fn add_paths(shape: &Geometry, polygons: &mut usize, paths: &mut Vec<Path>) {
    let mut add_polygon = |polygon: &Polygon, paths: &mut Vec<Path>| {
        paths.push(Path::new(polygon.exterior(), Some((*polygons, true))));
        paths.extend(polygon.interiors().iter().map(|ring| Path::new(ring, Some((*polygons, false)))));
        *polygons += 1;
    };
    match shape {
        Geometry::Point(_) | Geometry::MultiPoint(_) => {}
        Geometry::Line(line) => paths.push(Path::new(&LineString::from(line), None)),
        Geometry::LineString(line) => paths.push(Path::new(line, None)),
        Geometry::MultiLineString(lines) => paths.extend(lines.iter().map(|line| Path::new(line, None))),
        Geometry::Polygon(polygon) => add_polygon(polygon, paths),
        Geometry::MultiPolygon(many) => many.iter().for_each(|polygon| add_polygon(polygon, paths)),
        Geometry::Rect(rect) => add_polygon(&rect.to_polygon(), paths),
        Geometry::Triangle(triangle) => add_polygon(&triangle.to_polygon(), paths),
        Geometry::GeometryCollection(members) => {
            members.iter().for_each(|member| add_paths(member, polygons, paths));
        }
    }
}

/// The segments of paths.
pub fn of_paths(paths: &[Path]) -> Vec<Segment> {
    let of_path = |(path, line): (usize, &Path)| {
        let pairs = line.coords.windows(2).enumerate();
        let segment = move |(number, pair): (usize, &[Coord])| match *pair {
            [start, end] => Some(Segment { line: Line { start, end }, path, number }),
            _ => None,
        };
        pairs.filter_map(segment).collect::<Vec<_>>()
    };
    paths.iter().enumerate().flat_map(of_path).collect()
}

/// Calls `f` with all pairs of segments whose boxes meet, each once.
///
/// # Errors
///
/// Where there are too many of them.
pub fn each_pair(segments: &[Segment], mut f: impl FnMut(&Segment, &Segment)) -> Result<(), GeoError> {
    let mut watch = Watch::new();
    let tree = Tree::new(segments.to_vec(), &mut watch)?;
    // Each segment meets itself and its neighbours.
    let mut left = PAIRS_MAX + 8 * segments.len();
    for segment in segments {
        tree.each_meeting(&segment.around(), |other| {
            watch.check()?;
            left = left.checked_sub(1).ok_or_else(too_many)?;
            if (segment.path, segment.number) < (other.path, other.number) {
                f(segment, other);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Calls `f` with all pairs of a segment of each whose boxes meet.
///
/// # Errors
///
/// Where there are too many of them.
pub fn each_pair_between(
    segments: &[Segment],
    others: &[Segment],
    mut f: impl FnMut(&Segment, &Segment),
) -> Result<(), GeoError> {
    let mut watch = Watch::new();
    let tree = Tree::new(others.to_vec(), &mut watch)?;
    let mut left = PAIRS_MAX;
    for segment in segments {
        watch.check()?;
        tree.each_meeting(&segment.around(), |other| {
            watch.check()?;
            left = left.checked_sub(1).ok_or_else(too_many)?;
            f(segment, other);
            Ok(())
        })?;
    }
    Ok(())
}

/// Whether an operation may look at two shapes together.
///
/// # Errors
///
/// Where it would look at too many pairs.
pub fn allow_together(a: &Geometry, b: &Geometry) -> Result<(), GeoError> {
    let (points_a, points_b) = (a.coords_count(), b.coords_count());
    if points_a.saturating_mul(points_b) <= PAIRS_FREE {
        return Ok(());
    }
    let (paths_a, paths_b) = (paths(a), paths(b));
    // Operations look where each part lies in the other shape.
    let parts = |paths: &[Path], points: usize, shape: &Geometry| match shape {
        Geometry::MultiPoint(_) => points,
        _ => paths.len().max(1),
    };
    let (parts_a, parts_b) = (parts(&paths_a, points_a, a), parts(&paths_b, points_b, b));
    let looks = parts_a.saturating_mul(points_b).saturating_add(parts_b.saturating_mul(points_a));
    if looks > LOOKS_MAX {
        return Err(too_many());
    }
    each_pair_between(&of_paths(&paths_a), &of_paths(&paths_b), |_, _| {})
}

/// Points of the one shape that are looked at for parts of the other: what each costs is some nanoseconds.
const LOOKS_MAX: usize = 30_000_000;

fn too_many() -> GeoError {
    GeoError::TooLarge { what: "pairs of segments that are near each other", limit: PAIRS_MAX }
}
