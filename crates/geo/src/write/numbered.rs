//! The points of a geometry in their order, with their heights and measures.

use crate::geometry::Geometry;
use geo::Coord;
use std::fmt::Write as _;

/// Writes points one after the other, as their number says.
pub struct Numbered<'a> {
    geometry: &'a Geometry,
    /// Which axis comes first.
    is_northing_first: bool,
    has_measures: bool,
    next: usize,
}

impl<'a> Numbered<'a> {
    /// Of this geometry, in the order of the axes of its reference system or with the easting first.
    pub fn new(geometry: &'a Geometry, is_northing_first: bool, has_measures: bool) -> Self {
        Self { geometry, is_northing_first, has_measures, next: 0 }
    }

    /// The numbers of the next point, which has these coordinates.
    pub fn point(&mut self, coord: Coord, separator: char, out: &mut String) {
        let (first, second) = if self.is_northing_first { (coord.y, coord.x) } else { (coord.x, coord.y) };
        // Writing to a string cannot fail. Zero has no sign.
        let _ = write!(out, "{}{separator}{}", first + 0.0, second + 0.0);
        let measures = self.geometry.measures().filter(|_| self.has_measures);
        for numbers in [self.geometry.heights(), measures].into_iter().flatten() {
            let _ = write!(out, "{separator}{}", numbers.get(self.next).copied().unwrap_or(0.0));
        }
        self.next += 1;
    }

    /// Points one after the other.
    pub fn points(&mut self, coords: &[Coord], within: char, between: &str, out: &mut String) {
        for (at, coord) in coords.iter().enumerate() {
            if at > 0 {
                out.push_str(between);
            }
            self.point(*coord, within, out);
        }
    }
}

/// Writes members with something between them.
pub fn between<T>(
    members: impl IntoIterator<Item = T>,
    separator: &str,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    for (at, member) in members.into_iter().enumerate() {
        if at > 0 {
            out.push_str(separator);
        }
        write(member, out);
    }
}
