//! Distances from a place on the earth, and how far away what is in a box is at least: for who looks for what is nearest in an index of boxes.

use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::measure;
use crate::unit::Unit;
use crate::window::{Bounds, LEAST_RADIUS};

/// Room for what is lost when numbers are rounded: a part, and metres.
const SLACK: f64 = 1e-9;
const SLACK_METRES: f64 = 1e-3;
/// Geometries with more points may be too large for a distance.
const POINTS_REGULAR: usize = 50_000;

/// Distances from a place, or to it.
#[derive(Debug, Clone)]
pub struct Proximity {
    place: Geometry,
    longitude: f64,
    latitude: f64,
    is_first: bool,
    unit: Unit,
    metres: f64,
}

impl Proximity {
    /// Those that have this point as the first or the second of both. None of what is no point of a longitude and a latitude, and where the unit is none of length.
    pub fn new(place: Geometry, is_first: bool, unit: Unit) -> Option<Self> {
        let geo::Geometry::Point(point) = *place.shape() else { return None };
        let Unit::Length(metres) = unit else { return None };
        let is_regular = place.crs().same_plane(&Crs::Crs84) && point.y().abs() <= 90.0;
        let (longitude, latitude) = (point.x(), point.y());
        is_regular.then_some(Self { place, longitude, latitude, is_first, unit, metres })
    }

    /// The distance of a geometry, as the function computes it.
    ///
    /// # Errors
    ///
    /// As [`measure::distance`].
    pub fn distance(&self, geometry: &Geometry) -> Result<f64, GeoError> {
        match self.is_first {
            true => measure::distance(&self.place, geometry, self.unit),
            false => measure::distance(geometry, &self.place, self.unit),
        }
    }

    /// What all distances of geometries within a box of longitudes and latitudes are not below.
    pub fn least(&self, bounds: &Bounds) -> f64 {
        let ([west, south], [east, north]) = (bounds.min, bounds.max);
        let latitudes = (south - self.latitude).max(self.latitude - north).max(0.0).to_radians();
        let angle = latitudes.max(self.beside(west, east));
        let metres = angle * LEAST_RADIUS * (1.0 - SLACK) - SLACK_METRES;
        (metres / self.metres).max(0.0)
    }

    /// The angle to the nearest of the meridians between two.
    fn beside(&self, west: f64, east: f64) -> f64 {
        let width = east - west;
        if width >= 360.0 || width.is_nan() {
            return 0.0;
        }
        let (from, to) =
            ((west - self.longitude).rem_euclid(360.0), (self.longitude - east).rem_euclid(360.0));
        if (self.longitude - west).rem_euclid(360.0) <= width {
            return 0.0;
        }
        let gap = from.min(to).to_radians();
        let cosine = self.latitude.to_radians().cos();
        let sine = if gap < std::f64::consts::FRAC_PI_2 { gap.sin() } else { 1.0 };
        (cosine * sine).clamp(0.0, 1.0).asin()
    }
}

/// Whether the distance of a geometry from a place on the earth is a number, whatever the place, or at least one near it.
pub fn is_regular(geometry: &Geometry) -> bool {
    let on_earth = |bounds: geo::Rect| bounds.min().y >= -90.0 && bounds.max().y <= 90.0;
    geometry.points() <= POINTS_REGULAR && geometry.bounds().is_some_and(on_earth)
}
