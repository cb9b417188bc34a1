//! Full-text search as people write it, as patterns and functions: `text:query` of Jena, `bif:contains` of Virtuoso, `ql:contains-word` of QLever, `bds:search` of Blazegraph.
//!
//! All come to the same: a triple pattern, a filter by `text:matches`, a value of `text:score` where it is asked for, and a sub-select of the best where there is a
//! limit. From there on nothing knows that it was search. What they say is read from the tree, where places for errors are (`read`), and
//! becomes a pattern when the triples around it are known (`build`).

mod build;
mod read;

use crate::text_search::SearchOption;
use lode_rdf::{NamedNode, Variable};
use spargebra::term::TermPattern;
use std::ops::Range;

/// A search among the triples of a block.
#[derive(Debug, Clone)]
pub(in crate::parse::lower) struct Search {
    /// What the property is of: one term, or a list of them.
    pub subjects: Vec<TermPattern>,
    pub wanted: Wanted,
    pub span: Range<usize>,
}

/// What a search says.
#[derive(Debug, Clone)]
pub(in crate::parse::lower) enum Wanted {
    /// Subjects with such a text.
    Subjects(Box<Subjects>),
    /// The text itself.
    Text { query: String, is_blazegraph: bool },
    /// Something of a search for texts, by another triple.
    Option(SearchOption, Given),
}

/// The value of a [`SearchOption`].
#[derive(Debug, Clone)]
pub(in crate::parse::lower) enum Given {
    Switch(bool),
    Number(usize),
    Variable(Variable),
}

/// What `text:query` says.
#[derive(Debug, Clone, Default)]
pub(in crate::parse::lower) struct Subjects {
    pub properties: Vec<NamedNode>,
    pub query: String,
    pub limit: Option<usize>,
    /// A range of languages; empty for texts without one.
    pub language: Option<String>,
    pub highlight: Option<Highlight>,
}

/// How words are marked in the text that is given back.
#[derive(Debug, Clone)]
pub(in crate::parse::lower) struct Highlight {
    pub start: String,
    pub end: String,
    pub chars: usize,
}
