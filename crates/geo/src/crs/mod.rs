//! Coordinate reference systems: their IRIs, the order of their axes, and the way from one to another.

mod axes;

use crate::error::GeoError;
use geo::{Coord, MapCoords};
use proj4rs::Proj;
use std::sync::Arc;

/// The IRI of longitude and latitude on WGS 84, which a geometry without one has.
const CRS84: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
/// IRIs of codes of the EPSG register begin so, before a version and the code.
const EPSG: &str = "http://www.opengis.net/def/crs/EPSG/";
/// Longitude and latitude in degrees on WGS 84.
const WGS84: &str = "+proj=longlat +datum=WGS84 +no_defs";

/// A coordinate reference system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crs {
    /// Longitude and latitude on WGS 84.
    Crs84,
    /// A code of the EPSG register, whose axes come in the order of the register.
    Epsg(u16),
    /// One that is not known, by its IRI: a plane without a way to others.
    Other(Arc<str>),
}

/// What stands for a code of the EPSG register in an IRI.
fn epsg_code(iri: &str) -> Option<&str> {
    let rest = iri
        .strip_prefix(EPSG)
        .or_else(|| iri.strip_prefix("https://www.opengis.net/def/crs/EPSG/"))
        .or_else(|| iri.strip_prefix("http://www.opengis.net/gml/srs/epsg.xml#"))
        .or_else(|| iri.strip_prefix("urn:ogc:def:crs:EPSG:"))
        .or_else(|| iri.strip_prefix("urn:x-ogc:def:crs:EPSG:"))
        .or_else(|| iri.strip_prefix("EPSG:"))?;
    rest.rsplit(['/', ':']).next()
}

/// What is known of a system.
struct Known {
    proj: Proj,
    is_geographic: bool,
}

impl Crs {
    /// The one with this IRI, or a URN or short form of a code.
    pub fn from_iri(iri: &str) -> Self {
        match epsg_code(iri).and_then(|code| code.parse().ok()) {
            Some(code) => Self::Epsg(code),
            None if iri.ends_with("/CRS84") || iri.ends_with(":CRS84") || iri.ends_with("#CRS84") => {
                Self::Crs84
            }
            None => Self::Other(iri.into()),
        }
    }

    /// Its IRI.
    pub fn iri(&self) -> String {
        match self {
            Self::Crs84 => CRS84.to_owned(),
            Self::Epsg(code) => format!("{EPSG}0/{code}"),
            Self::Other(iri) => iri.to_string(),
        }
    }

    /// Whether coordinates are written with the latitude or the northing first.
    pub fn is_northing_first(&self) -> bool {
        match self {
            Self::Epsg(code) => axes::is_northing_first(*code, self.is_geographic()),
            Self::Crs84 | Self::Other(_) => false,
        }
    }

    /// Whether coordinates are degrees on an ellipsoid.
    pub fn is_geographic(&self) -> bool {
        match self {
            Self::Crs84 | Self::Epsg(4326) => true,
            Self::Epsg(_) => self.known().is_some_and(|known| known.is_geographic),
            Self::Other(_) => false,
        }
    }

    /// Whether more is known of it than its name: there are ways to others.
    pub fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// The code in the EPSG register that it is named by, if there is nothing more that is known of it.
    pub fn unknown_code(&self) -> Option<String> {
        let code = match self {
            Self::Crs84 => None,
            Self::Epsg(code) => Some(code.to_string()),
            Self::Other(iri) => epsg_code(iri).map(str::to_owned),
        };
        code.filter(|_| !self.is_known())
    }

    /// Metres of a unit of its coordinates, where these are no angles.
    pub fn metres(&self) -> f64 {
        let known = self.known().filter(|known| !known.is_geographic);
        known.map_or(1.0, |known| known.proj.to_meter())
    }

    /// Whether shapes of both have the same coordinates.
    pub(crate) fn same_plane(&self, other: &Self) -> bool {
        let is_wgs84 = |crs: &Self| matches!(crs, Self::Crs84 | Self::Epsg(4326));
        self == other || (is_wgs84(self) && is_wgs84(other))
    }

    /// A shape of this system in the coordinates of another.
    pub(crate) fn transform(&self, to: &Self, shape: &geo::Geometry) -> Result<geo::Geometry, GeoError> {
        let no_way = || GeoError::NoTransformation { from: self.iri(), to: to.iri() };
        let (from, to) = (self.known().ok_or_else(no_way)?, to.known().ok_or_else(no_way)?);
        from.transform(&to, shape).ok_or_else(no_way)
    }

    fn known(&self) -> Option<Known> {
        let proj = match self {
            Self::Crs84 | Self::Epsg(4326) => Proj::from_proj_string(WGS84),
            Self::Epsg(code) => Proj::from_epsg_code(*code),
            Self::Other(_) => return None,
        };
        let proj = proj.ok()?;
        Some(Known { is_geographic: proj.is_latlong(), proj })
    }
}

impl Known {
    fn transform(&self, to: &Self, shape: &geo::Geometry) -> Option<geo::Geometry> {
        shape.try_map_coords(|coord| self.transform_coord(to, coord)).ok()
    }

    fn transform_coord(&self, to: &Self, coord: Coord) -> Result<Coord, proj4rs::errors::Error> {
        let mut point = (coord.x, coord.y, 0.0);
        if self.is_geographic {
            point = (point.0.to_radians(), point.1.to_radians(), 0.0);
        }
        proj4rs::transform::transform(&self.proj, &to.proj, &mut point)?;
        if to.is_geographic {
            point = (point.0.to_degrees(), point.1.to_degrees(), 0.0);
        }
        if point.0.is_finite() && point.1.is_finite() {
            Ok(Coord { x: point.0, y: point.1 })
        } else {
            Err(proj4rs::errors::Error::LatitudeOutOfRange)
        }
    }
}

/// The plane around a place on which distances from there are true: an azimuthal equidistant projection, in metres.
pub(crate) struct LocalPlane {
    geographic: Known,
    plane: Known,
}

impl LocalPlane {
    /// The one around a longitude and a latitude on WGS 84.
    pub fn around(centre: Coord) -> Option<Self> {
        let plane =
            format!("+proj=aeqd +lat_0={} +lon_0={} +datum=WGS84 +units=m +no_defs", centre.y, centre.x);
        let geographic = Known { proj: Proj::from_proj_string(WGS84).ok()?, is_geographic: true };
        let plane = Known { proj: Proj::from_proj_string(&plane).ok()?, is_geographic: false };
        Some(Self { geographic, plane })
    }

    /// From degrees to metres.
    pub fn flatten(&self, shape: &geo::Geometry) -> Option<geo::Geometry> {
        self.geographic.transform(&self.plane, shape)
    }

    /// From metres to degrees.
    pub fn unflatten(&self, shape: &geo::Geometry) -> Option<geo::Geometry> {
        self.plane.transform(&self.geographic, shape)
    }
}
