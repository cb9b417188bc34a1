//! LOAD: a document's triples into a graph, all or none of them, also where it is SILENT.

use super::Updater;
use super::rows::Rows;
use super::terms::{Labels, NewTerms};
use crate::EngineError;
use lode_rdf::{NamedNode, ValueId};
use lode_sparql::update::Graph;
use lode_store::LoadError;
use lode_store::load::read_document;

impl Updater<'_> {
    pub(super) fn load(&mut self, source: &NamedNode, into: &Graph, silent: bool) -> Result<(), EngineError> {
        match self.read(source, into) {
            Ok(rows) => rows.iter().try_for_each(|quad| self.insert(quad)),
            // What is wrong with the document, not with us or the time it takes.
            Err(Failure::Document(_)) if silent => Ok(()),
            Err(Failure::Document(message)) => Err(EngineError::Update(format!("LOAD {source}: {message}"))),
            Err(Failure::Engine(error)) => Err(error),
        }
    }

    fn read(&mut self, source: &NamedNode, into: &Graph) -> Result<Rows, Failure> {
        let cancel = self.options.evaluation.cancel.clone();
        let document =
            self.options.load.source(source.as_str(), cancel.time_left()).map_err(Failure::Document)?;
        let graph = match into {
            None => ValueId::DEFAULT_GRAPH,
            Some(name) => self.graph_id(name)?,
        };
        let mut rows = Rows::new(&self.budget)?;
        let mut terms = NewTerms::new(Labels::OfText);
        read_document(document, Some(source.as_str()), &cancel, &mut |quad| {
            Ok::<_, Failure>(rows.push(self.new_quad(&quad.into_owned(), graph, &mut terms)?)?)
        })?;
        Ok(rows)
    }
}

/// Why nothing was loaded.
enum Failure {
    /// The document may not be read, is not there, or is wrong.
    Document(String),
    /// Everything else.
    Engine(EngineError),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Cancelled(reason) => Self::Engine(EngineError::Cancelled(reason)),
            LoadError::Store(error) => Self::Engine(error.into()),
            other => Self::Document(other.to_string()),
        }
    }
}
