//! Geometries as texts: well-known text, GeoJSON, GML and KML.

mod geojson;
mod gml;
mod kml;
mod numbered;
mod wkt;

use crate::crs::Crs;
use crate::error::GeoError;
use crate::geometry::Geometry;

/// Well-known text, with its reference system before it unless that is longitude and latitude on WGS 84.
pub fn wkt(geometry: &Geometry) -> String {
    wkt::write(geometry)
}

/// GeoJSON, in longitude and latitude on WGS 84.
///
/// # Errors
///
/// Where there is no way there.
pub fn geojson(geometry: &Geometry) -> Result<String, GeoError> {
    Ok(geojson::write(&geometry.transform(&Crs::Crs84)?))
}

/// An element of GML 3.2.
pub fn gml(geometry: &Geometry) -> String {
    gml::write(geometry)
}

/// An element of KML, in longitude and latitude on WGS 84.
///
/// # Errors
///
/// Where there is no way there.
pub fn kml(geometry: &Geometry) -> Result<String, GeoError> {
    Ok(kml::write(&geometry.transform(&Crs::Crs84)?))
}
