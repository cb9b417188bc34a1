//! The same questions as other stores have to be asked, so that their indexes of places answer them: Jena's of features, Virtuoso's of points. Both are told how far
//! away the tenth place is at most, which Lodestore finds out by itself.

use super::{POINT, PROLOGUE, SHOP, ZONE, text};

/// How a store has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// As GeoSPARQL has it.
    Standard,
    /// Features that have geometries, and Jena's properties for its index.
    Jena,
    /// Virtuoso's functions, over its own datatype.
    Virtuoso,
}

impl Dialect {
    /// That of a store of this name.
    pub fn of(name: &str) -> Self {
        match name {
            "jena" => Self::Jena,
            "virtuoso" => Self::Virtuoso,
            _ => Self::Standard,
        }
    }

    /// Points within half so many degrees of a place.
    pub fn window(self, place: [f64; 2], size: f64) -> String {
        let area = super::area(place, size);
        match self {
            Self::Standard => super::window(place, size),
            Self::Jena => format!(
                "{PROLOGUE}PREFIX spatial: <http://jena.apache.org/spatial#>\nSELECT ?p {{ ?p spatial:withinBoxGeom(\"{area}\"^^geo:wktLiteral) . ?p a <{POINT}> }}"
            ),
            Self::Virtuoso => format!(
                "SELECT ?p {{ ?p <{POINT}> ?g FILTER(bif:st_intersects(?g, bif:st_geomfromtext(\"{area}\"))) }}"
            ),
        }
    }

    /// The ten points that are nearest to a place, which are within so many kilometres.
    pub fn nearest(self, place: [f64; 2], kilometres: f64) -> String {
        let [x, y] = place;
        let at = text(place);
        match self {
            Self::Standard => super::nearest(place),
            Self::Jena => format!(
                "{PROLOGUE}PREFIX spatial: <http://jena.apache.org/spatial#>\nPREFIX spatialF: <http://jena.apache.org/function/spatial#>\nPREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>\n\
                 SELECT ?p {{ ?p spatial:nearby({y:.6} {x:.6} {kilometres:.4} uom:kilometre) . ?p a <{POINT}> . ?p geo:hasGeometry/geo:asWKT ?g }} \
                 ORDER BY spatialF:distance(?g, \"POINT({at})\"^^geo:wktLiteral, uom:metre) LIMIT 10"
            ),
            Self::Virtuoso => format!(
                "SELECT ?p {{ ?p <{POINT}> ?g FILTER(bif:st_intersects(?g, bif:st_point({x:.6}, {y:.6}), {kilometres:.4})) }} \
                 ORDER BY bif:st_distance(?g, bif:st_point({x:.6}, {y:.6})) LIMIT 10"
            ),
        }
    }

    /// How many pairs of a shop and a zone in which it is.
    pub fn join(self) -> String {
        match self {
            Self::Standard => super::join(),
            Self::Jena => format!(
                "{PROLOGUE}PREFIX spatial: <http://jena.apache.org/spatial#>\nSELECT (COUNT(*) AS ?n) {{ ?z a <{ZONE}> . ?z geo:hasGeometry/geo:asWKT ?b . \
                 ?p spatial:intersectBoxGeom(?b) . ?p a <{SHOP}> . ?p geo:hasGeometry/geo:asWKT ?a FILTER(geof:sfWithin(?a, ?b)) }}"
            ),
            Self::Virtuoso => format!(
                "SELECT (COUNT(*) AS ?n) {{ ?p <{SHOP}> ?a . ?z <{ZONE}> ?b FILTER(bif:st_within(?a, ?b)) }}"
            ),
        }
    }
}
