//! Tests of what geometries are and what is made of them. Expected values are from shapely 2.2 (GEOS 3.14) and pyproj 3.7, or by hand.

mod apart;
mod hostile;
mod making;
mod matrices;
mod measures;
mod texts;

use crate::error::GeoError;
use crate::geometry::Geometry;
use crate::read;
use crate::vocabulary::WKT_LITERAL;

fn read_wkt(text: &str) -> Result<Geometry, GeoError> {
    read::literal(text, WKT_LITERAL)
}

fn wkt(text: &str) -> Geometry {
    read_wkt(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
