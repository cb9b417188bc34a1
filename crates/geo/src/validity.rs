//! Whether shapes are valid (OGC 06-103r4, section 6.1.11), so that they have an interior and a boundary, and the library's operations are
//! defined for them.
//!
//! The library's own check compares all segments of a ring with all others, and takes rings that touch themselves for valid.

use crate::error::GeoError;
use crate::rays::Rays;
use crate::segments::{Path, Segment, each_pair, of_paths, paths};
use crate::tree::{Around, Placed, Tree};
use crate::watch::Watch;
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{BoundingRect, Geometry, LineString, Polygon};
use std::collections::BTreeSet;

/// Whether a shape is valid.
///
/// # Errors
///
/// Where it has too many segments near each other to tell.
pub fn is_valid(shape: &Geometry) -> Result<bool, GeoError> {
    match shape {
        Geometry::Point(_) | Geometry::MultiPoint(_) => Ok(true),
        Geometry::GeometryCollection(members) => {
            for member in members {
                if !is_valid(member)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => {
            let paths = paths(shape);
            let enough = |path: &Path| path.coords.len() >= if path.ring_of.is_some() { 4 } else { 2 };
            if !paths.iter().filter(|path| !path.coords.is_empty()).all(enough) {
                return Ok(false);
            }
            let is_area = paths.iter().any(|path| path.ring_of.is_some());
            if is_area { are_rings_valid(&paths) } else { Ok(true) }
        }
    }
}

/// Whether lines have no point twice, but where they end (section 6.1.6 and the like).
///
/// # Errors
///
/// Where it has too many segments near each other to tell.
pub fn is_simple(shape: &Geometry) -> Result<bool, GeoError> {
    match shape {
        Geometry::Point(_) => Ok(true),
        Geometry::MultiPoint(points) => {
            let mut keys: Vec<(u64, u64)> =
                points.iter().map(|p| ((p.x() + 0.0).to_bits(), (p.y() + 0.0).to_bits())).collect();
            keys.sort_unstable();
            Ok(keys.windows(2).all(|pair| matches!(pair, [a, b] if a != b)))
        }
        Geometry::GeometryCollection(members) => {
            for member in members {
                if !is_simple(member)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        _ => {
            let paths = paths(shape);
            let mut simple = true;
            each_pair(&of_paths(&paths), |a, b| simple &= may_meet(&paths, a, b))?;
            Ok(simple)
        }
    }
}

/// Whether two segments of lines or rings do not meet, or do so where these may.
fn may_meet(paths: &[Path], a: &Segment, b: &Segment) -> bool {
    let Some(meeting) = line_intersection(a.line, b.line) else { return true };
    let LineIntersection::SinglePoint { intersection, .. } = meeting else { return false };
    let (Some(path_a), Some(path_b)) = (paths.get(a.path), paths.get(b.path)) else { return true };
    if a.path == b.path {
        let last = path_a.coords.len().saturating_sub(2);
        let is_joint = a.line.end == b.line.start || b.line.end == a.line.start;
        let are_neighbours = a.number.abs_diff(b.number) == 1
            || (path_a.is_closed() && a.number.min(b.number) == 0 && a.number.max(b.number) == last);
        return are_neighbours && is_joint;
    }
    if path_a.ring_of.is_some() || path_b.ring_of.is_some() {
        return true;
    }
    // Different lines: at ends of both.
    let is_end = |path: &Path| {
        !path.is_closed()
            && (path.coords.first() == Some(&intersection) || path.coords.last() == Some(&intersection))
    };
    is_end(path_a) && is_end(path_b)
}

fn are_rings_valid(paths: &[Path]) -> Result<bool, GeoError> {
    let mut valid = true;
    let mut touching: BTreeSet<(usize, usize)> = BTreeSet::new();
    each_pair(&of_paths(paths), |a, b| {
        if !valid {
            return;
        }
        if a.path == b.path {
            valid = may_meet(paths, a, b);
            return;
        }
        match line_intersection(a.line, b.line) {
            None => {}
            Some(LineIntersection::SinglePoint { is_proper: false, .. }) => {
                touching.insert((a.path.min(b.path), a.path.max(b.path)));
            }
            Some(_) => valid = false,
        }
    })?;
    if !valid {
        return Ok(false);
    }
    are_all_placed(paths, &touching)
}

/// Whether rings that do not cross lie as they may.
fn are_all_placed(paths: &[Path], touching: &BTreeSet<(usize, usize)>) -> Result<bool, GeoError> {
    let rings: Vec<Polygon> =
        paths.iter().map(|path| Polygon::new(LineString(path.coords.clone()), Vec::new())).collect();
    let boxed = |(at, ring): (usize, &Polygon)| {
        let bounds = ring.bounding_rect()?;
        let (least, greatest) = (bounds.min(), bounds.max());
        Some(Ring(Around { least: [least.x, least.y], greatest: [greatest.x, greatest.y] }, at))
    };
    let mut watch = Watch::new();
    let boxes: Vec<Ring> = rings.iter().enumerate().filter_map(boxed).collect();
    let tree = Tree::new(boxes.clone(), &mut watch)?;
    let mut left = LOOKS_MAX;
    let mut holes_left = paths.iter().filter(|path| matches!(path.ring_of, Some((_, false)))).count();
    let mut others = Vec::new();
    for Ring(around, at) in boxes {
        others.clear();
        tree.each_meeting(&around, |other| {
            others.push(other.1);
            watch.check()
        })?;
        for other_at in others.iter().copied().filter(|other| at < *other) {
            let (Some(ring), Some(other)) = (rings.get(at), rings.get(other_at)) else { continue };
            let touch = touching.contains(&(at, other_at));
            let points = (ring.exterior().0.len() + other.exterior().0.len()) * if touch { 64 } else { 1 };
            left = left.checked_sub(points + 16).ok_or(GeoError::TooLarge {
                what: "points of rings that are near each other",
                limit: LOOKS_MAX,
            })?;
            if !are_placed(paths, (at, ring), (other_at, other), touch, &mut watch)? {
                return Ok(false);
            }
            holes_left -= usize::from(is_hole_of(paths, at, other_at));
        }
    }
    // A hole whose box does not meet that of its polygon was not looked at.
    Ok(holes_left == 0)
}

/// The box of a ring, and which it is.
#[derive(Debug, Clone, Copy)]
struct Ring(Around<2>, usize);

impl Placed<2> for Ring {
    fn around(&self) -> Around<2> {
        self.0
    }
}

/// Points of rings that are looked at.
const LOOKS_MAX: usize = 30_000_000;

/// Whether the second ring is a hole of the polygon whose outer ring is the first.
fn is_hole_of(paths: &[Path], outer: usize, hole: usize) -> bool {
    let ring_of = |at: usize| paths.get(at).and_then(|path| path.ring_of);
    matches!((ring_of(outer), ring_of(hole)), (Some((a, true)), Some((b, false))) if a == b)
}

/// Whether two rings that do not cross lie as they may: a hole in its polygon, all others beside each other, or in holes.
fn are_placed(
    paths: &[Path],
    a: (usize, &Polygon),
    b: (usize, &Polygon),
    touch: bool,
    watch: &mut Watch,
) -> Result<bool, GeoError> {
    let ring_of = |at: usize| paths.get(at).and_then(|path| path.ring_of);
    let (Some((polygon_a, outer_a)), Some((polygon_b, _))) = (ring_of(a.0), ring_of(b.0)) else {
        return Ok(true);
    };
    let b_in_a = side(a.1, b.1, touch, watch)?;
    let a_in_b = side(b.1, a.1, touch, watch)?;
    if polygon_a == polygon_b {
        return Ok(if outer_a {
            b_in_a == Side::Inside
        } else {
            b_in_a == Side::Outside && a_in_b == Side::Outside
        });
    }
    // Rings of different polygons: neither outer ring may be in the other polygon, unless in one of its holes, which
    // is found where the holes are looked at.
    let holes = |polygon: usize| {
        let is_hole = move |path: &&Path| path.ring_of == Some((polygon, false));
        paths.iter().filter(is_hole).map(|path| Polygon::new(LineString(path.coords.clone()), Vec::new()))
    };
    let mut in_hole = |ring: &Polygon, polygon: usize| {
        watch.check_after(paths.len() / PATHS_A_STEP)?;
        for hole in holes(polygon) {
            if side(&hole, ring, true, watch)? == Side::Inside {
                return Ok(true);
            }
        }
        Ok(false)
    };
    match (ring_of(a.0), ring_of(b.0)) {
        (Some((_, true)), Some((_, true))) => match (a_in_b, b_in_a) {
            (Side::Outside, Side::Outside) => Ok(true),
            (Side::Inside, _) => in_hole(a.1, polygon_b),
            (_, Side::Inside) => in_hole(b.1, polygon_a),
            _ => Ok(false),
        },
        _ => Ok(true),
    }
}

/// Where a ring is that does not cross another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Inside,
    Outside,
    /// Some of it inside, some outside: it crosses in a corner. Or all of it on the other.
    Both,
}

fn side(of: &Polygon, ring: &Polygon, touch: bool, watch: &mut Watch) -> Result<Side, GeoError> {
    let corners = ring.exterior().0.iter().copied();
    let middles = ring.exterior().lines().map(|line| (line.start + line.end) / 2.0);
    let points = ring.exterior().0.len().saturating_mul(of.exterior().0.len());
    let mut rays = match touch && points > FREE_LOOKS {
        true => Some(Rays::new(of.exterior().lines().map(|line| (line, 0)), watch)?),
        false => None,
    };
    let mut found = None;
    for coord in corners.chain(middles) {
        watch.check()?;
        let position = match &mut rays {
            Some(rays) => rays.position(coord, watch)?,
            None => of.coordinate_position(&coord),
        };
        let side = match position {
            CoordPos::Inside => Side::Inside,
            CoordPos::Outside => Side::Outside,
            CoordPos::OnBoundary => continue,
        };
        match found {
            None => found = Some(side),
            Some(known) if known != side => return Ok(Side::Both),
            Some(_) => {}
        }
        if !touch {
            break;
        }
    }
    Ok(found.unwrap_or(Side::Both))
}

/// Paths that are looked through in the time of a step.
const PATHS_A_STEP: usize = 8;
/// So many pairs of points of two rings are compared with each other; for more a tree is made first.
const FREE_LOOKS: usize = 100_000;
