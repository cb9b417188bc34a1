//! What the suites, the golden queries and the differential tests put to the test.

use crate::answer::Answer;
use crate::dataset::Dataset;
use crate::knobs::Knobs;
use crate::naive;
use crate::rdf_files::{self, RdfFormat};
use anyhow::{Result, bail};
use spargebra::SparqlParser;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs some work of a subject; a panic in it becomes an error.
///
/// # Errors
///
/// What the work fails with, or the message of its panic.
pub fn no_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => {
            let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            bail!("panic: {text}")
        }
    }
}

/// How a query is to be run.
#[derive(Debug, Clone, Default)]
pub struct QuerySettings {
    /// The base IRI of the query's text.
    pub base: Option<String>,
    /// Whether the default graph is the union of all graphs.
    pub union_default_graph: bool,
    /// The data behind SERVICE endpoints.
    pub services: BTreeMap<String, Dataset>,
    /// Whether it finds what follows by the RDFS entailment regime.
    pub reasoning: bool,
}

/// Something that reads RDF and answers queries: the oracle, or the engine.
pub trait Subject {
    /// Its name in reports.
    fn name(&self) -> &'static str;
    /// Reads a document and gives back what it understood.
    ///
    /// # Errors
    ///
    /// Where the document is wrong.
    fn read_rdf(&mut self, bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset>;
    /// How the data will be stored and queries run from the next load on; nothing that has no such choice need care.
    fn configure(&mut self, _knobs: &Knobs) {}
    /// Replaces all data by these.
    ///
    /// # Errors
    ///
    /// Where the data cannot be stored.
    fn load(&mut self, dataset: &Dataset) -> Result<()>;
    /// Answers a query over the data loaded last.
    ///
    /// # Errors
    ///
    /// Where the query is wrong, or cannot be answered.
    fn query(&mut self, text: &str, settings: &QuerySettings) -> Result<Answer>;
    /// How it would answer a query, for people.
    fn explain(&self, _text: &str, _settings: &QuerySettings) -> Option<String> {
        None
    }
    /// Runs an update request on the data loaded last; where it fails, nothing changes.
    ///
    /// # Errors
    ///
    /// Where the request is wrong, or fails.
    fn update(&mut self, text: &str, settings: &QuerySettings) -> Result<()>;
    /// All that is there now. Blank nodes may have other names than when they were loaded.
    ///
    /// # Errors
    ///
    /// Where the data cannot be read.
    fn contents(&mut self) -> Result<Dataset>;
    /// Whether it understands SERVICE with the endpoints of [`QuerySettings::services`].
    fn has_services(&self) -> bool;
    /// Whether it understands [`QuerySettings::reasoning`].
    fn has_reasoning(&self) -> bool {
        false
    }
    /// Parses a query.
    ///
    /// # Errors
    ///
    /// Where the text is no query.
    fn parse_query(&self, text: &str, base: &str) -> Result<()>;
    /// Parses an update request.
    ///
    /// # Errors
    ///
    /// Where the text is no update request.
    fn parse_update(&self, text: &str, base: &str) -> Result<()>;
}

/// The oracle as a subject: it validates the runner, and the runner it.
#[derive(Debug, Default)]
pub struct NaiveSubject {
    dataset: Dataset,
}

impl Subject for NaiveSubject {
    fn name(&self) -> &'static str {
        "naive evaluator"
    }

    fn read_rdf(&mut self, bytes: &[u8], format: RdfFormat, base: &str) -> Result<Dataset> {
        rdf_files::parse(bytes, format, base)
    }

    fn load(&mut self, dataset: &Dataset) -> Result<()> {
        self.dataset = dataset.clone();
        Ok(())
    }

    fn query(&mut self, text: &str, settings: &QuerySettings) -> Result<Answer> {
        let mut parser = SparqlParser::new();
        if let Some(base) = &settings.base {
            parser = parser.with_base_iri(base)?;
        }
        let query = parser.parse_query(text)?;
        let options = naive::Options {
            union_default_graph: settings.union_default_graph,
            services: settings.services.clone(),
            ..naive::Options::default()
        };
        Ok(naive::evaluate(&query, &self.dataset, &options)?)
    }

    fn update(&mut self, text: &str, settings: &QuerySettings) -> Result<()> {
        let mut parser = SparqlParser::new();
        if let Some(base) = &settings.base {
            parser = parser.with_base_iri(base)?;
        }
        let options = naive::Options {
            union_default_graph: settings.union_default_graph,
            services: settings.services.clone(),
            ..naive::Options::default()
        };
        self.dataset = naive::update(&parser.parse_update(text)?, &self.dataset, &options)?;
        Ok(())
    }

    fn contents(&mut self) -> Result<Dataset> {
        Ok(self.dataset.clone())
    }

    fn has_services(&self) -> bool {
        true
    }

    fn parse_query(&self, text: &str, base: &str) -> Result<()> {
        SparqlParser::new().with_base_iri(base)?.parse_query(text)?;
        Ok(())
    }

    fn parse_update(&self, text: &str, base: &str) -> Result<()> {
        SparqlParser::new().with_base_iri(base)?.parse_update(text)?;
        Ok(())
    }
}
