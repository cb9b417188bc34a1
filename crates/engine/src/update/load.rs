//! LOAD: a document's triples into a graph, all or none of them, also where it is SILENT.

use super::Updater;
use super::rows::Rows;
use super::terms::{Labels, NewTerms};
use crate::EngineError;
use crate::graph_rules::named;
use crate::load_allow::NoSource;
use lode_rdf::parse::ParseNotes;
use lode_rdf::{GraphNameRef, NamedNode, ValueId};
use lode_sparql::update::Graph;
use lode_store::LoadError;
use lode_store::load::{IngestError, read_document};
use std::io::ErrorKind;

impl Updater<'_> {
    pub(super) fn load(&mut self, source: &NamedNode, into: &Graph, silent: bool) -> Result<(), EngineError> {
        self.adds_to(named(into.as_ref()));
        match self.read(source, into) {
            Ok(rows) => rows.for_each(|quad| self.insert(quad)),
            // What is wrong with the document, not with us or the time it takes.
            Err(Failure::Document(_) | Failure::Refused(_) | Failure::Unreachable(_)) if silent => Ok(()),
            Err(Failure::Document(message)) => Err(EngineError::Update(told(source, &message))),
            Err(Failure::Refused(message)) => Err(EngineError::LoadRefused(told(source, &message))),
            Err(Failure::Unreachable(message)) => Err(EngineError::LoadUnreachable(told(source, &message))),
            Err(Failure::Engine(error)) => Err(error),
        }
    }

    fn read(&mut self, source: &NamedNode, into: &Graph) -> Result<Rows, Failure> {
        let cancel = self.options.evaluation.cancel.clone();
        let document = self.options.load.source(source.as_str(), cancel.time_left())?;
        let document = document.with_unpacked_max(self.options.unpacked_max);
        let graph = match into {
            None => ValueId::DEFAULT_GRAPH,
            Some(name) => self.graph_id(name)?,
        };
        let mut rows = Rows::new(&self.budget, &self.options.evaluation.spill_dir);
        let mut terms = NewTerms::new(Labels::OfText, &self.draft);
        let (limit, rules) = (self.options.statement_limit, self.rules().clone());
        let mut notes = ParseNotes::default();
        read_document(document, Some(source.as_str()), limit, &cancel, &mut notes, &mut |quad| {
            // A graph that the document names is none that the request was allowed to change.
            let own = quad.graph_name;
            let place = if own == GraphNameRef::DefaultGraph { named(into.as_ref()) } else { own };
            rules.check_add(place)?;
            if !rules.is_free() {
                self.adds_to(place);
            }
            Ok::<_, Failure>(rows.push(self.new_quad(&quad.into_owned(), graph, &mut terms)?)?)
        })?;
        self.prefixes.merge(notes.prefixes);
        Ok(rows)
    }
}

fn told(source: &NamedNode, message: &str) -> String {
    format!("LOAD {source}: {message}")
}

/// Why nothing was loaded.
enum Failure {
    /// The document is wrong.
    Document(String),
    /// It may not be read.
    Refused(String),
    /// It is not there, or could not be read to its end.
    Unreachable(String),
    /// Everything else.
    Engine(EngineError),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<NoSource> for Failure {
    fn from(problem: NoSource) -> Self {
        match problem {
            NoSource::Refused(message) => Self::Refused(message),
            NoSource::Missing(message) => Self::Unreachable(message),
            NoSource::Wrong(message) => Self::Document(message),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Cancelled(reason) => Self::Engine(EngineError::Cancelled(reason)),
            LoadError::Store(error) => Self::Engine(error.into()),
            LoadError::Source(IngestError::Input { error, .. })
                if error.kind() == ErrorKind::FileTooLarge =>
            {
                Self::Document(error.to_string())
            }
            LoadError::Source(IngestError::Input { error, .. }) => Self::Unreachable(error.to_string()),
            other => Self::Document(other.to_string()),
        }
    }
}
