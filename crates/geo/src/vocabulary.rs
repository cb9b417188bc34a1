//! The IRIs of GeoSPARQL 1.1.

/// Datatypes and properties (`geo:`).
pub const GEO: &str = "http://www.opengis.net/ont/geosparql#";
/// Functions (`geof:`).
pub const GEOF: &str = "http://www.opengis.net/def/function/geosparql/";
/// Classes of simple features (`sf:`).
pub const SF: &str = "http://www.opengis.net/ont/sf#";
/// Units of measure (`uom:`).
pub const UOM: &str = "http://www.opengis.net/def/uom/OGC/1.0/";

/// Well-known text.
pub const WKT_LITERAL: &str = "http://www.opengis.net/ont/geosparql#wktLiteral";
/// Well-known text as Virtuoso calls it.
pub const VIRTUOSO_GEOMETRY: &str = "http://www.openlinksw.com/schemas/virtrdf#Geometry";
/// GeoJSON.
pub const GEOJSON_LITERAL: &str = "http://www.opengis.net/ont/geosparql#geoJSONLiteral";
/// Geography Markup Language.
pub const GML_LITERAL: &str = "http://www.opengis.net/ont/geosparql#gmlLiteral";
/// Keyhole Markup Language.
pub const KML_LITERAL: &str = "http://www.opengis.net/ont/geosparql#kmlLiteral";
/// Cells of discrete global grids, which are not read.
pub const DGGS_LITERAL: &str = "http://www.opengis.net/ont/geosparql#dggsLiteral";

/// The datatypes that are read.
pub const GEOMETRY_LITERALS: [&str; 5] =
    [WKT_LITERAL, VIRTUOSO_GEOMETRY, GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL];
