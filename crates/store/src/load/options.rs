//! What a load may be told, and what it tells.

use crate::load::error::LoadError;
use crate::load::replace::Replace;
use crate::progress::StageSeconds;
use crate::segment_builder::memory_bytes_default;
use lode_base::cancel::CancelToken;
use lode_ingest::{IngestError, Skipped, SourceReport};
use lode_packed::SegmentMeta;
use lode_rdf::parse::{ContextLoader, StatementLimit};
use lode_rdf::value_id::Section;
use lode_rdf::{NamedNode, ParseOptions, RdfFormat};
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// Options of a load.
pub struct LoadOptions {
    /// Threads that parse, sort and write.
    pub threads: usize,
    /// Bytes of memory that the process shall not exceed.
    pub memory_bytes: usize,
    /// Format of sources that do not bring their own; else their names tell, else their first bytes.
    pub format: Option<RdfFormat>,
    /// IRI that relative IRIs are resolved against.
    pub base_iri: Option<String>,
    /// How long a statement may be; unless told, a sixteenth of the memory.
    pub statement_limit: Option<StatementLimit>,
    /// Graph that takes the quads which the sources have in the default graph.
    pub graph: Option<NamedNode>,
    /// Whether sources must not name graphs.
    pub one_graph: bool,
    /// What goes when the load is published: nobody sees the one without the other.
    pub replace: Option<Replace>,
    /// Takes bad statements, each after a comment that says what is wrong, and is told of files that cannot be read; without, these are
    /// errors.
    pub quarantine: Option<Box<dyn Write + Send>>,
    /// Whether to keep what can be kept although the standards forbid it.
    pub lenient: bool,
    /// Where JSON-LD contexts come from that are named by IRIs.
    pub contexts: Option<Arc<ContextLoader>>,
    /// Stops the load.
    pub cancel: CancelToken,
    /// Packs rows into 128 bits where 64 would do.
    #[cfg(test)]
    pub(crate) wide_rows: bool,
    /// Lists no inline values, predicates and graph names.
    #[cfg(test)]
    pub(crate) no_lists: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            threads: lode_base::cores::cores(),
            memory_bytes: memory_bytes_default(),
            format: None,
            base_iri: None,
            statement_limit: None,
            graph: None,
            one_graph: false,
            replace: None,
            quarantine: None,
            lenient: false,
            contexts: None,
            cancel: CancelToken::default(),
            #[cfg(test)]
            wide_rows: false,
            #[cfg(test)]
            no_lists: false,
        }
    }
}

/// Bytes of a statement: at least and at most, unless told otherwise.
const STATEMENT_BYTES: (usize, usize) = (1 << 20, 256 << 20);

impl LoadOptions {
    /// A long statement is held several times on its way: as it is read, as keys, in a run's memory.
    fn statement_limit_default(&self) -> StatementLimit {
        StatementLimit::new((self.memory_bytes / 16).clamp(STATEMENT_BYTES.0, STATEMENT_BYTES.1))
    }

    pub(crate) fn parse_options(&self) -> Result<ParseOptions, LoadError> {
        let limit = self.statement_limit.unwrap_or_else(|| self.statement_limit_default());
        let mut options = ParseOptions::default().with_statement_limit(limit).lenient(self.lenient);
        if let Some(contexts) = &self.contexts {
            options = options.with_contexts(Arc::clone(contexts));
        }
        let Some(base) = &self.base_iri else { return Ok(options) };
        options.with_base_iri(base).map_err(|error| {
            let source_name = "base IRI".to_owned();
            LoadError::Source(IngestError::Format { source_name, message: error.to_string() })
        })
    }
}

impl fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadOptions")
            .field("threads", &self.threads)
            .field("memory_bytes", &self.memory_bytes)
            .field("format", &self.format)
            .field("base_iri", &self.base_iri)
            .field("graph", &self.graph)
            .field("replace", &self.replace)
            .field("quarantine", &self.quarantine.is_some())
            .field("lenient", &self.lenient)
            .finish_non_exhaustive()
    }
}

/// What a load did.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// Quads read.
    pub quads: u64,
    /// Quads added to the database. Where it replaced some, those among them that were there before count here and as removed.
    pub added: u64,
    /// Quads that were replaced.
    pub removed: u64,
    /// Quads that came more than once.
    pub duplicates: u64,
    /// Quads that the database had already.
    pub existing: u64,
    /// Bad statements set aside.
    pub quarantined: u64,
    /// New dictionary terms, by section.
    pub new_terms: [u64; Section::COUNT],
    /// New blank nodes.
    pub blank_nodes: u64,
    /// Distinct inline values in the sources.
    pub inline_values: u64,
    /// Bytes read from the sources, as they are stored.
    pub source_bytes: u64,
    /// What was found in each source.
    pub sources: Vec<SourceReport>,
    /// Files in archives that were skipped because their names are none of RDF.
    pub skipped: Skipped,
    /// The new segment; none where nothing was added.
    pub segment: Option<SegmentMeta>,
    /// Where the time went.
    pub seconds: StageSeconds,
    /// The most memory the process has had resident, where that can be told.
    pub peak_resident_bytes: Option<u64>,
    /// Seconds of processors that the process has used so far, where that can be told.
    pub processor_seconds: Option<f64>,
}
