//! Pairs of geometries that pass a test, of many on each side: those of one side are kept with their boxes ([`Kept`]), and each of the other side is asked
//! which of them may pass. What windows and boxes tell is told in [`crate::window`].

use crate::box_tree::{BOX_BYTES, BoxTree};
use crate::crs::Crs;
use crate::geometry::Geometry;
use crate::measure;
use crate::relate;
use crate::window::{Bounds, Search, Test, Windows, extent, windows};

/// Planes with a tree of their own; geometries of others may pass all tests.
const PLANES_MAX: usize = 15;

/// What is asked of two geometries.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTest {
    test: Test,
    /// The distance must be less.
    is_below: bool,
}

impl PairTest {
    /// A test, with `is_below` of a distance that must be less than the greatest; none where boxes tell nothing.
    pub fn new(test: Test, is_below: bool) -> Option<Self> {
        test.needs_nearness().then_some(Self { test, is_below })
    }

    /// The search for what passes with one geometry, the first or the second of both; none where boxes tell nothing.
    pub fn search(&self, one: Geometry, is_first: bool) -> Option<Search> {
        Search::new(one, is_first, self.test.clone())
    }

    /// Whether these pass: no, where that cannot be told.
    pub fn holds(&self, first: &Geometry, second: &Geometry) -> bool {
        match &self.test {
            Test::Relation(relation) => relate::holds(*relation, first, second).unwrap_or(false),
            Test::Pattern(pattern) => relate::matches(first, second, pattern).unwrap_or(false),
            Test::Distance { most, unit } => match measure::distance(first, second, *unit) {
                Ok(distance) if self.is_below => distance < *most,
                Ok(distance) => distance <= *most,
                Err(_) => false,
            },
        }
    }
}

/// What has to be known of a geometry to find it: where it is.
#[derive(Debug, Clone)]
pub struct Place {
    plane: Crs,
    bounds: Option<Bounds>,
}

impl Place {
    /// That of a geometry.
    pub fn of(geometry: &Geometry) -> Self {
        Self { plane: geometry.crs().plane(), bounds: extent(geometry) }
    }
}

/// Bytes that a geometry takes here, about, while all are put together.
pub const KEPT_BYTES: usize = size_of::<Place>() + 2 * BOX_BYTES;

/// The geometries of one side, by their numbers.
#[derive(Debug)]
pub struct Kept {
    test: PairTest,
    /// They are the first of each pair.
    are_first: bool,
    planes: Vec<(Crs, BoxTree)>,
    /// Of planes that have no tree.
    elsewhere: Vec<u32>,
    /// Those without a point: only such pass with them.
    empty: Vec<u32>,
}

impl Kept {
    /// These, each with its number, as the first or the second of each pair.
    pub fn new(test: PairTest, are_first: bool, places: impl Iterator<Item = (u32, Place)>) -> Self {
        let mut planes: Vec<(Crs, Vec<_>)> = Vec::new();
        let (mut elsewhere, mut empty) = (Vec::new(), Vec::new());
        for (number, Place { plane, bounds }) in places {
            let Some(bounds) = bounds else {
                empty.push(number);
                continue;
            };
            let has_room = planes.len() < PLANES_MAX;
            match planes.iter_mut().find(|(known, _)| *known == plane) {
                Some((_, boxes)) => boxes.push((bounds, number)),
                None if has_room => planes.push((plane, vec![(bounds, number)])),
                None => elsewhere.push(number),
            }
        }
        let planes = planes.into_iter().map(|(plane, boxes)| (plane, BoxTree::new(boxes))).collect();
        Self { test, are_first, planes, elsewhere, empty }
    }

    /// Appends the numbers of those that may pass with `other`.
    pub fn candidates(&self, other: &Geometry, found: &mut Vec<u32>) {
        if other.is_empty() {
            found.extend(&self.empty);
            return;
        }
        for (plane, boxes) in &self.planes {
            let windows = windows(other, !self.are_first, &self.test.test, plane);
            if !matches!(&windows, Windows::Boxes(boxes) if boxes.is_empty()) {
                boxes.meeting(&windows, found);
            }
        }
        found.extend(&self.elsewhere);
    }

    /// Whether one of those kept and another pass.
    pub fn passes(&self, kept: &Geometry, other: &Geometry) -> bool {
        match self.are_first {
            true => self.test.holds(kept, other),
            false => self.test.holds(other, kept),
        }
    }
}
