//! Corners of areas where the library has put them elsewhere: it computes on a grid of some 2^30 places each way, and what it gives has the places of the grid.
//! Where one is that of a single corner of what went in, it is that corner again.

use crate::error::GeoError;
use crate::validity::is_valid;
use geo::{Coord, CoordsIter, MapCoords, MultiPolygon, Polygon};
use std::collections::HashMap;

/// Corners by their places in the grid that the library makes for them.
pub(crate) struct Corners {
    offset: Coord,
    scale: f64,
    /// None of places that several have.
    known: HashMap<Place, Option<Coord>>,
}

/// A place of the grid: two whole numbers.
type Place = (u64, u64);

impl Corners {
    /// Those of all areas that the library is given for one operation.
    pub fn of<'a>(areas: impl Iterator<Item = &'a Polygon> + Clone) -> Self {
        let coords = || areas.clone().flat_map(CoordsIter::coords_iter);
        let infinite = Coord { x: f64::INFINITY, y: f64::INFINITY };
        let (min, max) = coords().fold((infinite, infinite * -1.0), |(min, max), at| {
            let (least, most) = (Coord { x: min.x.min(at.x), y: min.y.min(at.y) }, max);
            (least, Coord { x: most.x.max(at.x), y: most.y.max(at.y) })
        });
        // As i_float 1 does it (`FloatPointAdapter`). If it does it in another way one day, places do not match, and stay.
        let half = (max - min) * 0.5;
        let levels = 29.0 - half.x.max(half.y).log2().round();
        let mut corners = Self { offset: min + half, scale: levels.exp2(), known: HashMap::new() };
        if !corners.scale.is_finite() {
            return corners;
        }
        for coord in coords() {
            let scaled = corners.scaled(coord);
            let known = corners.known.entry(place(scaled.x.round(), scaled.y.round())).or_insert(Some(coord));
            if known.is_some_and(|known| known != coord) {
                *known = None;
            }
        }
        corners
    }

    fn scaled(&self, coord: Coord) -> Coord {
        (coord - self.offset) * self.scale
    }

    /// What the library has made of them, with the corners where they were, if that is valid: where others are as near as places of the grid, edges may cross
    /// that did not.
    ///
    /// # Errors
    ///
    /// Where nobody waits for the answer any more.
    pub fn put_back(&self, areas: MultiPolygon) -> Result<MultiPolygon, GeoError> {
        let put_back = |coord: Coord| {
            let scaled = self.scaled(coord);
            let found = self.known.get(&place(scaled.x.round(), scaled.y.round()));
            found.copied().flatten().unwrap_or(coord)
        };
        let exact = areas.map_coords(put_back);
        if exact == areas {
            return Ok(areas);
        }
        let exact = geo::Geometry::from(exact);
        match (is_valid(&exact), exact) {
            (Ok(true), geo::Geometry::MultiPolygon(exact)) => Ok(exact),
            (Err(GeoError::Stopped), _) => Err(GeoError::Stopped),
            _ => Ok(areas),
        }
    }
}

/// 0 and -0 are the same.
fn place(x: f64, y: f64) -> Place {
    ((x + 0.0).to_bits(), (y + 0.0).to_bits())
}
