//! Names of full-text search: the functions that it comes to, and the properties under which people have learnt to write it.

/// Whether a text has the words of a query.
pub const MATCHES: &str = "urn:lodestore:text:matches";
/// How well a text matches a query.
pub const SCORE: &str = "urn:lodestore:text:score";
/// The part of a text that shows why it matches.
pub const SNIPPET: &str = "urn:lodestore:text:snippet";

/// What a property of this name means where it is not a property of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Property {
    /// Of subjects, with scores, texts, graphs and properties (Jena's, and our own).
    Query,
    /// Of texts (Virtuoso's).
    Contains,
    /// Of texts, all of whose words are wanted (QLever's).
    ContainsWord,
    /// Of texts (Blazegraph's).
    Search,
    /// What is said of such a search.
    SearchOption(SearchOption),
}

/// What Blazegraph's properties say of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchOption {
    /// All words are wanted.
    MatchAllTerms,
    /// The words are a phrase.
    MatchExact,
    /// So many texts, the best.
    MaxRank,
    /// The variable for the score.
    Relevance,
    /// Others, which there are none of here.
    Unknown,
}

/// The namespace of Blazegraph's properties.
const BLAZEGRAPH: &str = "http://www.bigdata.com/rdf/search#";

impl Property {
    /// That of an IRI.
    pub fn of(iri: &str) -> Option<Self> {
        match iri {
            "http://jena.apache.org/text#query" | "urn:lodestore:text:query" => Some(Self::Query),
            "bif:contains" | "http://www.openlinksw.com/schemas/bif#contains" => Some(Self::Contains),
            "http://qlever.cs.uni-freiburg.de/builtin-functions/contains-word" => Some(Self::ContainsWord),
            _ => Some(match iri.strip_prefix(BLAZEGRAPH)? {
                "search" => Self::Search,
                "matchAllTerms" => Self::SearchOption(SearchOption::MatchAllTerms),
                "matchExact" => Self::SearchOption(SearchOption::MatchExact),
                "maxRank" => Self::SearchOption(SearchOption::MaxRank),
                "relevance" => Self::SearchOption(SearchOption::Relevance),
                _ => Self::SearchOption(SearchOption::Unknown),
            }),
        }
    }
}

/// The property of search that is most likely meant by another name in its namespace.
pub(crate) fn near_property(iri: &str) -> Option<&'static str> {
    PROPERTIES.iter().copied().find(|property| {
        let namespace = property.rfind(['#', '/', ':']).and_then(|end| property.get(..=end));
        *property != iri && namespace.is_some_and(|namespace| iri.starts_with(namespace))
    })
}

/// The property of each namespace that has only one.
const PROPERTIES: [&str; 5] = [
    "http://jena.apache.org/text#query",
    "urn:lodestore:text:query",
    "bif:contains",
    "http://www.openlinksw.com/schemas/bif#contains",
    "http://qlever.cs.uni-freiburg.de/builtin-functions/contains-word",
];
