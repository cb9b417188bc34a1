//! Which places a shape has: by trees of its edges, and not by all of its parts for each place.

use crate::error::GeoError;
use crate::parts::Parts;
use crate::rays::Rays;
use crate::tree::{Around, Tree};
use crate::watch::Watch;
use geo::{Coord, Intersects, Line, LineString, Point};
use std::collections::HashSet;

/// A shape that is asked for places.
#[derive(Debug)]
pub struct Cover {
    points: HashSet<(u64, u64)>,
    lines: Tree<Line, 2>,
    areas: Rays,
}

impl Cover {
    /// That of a shape.
    ///
    /// # Errors
    ///
    /// Where time is up.
    pub fn of(parts: &Parts, watch: &mut Watch) -> Result<Self, GeoError> {
        let mut points = HashSet::new();
        for point in &parts.points {
            watch.check()?;
            points.insert(key(point.0));
        }
        let lines = Tree::new(parts.lines.iter().flat_map(LineString::lines).collect(), watch)?;
        Ok(Self { points, lines, areas: Rays::new(parts.area_edges(), watch)? })
    }

    /// Whether it has this place.
    ///
    /// # Errors
    ///
    /// Where that takes too long, or time is up.
    pub fn has(&mut self, Point(place): Point, watch: &mut Watch) -> Result<bool, GeoError> {
        watch.check()?;
        if self.points.contains(&key(place)) {
            return Ok(true);
        }
        let mut is_on_line = false;
        let corner = [place.x, place.y];
        self.lines.each_meeting(&Around::both(corner, corner), |line| {
            is_on_line |= line.intersects(&place);
            watch.check()
        })?;
        Ok(is_on_line || self.areas.are_at(place, watch)?)
    }
}

fn key(place: Coord) -> (u64, u64) {
    // There is one zero.
    ((place.x + 0.0).to_bits(), (place.y + 0.0).to_bits())
}
