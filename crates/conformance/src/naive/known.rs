//! The functions and aggregates that the oracle knows, by name, and how many arguments each may have.
//!
//! The engine has a list of its own. A test compares the two, and asks the oracle for each: what either lacks is found.

/// Any number.
const ANY: usize = usize::MAX;

/// Functions: name, the fewest and the most arguments.
pub const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("STR", 1, 1),
    ("LANG", 1, 1),
    ("LANGDIR", 1, 1),
    ("DATATYPE", 1, 1),
    ("IRI", 1, 1),
    ("BNODE", 0, 1),
    ("STRDT", 2, 2),
    ("STRLANG", 2, 2),
    ("STRLANGDIR", 3, 3),
    ("isIRI", 1, 1),
    ("isBLANK", 1, 1),
    ("isLITERAL", 1, 1),
    ("isTRIPLE", 1, 1),
    ("isNUMERIC", 1, 1),
    ("hasLANG", 1, 1),
    ("hasLANGDIR", 1, 1),
    ("TRIPLE", 3, 3),
    ("SUBJECT", 1, 1),
    ("PREDICATE", 1, 1),
    ("OBJECT", 1, 1),
    ("STRLEN", 1, 1),
    ("UCASE", 1, 1),
    ("LCASE", 1, 1),
    ("ENCODE_FOR_URI", 1, 1),
    ("CONCAT", 0, ANY),
    ("SUBSTR", 2, 3),
    ("STRBEFORE", 2, 2),
    ("STRAFTER", 2, 2),
    ("REPLACE", 3, 4),
    ("LANGMATCHES", 2, 2),
    ("CONTAINS", 2, 2),
    ("STRSTARTS", 2, 2),
    ("STRENDS", 2, 2),
    ("REGEX", 2, 3),
    ("ABS", 1, 1),
    ("CEIL", 1, 1),
    ("FLOOR", 1, 1),
    ("ROUND", 1, 1),
    ("RAND", 0, 0),
    ("UUID", 0, 0),
    ("STRUUID", 0, 0),
    ("NOW", 0, 0),
    ("YEAR", 1, 1),
    ("MONTH", 1, 1),
    ("DAY", 1, 1),
    ("HOURS", 1, 1),
    ("MINUTES", 1, 1),
    ("SECONDS", 1, 1),
    ("TIMEZONE", 1, 1),
    ("TZ", 1, 1),
    ("MD5", 1, 1),
    ("SHA1", 1, 1),
    ("SHA256", 1, 1),
    ("SHA384", 1, 1),
    ("SHA512", 1, 1),
];

/// The types of XML Schema to which values are cast, each by a function of one argument.
pub const CASTS: &[&str] =
    &["string", "boolean", "decimal", "float", "double", "integer", "dateTime", "date", "time"];

/// Casts of the engine that the oracle lacks: no random query has them, and tests of expressions tell what they give.
pub const CASTS_MISSING: &[&str] = &[
    "nonPositiveInteger",
    "negativeInteger",
    "nonNegativeInteger",
    "positiveInteger",
    "long",
    "int",
    "short",
    "byte",
    "unsignedLong",
    "unsignedInt",
    "unsignedShort",
    "unsignedByte",
    "gYear",
    "gYearMonth",
    "gMonth",
    "gMonthDay",
    "gDay",
    "duration",
    "yearMonthDuration",
    "dayTimeDuration",
];

/// Aggregates.
pub const AGGREGATES: &[&str] = &["COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"];
