//! SHACL Core and SHACL-SPARQL: shapes become queries that find what violates them.
//!
//! [`ShapesGraph`] reads documents, [`Shapes`] is what they mean, [`validate()`] looks for violations in a version of a database, and [`Report`]
//! writes what was found. Each constraint is one query over all focus nodes; no node is looked at by itself.

mod compile;
mod error;
mod graph;
mod guard;
mod message;
mod model;
mod path;
mod places;
mod read;
mod report;
mod result;
mod sparql;
mod validate;
mod vocabulary;
mod words;

pub use error::ShaclError;
pub use graph::ShapesGraph;
pub use guard::guard;
pub use path::Path;
pub use read::Shapes;
pub use report::{Report, ReportFormat};
pub use result::ValidationResult;
pub use validate::{Admit, Summary, ValidateOptions, empty_targets, queries, shapes_of_graph, validate};
