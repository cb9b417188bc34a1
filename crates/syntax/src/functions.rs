//! The functions and aggregates of SPARQL 1.1 and 1.2: names and numbers of arguments.

use crate::spelling;

/// Arguments: at least, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arity(pub usize, pub usize);

/// Any number.
const ANY: usize = usize::MAX;

const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("STR", 1, 1),
    ("LANG", 1, 1),
    ("LANGMATCHES", 2, 2),
    ("LANGDIR", 1, 1),
    ("DATATYPE", 1, 1),
    ("BOUND", 1, 1),
    ("IRI", 1, 1),
    ("URI", 1, 1),
    ("BNODE", 0, 1),
    ("RAND", 0, 0),
    ("ABS", 1, 1),
    ("CEIL", 1, 1),
    ("FLOOR", 1, 1),
    ("ROUND", 1, 1),
    ("CONCAT", 0, ANY),
    ("STRLEN", 1, 1),
    ("UCASE", 1, 1),
    ("LCASE", 1, 1),
    ("ENCODE_FOR_URI", 1, 1),
    ("CONTAINS", 2, 2),
    ("STRSTARTS", 2, 2),
    ("STRENDS", 2, 2),
    ("STRBEFORE", 2, 2),
    ("STRAFTER", 2, 2),
    ("YEAR", 1, 1),
    ("MONTH", 1, 1),
    ("DAY", 1, 1),
    ("HOURS", 1, 1),
    ("MINUTES", 1, 1),
    ("SECONDS", 1, 1),
    ("TIMEZONE", 1, 1),
    ("TZ", 1, 1),
    ("NOW", 0, 0),
    ("UUID", 0, 0),
    ("STRUUID", 0, 0),
    ("MD5", 1, 1),
    ("SHA1", 1, 1),
    ("SHA256", 1, 1),
    ("SHA384", 1, 1),
    ("SHA512", 1, 1),
    ("COALESCE", 0, ANY),
    ("IF", 3, 3),
    ("STRLANG", 2, 2),
    ("STRLANGDIR", 3, 3),
    ("STRDT", 2, 2),
    ("SAMETERM", 2, 2),
    ("ISIRI", 1, 1),
    ("ISURI", 1, 1),
    ("ISBLANK", 1, 1),
    ("ISLITERAL", 1, 1),
    ("ISNUMERIC", 1, 1),
    ("HASLANG", 1, 1),
    ("HASLANGDIR", 1, 1),
    ("REGEX", 2, 3),
    ("SUBSTR", 2, 3),
    ("REPLACE", 3, 4),
    ("ISTRIPLE", 1, 1),
    ("TRIPLE", 3, 3),
    ("SUBJECT", 1, 1),
    ("PREDICATE", 1, 1),
    ("OBJECT", 1, 1),
    ("ADJUST", 1, 2),
];

const AGGREGATES: &[&str] = &["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

/// What people call functions elsewhere, and what SPARQL has.
const ELSEWHERE: &[(&str, &str)] = &[
    ("LIKE", "use CONTAINS(?text, \"part\"), STRSTARTS or REGEX"),
    ("LENGTH", "use STRLEN"),
    ("LEN", "use STRLEN"),
    ("UPPER", "use UCASE"),
    ("LOWER", "use LCASE"),
    ("TOUPPER", "use UCASE"),
    ("TOLOWER", "use LCASE"),
    ("SUBSTRING", "use SUBSTR"),
    ("STARTSWITH", "use STRSTARTS"),
    ("STARTS_WITH", "use STRSTARTS"),
    ("ENDSWITH", "use STRENDS"),
    ("ENDS_WITH", "use STRENDS"),
    ("IFNULL", "use COALESCE"),
    ("NVL", "use COALESCE"),
    ("ISNULL", "use !BOUND(?x)"),
    ("NOTNULL", "use BOUND(?x)"),
    ("AVERAGE", "use AVG"),
    ("MEAN", "use AVG"),
    ("STRING_AGG", "use GROUP_CONCAT(?x; SEPARATOR=\", \")"),
    ("GROUPCONCAT", "use GROUP_CONCAT"),
    ("CEILING", "use CEIL"),
    ("RANDOM", "use RAND()"),
    ("CAST", "use the datatype as a function: xsd:integer(?x)"),
    ("HOUR", "use HOURS"),
    ("MINUTE", "use MINUTES"),
    ("SECOND", "use SECONDS"),
    ("INTEGER", "use xsd:integer(?x)"),
    ("STRPOS", "use STRLEN(STRBEFORE(?text, \"part\"))"),
    ("SPLIT", "use STRBEFORE and STRAFTER"),
    ("TRIM", "use REPLACE(?text, \"^\\\\s+|\\\\s+$\", \"\")"),
    ("POW", "SPARQL has no powers"),
    ("SQRT", "SPARQL has no roots"),
    ("MOD", "use ?a - ?b * FLOOR(?a / ?b)"),
];

/// The arguments of a function.
pub(crate) fn arity(name: &str) -> Option<Arity> {
    let found = FUNCTIONS.iter().find(|(known, _, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, least, most)| Arity(*least, *most))
}

/// Whether a name is that of an aggregate.
pub(crate) fn is_aggregate(name: &str) -> bool {
    AGGREGATES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// What somebody may have meant who wrote a name that is no function's.
pub(crate) fn remedy(name: &str) -> Option<String> {
    let elsewhere = ELSEWHERE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((_, remedy)) = elsewhere {
        return Some((*remedy).to_owned());
    }
    let known = FUNCTIONS.iter().map(|(name, _, _)| *name).chain(AGGREGATES.iter().copied());
    spelling::meant(name, known).map(|known| format!("did you mean {known}?"))
}
