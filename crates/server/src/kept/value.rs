//! Types of parameters, and values of them: what a client sends becomes a term, or an error.

use lode_rdf::{Literal, NamedNode, Term};
use oxsdatatypes::{Date, DateTime, Decimal, Double, Integer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// The names, for who writes another one.
pub(crate) const KINDS: &str = "iri, string, string@LANGUAGE, integer, decimal, double, boolean, date, dateTime, <IRI of a datatype>, term";

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum Kind {
    Iri,
    String,
    /// With a language.
    LangString(String),
    /// One of XML Schema that is looked at.
    Xsd(Xsd),
    /// Any other datatype: the value is taken as it is.
    Datatype(NamedNode),
    /// Any term, as N-Triples writes it.
    Term,
}

/// Datatypes whose values are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Xsd {
    Integer,
    Decimal,
    Double,
    Boolean,
    Date,
    DateTime,
}

impl Xsd {
    const ALL: [Self; 6] =
        [Self::Integer, Self::Decimal, Self::Double, Self::Boolean, Self::Date, Self::DateTime];

    fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Double => "double",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::DateTime => "dateTime",
        }
    }

    fn has(self, value: &str) -> bool {
        match self {
            // What is larger than computed with is a number all the same.
            Self::Integer => {
                let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
                Integer::from_str(value).is_ok()
                    || !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
            }
            Self::Decimal => Decimal::from_str(value).is_ok(),
            Self::Double => Double::from_str(value).is_ok(),
            Self::Boolean => ["true", "false", "1", "0"].contains(&value),
            Self::Date => Date::from_str(value).is_ok(),
            Self::DateTime => DateTime::from_str(value).is_ok(),
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Integer => "7",
            Self::Decimal => "1.5",
            Self::Double => "1.5e0",
            Self::Boolean => "true",
            Self::Date => "2026-01-31",
            Self::DateTime => "2026-01-31T12:00:00Z",
        }
    }
}

impl Kind {
    /// The term that a value is.
    pub(crate) fn term(&self, value: &str) -> Result<Term, String> {
        let shown = || value.chars().take(100).collect::<String>().escape_debug().to_string();
        let expected = |what: &str| format!("'{}': expected {what}", shown());
        match self {
            Self::Iri => {
                let bare = value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value);
                let iri = NamedNode::new(bare);
                iri.map(Term::from).map_err(|error| format!("{} ({error})", expected("an IRI")))
            }
            Self::String => Ok(Literal::new_simple_literal(value).into()),
            Self::LangString(language) => Literal::new_language_tagged_literal(value, language)
                .map(Term::from)
                .map_err(|error| error.to_string()),
            Self::Xsd(kind) if kind.has(value) => {
                Ok(Literal::new_typed_literal(value, self.datatype(*kind)).into())
            }
            Self::Xsd(kind) => {
                Err(expected(&format!("a value of xsd:{}, such as {}", kind.name(), kind.example())))
            }
            Self::Datatype(datatype) => Ok(Literal::new_typed_literal(value, datatype.clone()).into()),
            Self::Term => match value.parse::<Term>() {
                Ok(Term::BlankNode(_)) => {
                    Err(expected("an IRI or a literal: a blank node means nothing here"))
                }
                Ok(term) => Ok(term),
                Err(error) => Err(format!("{} ({error})", expected("a term as N-Triples writes it"))),
            },
        }
    }

    fn datatype(&self, kind: Xsd) -> NamedNode {
        NamedNode::new_unchecked(format!("{XSD}{}", kind.name()))
    }

    /// A value of it, to look whether a query can be planned.
    pub(crate) fn sample(&self) -> Term {
        let text = match self {
            Self::Iri => "http://example.org/",
            Self::Xsd(kind) => kind.example(),
            Self::Term => "<http://example.org/>",
            Self::String | Self::LangString(_) | Self::Datatype(_) => "text",
        };
        self.term(text).unwrap_or_else(|_| Literal::new_simple_literal(text).into())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("'{}' is no type: known are {KINDS}", text.escape_debug());
        let bare = text.strip_prefix("xsd:").unwrap_or(text);
        if let Some(kind) = Xsd::ALL.into_iter().find(|kind| kind.name() == bare) {
            return Ok(Self::Xsd(kind));
        }
        if let Some(iri) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
            let own = iri.strip_prefix(XSD);
            let known = Xsd::ALL.into_iter().find(|kind| own == Some(kind.name()));
            let datatype = || NamedNode::new(iri).map(Self::Datatype).map_err(|_| unknown());
            return known.map_or_else(datatype, |kind| Ok(Self::Xsd(kind)));
        }
        match text.split_once('@') {
            Some(("string", language)) => Literal::new_language_tagged_literal("", language)
                .map(|_| Self::LangString(language.to_owned()))
                .map_err(|_| unknown()),
            _ if text == "iri" => Ok(Self::Iri),
            _ if bare == "string" => Ok(Self::String),
            _ if text == "term" => Ok(Self::Term),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Kind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iri => f.write_str("iri"),
            Self::String => f.write_str("string"),
            Self::LangString(language) => write!(f, "string@{language}"),
            Self::Xsd(kind) => f.write_str(kind.name()),
            Self::Datatype(datatype) => datatype.fmt(f),
            Self::Term => f.write_str("term"),
        }
    }
}

impl From<Kind> for String {
    fn from(kind: Kind) -> Self {
        kind.to_string()
    }
}

#[cfg(test)]
mod tests {
    //! What is a value of what.
    use super::Kind;

    #[test]
    fn values_become_terms_or_errors() {
        for (kind, value, term) in [
            ("iri", "http://e/a", "<http://e/a>"),
            ("iri", "<http://e/a>", "<http://e/a>"),
            ("string", "a \"b\" } # ?x", "\"a \\\"b\\\" } # ?x\""),
            ("xsd:string", "", "\"\""),
            ("string@en", "a", "\"a\"@en"),
            ("integer", "-7", "\"-7\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
            (
                "integer",
                "99999999999999999999999",
                "\"99999999999999999999999\"^^<http://www.w3.org/2001/XMLSchema#integer>",
            ),
            ("xsd:boolean", "true", "\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>"),
            ("date", "2026-01-31", "\"2026-01-31\"^^<http://www.w3.org/2001/XMLSchema#date>"),
            ("<http://e/type>", "x", "\"x\"^^<http://e/type>"),
            (
                "<http://www.w3.org/2001/XMLSchema#double>",
                "1e3",
                "\"1e3\"^^<http://www.w3.org/2001/XMLSchema#double>",
            ),
            ("term", "\"a\"@de", "\"a\"@de"),
        ] {
            let kind: Kind = kind.parse().unwrap();
            assert_eq!(kind.term(value).unwrap().to_string(), term);
            assert_eq!(kind.to_string().parse::<Kind>().unwrap(), kind);
            assert!(!kind.sample().is_blank_node());
        }
        for (kind, value) in [
            ("iri", "no iri"),
            ("iri", "http://e/> <http://e/b"),
            ("integer", "1.5"),
            ("integer", "1 } UNION { ?s ?p ?o"),
            ("integer", ""),
            ("boolean", "yes"),
            ("date", "2026-02-31"),
            ("dateTime", "now"),
            ("term", "_:b"),
            ("term", "?x"),
            ("<http://www.w3.org/2001/XMLSchema#integer>", "x"),
        ] {
            assert!(kind.parse::<Kind>().unwrap().term(value).is_err(), "{kind} {value}");
        }
        for wrong in ["", "int", "string@", "string@1", "<no iri>", "iri@en", "IRI"] {
            assert!(wrong.parse::<Kind>().is_err(), "{wrong}");
        }
    }
}
