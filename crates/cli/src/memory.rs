//! What the memory that a command may take means for the process as a whole, and for those in it that take of it.

use crate::allocator::{give_back, give_back_after, give_back_large_ones_as_soon};
use crate::args::{DefaultGraphArg, EvaluationArgs};
use crate::direct;
use lode_engine::store::{BackgroundOptions, WriteOptions};
use lode_engine::{
    DefaultGraph, HttpService, HttpServiceOptions, MemoryBudget, OpenOptions, Process, QueryOptions,
    Reasoning, UpkeeperOptions, avoid_huge_pages, machine_memory_bytes, resident_bytes, when_idle,
};
use lode_server::ServerOptions;
use std::sync::Arc;
use std::time::Duration;

/// Less memory than this is little. Then huge pages are not worth what they take: some 40 MiB are resident that nobody has written to, or
/// not any more. With more, they are in what a load takes besides its tables, and save it time.
const LITTLE_BYTES: usize = 512 << 20;
/// What the program itself takes, with the stacks of its threads, what its allocator keeps, and both copies of a vector that grows: a quarter
/// of all, but no less than this.
const OWN_BYTES_MIN: usize = 32 << 20;
/// Pages of a program that was not built for speed, which is several times as large, are none of what queries take.
const OWN_BYTES_MORE: usize = if cfg!(debug_assertions) { 8 << 20 } else { 0 };
/// Of the pool there is so much for each short query that runs, of which it counts next to nothing itself;
const SHORT_QUERY_BYTES: usize = 16 << 20;
/// but so many may run with little memory, too.
const SHORT_QUERIES_MIN: usize = 8;
/// Where nobody can tell what the machine has.
const DEFAULT_BYTES: usize = 3 << 30;

/// What a dump may take unless that is told.
const DUMP_BYTES: usize = 1 << 30;

/// The allocator keeps free memory for so long: what comes at once again costs nothing;
const KEPT_FREE: Duration = Duration::from_millis(100);
/// and with little memory, where some queries take a tenth longer with it.
const KEPT_FREE_OF_LITTLE: Duration = Duration::from_millis(10);

/// Prepares the process for a promise to take so much memory.
pub fn keep_to(bytes: usize) {
    when_idle(give_back);
    if bytes < LITTLE_BYTES {
        avoid_huge_pages();
        give_back_after(KEPT_FREE_OF_LITTLE);
        give_back_large_ones_as_soon();
    } else {
        give_back_after(KEPT_FREE);
    }
}

/// The memory that queries, updates, uploads, compaction and the cache share.
#[derive(Debug)]
pub struct SharedMemory {
    pool: MemoryBudget,
    cache_bytes: usize,
}

impl SharedMemory {
    /// What the options say; the process keeps to it from now on.
    pub fn new(args: &EvaluationArgs) -> Self {
        direct::use_if(args.direct);
        Self::of(args.memory, args.cache)
    }

    /// The same of these bytes, and of those for the cache.
    pub fn of(bytes: Option<usize>, cache_bytes: Option<usize>) -> Self {
        let half = || machine_memory_bytes().and_then(|bytes| usize::try_from(bytes / 2).ok());
        let bytes = bytes.or_else(half).unwrap_or(DEFAULT_BYTES);
        keep_to(bytes);
        let own = own_bytes(bytes);
        let process = Process { resident_bytes, give_back };
        let pool = MemoryBudget::of_process(bytes - own, own + OWN_BYTES_MORE, process);
        let cache_bytes = cache_bytes.unwrap_or(pool.limit() / 2).min(pool.limit());
        Self { pool, cache_bytes }
    }

    /// Bytes that it has.
    pub fn bytes(&self) -> usize {
        self.pool.limit()
    }

    /// The pool that all share.
    #[cfg(feature = "cluster")]
    pub fn pool(&self) -> MemoryBudget {
        self.pool.clone()
    }

    /// How to open a database.
    pub fn open_options(&self) -> OpenOptions {
        OpenOptions {
            cache_bytes: self.cache_bytes,
            memory: Some(self.pool.clone()),
            ..OpenOptions::default()
        }
    }

    /// The memory of a query.
    pub fn options(&self) -> QueryOptions {
        QueryOptions {
            memory_bytes: self.bytes(),
            memory: Some(self.pool.clone()),
            ..QueryOptions::default()
        }
    }

    /// How to run queries.
    ///
    /// # Errors
    /// Where endpoints are allowed, and the certificates that the environment names cannot be read.
    pub fn query_options(&self, args: &EvaluationArgs) -> anyhow::Result<QueryOptions> {
        let mut options = QueryOptions { inferred: !args.asserted, ..self.options() };
        if let Some(threads) = args.threads {
            options.threads = threads;
        }
        if args.default_graph == DefaultGraphArg::Union {
            options.default_graph = DefaultGraph::Union;
        }
        let graphs = args.schema_graph.clone();
        let rules = args.reason.unwrap_or_default();
        options.reasoning = Reasoning::by(rules).map(|reasoning| Reasoning { graphs, ..reasoning });
        if !args.allow_service.is_empty() {
            let service = HttpService::new(HttpServiceOptions {
                allowed: args.allow_service.clone(),
                timeout: args.service_timeout,
                requests_max: args.service_requests.into(),
                ..HttpServiceOptions::default()
            });
            options.service = Some(Arc::new(service.map_err(anyhow::Error::msg)?));
        }
        Ok(options)
    }

    /// How to write changes.
    pub fn write_options(&self) -> WriteOptions {
        let default = WriteOptions::default();
        let part = self.bytes() / 8;
        WriteOptions {
            delta_bytes_max: default.delta_bytes_max.min(part),
            logged_bytes_max: default.logged_bytes_max.min(part),
            memory_bytes: default.memory_bytes.min(part),
            memory: self.pool.clone(),
            ..default
        }
    }

    /// How many queries may run at once that have not shown yet that they are long: what a thread of one takes that nobody counts is in what
    /// was set aside.
    pub fn short_running_max(&self) -> usize {
        let most = (self.bytes() / SHORT_QUERY_BYTES).max(SHORT_QUERIES_MIN);
        ServerOptions::default().short_running_max.min(most)
    }

    /// How to compact in the background.
    pub fn background_options(&self) -> BackgroundOptions {
        let default = BackgroundOptions::default();
        let memory_bytes = default.memory_bytes.min(self.bytes() / 4);
        BackgroundOptions { memory_bytes, memory: self.pool.clone(), ..default }
    }

    /// How to bring inferences up to date in the background: on one thread.
    pub fn upkeeper_options(&self) -> UpkeeperOptions {
        let default = UpkeeperOptions::default();
        let memory_bytes = default.evaluation.memory_bytes.min(self.bytes() / 2);
        let evaluation = QueryOptions { memory_bytes, threads: default.evaluation.threads, ..self.options() };
        UpkeeperOptions { evaluation, ..default }
    }

    /// How long the text of an update may be unless that is told.
    pub fn update_bytes_max(&self) -> usize {
        (64 << 20).min(self.bytes() / 8)
    }

    /// How much all bodies of requests may take unless that is told.
    pub fn bodies_bytes_max(&self) -> usize {
        (256 << 20).min(self.bytes() / 4)
    }

    /// How long a statement may be unless that is told.
    pub fn statement_bytes_max(&self) -> usize {
        (64 << 20).min(self.bytes() / 16)
    }
}

/// What the program itself takes of so many bytes.
fn own_bytes(bytes: usize) -> usize {
    (bytes / 4).max(OWN_BYTES_MIN).min(bytes / 2)
}

/// The memory of a dump.
#[derive(Debug)]
pub struct DumpMemory {
    /// For blocks.
    pub cache_bytes: usize,
    /// For texts of several rows.
    pub text_bytes_max: usize,
}

impl DumpMemory {
    /// What the option says; the process keeps to it from now on.
    pub fn new(memory: Option<usize>) -> Self {
        let bytes = memory.unwrap_or(DUMP_BYTES);
        keep_to(bytes);
        let rest = bytes - own_bytes(bytes);
        Self { cache_bytes: rest / 2, text_bytes_max: (rest / 16).min(16 << 20) }
    }

    /// What tables may take while they are made.
    #[cfg(feature = "arrow")]
    pub fn table_bytes(&self) -> usize {
        self.cache_bytes / 2
    }
}

#[cfg(test)]
mod tests {
    //! How the memory is divided.
    use super::*;

    fn of(memory: Option<usize>, cache: Option<usize>) -> SharedMemory {
        let default_graph = DefaultGraphArg::Separate;
        SharedMemory::new(&EvaluationArgs {
            default_graph,
            asserted: false,
            reason: None,
            schema_graph: Vec::new(),
            direct: false,
            threads: None,
            memory,
            cache,
            allow_service: Vec::new(),
            service_requests: 4,
            service_timeout: Duration::from_secs(60),
        })
    }

    #[test]
    fn the_parts_are_within_the_whole() {
        let memory = of(Some(256 << 20), None);
        assert_eq!((memory.bytes(), memory.open_options().cache_bytes), (192 << 20, 96 << 20));
        assert_eq!(memory.write_options().delta_bytes_max, 24 << 20);
        assert_eq!(memory.background_options().memory_bytes, 48 << 20);
        let memory = of(Some(16 << 30), Some(1 << 40));
        assert_eq!(memory.open_options().cache_bytes, 12 << 30, "no more than all");
        assert_eq!(memory.write_options().delta_bytes_max, WriteOptions::default().delta_bytes_max);
        assert_eq!(of(Some(10 << 20), None).bytes(), 5 << 20);
        assert_eq!(of(Some(0), None).bytes(), 0);
        assert!(of(None, None).bytes() > 64 << 20);
    }
}
