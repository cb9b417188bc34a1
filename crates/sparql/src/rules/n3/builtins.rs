//! The predicates of N3 that compute instead of being looked up, as SPARQL.

const LOG: &str = "http://www.w3.org/2000/10/swap/log#";
const MATH: &str = "http://www.w3.org/2000/10/swap/math#";
const STRING: &str = "http://www.w3.org/2000/10/swap/string#";

/// What a built-in does with its subject and its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// A test: `{s}` and `{o}` stand for both.
    Test(&'static str),
    /// The object is what an operator makes of the subject, a list.
    Fold(&'static str),
    /// The object is what two members of a list give.
    Two(&'static str),
    /// The object is a function of the subject.
    Function(&'static str),
    /// The object is the texts of a list, one behind the other.
    Concatenation,
    /// IRI and text.
    Uri,
    /// Negation.
    NotIncludes,
    /// Another way to write a rule.
    Implies,
}

const ALL: [(&str, &str, Builtin); 27] = [
    (LOG, "equalTo", Builtin::Test("sameTerm({s}, {o})")),
    (LOG, "notEqualTo", Builtin::Test("!sameTerm({s}, {o})")),
    (LOG, "uri", Builtin::Uri),
    (LOG, "notIncludes", Builtin::NotIncludes),
    (LOG, "implies", Builtin::Implies),
    (MATH, "equalTo", Builtin::Test("{s} = {o}")),
    (MATH, "notEqualTo", Builtin::Test("{s} != {o}")),
    (MATH, "greaterThan", Builtin::Test("{s} > {o}")),
    (MATH, "lessThan", Builtin::Test("{s} < {o}")),
    (MATH, "notGreaterThan", Builtin::Test("{s} <= {o}")),
    (MATH, "notLessThan", Builtin::Test("{s} >= {o}")),
    (MATH, "sum", Builtin::Fold("+")),
    (MATH, "product", Builtin::Fold("*")),
    (MATH, "difference", Builtin::Two("-")),
    (MATH, "quotient", Builtin::Two("/")),
    (MATH, "negation", Builtin::Function("-({s})")),
    (MATH, "absoluteValue", Builtin::Function("ABS({s})")),
    (MATH, "rounded", Builtin::Function("ROUND({s})")),
    (STRING, "contains", Builtin::Test("CONTAINS(STR({s}), STR({o}))")),
    (STRING, "startsWith", Builtin::Test("STRSTARTS(STR({s}), STR({o}))")),
    (STRING, "endsWith", Builtin::Test("STRENDS(STR({s}), STR({o}))")),
    (STRING, "matches", Builtin::Test("REGEX(STR({s}), STR({o}))")),
    (STRING, "notMatches", Builtin::Test("!REGEX(STR({s}), STR({o}))")),
    (STRING, "greaterThan", Builtin::Test("STR({s}) > STR({o})")),
    (STRING, "lessThan", Builtin::Test("STR({s}) < STR({o})")),
    (STRING, "length", Builtin::Function("STRLEN(STR({s}))")),
    (STRING, "concatenation", Builtin::Concatenation),
];

/// The built-in of an IRI; none where it is a predicate like others. The error names those that there are.
pub(super) fn of(iri: &str) -> Result<Option<Builtin>, String> {
    let Some(namespace) = [LOG, MATH, STRING].into_iter().find(|namespace| iri.starts_with(namespace)) else {
        return Ok(None);
    };
    let own = ALL.iter().filter(|(known, ..)| *known == namespace);
    if let Some((.., builtin)) = own.clone().find(|(_, name, _)| iri.strip_prefix(namespace) == Some(*name)) {
        return Ok(Some(*builtin));
    }
    let names: Vec<&str> = own.map(|(_, name, _)| *name).collect();
    Err(format!("<{iri}> is no built-in that is known: of <{namespace}> there are {}", names.join(", ")))
}
