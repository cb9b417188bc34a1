//! The functions and aggregates that a text may call: names and numbers of arguments, given by who knows what they do.

use crate::spelling;

/// What may be called by a name that is no IRI.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    /// Functions: the name, and how many arguments at least and at most.
    pub functions: &'static [Callable],
    /// Aggregates.
    pub aggregates: &'static [&'static str],
    /// Aggregates that are called by an IRI, which alone tells them from functions.
    pub aggregate_iris: &'static [&'static str],
}

/// A function: its name, and how many arguments it takes at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callable {
    /// Its name, in any case of letters.
    pub name: &'static str,
    /// Arguments: at least,
    pub least: usize,
    /// at most.
    pub most: usize,
}

impl Vocabulary {
    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&'static Callable> {
        self.functions.iter().find(|known| known.name.eq_ignore_ascii_case(name))
    }

    /// Whether a name is that of an aggregate.
    pub fn is_aggregate(&self, name: &str) -> bool {
        self.aggregates.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Whether an IRI is that of an aggregate: what stands before its local part, and that.
    pub(crate) fn is_aggregate_iri(&self, start: &str, local: &str) -> bool {
        self.aggregate_iris.iter().any(|known| known.strip_prefix(start) == Some(local))
    }

    /// Whether a name is that of a function or an aggregate.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.function(name).is_some() || self.is_aggregate(name)
    }

    /// What somebody may have meant who wrote a name that is no function's.
    pub(crate) fn remedy(&self, name: &str) -> Option<String> {
        let elsewhere = ELSEWHERE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let Some((_, remedy)) = elsewhere {
            return Some((*remedy).to_owned());
        }
        let known = self.functions.iter().map(|function| function.name);
        let known = known.chain(self.aggregates.iter().copied());
        spelling::meant(name, known).map(|known| format!("did you mean {known}?"))
    }
}

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
