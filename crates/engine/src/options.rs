//! How a database is opened and how a query runs.

use crate::elsewhere::Elsewhere;
use crate::graph_rules::GraphRules;
use crate::reasoning::{Reasoning, SchemaRules};
use lode_base::block_source::ReadPolicy;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_exec::service::ServiceHandler;
use lode_packed::CacheMemory;
use lode_rdf::Term;
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
    /// The most bytes for the cache of decompressed blocks.
    pub cache_bytes: usize,
    /// The pool that they count in, if any: the cache takes what others leave, and gives it back.
    pub memory: Option<MemoryBudget>,
    /// What is read before it is wanted.
    pub read_ahead: ReadPolicy,
}

impl OpenOptions {
    /// With a cache of its own.
    pub fn with_cache(cache_bytes: usize) -> Self {
        Self { cache_bytes, memory: None, read_ahead: ReadPolicy::default() }
    }

    pub(crate) fn cache(&self) -> CacheMemory {
        CacheMemory {
            bytes_max: self.cache_bytes,
            pool: self.memory.clone(),
            policy: self.read_ahead,
            device: None,
        }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::with_cache(1 << 30)
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
    /// The graphs that there are for who asks.
    pub graphs: GraphRules,
    /// Whether it sees what rules have added ([`crate::Database::materialise`]), where it does not name the graph of that.
    pub inferred: bool,
    /// What follows from the data and is found, too; `None`: nothing.
    pub reasoning: Option<Reasoning>,
    /// Stops the query, on request or after its time-out.
    pub cancel: CancelToken,
    /// Bytes that it may hold; beyond it its operators spill or fail.
    pub memory_bytes: usize,
    /// The pool that these bytes count in, if any.
    pub memory: Option<MemoryBudget>,
    /// Of what is reserved there, bytes of the request itself: others are not at fault for them.
    pub request_bytes: usize,
    /// Threads that may work on it.
    pub threads: usize,
    /// Terms in the place of the query's variables, or of those of an update's WHERE and templates, by name without `?`: its parameters. They are no part of the text, so whatever is in them
    /// means nothing but itself.
    pub bindings: Vec<(String, Term)>,
    /// Rows or triples that its answer may have: one more is an error.
    pub rows_max: Option<u64>,
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
    /// Who has parts of long queries run elsewhere, if anybody.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
}

impl QueryOptions {
    /// The rules that it reasons by.
    pub fn rules(&self) -> SchemaRules {
        self.reasoning.as_ref().map_or_else(SchemaRules::default, |reasoning| reasoning.rules)
    }

    /// Reasons by these rules, or not at all; the graphs that have the schema stay.
    pub fn set_rules(&mut self, rules: SchemaRules) {
        let graphs = self.reasoning.take().map_or_else(Vec::new, |reasoning| reasoning.graphs);
        self.reasoning = Reasoning::by(rules).map(|reasoning| Reasoning { graphs, ..reasoning });
    }

    /// The memory of one query.
    pub(crate) fn budget(&self) -> MemoryBudget {
        let own = || MemoryBudget::new(self.memory_bytes);
        self.memory.as_ref().map_or_else(own, |pool| pool.part_beside(self.memory_bytes, self.request_bytes))
    }
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            base_iri: None,
            default_graph: DefaultGraph::default(),
            dataset: None,
            graphs: GraphRules::default(),
            inferred: true,
            reasoning: None,
            cancel: CancelToken::default(),
            memory_bytes: 2 << 30,
            memory: None,
            request_bytes: 0,
            threads: lode_base::cores::cores(),
            bindings: Vec::new(),
            rows_max: None,
            takes_turns: true,
            batch_rows: lode_exec::batch::BATCH_ROWS,
            optimize: true,
            groups_early: false,
            joins_multiway: false,
            spools_always: false,
            service: None,
            spill_dir: std::env::temp_dir(),
            elsewhere: None,
        }
    }
}
