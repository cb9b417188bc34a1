//! The shortest distance on the ellipsoid of WGS 84 between shapes that do not meet and are not both points.
//!
//! Segments are geodesics. Which two are nearest is found on the sphere: which vertices are nearest gives a bound, and only segments whose boxes in
//! space are within it are compared. Their distance is then that of the shortest geodesic from an end of the one to a place on the other, which is
//! sought there. So it can only be too long, where sphere and ellipsoid disagree about which segments are nearest: by less than a part in three
//! hundred, and not at all where there is one segment or the nearest is much nearer than the others.

use crate::error::GeoError;
use crate::limits::PAIRS_MAX;
use crate::parts::Parts;
use crate::watch::Watch;
use geo::{Bearing, Coord, CoordsIter, Destination, Distance, Geodesic, LineString, Point};
use rstar::primitives::GeomWithData;
use rstar::{AABB, RTree, RTreeObject};

type Vector = [f64; 3];

/// A great circle's part between two places, or one place.
#[derive(Debug, Clone, Copy)]
struct Arc {
    start: Coord,
    end: Coord,
    from: Vector,
    to: Vector,
}

impl Arc {
    fn new(start: Coord, end: Coord) -> Self {
        Self { start, end, from: vector(start), to: vector(end) }
    }
}

impl RTreeObject for Arc {
    type Envelope = AABB<Vector>;

    fn envelope(&self) -> Self::Envelope {
        // An arc leaves the box of its chord by at most its height above the chord.
        let half = length(minus(self.to, self.from)) / 2.0;
        let height = 1.0 - (1.0 - half * half).max(0.0).sqrt();
        let least = std::array::from_fn(|axis| self.from[axis].min(self.to[axis]) - height);
        let greatest = std::array::from_fn(|axis| self.from[axis].max(self.to[axis]) + height);
        AABB::from_corners(least, greatest)
    }
}

/// The shortest distance, in metres.
///
/// # Errors
///
/// Where they are too large, or beyond the poles.
pub fn distance(a: &geo::Geometry, b: &geo::Geometry) -> Result<f64, GeoError> {
    if a.coords_iter().chain(b.coords_iter()).any(|coord| coord.y.abs() > 90.0) {
        return Err(GeoError::NoAnswer { operation: "distance", what: "a latitude beyond a pole" });
    }
    let mut watch = Watch::new();
    watch.before_work_on(a.coords_count() + b.coords_count())?;
    let bound = nearest_vertices(a, b, &mut watch)?;
    let tree = RTree::bulk_load(arcs(b));
    let mut left = PAIRS_MAX;
    let mut best: Option<(f64, Arc, Arc)> = None;
    let mut bound = bound * (1.0 + 1e-9) + 1e-12;
    for arc in arcs(a) {
        watch.check()?;
        let own = arc.envelope();
        let (least, greatest) = (own.lower(), own.upper());
        let window = AABB::from_corners(least.map(|x| x - bound), greatest.map(|x| x + bound));
        for other in tree.locate_in_envelope_intersecting(&window) {
            left = left.checked_sub(1).ok_or(GeoError::TooLarge {
                what: "pairs of segments that are near each other",
                limit: PAIRS_MAX,
            })?;
            let chord = arc_distance(&arc, other);
            if best.as_ref().is_none_or(|(known, _, _)| chord < *known) {
                best = Some((chord, arc, *other));
                bound = bound.min(chord * (1.0 + 1e-9) + 1e-12);
            }
        }
    }
    let Some((_, arc, other)) = best else {
        return Err(GeoError::NoAnswer { operation: "distance", what: "an empty geometry" });
    };
    Ok(refined(&arc, &other))
}

/// The vertices and edges of a shape.
fn arcs(shape: &geo::Geometry) -> Vec<Arc> {
    let parts = Parts::of(shape);
    let rings = parts.areas.iter().flat_map(|area| std::iter::once(area.exterior()).chain(area.interiors()));
    let lines: Vec<&LineString> = parts.lines.iter().chain(rings).collect();
    let edges = lines.iter().flat_map(|line| line.lines()).map(|line| Arc::new(line.start, line.end));
    parts.points.iter().map(|point| Arc::new(point.0, point.0)).chain(edges).collect()
}

/// The chord between the two vertices that are nearest.
fn nearest_vertices(a: &geo::Geometry, b: &geo::Geometry, watch: &mut Watch) -> Result<f64, GeoError> {
    let (few, many) = if a.coords_count() < b.coords_count() { (a, b) } else { (b, a) };
    let vertices = many.coords_iter().map(|coord| GeomWithData::new(vector(coord), ()));
    let tree = RTree::bulk_load(vertices.collect());
    let mut least = f64::INFINITY;
    for vertex in few.coords_iter().map(vector) {
        // A neighbour is found in some microseconds.
        for _ in 0..32 {
            watch.check()?;
        }
        if let Some(nearest) = tree.nearest_neighbor(&vertex) {
            least = least.min(length(minus(*nearest.geom(), vertex)));
        }
    }
    Ok(least)
}

/// The chord between what is nearest of two arcs, which do not cross.
fn arc_distance(a: &Arc, b: &Arc) -> f64 {
    let ends = [(a.from, b), (a.to, b), (b.from, a), (b.to, a)];
    ends.into_iter().map(|(place, arc)| length(minus(place, foot(place, arc)))).fold(f64::INFINITY, f64::min)
}

/// The place of an arc that is nearest to another place.
fn foot(place: Vector, arc: &Arc) -> Vector {
    let normal = cross(arc.from, arc.to);
    let nearer = || {
        let (from, to) = (length(minus(place, arc.from)), length(minus(place, arc.to)));
        if from <= to { arc.from } else { arc.to }
    };
    let size = dot(normal, normal);
    if size < 1e-30 {
        return nearer();
    }
    let off = dot(place, normal) / size;
    let foot = std::array::from_fn(|axis| place[axis] - off * normal[axis]);
    let Some(foot) = unit(foot) else { return nearer() };
    let is_between = dot(cross(arc.from, foot), normal) >= 0.0 && dot(cross(foot, arc.to), normal) >= 0.0;
    if is_between { foot } else { nearer() }
}

/// The length of the geodesic between what is nearest of two arcs: one end stays, and the place on the other arc moves until it is shortest.
fn refined(a: &Arc, b: &Arc) -> f64 {
    let mut least = f64::INFINITY;
    for (place, arc) in [(a.start, b), (a.end, b), (b.start, a), (b.end, a)] {
        least = least.min(shortest(place, arc));
    }
    least
}

/// Steps of the search for the shortest: each makes the interval smaller by more than a third.
const STEPS: usize = 40;

fn shortest(place: Coord, arc: &Arc) -> f64 {
    let place = Point(place);
    let (start, end) = (Point(arc.start), Point(arc.end));
    if start == end {
        return Geodesic.distance(place, start);
    }
    let (bearing, whole) = (Geodesic.bearing(start, end), Geodesic.distance(start, end));
    let length = |part: f64| Geodesic.distance(place, Geodesic.destination(start, bearing, part * whole));
    let ratio = (5_f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut one, mut two) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_one, mut at_two) = (length(one), length(two));
    let mut least = Geodesic.distance(place, start).min(Geodesic.distance(place, end));
    for _ in 0..STEPS {
        if at_one < at_two {
            (high, two, at_two) = (two, one, at_one);
            one = high - ratio * (high - low);
            at_one = length(one);
        } else {
            (low, one, at_one) = (one, two, at_two);
            two = low + ratio * (high - low);
            at_two = length(two);
        }
        least = least.min(at_one).min(at_two);
    }
    least
}

fn vector(coord: Coord) -> Vector {
    let (longitude, latitude) = (coord.x.to_radians(), coord.y.to_radians());
    [latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin(), latitude.sin()]
}

fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn dot(a: Vector, b: Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross([a, b, c]: Vector, [d, e, f]: Vector) -> Vector {
    [b * f - c * e, c * d - a * f, a * e - b * d]
}

fn length(vector: Vector) -> f64 {
    dot(vector, vector).sqrt()
}

fn unit(vector: Vector) -> Option<Vector> {
    let size = length(vector);
    (size > 1e-15).then(|| vector.map(|x| x / size))
}
