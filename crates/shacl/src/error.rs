//! Errors: of shapes, each with the shape, the property and what to do; and of queries that look for violations.

use lode_engine::{EngineError, OutOfBudget};

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
    #[error("the shape {shape}: {property}: {problem}")]
    Shape {
        /// The shape, as in Turtle.
        shape: String,
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
    pub(crate) fn shape(shape: impl ToString, property: impl ToString, problem: impl Into<String>) -> Self {
        Self::Shape { shape: shape.to_string(), property: property.to_string(), problem: problem.into() }
    }

    /// Whether the shapes are at fault, and not the data or the machine.
    pub fn is_of_shapes(&self) -> bool {
        matches!(self, Self::Document { .. } | Self::Shape { .. } | Self::TooLarge(_))
    }
}
