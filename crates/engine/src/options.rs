//! How a database is opened and how a query runs.

use lode_base::cancel::CancelToken;
use lode_exec::context::ServiceHandler;
use lode_sparql::plan::DatasetOverride;
use std::path::PathBuf;
use std::sync::Arc;

/// What patterns outside GRAPH see when the query names no dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultGraph {
    /// The default graph alone, as SPARQL has it.
    #[default]
    Separate,
    /// The union of all graphs, as one set of triples.
    Union,
}

/// How a database is opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Bytes for the cache of decompressed blocks.
    pub cache_bytes: usize,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { cache_bytes: 1 << 30 }
    }
}

/// How a query runs.
#[derive(Clone)]
pub struct QueryOptions {
    /// Resolves relative IRIs in the query's text.
    pub base_iri: Option<String>,
    /// The default graph without FROM.
    pub default_graph: DefaultGraph,
    /// Graphs that override FROM and FROM NAMED; `None` keeps the query's own.
    pub dataset: Option<DatasetOverride>,
    /// Stops the query, on request or after its time-out.
    pub cancel: CancelToken,
    /// Bytes that its operators may hold; beyond it they spill or fail.
    pub memory_bytes: usize,
    /// Threads that may work on it.
    pub threads: usize,
    /// Whether it computes in turns with other queries. What ends within some milliseconds need not.
    pub takes_turns: bool,
    /// Rows per batch.
    pub batch_rows: usize,
    /// Whether the planner optimises (tests compare with and without).
    pub optimize: bool,
    /// Whether the planner aggregates before joins wherever that is right, whatever it costs (for tests).
    pub groups_early: bool,
    /// Whether the planner joins all patterns of a group at once wherever that is right, whatever it costs (for tests).
    pub joins_multiway: bool,
    /// Whether the planner has what the query has several times made once wherever that is right, whatever it costs (for tests).
    pub spools_always: bool,
    /// Federation; `None` allows none.
    pub service: Option<Arc<dyn ServiceHandler>>,
    /// Folder for spill files.
    pub spill_dir: PathBuf,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            base_iri: None,
            default_graph: DefaultGraph::default(),
            dataset: None,
            cancel: CancelToken::default(),
            memory_bytes: 2 << 30,
            threads: lode_base::cores::cores(),
            takes_turns: true,
            batch_rows: lode_exec::batch::BATCH_ROWS,
            optimize: true,
            groups_early: false,
            joins_multiway: false,
            spools_always: false,
            service: None,
            spill_dir: std::env::temp_dir(),
        }
    }
}
