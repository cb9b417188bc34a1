//! What is known while queries are made, and how much was made.

use super::classes::Classes;
use super::names::Names;
use crate::error::ShaclError;
use crate::model::{Shape, ShapeId};
use crate::read::Shapes;
use lode_rdf::NamedNode;
use lode_sparql::syntax::BYTES_MAX as TEXT_BYTES_MAX;

/// More bytes of queries than this are refused: shapes that refer to shapes may become very many.
const BYTES_MAX: usize = 16 << 20;

/// A query for what violates a constraint: each of its rows is a result.
#[derive(Debug)]
pub struct Check {
    /// Whose constraint it is.
    pub shape: ShapeId,
    /// Which of its constraints.
    pub rule: usize,
    /// A SELECT of `?this`, and maybe `?value`, `?path`, `?message` and others that messages are made of.
    pub query: String,
}

/// What queries are made from.
#[derive(Clone, Copy)]
pub struct Sources<'s> {
    /// The shapes.
    pub shapes: &'s Shapes,
    /// The classes below those that shapes name.
    pub classes: &'s Classes,
    /// The graph of the database that has the shapes, if one has.
    pub shapes_graph: Option<&'s NamedNode>,
    /// Nodes beyond which nothing has changed since all conformed: of shapes to which others do not matter, only these are looked at.
    pub within: Option<&'s [String]>,
}

/// Makes queries.
pub struct Compiler<'s> {
    pub(super) sources: Sources<'s>,
    pub(super) names: Names,
    /// Of all queries, and of all parts of them.
    bytes: usize,
    pub(super) checks: Vec<Check>,
}

impl<'s> Compiler<'s> {
    pub(super) fn new(sources: Sources<'s>) -> Self {
        const { assert!(BYTES_MAX < TEXT_BYTES_MAX) };
        Self { sources, names: Names::default(), bytes: 0, checks: Vec::new() }
    }

    pub(super) fn get(&self, id: ShapeId) -> &'s Shape {
        self.sources.shapes.get(id)
    }

    /// Counts a text that was made.
    pub(super) fn count(&mut self, text: &str) -> Result<(), ShaclError> {
        self.bytes += text.len();
        if self.bytes <= BYTES_MAX {
            return Ok(());
        }
        Err(ShaclError::TooLarge(format!(
            "the shapes become queries of more than {} MiB: shapes refer to shapes in too many ways, or sh:in has too \
             many members (a class and sh:class do better then)",
            BYTES_MAX >> 20
        )))
    }
}
