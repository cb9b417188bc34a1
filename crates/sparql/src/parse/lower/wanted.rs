//! What full-text searches say, as it stands among the triples of a block until these are all known.

use crate::text_search::SearchOption;
use lode_rdf::{NamedNode, Variable};
use spargebra::term::TermPattern;
use std::ops::Range;

/// A search among the triples of a block.
#[derive(Debug, Clone)]
pub(super) struct Search {
    /// What the property is of: one term, or a list of them.
    pub subjects: Vec<TermPattern>,
    pub wanted: Wanted,
    pub span: Range<usize>,
}

/// What a search says.
#[derive(Debug, Clone)]
pub(super) enum Wanted {
    /// Subjects with such a text.
    Subjects(Box<Subjects>),
    /// The text itself.
    Text { query: String, is_blazegraph: bool },
    /// Something of a search for texts, by another triple.
    Option(SearchOption, Given),
}

/// The value of a [`SearchOption`].
#[derive(Debug, Clone)]
pub(super) enum Given {
    Switch(bool),
    Number(usize),
    Variable(Variable),
}

/// What `text:query` says.
#[derive(Debug, Clone, Default)]
pub(super) struct Subjects {
    pub properties: Vec<NamedNode>,
    pub query: String,
    pub limit: Option<usize>,
    /// A range of languages; empty for texts without one.
    pub language: Option<String>,
    pub highlight: Option<Highlight>,
}

/// How words are marked in the text that is given back.
#[derive(Debug, Clone)]
pub(super) struct Highlight {
    pub start: String,
    pub end: String,
    pub chars: usize,
}
