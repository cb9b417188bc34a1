//! What functions and keywords are called with, and what they do.

/// A function or an aggregate: its name, its arguments, and what it returns.
pub type Function = (&'static str, &'static str, &'static str);

const FUNCTIONS: &[Function] = &[
    ("ABS", "(number)", "The number without its sign."),
    ("AVG", "([DISTINCT] value)", "The mean of the numbers of a group."),
    ("BNODE", "([string])", "A new blank node; the same for the same string in a row."),
    ("BOUND", "(variable)", "Whether the variable has a value."),
    ("CEIL", "(number)", "The least integer that is not less than the number."),
    ("COALESCE", "(value, ...)", "The first of the values that is no error."),
    ("CONCAT", "(string, ...)", "The strings, one after the other."),
    ("CONTAINS", "(string, part)", "Whether the part is in the string."),
    ("COUNT", "([DISTINCT] value or *)", "How many rows of a group have a value."),
    ("DATATYPE", "(literal)", "The IRI of the literal's datatype."),
    ("DAY", "(dateTime)", "The day of the month."),
    ("ENCODE_FOR_URI", "(string)", "The string with what an IRI cannot hold percent-encoded."),
    ("FLOOR", "(number)", "The greatest integer that is not greater than the number."),
    (
        "GROUP_CONCAT",
        "([DISTINCT] value [; SEPARATOR = string])",
        "The strings of a group, one after the other.",
    ),
    ("HASLANG", "(term)", "Whether the term is a literal with a language."),
    ("HASLANGDIR", "(term)", "Whether the term is a literal with a language and a direction."),
    ("HOURS", "(dateTime)", "The hours of the time."),
    ("IF", "(condition, then, else)", "The second or the third, as the condition is true or false."),
    ("IRI", "(string or IRI)", "The IRI that the string is, against the base."),
    ("ISBLANK", "(term)", "Whether the term is a blank node."),
    ("ISIRI", "(term)", "Whether the term is an IRI."),
    ("ISLITERAL", "(term)", "Whether the term is a literal."),
    ("ISNUMERIC", "(term)", "Whether the term is a number."),
    ("ISTRIPLE", "(term)", "Whether the term is a triple term."),
    ("ISURI", "(term)", "Whether the term is an IRI."),
    ("LANG", "(literal)", "The language of the literal; an empty string without one."),
    ("LANGDIR", "(literal)", "The direction of the literal; an empty string without one."),
    ("LANGMATCHES", "(language, range)", "Whether the language is in the range; \"*\" is any."),
    ("LCASE", "(string)", "The string in small letters."),
    ("MAX", "(value)", "The greatest value of a group."),
    ("MD5", "(string)", "The MD5 sum of the string, in hexadecimal digits."),
    ("MIN", "(value)", "The least value of a group."),
    ("MINUTES", "(dateTime)", "The minutes of the time."),
    ("MONTH", "(dateTime)", "The month."),
    ("NOW", "()", "The time at which the query began."),
    ("OBJECT", "(triple)", "The object of a triple term."),
    ("PREDICATE", "(triple)", "The predicate of a triple term."),
    ("RAND", "()", "A number from 0 to less than 1."),
    ("REGEX", "(string, pattern [, flags])", "Whether the pattern matches in the string."),
    (
        "REPLACE",
        "(string, pattern, replacement [, flags])",
        "The string with all matches of the pattern replaced.",
    ),
    ("ROUND", "(number)", "The nearest integer."),
    ("SAMETERM", "(term, term)", "Whether both are the same term."),
    ("SAMPLE", "(value)", "Some value of a group."),
    ("SECONDS", "(dateTime)", "The seconds of the time."),
    ("SHA1", "(string)", "The SHA-1 sum of the string, in hexadecimal digits."),
    ("SHA256", "(string)", "The SHA-256 sum of the string, in hexadecimal digits."),
    ("SHA384", "(string)", "The SHA-384 sum of the string, in hexadecimal digits."),
    ("SHA512", "(string)", "The SHA-512 sum of the string, in hexadecimal digits."),
    ("STR", "(literal or IRI)", "The text of a literal or an IRI, as a string."),
    ("STRAFTER", "(string, part)", "What is behind the first place of the part."),
    ("STRBEFORE", "(string, part)", "What is before the first place of the part."),
    ("STRDT", "(string, datatype)", "A literal with a datatype."),
    ("STRENDS", "(string, part)", "Whether the string ends with the part."),
    ("STRLANG", "(string, language)", "A literal with a language."),
    ("STRLANGDIR", "(string, language, direction)", "A literal with a language and a direction."),
    ("STRLEN", "(string)", "How many characters the string has."),
    ("STRSTARTS", "(string, part)", "Whether the string begins with the part."),
    ("STRUUID", "()", "A new UUID, as a string."),
    ("SUBJECT", "(triple)", "The subject of a triple term."),
    ("SUBSTR", "(string, start [, length])", "A part of the string; the first character is at 1."),
    ("SUM", "([DISTINCT] value)", "The sum of the numbers of a group."),
    ("TIMEZONE", "(dateTime)", "The time zone, as a duration."),
    ("TRIPLE", "(subject, predicate, object)", "A triple term."),
    ("TZ", "(dateTime)", "The time zone as it is written; an empty string without one."),
    ("UCASE", "(string)", "The string in capitals."),
    ("URI", "(string or IRI)", "The IRI that the string is, against the base."),
    ("UUID", "()", "A new UUID, as an IRI."),
    ("YEAR", "(dateTime)", "The year."),
];

const KEYWORDS: &[(&str, &str)] = &[
    ("A", "`a` is `rdf:type`: the class of what stands before it."),
    ("ASC", "Orders from the least to the greatest."),
    ("ASK", "Tells whether the patterns have an answer."),
    ("BASE", "The IRI that relative IRIs of the text are resolved against."),
    ("BIND", "`BIND(expression AS ?variable)`: gives the variable the value of the expression."),
    ("CLEAR", "Removes all triples of a graph."),
    ("CONSTRUCT", "Makes triples by a template, for each answer."),
    ("COPY", "Replaces a graph by another one."),
    ("DELETE", "Removes triples: `DELETE DATA`, `DELETE WHERE`, or by a template for each answer."),
    ("DESC", "Orders from the greatest to the least."),
    ("DESCRIBE", "Tells the triples of resources."),
    ("DISTINCT", "Each answer once."),
    ("EXISTS", "Whether a pattern has an answer with the values of the row."),
    ("FILTER", "Keeps the rows for which the condition is true."),
    ("FROM", "The graph that patterns ask; with NAMED one that GRAPH asks."),
    ("GRAPH", "`GRAPH ?g { ... }`: patterns in a named graph."),
    ("GROUP", "`GROUP BY`: makes a row of all rows with the same values."),
    ("HAVING", "Keeps the groups for which the condition is true."),
    ("IN", "`?x IN (...)`: whether a value is in a list."),
    ("INSERT", "Adds triples: `INSERT DATA`, or by a template for each answer."),
    ("LATERAL", "Evaluates a group for each row before it, with its values."),
    ("LIMIT", "At most so many answers."),
    ("LOAD", "Adds the triples of a document."),
    ("MINUS", "Removes the rows that fit an answer of the group."),
    ("NOT", "`NOT EXISTS`, `NOT IN`: the reverse."),
    ("OFFSET", "Leaves out so many answers at the beginning."),
    ("OPTIONAL", "What the group has for a row, where there is something; the row stays in any case."),
    ("ORDER", "`ORDER BY`: the order of the answers."),
    ("PREFIX", "`PREFIX name: <IRI>`: short names for IRIs that begin so."),
    ("REDUCED", "Duplicates of answers may be left out."),
    ("SELECT", "The variables of the answer, or `*` for all."),
    ("SERVICE", "Patterns that another endpoint is asked."),
    ("UNION", "The answers of the group before it and of the one behind it."),
    ("USING", "The graph that the WHERE of an update asks."),
    ("VALUES", "A table of values, which is joined."),
    ("WHERE", "The patterns that answers must fit."),
    ("WITH", "The graph that an update is about."),
];

/// All functions and aggregates.
pub fn functions() -> &'static [Function] {
    FUNCTIONS
}

/// The arguments of a function or an aggregate, and what it returns.
pub(crate) fn function(name: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let found =
        FUNCTIONS.binary_search_by(|(known, _, _)| known.cmp(&name.to_ascii_uppercase().as_str())).ok()?;
    FUNCTIONS.get(found).copied()
}

/// What a keyword does.
pub(crate) fn keyword(name: &str) -> Option<(&'static str, &'static str)> {
    let found =
        KEYWORDS.binary_search_by(|(known, _)| known.cmp(&name.to_ascii_uppercase().as_str())).ok()?;
    KEYWORDS.get(found).copied()
}

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, KEYWORDS, function, keyword};

    #[test]
    fn all_functions_are_described() {
        let vocabulary = lode_sparql::parse::vocabulary();
        let names = vocabulary
            .functions
            .iter()
            .map(|function| function.name)
            .chain(vocabulary.aggregates.iter().copied());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        assert_eq!(FUNCTIONS.iter().map(|(name, _, _)| *name).collect::<Vec<_>>(), names);
        assert!(KEYWORDS.is_sorted() && keyword("filter").is_some() && function("strlen").is_some());
    }
}
