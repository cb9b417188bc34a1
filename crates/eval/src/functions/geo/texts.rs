//! Geometries in other formats (GeoSPARQL 1.1, section 8.6).

use super::call::{iri, of_many, of_one, typed};
use crate::expr::call::Kernel;
use crate::expr::column::Column;
use lode_geo::vocabulary::{GEOJSON_LITERAL, GML_LITERAL, KML_LITERAL, WKT_LITERAL};
use lode_geo::write;
use lode_sparql::Function;
use lode_sparql::function::ValueType;

/// The entries.
pub(super) static FUNCTIONS: [Function; 5] = [
    Function::new(
        iri!("asWKT"),
        &[ValueType::Literal],
        ValueType::Literal,
        &Kernel::One(|rows, a| of_one(rows, a, |a| Ok(typed(write::wkt(a), WKT_LITERAL)))),
    ),
    Function::new(
        iri!("asGeoJSON"),
        &[ValueType::Literal],
        ValueType::Literal,
        &Kernel::One(|rows, a| of_one(rows, a, |a| Ok(typed(write::geojson(a)?, GEOJSON_LITERAL)))),
    ),
    // The profile changes nothing: what is written is in all of them.
    Function::new(
        iri!("asGML"),
        &[ValueType::Literal],
        ValueType::Literal,
        &Kernel::Many(|rows, arguments| {
            of_many(rows, arguments, 1, |geometries, _| {
                Some(Ok(typed(write::gml(geometries.first()?), GML_LITERAL)))
            })
        }),
    )
    .optional(&[ValueType::String]),
    Function::new(
        iri!("asKML"),
        &[ValueType::Literal],
        ValueType::Literal,
        &Kernel::One(|rows, a| of_one(rows, a, |a| Ok(typed(write::kml(a)?, KML_LITERAL)))),
    ),
    // Cells of grids are neither read nor written: the call is an error, and known as one.
    Function::new(
        iri!("asDGGS"),
        &[ValueType::Literal, ValueType::Iri],
        ValueType::Literal,
        &Kernel::Two(|_, _, _| Ok(Column::ERROR)),
    ),
];
