//! From the protocol's or command line's graph names to the planner's dataset override.

use lode_rdf::NamedNode;
use lode_sparql::plan::DatasetOverride;

use crate::EngineError;
use lode_sparql::ParseError;

impl crate::QueryOptions {
    /// Sets the dataset from IRIs (`default-graph-uri`, `named-graph-uri`); both empty keeps the query's own.
    ///
    /// # Errors
    /// [`EngineError::Syntax`] where a name is not an IRI.
    pub fn set_dataset(&mut self, default: &[String], named: &[String]) -> Result<(), EngineError> {
        if default.is_empty() && named.is_empty() {
            self.dataset = None;
            return Ok(());
        }
        self.dataset = Some(DatasetOverride {
            default: parse_iris(default)?,
            named: parse_iris(named)?,
            ..DatasetOverride::default()
        });
        Ok(())
    }
}

fn wrong(message: String) -> EngineError {
    ParseError::without_place(message).into()
}

fn parse_iris(iris: &[String]) -> Result<Vec<NamedNode>, EngineError> {
    let parse = |iri: &String| {
        NamedNode::new(iri.clone())
            .map_err(|error| wrong(format!("the graph name <{iri}> is not an IRI: {error}")))
    };
    iris.iter().map(parse).collect()
}
