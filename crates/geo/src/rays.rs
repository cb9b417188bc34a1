//! Whether places are inside of areas: how many edges a ray from there crosses, of which a tree tells the few that it can meet.

use crate::error::GeoError;
use crate::tree::{Around, Placed, Tree};
use crate::watch::Watch;
use geo::coordinate_position::CoordPos;
use geo::kernels::{Kernel, Orientation, RobustKernel};
use geo::{Coord, Line};

/// Edges of areas that rays may meet, all together: some ten nanoseconds each.
const LOOKS_MAX: usize = 100_000_000;

/// An edge of the area with this number.
#[derive(Debug, Clone, Copy)]
struct Side(Line, usize);

impl Placed<2> for Side {
    fn around(&self) -> Around<2> {
        self.0.around()
    }
}

/// Areas by their edges.
#[derive(Debug)]
pub struct Rays {
    sides: Tree<Side, 2>,
    east: f64,
    left: usize,
}

impl Rays {
    /// Those with these edges, each with the number of its area.
    ///
    /// # Errors
    ///
    /// Where time is up.
    pub fn new(edges: impl Iterator<Item = (Line, usize)>, watch: &mut Watch) -> Result<Self, GeoError> {
        let sides: Vec<Side> = edges.map(|(line, area)| Side(line, area)).collect();
        let ends = sides.iter().flat_map(|Side(line, _)| [line.start.x, line.end.x]);
        let east = ends.fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { sides: Tree::new(sides, watch)?, east, left: LOOKS_MAX })
    }

    /// Whether a place that is on no edge of other areas than `but` is inside one of the others.
    ///
    /// # Errors
    ///
    /// Where that takes too long, or time is up.
    pub fn are_around(&mut self, place: Coord, but: &[usize], watch: &mut Watch) -> Result<bool, GeoError> {
        let mut inside: Vec<usize> = Vec::new();
        self.cast(place, watch, |area, is_on_it| {
            if !is_on_it && !but.contains(&area) {
                turn(&mut inside, area);
            }
        })?;
        Ok(!inside.is_empty())
    }

    /// Whether a place is inside or on the edge of one of them.
    ///
    /// # Errors
    ///
    /// Where that takes too long, or time is up.
    pub fn are_at(&mut self, place: Coord, watch: &mut Watch) -> Result<bool, GeoError> {
        let mut on_edge = false;
        let mut inside: Vec<usize> = Vec::new();
        self.cast(place, watch, |area, is_on_it| match is_on_it {
            true => on_edge = true,
            false => turn(&mut inside, area),
        })?;
        Ok(on_edge || !inside.is_empty())
    }

    /// Where a place is, if all edges are of one area.
    ///
    /// # Errors
    ///
    /// Where that takes too long, or time is up.
    pub fn position(&mut self, place: Coord, watch: &mut Watch) -> Result<CoordPos, GeoError> {
        let (mut inside, mut on_edge) = (false, false);
        self.cast(place, watch, |_, is_on_it| match is_on_it {
            true => on_edge = true,
            false => inside = !inside,
        })?;
        Ok(match (on_edge, inside) {
            (true, _) => CoordPos::OnBoundary,
            (false, true) => CoordPos::Inside,
            (false, false) => CoordPos::Outside,
        })
    }

    /// Calls `f` for all edges that the ray to the east crosses, with whether the place is on the edge.
    fn cast(
        &mut self,
        place: Coord,
        watch: &mut Watch,
        mut f: impl FnMut(usize, bool),
    ) -> Result<(), GeoError> {
        if place.x > self.east {
            return Ok(());
        }
        let ray = Around { least: [place.x, place.y], greatest: [self.east, place.y] };
        let left = &mut self.left;
        self.sides.each_meeting(&ray, |Side(Line { start, end }, area)| {
            watch.check()?;
            *left = left
                .checked_sub(1)
                .ok_or(GeoError::TooLarge { what: "places inside and outside of areas", limit: LOOKS_MAX })?;
            let goes_across = (start.y > place.y) != (end.y > place.y);
            match RobustKernel::orient2d(*start, *end, place) {
                Orientation::CounterClockwise if goes_across && end.y > start.y => f(*area, false),
                Orientation::Clockwise if goes_across && end.y < start.y => f(*area, false),
                // Of an edge that the ray runs along, the place may be left of it.
                Orientation::Collinear if start.x.min(end.x) <= place.x => f(*area, true),
                _ => {}
            }
            Ok(())
        })
    }
}

/// The ray crosses an edge of an area: it is inside from there on if it was not, and the other way round.
fn turn(inside: &mut Vec<usize>, area: usize) {
    match inside.iter().position(|known| *known == area) {
        Some(known) => {
            inside.swap_remove(known);
        }
        None => inside.push(area),
    }
}

#[cfg(test)]
mod tests {
    use super::Rays;
    use crate::watch::Watch;
    use geo::coordinate_position::CoordinatePosition;
    use geo::{LineString, Polygon, coord};

    /// As the library says, all over a grid, for an area with corners and edges on it.
    #[test]
    fn positions_are_those_of_the_library() {
        let ring =
            [(0, 0), (4, 0), (4, 2), (6, 2), (6, 0), (8, 0), (8, 6), (5, 3), (2, 6), (2, 2), (0, 4), (0, 0)];
        let ring: LineString = ring.into_iter().map(|(x, y)| (f64::from(x), f64::from(y))).collect();
        let area = Polygon::new(ring, Vec::new());
        let mut watch = Watch::new();
        let mut rays = Rays::new(area.exterior().lines().map(|line| (line, 0)), &mut watch).unwrap();
        for (x, y) in (-2..20).flat_map(|x| (-2..16).map(move |y| (x, y))) {
            let place = coord! { x: f64::from(x) / 2.0, y: f64::from(y) / 2.0 };
            let found = rays.position(place, &mut watch).unwrap();
            assert_eq!(found, area.coordinate_position(&place), "{place:?}");
        }
    }
}
