//! What functions of geometries cannot be given: a string in the place of a geometry, or the feature that has one; what is no unit, no reference
//! system and no number.

use super::FUNCTIONS;
use super::call::ANY_URI;
use lode_geo::vocabulary::{DGGS_LITERAL, GEOF, GEOJSON_LITERAL, UOM, WKT_LITERAL};
use lode_geo::{Crs, Unit, read};
use lode_sparql::function::ValueType;
use lode_sparql::warnings::Given;

/// How names of the other functions begin.
const VIRTUOSO: [&str; 2] = ["bif:", "http://www.openlinksw.com/schemas/bif#"];
/// Longer strings are not read to tell what they may be meant for.
const READ_BYTES_MAX: usize = 1 << 16;
const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// Why each call of a function with this in such a place, counted from 0, is an error; none of what may be right, and of other functions.
pub fn argument_problem(function: &str, at: usize, given: Given<'_>) -> Option<String> {
    let is_virtuoso = || VIRTUOSO.iter().find_map(|start| function.strip_prefix(start));
    let (name, short) = match function.strip_prefix(GEOF) {
        Some(name) => (name, format!("geof:{name}")),
        None => is_virtuoso().map(|name| (name, format!("bif:{name}")))?,
    };
    let entry = FUNCTIONS.iter().copied().flatten().find(|entry| entry.name == function)?;
    match entry.required.iter().chain(entry.optional).nth(at)? {
        ValueType::Literal => no_geometry(given, &short),
        ValueType::Number | ValueType::Integer => no_number(given, &short),
        ValueType::Iri if name == "transform" => no_system(given, &short),
        ValueType::Iri if name != "asDGGS" => no_unit(given, name, &short),
        _ => None,
    }
}

fn no_geometry(given: Given<'_>, function: &str) -> Option<String> {
    let takes = format!("and {function} takes a geometry");
    Some(match given {
        Given::Resource => format!(
            "is the subject of a triple, so no literal, {takes}: give it what stands behind geo:hasGeometry/geo:asWKT"
        ),
        Given::Iri(_) => {
            format!("is an IRI, {takes}: give it the literal that stands behind geo:hasGeometry/geo:asWKT")
        }
        Given::Literal(text, STRING | LANG_STRING) => {
            let is_of = |datatype| text.len() <= READ_BYTES_MAX && read::literal(text, datatype).is_ok();
            match [(WKT_LITERAL, "geo:wktLiteral"), (GEOJSON_LITERAL, "geo:geoJSONLiteral")]
                .into_iter()
                .find(|(datatype, _)| is_of(datatype))
            {
                Some((_, name)) if !text.trim().is_empty() => {
                    format!("is a string, {takes}: write its datatype behind it, ^^{name}")
                }
                _ => format!(
                    "is a string, {takes}: a literal with the datatype geo:wktLiteral, such as \"POINT(1 2)\"^^geo:wktLiteral"
                ),
            }
        }
        Given::Literal(_, datatype) if read::is_geometry(datatype) || datatype == DGGS_LITERAL => {
            return None;
        }
        Given::Literal(_, datatype) => {
            format!(
                "has the datatype <{datatype}>, {takes}: a literal with the datatype geo:wktLiteral, or of another format"
            )
        }
    })
}

fn no_number(given: Given<'_>, function: &str) -> Option<String> {
    match given {
        Given::Resource | Given::Iri(_) => Some(format!("is no literal, and {function} takes a number here")),
        Given::Literal(_, STRING | LANG_STRING) => {
            Some(format!("is a string, and {function} takes a number here: write it without quotes"))
        }
        Given::Literal(..) => None,
    }
}

/// The text of what may be an IRI; none of a resource, which may be any.
fn as_iri(given: Given<'_>) -> Result<&str, bool> {
    match given {
        Given::Iri(iri) | Given::Literal(iri, STRING | ANY_URI) => Ok(iri),
        Given::Literal(..) => Err(true),
        Given::Resource => Err(false),
    }
}

fn no_unit(given: Given<'_>, name: &str, function: &str) -> Option<String> {
    let iri = match as_iri(given) {
        Ok(iri) => iri,
        Err(is_other) => {
            return is_other.then(|| {
                format!("is no IRI of a unit of measure, which {function} takes here, such as uom:metre")
            });
        }
    };
    match Unit::from_iri(iri) {
        None => Some(match near_unit(iri) {
            Some(near) => format!("is no unit of measure that is known, did you mean <{near}>?"),
            None => format!(
                "is no unit of measure that is known: {function} takes one of OGC (<{UOM}metre>), of QUDT or of EPSG"
            ),
        }),
        Some(Unit::Area(_)) if name != "area" => {
            Some(format!("is a unit of area, and {function} takes one of length or of angle"))
        }
        Some(_) => None,
    }
}

/// The unit that is most likely meant by what is none.
fn near_unit(iri: &str) -> Option<String> {
    let (namespace, name) = iri.split_at(iri.rfind(['#', '/', ':']).map_or(0, |at| at + 1));
    let of_ogc = || Unit::names_of_ogc();
    let near = |names: &mut dyn Iterator<Item = &'static str>| lode_sparql::syntax::nearest(name, names);
    let is_qudt = namespace.contains("qudt");
    if is_qudt && name.eq_ignore_ascii_case("km") {
        // One letter away from the metre.
        return Some("http://qudt.org/vocab/unit/KiloM".to_owned());
    }
    if is_qudt && let Some(known) = near(&mut Unit::names_of_qudt()) {
        return Some(format!("http://qudt.org/vocab/unit/{known}"));
    }
    // Units of other vocabularies, and names without one.
    let singular = name.strip_suffix('s').unwrap_or(name);
    let short = match name {
        "m" => Some("metre"),
        "km" => Some("kilometre"),
        "mi" => Some("statuteMile"),
        "ft" | "feet" => Some("foot"),
        _ => None,
    };
    let same = of_ogc().find(|known| known.eq_ignore_ascii_case(singular));
    short.or(same).or_else(|| near(&mut of_ogc())).map(|known| format!("{UOM}{known}"))
}

fn no_system(given: Given<'_>, function: &str) -> Option<String> {
    const KNOWN: &str =
        "<http://www.opengis.net/def/crs/EPSG/0/CODE> or <http://www.opengis.net/def/crs/OGC/1.3/CRS84>";
    let iri = match as_iri(given) {
        Ok(iri) => iri,
        Err(is_other) => {
            return is_other
                .then(|| format!("names no reference system, which {function} takes here: {KNOWN}"));
        }
    };
    let crs = Crs::from_iri(iri);
    if let Some(code) = crs.unknown_code() {
        return Some(format!(
            "is a reference system that is not known, or needs what is not here (EPSG:{code})"
        ));
    }
    // What is in a system without a way to others stays as it is.
    let is_name = iri.contains("://") || iri.starts_with("urn:");
    (!crs.is_known() && !is_name)
        .then(|| format!("names no reference system, which {function} takes here: {KNOWN}"))
}

#[cfg(test)]
mod tests {
    //! Each kind of argument, right and wrong.
    use super::{Given, argument_problem};
    use lode_geo::vocabulary::WKT_LITERAL;

    const STRING: &str = super::STRING;
    const DOUBLE: &str = "http://www.w3.org/2001/XMLSchema#double";

    fn of(function: &str, at: usize, given: Given<'_>) -> Option<String> {
        let function = function.replace("geof:", super::GEOF);
        argument_problem(&function, at, given)
    }

    #[test]
    fn what_can_never_be_right_is_told() {
        let uom = |name: &str| format!("http://www.opengis.net/def/uom/OGC/1.0/{name}");
        let (meters, kilometer, acre) = (uom("meters"), uom("Kilometer"), "http://qudt.org/vocab/unit/AC");
        for (function, at, given, told) in [
            (
                "geof:sfWithin",
                0,
                Given::Literal("POINT(1 2)", STRING),
                "write its datatype behind it, ^^geo:wktLiteral",
            ),
            (
                "geof:sfWithin",
                1,
                Given::Literal("{\"type\":\"Point\",\"coordinates\":[1,2]}", STRING),
                "^^geo:geoJSONLiteral",
            ),
            (
                "geof:area",
                0,
                Given::Literal("Rome", STRING),
                "is a string, and geof:area takes a geometry: a literal",
            ),
            (
                "geof:area",
                0,
                Given::Literal("", STRING),
                "is a string, and geof:area takes a geometry: a literal",
            ),
            ("geof:distance", 1, Given::Iri("http://e/a"), "is an IRI, and geof:distance takes a geometry: "),
            ("geof:asWKT", 0, Given::Resource, "is the subject of a triple, so no literal"),
            (
                "geof:area",
                0,
                Given::Literal("1", DOUBLE),
                "has the datatype <http://www.w3.org/2001/XMLSchema#double>",
            ),
            ("bif:st_within", 0, Given::Literal("POINT(1 2)", STRING), "and bif:st_within takes a geometry"),
            (
                "geof:distance",
                2,
                Given::Iri(&meters),
                "did you mean <http://www.opengis.net/def/uom/OGC/1.0/meter>?",
            ),
            (
                "geof:distance",
                2,
                Given::Iri(&kilometer),
                "did you mean <http://www.opengis.net/def/uom/OGC/1.0/kilometer>?",
            ),
            (
                "geof:distance",
                2,
                Given::Literal("km", STRING),
                "did you mean <http://www.opengis.net/def/uom/OGC/1.0/kilometre>?",
            ),
            (
                "geof:distance",
                2,
                Given::Iri("http://qudt.org/vocab/unit/KiloMs"),
                "did you mean <http://qudt.org/vocab/unit/KiloM>?",
            ),
            (
                "geof:distance",
                2,
                Given::Iri("http://qudt.org/vocab/unit/KM"),
                "did you mean <http://qudt.org/vocab/unit/KiloM>?",
            ),
            (
                "geof:distance",
                2,
                Given::Iri("http://e/parsec"),
                "is no unit of measure that is known: geof:distance takes",
            ),
            ("geof:distance", 2, Given::Literal("1", DOUBLE), "is no IRI of a unit of measure"),
            (
                "geof:distance",
                2,
                Given::Iri(acre),
                "is a unit of area, and geof:distance takes one of length",
            ),
            ("geof:buffer", 1, Given::Literal("10", STRING), "write it without quotes"),
            ("geof:buffer", 2, Given::Iri("http://e/metre2"), "is no unit of measure that is known"),
            ("geof:transform", 1, Given::Iri("http://www.opengis.net/def/crs/EPSG/0/99999"), "(EPSG:99999)"),
            (
                "geof:transform",
                1,
                Given::Literal("WGS84", STRING),
                "names no reference system, which geof:transform takes",
            ),
            (
                "geof:transform",
                1,
                Given::Literal("4326", "http://www.w3.org/2001/XMLSchema#integer"),
                "names no reference system",
            ),
        ] {
            let problem = of(function, at, given).unwrap_or_default();
            assert!(problem.contains(told), "{function} {given:?}: {problem:?}, not {told:?}");
        }
    }

    #[test]
    fn what_may_be_right_is_not() {
        let (metre, crs) =
            ("http://www.opengis.net/def/uom/OGC/1.0/metre", "http://www.opengis.net/def/crs/EPSG/0/3857");
        for (function, at, given) in [
            ("geof:sfWithin", 0, Given::Literal("POINT(1 2)", WKT_LITERAL)),
            ("geof:distance", 2, Given::Iri(metre)),
            ("geof:distance", 2, Given::Literal(metre, STRING)),
            ("geof:distance", 2, Given::Literal(metre, super::ANY_URI)),
            ("geof:distance", 2, Given::Resource),
            ("geof:area", 1, Given::Iri("http://qudt.org/vocab/unit/AC")),
            ("geof:area", 1, Given::Iri(metre)),
            ("geof:buffer", 1, Given::Literal("1", DOUBLE)),
            ("geof:transform", 1, Given::Iri(crs)),
            ("geof:transform", 1, Given::Literal("EPSG:4326", STRING)),
            ("geof:transform", 1, Given::Iri("http://e/plane")),
            ("geof:relate", 2, Given::Literal("T********", STRING)),
            ("geof:asGML", 1, Given::Literal("http://www.opengis.net/def/profile/ogc/1.0/gml-sf0", STRING)),
            ("bif:st_geomfromtext", 0, Given::Literal("POINT(1 2)", STRING)),
            ("bif:st_point", 0, Given::Literal("1", DOUBLE)),
            ("geof:unknown", 0, Given::Resource),
            ("http://e/f", 0, Given::Resource),
            ("geof:area", 9, Given::Resource),
        ] {
            assert_eq!(of(function, at, given), None, "{function} {given:?}");
        }
    }
}
