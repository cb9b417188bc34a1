//! Words and strings in the reviews of BSBM data of any scale: searches as Jena writes them, and conditions that ask for strings.
//!
//! Words are those of the generator, which each have about the same share of the texts. Searches by words need an index elsewhere, or a store that knows `text:query`; the conditions on
//! strings are plain SPARQL, which every store answers.

use crate::NamedQuery;
use crate::named_query::query_set;

/// The queries, by what is asked.
pub const QUERIES: [NamedQuery; 14] = query_set![
    "two-words-best",
    "one-word-best",
    "both-words-best",
    "phrase-best",
    "prefix-best",
    "word-join",
    "word-count",
    "prefix-count",
    "contains-rare",
    "contains-part",
    "contains-frequent",
    "contains-any",
    "regex-case",
    "ends-lower",
];
