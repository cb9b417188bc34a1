//! Full-text search as people write it, as patterns and functions: `text:query` of Jena, `bif:contains` of Virtuoso, `ql:contains-word` of QLever, `bds:search` of Blazegraph.
//!
//! All come to the same: a triple pattern, a filter by `text:matches`, a value of `text:score` where it is asked for, and a sub-select of the best where there is a
//! limit. From there on nothing knows that it was search. What they say is read from the tree, where places for errors are (`read`), and
//! becomes a pattern when the triples around it are known (`build`).

mod build;
mod read;
