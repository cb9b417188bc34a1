//! Functions of SPARQL that are called by a keyword, and aggregates: the one table of their names, numbers of arguments, and what they are in
//! the algebra.

use lode_syntax::{Callable, Vocabulary};
use spargebra::algebra::Function;

/// What a call is in the algebra.
#[derive(Debug, Clone)]
pub(super) enum Callee {
    /// A function with its arguments.
    Function(Function),
    /// BOUND.
    Bound,
    /// COALESCE.
    Coalesce,
    /// IF.
    If,
    /// SAMETERM.
    SameTerm,
}

/// The aggregates that are called by a keyword (SPARQL 1.1, rule 127).
const AGGREGATES: [&str; 7] = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

/// Those that are called by an IRI: of geometries (GeoSPARQL 1.1, section 8.8). Who runs a query says which of them there are.
const AGGREGATE_IRIS: [&str; 6] = [
    "http://www.opengis.net/def/function/geosparql/aggBoundingBox",
    "http://www.opengis.net/def/function/geosparql/aggBoundingCircle",
    "http://www.opengis.net/def/function/geosparql/aggCentroid",
    "http://www.opengis.net/def/function/geosparql/aggConcaveHull",
    "http://www.opengis.net/def/function/geosparql/aggConvexHull",
    "http://www.opengis.net/def/function/geosparql/aggUnion",
];

/// Any number of arguments.
const ANY: usize = usize::MAX;

macro_rules! table {
    ($($name:literal $least:tt $most:tt $callee:expr;)*) => {
        const CALLABLES: &[Callable] = &[$(Callable { name: $name, least: $least, most: $most }),*];
        static CALLEES: &[Callee] = &[$($callee),*];
    };
}

table! {
    "STR" 1 1 Callee::Function(Function::Str);
    "LANG" 1 1 Callee::Function(Function::Lang);
    "LANGMATCHES" 2 2 Callee::Function(Function::LangMatches);
    "LANGDIR" 1 1 Callee::Function(Function::LangDir);
    "DATATYPE" 1 1 Callee::Function(Function::Datatype);
    "BOUND" 1 1 Callee::Bound;
    "IRI" 1 1 Callee::Function(Function::Iri);
    "URI" 1 1 Callee::Function(Function::Iri);
    "BNODE" 0 1 Callee::Function(Function::BNode);
    "RAND" 0 0 Callee::Function(Function::Rand);
    "ABS" 1 1 Callee::Function(Function::Abs);
    "CEIL" 1 1 Callee::Function(Function::Ceil);
    "FLOOR" 1 1 Callee::Function(Function::Floor);
    "ROUND" 1 1 Callee::Function(Function::Round);
    "CONCAT" 0 ANY Callee::Function(Function::Concat);
    "STRLEN" 1 1 Callee::Function(Function::StrLen);
    "UCASE" 1 1 Callee::Function(Function::UCase);
    "LCASE" 1 1 Callee::Function(Function::LCase);
    "ENCODE_FOR_URI" 1 1 Callee::Function(Function::EncodeForUri);
    "CONTAINS" 2 2 Callee::Function(Function::Contains);
    "STRSTARTS" 2 2 Callee::Function(Function::StrStarts);
    "STRENDS" 2 2 Callee::Function(Function::StrEnds);
    "STRBEFORE" 2 2 Callee::Function(Function::StrBefore);
    "STRAFTER" 2 2 Callee::Function(Function::StrAfter);
    "YEAR" 1 1 Callee::Function(Function::Year);
    "MONTH" 1 1 Callee::Function(Function::Month);
    "DAY" 1 1 Callee::Function(Function::Day);
    "HOURS" 1 1 Callee::Function(Function::Hours);
    "MINUTES" 1 1 Callee::Function(Function::Minutes);
    "SECONDS" 1 1 Callee::Function(Function::Seconds);
    "TIMEZONE" 1 1 Callee::Function(Function::Timezone);
    "TZ" 1 1 Callee::Function(Function::Tz);
    "NOW" 0 0 Callee::Function(Function::Now);
    "UUID" 0 0 Callee::Function(Function::Uuid);
    "STRUUID" 0 0 Callee::Function(Function::StrUuid);
    "MD5" 1 1 Callee::Function(Function::Md5);
    "SHA1" 1 1 Callee::Function(Function::Sha1);
    "SHA256" 1 1 Callee::Function(Function::Sha256);
    "SHA384" 1 1 Callee::Function(Function::Sha384);
    "SHA512" 1 1 Callee::Function(Function::Sha512);
    "COALESCE" 0 ANY Callee::Coalesce;
    "IF" 3 3 Callee::If;
    "STRLANG" 2 2 Callee::Function(Function::StrLang);
    "STRLANGDIR" 3 3 Callee::Function(Function::StrLangDir);
    "STRDT" 2 2 Callee::Function(Function::StrDt);
    "SAMETERM" 2 2 Callee::SameTerm;
    "ISIRI" 1 1 Callee::Function(Function::IsIri);
    "ISURI" 1 1 Callee::Function(Function::IsIri);
    "ISBLANK" 1 1 Callee::Function(Function::IsBlank);
    "ISLITERAL" 1 1 Callee::Function(Function::IsLiteral);
    "ISNUMERIC" 1 1 Callee::Function(Function::IsNumeric);
    "HASLANG" 1 1 Callee::Function(Function::HasLang);
    "HASLANGDIR" 1 1 Callee::Function(Function::HasLangDir);
    "REGEX" 2 3 Callee::Function(Function::Regex);
    "SUBSTR" 2 3 Callee::Function(Function::SubStr);
    "REPLACE" 3 4 Callee::Function(Function::Replace);
    "ISTRIPLE" 1 1 Callee::Function(Function::IsTriple);
    "TRIPLE" 3 3 Callee::Function(Function::Triple);
    "SUBJECT" 1 1 Callee::Function(Function::Subject);
    "PREDICATE" 1 1 Callee::Function(Function::Predicate);
    "OBJECT" 1 1 Callee::Function(Function::Object);
}

/// What a text may call.
pub(super) static VOCABULARY: Vocabulary =
    Vocabulary { functions: CALLABLES, aggregates: &AGGREGATES, aggregate_iris: &AGGREGATE_IRIS };

/// The function of a name, in any case of letters.
pub(super) fn callee(name: &str) -> Option<&'static Callee> {
    let place = CALLABLES.iter().position(|known| known.name.eq_ignore_ascii_case(name))?;
    CALLEES.get(place)
}
