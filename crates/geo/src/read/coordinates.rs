//! Coordinates as they are read: in the order of their system's axes, with heights and measures, and not too many.

use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::{Geometry, Kind};
use crate::limits::{COORDINATE_MAX, POINTS_MAX};
use geo::{Coord, CoordsIter, LineString, MultiPoint, Point, Polygon};

/// Which numbers each point has beside the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dimensions {
    pub has_height: bool,
    pub has_measure: bool,
}

impl Dimensions {
    /// How many numbers each point has.
    pub fn numbers(self) -> usize {
        2 + usize::from(self.has_height) + usize::from(self.has_measure)
    }
}

/// Takes coordinates one after the other.
#[derive(Debug)]
pub struct Coordinates {
    format: &'static str,
    crs: Crs,
    is_northing_first: bool,
    dimensions: Option<Dimensions>,
    heights: Vec<f64>,
    measures: Vec<f64>,
    points: usize,
}

impl Coordinates {
    /// For a text of this format with coordinates in this system.
    pub fn new(format: &'static str, crs: Crs) -> Self {
        let is_northing_first = crs.is_northing_first();
        let (heights, measures) = (Vec::new(), Vec::new());
        Self { format, crs, is_northing_first, dimensions: None, heights, measures, points: 0 }
    }

    /// Says what all points have; it must be the same for all.
    pub fn declare(&mut self, dimensions: Dimensions, at: usize) -> Result<(), GeoError> {
        match self.dimensions {
            Some(known) if known != dimensions => {
                Err(self.wrong(at, "all points must have as many coordinates as the first one"))
            }
            _ => {
                self.dimensions = Some(dimensions);
                Ok(())
            }
        }
    }

    /// What points have, as far as is known.
    pub fn dimensions(&self) -> Option<Dimensions> {
        self.dimensions
    }

    /// One more point. Its numbers are as many as was declared; where nothing was, they tell.
    pub fn point(&mut self, numbers: &[f64], at: usize) -> Result<Coord, GeoError> {
        if !numbers.iter().all(|number| number.abs() <= COORDINATE_MAX) {
            return Err(self.wrong(at, "a coordinate must be a number, and not a very large one"));
        }
        let (&[first, second], rest) =
            numbers.split_first_chunk().ok_or_else(|| self.wrong(at, "a point needs two coordinates"))?;
        if self.dimensions.is_none() {
            let dimensions = Dimensions { has_height: !rest.is_empty(), has_measure: rest.len() > 1 };
            self.declare(dimensions, at)?;
        }
        let dimensions = self.dimensions.unwrap_or_default();
        if numbers.len() != dimensions.numbers() {
            return Err(self.wrong(at, format!("a point needs {} coordinates here", dimensions.numbers())));
        }
        self.points += 1;
        if self.points > POINTS_MAX {
            return Err(GeoError::TooLarge { what: "points", limit: POINTS_MAX });
        }
        let mut rest = rest.iter().copied();
        if dimensions.has_height {
            self.heights.extend(rest.next());
        }
        if dimensions.has_measure {
            self.measures.extend(rest.next());
        }
        let (x, y) = if self.is_northing_first { (second, first) } else { (first, second) };
        Ok(Coord { x, y })
    }

    /// A line of these points.
    pub fn line(&self, coords: Vec<Coord>, at: usize) -> Result<LineString, GeoError> {
        if coords.len() == 1 {
            return Err(self.wrong(at, "a line needs two points"));
        }
        Ok(LineString(coords))
    }

    /// A ring of these points.
    pub fn ring(&self, coords: Vec<Coord>, at: usize) -> Result<LineString, GeoError> {
        if !coords.is_empty() && (coords.len() < 4 || coords.first() != coords.last()) {
            return Err(self.wrong(at, "a ring needs four points, the last of them like the first"));
        }
        Ok(LineString(coords))
    }

    /// A polygon of rings, the outer one first.
    pub fn polygon(&self, rings: Vec<LineString>, at: usize) -> Result<Polygon, GeoError> {
        let mut rings = rings.into_iter();
        let outer = rings.next().unwrap_or_else(|| LineString(Vec::new()));
        let inner: Vec<LineString> = rings.filter(|ring| !ring.0.is_empty()).collect();
        if outer.0.is_empty() && !inner.is_empty() {
            return Err(self.wrong(at, "a polygon with holes needs an outer ring"));
        }
        Ok(Polygon::new(outer, inner))
    }

    /// A point or, where there is none, no points: the library has no empty point.
    pub fn point_shape(coord: Option<Coord>) -> geo::Geometry {
        match coord {
            Some(coord) => geo::Geometry::Point(Point(coord)),
            None => geo::Geometry::MultiPoint(MultiPoint(Vec::new())),
        }
    }

    /// The text is wrong.
    pub fn wrong(&self, at: usize, message: impl Into<String>) -> GeoError {
        GeoError::syntax(self.format, at, message)
    }

    /// The geometry of all of them. Members without points are left out: the library's operations count on all to have some.
    pub fn finish(self, kind: Kind, mut shape: geo::Geometry) -> Geometry {
        drop_empty(&mut shape);
        let dimensions = self.dimensions.unwrap_or_default();
        let heights = dimensions.has_height.then_some(self.heights);
        let measures = dimensions.has_measure.then_some(self.measures);
        Geometry::new(self.crs, kind, shape, heights, measures)
    }
}

fn drop_empty(shape: &mut geo::Geometry) {
    match shape {
        geo::Geometry::MultiLineString(lines) => lines.0.retain(|line| !line.0.is_empty()),
        geo::Geometry::MultiPolygon(polygons) => {
            polygons.0.retain(|polygon| !polygon.exterior().0.is_empty())
        }
        geo::Geometry::GeometryCollection(members) => {
            members.0.iter_mut().for_each(drop_empty);
            members.0.retain(|member| member.coords_iter().next().is_some());
        }
        _ => {}
    }
}
