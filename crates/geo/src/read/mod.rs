//! Geometries from literals: well-known text, GeoJSON, GML and KML.

mod coordinates;
mod element;
mod geojson;
mod gml;
mod kml;
mod wkt;

use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::vocabulary::{
    GEOJSON_LITERAL, GEOMETRY_LITERALS, GML_LITERAL, KML_LITERAL, VIRTUOSO_GEOMETRY, WKT_LITERAL,
};

/// Whether literals of this datatype are geometries that are read.
pub fn is_geometry(datatype: &str) -> bool {
    GEOMETRY_LITERALS.contains(&datatype)
}

/// The geometry of a literal.
///
/// # Errors
///
/// Where the text is no geometry of the datatype's format, or too large a one, or geometries of the datatype are not read.
pub fn literal(text: &str, datatype: &str) -> Result<Geometry, GeoError> {
    match datatype {
        WKT_LITERAL | VIRTUOSO_GEOMETRY => wkt::read(text),
        GEOJSON_LITERAL => geojson::read(text),
        GML_LITERAL => gml::read(text),
        KML_LITERAL => kml::read(text),
        _ => Err(GeoError::Datatype(datatype.to_owned())),
    }
}
