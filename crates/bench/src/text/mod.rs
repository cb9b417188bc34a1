//! Words and strings in the reviews of BSBM data of any scale: searches as Jena writes them, and conditions that ask for strings.
//!
//! Words are those of the generator, which each have about the same share of the texts. Searches by words need an index elsewhere, or a store that knows `text:query`; the conditions on
//! strings are plain SPARQL, which every store answers. [`Dialect`] has the same questions as other stores ask them.

use crate::NamedQuery;
use crate::named_query::query_set;

/// The queries, by what is asked.
pub const QUERIES: [NamedQuery; 15] = query_set![
    "two-words-best",
    "one-word-best",
    "both-words-best",
    "phrase-best",
    "prefix-best",
    "word-join",
    "word-count",
    "prefix-count",
    "phrase-count",
    "contains-rare",
    "contains-part",
    "contains-frequent",
    "contains-any",
    "regex-case",
    "ends-lower",
];

/// What Jena writes in another way.
const JENA: [NamedQuery; 3] = query_set!["jena/word-count", "jena/prefix-count", "jena/phrase-count"];

/// What Virtuoso does.
const VIRTUOSO: [NamedQuery; 9] = query_set![
    "virtuoso/two-words-best",
    "virtuoso/one-word-best",
    "virtuoso/both-words-best",
    "virtuoso/phrase-best",
    "virtuoso/prefix-best",
    "virtuoso/word-join",
    "virtuoso/word-count",
    "virtuoso/prefix-count",
    "virtuoso/phrase-count",
];

/// What plain SPARQL can ask of what else needs a search.
const PLAIN: [NamedQuery; 4] =
    query_set!["plain/word-join", "plain/word-count", "plain/prefix-count", "plain/phrase-count"];

/// How a store is asked for words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `text:query`, with an explicit limit where all are meant.
    Jena,
    /// `bif:contains`.
    Virtuoso,
    /// Not at all: by expressions, and not for what is best.
    Plain,
}

impl Dialect {
    /// That of a store; of one that is not known the plain one.
    pub fn of_store(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "jena" | "fuseki" | "lodestore" | "lode" => Self::Jena,
            "virtuoso" => Self::Virtuoso,
            _ => Self::Plain,
        }
    }

    /// How the question of a query is asked; none where it cannot be.
    pub fn text_of(self, query: &NamedQuery) -> Option<&'static str> {
        let own: &[NamedQuery] = match self {
            Self::Jena => &JENA,
            Self::Virtuoso => &VIRTUOSO,
            Self::Plain => &PLAIN,
        };
        let own = own.iter().find(|own| own.name.rsplit('/').next() == Some(query.name));
        match own {
            Some(own) => Some(own.text),
            None => (self == Self::Jena || !is_search(query)).then_some(query.text),
        }
    }
}

/// Whether a query asks for words.
fn is_search(query: &NamedQuery) -> bool {
    query.text.contains("text:query")
}

/// Whether every right answer to a query has the same rows: no limit cuts it.
pub fn has_one_answer(query: &NamedQuery) -> bool {
    !query.text.contains("LIMIT") && !query.name.ends_with("-best")
}

#[cfg(test)]
mod tests {
    use super::{Dialect, JENA, PLAIN, QUERIES, VIRTUOSO, has_one_answer, is_search};

    #[test]
    fn each_store_is_asked_what_it_can_answer() {
        for (own, dialect) in
            [(&JENA[..], Dialect::Jena), (&VIRTUOSO, Dialect::Virtuoso), (&PLAIN, Dialect::Plain)]
        {
            let asked: Vec<&str> = QUERIES.iter().filter_map(|query| dialect.text_of(query)).collect();
            assert!(own.iter().all(|own| asked.contains(&own.text)), "{dialect:?}: a form of no query");
            let refused = QUERIES.iter().filter(|query| dialect.text_of(query).is_none());
            let best = if dialect == Dialect::Plain { 5 } else { 0 };
            assert_eq!(refused.filter(|query| !has_one_answer(query)).count(), best);
            assert_eq!(asked.len() + best, QUERIES.len());
        }
        for query in QUERIES.iter().filter(|query| is_search(query)) {
            let virtuoso = Dialect::Virtuoso.text_of(query).unwrap();
            assert!(virtuoso.contains("bif:contains") && !virtuoso.contains("text:query"), "{}", query.name);
        }
        for query in JENA.iter().chain(&PLAIN) {
            let parsed = spargebra::SparqlParser::new().parse_query(query.text);
            assert!(parsed.is_ok(), "{}: {parsed:?}", query.name);
        }
        assert_eq!(Dialect::of_store("Fuseki"), Dialect::Jena);
        assert_eq!(Dialect::of_store("oxigraph"), Dialect::Plain);
        assert_eq!(QUERIES.iter().filter(|query| has_one_answer(query)).count(), 9);
    }
}
