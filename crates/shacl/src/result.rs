//! A result: what violates which constraint.

use crate::path::Path;
use lode_rdf::{Literal, NamedNode, NamedOrBlankNode, Term};

/// Something that violates a constraint.
#[derive(Debug, Clone)]
pub struct ValidationResult {
    /// The node that was looked at.
    pub focus: Term,
    /// From there to the value, or the property that is at fault.
    pub path: Option<Path>,
    /// The value that violates, where it is one.
    pub value: Option<Term>,
    /// How bad it is.
    pub severity: NamedNode,
    /// The shape that has the constraint.
    pub shape: NamedOrBlankNode,
    /// The kind of constraint.
    pub component: NamedNode,
    /// The constraint itself, where it is a query.
    pub constraint: Option<NamedOrBlankNode>,
    /// What to tell people.
    pub messages: Vec<Literal>,
}

impl ValidationResult {
    /// Whether it is only a warning or an information.
    pub fn is_mild(&self) -> bool {
        is_mild(&self.severity)
    }
}

/// Whether a severity is only that of a warning or an information.
pub(crate) fn is_mild(severity: &NamedNode) -> bool {
    matches!(severity.as_str().strip_prefix(crate::vocabulary::SH), Some("Warning" | "Info"))
}
