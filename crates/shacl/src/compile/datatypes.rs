//! Whether a value is a literal of a datatype, and one that the datatype has: of those that SPARQL knows, as the specification asks.

use lode_rdf::NamedNode;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// Types with an order of their own that is told by a cast.
const CASTS: [&str; 9] = [
    "boolean",
    "dateTime",
    "date",
    "time",
    "duration",
    "dayTimeDuration",
    "yearMonthDuration",
    "dateTimeStamp",
    "gYear",
];
const NUMBERS: [&str; 16] = [
    "integer",
    "decimal",
    "float",
    "double",
    "nonPositiveInteger",
    "negativeInteger",
    "long",
    "int",
    "short",
    "byte",
    "nonNegativeInteger",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
    "positiveInteger",
];

/// Whether a value is no literal of a datatype, or one that its datatype does not have.
pub fn is_not_of_type(value: &str, datatype: &NamedNode) -> String {
    let local = datatype.as_str().strip_prefix(XSD).unwrap_or_default();
    let is_well_formed = if NUMBERS.contains(&local) {
        format!(" && isNumeric({value})")
    } else if CASTS.contains(&local) {
        format!(" && COALESCE(isLiteral({datatype}(STR({value}))), false)")
    } else {
        String::new()
    };
    format!("(!(isLiteral({value}) && DATATYPE({value}) = {datatype}{is_well_formed}))")
}
