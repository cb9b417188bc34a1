//! Errors: of shapes, each with the shape, the property and what to do; and of queries that look for violations.

use crate::places::Places;
use lode_engine::{EngineError, OutOfBudget};
use lode_rdf::NamedOrBlankNode;

/// Why nothing could be validated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShaclError {
    /// A document with shapes cannot be read.
    #[error("{document}: {message}")]
    Document {
        /// The name of the document.
        document: String,
        /// What is wrong, and where.
        message: String,
    },
    /// A shape is none.
    #[error("{shape}: {property}: {problem}")]
    Shape {
        /// The shape, as in Turtle, and where it is.
        shape: String,
        /// Its node.
        node: Box<NamedOrBlankNode>,
        /// What it says wrongly.
        property: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The shapes are too many, too large or too deep.
    #[error("{0}")]
    TooLarge(String),
    /// The shapes take more memory than the budget has.
    #[error("the shapes, and the queries that they become, take too much memory: {0}")]
    Memory(#[from] OutOfBudget),
    /// The data cannot be asked: time-out, memory, damage.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A query was not admitted ([`crate::ValidateOptions::admit`]).
    #[error("{0}")]
    Refused(String),
    /// The report cannot be written.
    #[error("writing the report: {0}")]
    Output(#[from] std::io::Error),
}

impl ShaclError {
    pub(crate) fn shape(
        node: &NamedOrBlankNode,
        property: impl ToString,
        problem: impl Into<String>,
    ) -> Self {
        let (shape, property) = (format!("the shape {node}"), property.to_string());
        Self::Shape { shape, node: Box::new(node.clone()), property, problem: problem.into() }
    }

    /// The same with the place of the shape.
    pub(crate) fn placed(self, places: &Places) -> Self {
        match self {
            Self::Shape { node, property, problem, .. } => {
                Self::Shape { shape: places.shape(&node), node, property, problem }
            }
            other => other,
        }
    }

    /// Whether the shapes are at fault, and not the data or the machine.
    pub fn is_of_shapes(&self) -> bool {
        matches!(self, Self::Document { .. } | Self::Shape { .. } | Self::TooLarge(_))
    }
}
