//! What queries leave for those that follow.

use crate::options::OpenOptions;
use crate::plan_cache::PlanCache;
use crate::reasoning::KeptSchemas;
use lode_base::memory_budget::MemoryBudget;
use lode_exec::memo::{KeptResults, Memos};
use lode_store::Snapshot;
use std::sync::Arc;

/// The part of the memory for blocks that kept results may take beside it.
const RESULTS_PART: usize = 16;

/// Plans, and results of functions of terms.
#[derive(Debug)]
pub(crate) struct Caches {
    pub plans: PlanCache,
    pub schemas: KeptSchemas,
    results: Arc<KeptResults>,
}

impl Caches {
    /// Empty ones, for a database that is opened so.
    pub fn new(options: &OpenOptions) -> Self {
        let bytes_max = options.cache_bytes / RESULTS_PART;
        let own = || MemoryBudget::new(bytes_max);
        let memory = options.memory.as_ref().map_or_else(own, |pool| pool.part(bytes_max));
        let plans = options
            .memory
            .as_ref()
            .map_or_else(PlanCache::default, |pool| PlanCache::of_memory(pool.limit()));
        Self { plans, schemas: KeptSchemas::default(), results: Arc::new(KeptResults::new(memory)) }
    }

    /// Memos for a query over a version that transactions made public.
    pub fn memos(&self, snapshot: &Snapshot) -> Arc<Memos> {
        Arc::new(Memos::with_kept(Arc::clone(&self.results), snapshot.terms_number()))
    }
}
