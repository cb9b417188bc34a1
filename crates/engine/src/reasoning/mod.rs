//! Reasoning at run time: which triples follow is decided by a schema that is in the data, and they are found when a query asks for them.

mod kept;
mod read;
#[cfg(test)]
mod tests;

pub(crate) use kept::KeptSchemas;
pub(crate) use read::read;

use lode_rdf::NamedNode;
pub use lode_sparql::schema::{SchemaRule, SchemaRules};

/// What a query finds beside what was stated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// By which rules.
    pub rules: SchemaRules,
    /// The graphs that have the schema; none given: all, the default graph among them. Of those that who asks may read.
    pub graphs: Vec<NamedNode>,
}

impl Reasoning {
    /// By these rules, with the schema in any graph; `None` where there are no rules.
    pub fn by(rules: SchemaRules) -> Option<Self> {
        (!rules.is_empty()).then(|| Self { rules, graphs: Vec::new() })
    }
}
