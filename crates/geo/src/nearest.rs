//! The shortest distance on the ellipsoid of WGS 84 between shapes that do not meet and are not both points.
//!
//! Segments are geodesics. Which two are nearest is found on the sphere, by trees of their boxes in space. Their distance is then that of the shortest geodesic from an end of the one to a place on the other, which is
//! sought there. So it can only be too long, where sphere and ellipsoid disagree about which segments are nearest: by less than a part in three
//! hundred, and not at all where there is one segment or the nearest is much nearer than the others.

use crate::error::GeoError;
use crate::parts::Parts;
use crate::tree::{self, Around, Near, Placed, Tree};
use crate::watch::Watch;
use geo::{Bearing, Coord, Destination, Distance, Geodesic, Line, Point};

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

impl Placed<3> for Arc {
    fn around(&self) -> Around<3> {
        // An arc leaves the box of its chord by at most its height above the chord.
        let half = length(minus(self.to, self.from)) / 2.0;
        let height = 1.0 - (1.0 - half * half).max(0.0).sqrt();
        let chord = Around::both(self.from, self.to);
        Around { least: chord.least.map(|x| x - height), greatest: chord.greatest.map(|x| x + height) }
    }
}

impl Near<3> for Arc {
    /// The chord between what is nearest of two arcs, which do not cross.
    fn distance(&self, other: &Self) -> f64 {
        let ends = [(self.from, other), (self.to, other), (other.from, self), (other.to, self)];
        ends.into_iter()
            .map(|(place, arc)| length(minus(place, foot(place, arc))))
            .fold(f64::INFINITY, f64::min)
    }
}

/// The shortest distance, in metres.
///
/// # Errors
///
/// Where one is beyond a pole or has no point, or time is up.
pub fn distance(a: &Parts, b: &Parts) -> Result<f64, GeoError> {
    let no_answer = |what| GeoError::NoAnswer { operation: "distance", what };
    let is_beyond = |line: Line| line.start.y.abs() > 90.0 || line.end.y.abs() > 90.0;
    if a.edges().chain(b.edges()).any(is_beyond) {
        return Err(no_answer("a latitude beyond a pole"));
    }
    let mut watch = Watch::new();
    let (a, b) = (arcs(a, &mut watch)?, arcs(b, &mut watch)?);
    match tree::nearest(&a, &b, f64::INFINITY, &mut watch)? {
        Some((_, arc, other)) => Ok(refined(&arc, &other)),
        None => Err(no_answer("an empty geometry")),
    }
}

/// The points and edges of a shape.
fn arcs(parts: &Parts, watch: &mut Watch) -> Result<Tree<Arc, 3>, GeoError> {
    let mut arcs = Vec::new();
    for line in parts.edges() {
        watch.check_after(ARC_STEPS)?;
        arcs.push(Arc::new(line.start, line.end));
    }
    Tree::new(arcs, watch)
}

/// Steps that the making of an arc takes.
const ARC_STEPS: usize = 8;

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
