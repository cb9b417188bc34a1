//! What queries leave for those that follow.

use crate::plan_cache::PlanCache;
use lode_exec::expr::{KeptResults, Memos};
use lode_store::Snapshot;
use std::sync::Arc;

/// The part of the memory for blocks that kept results may take beside it.
const RESULTS_PART: usize = 16;

/// Plans, and results of functions of terms.
#[derive(Debug)]
pub(crate) struct Caches {
    pub plans: PlanCache,
    results: Arc<KeptResults>,
}

impl Caches {
    /// Empty ones, for a database that may keep so many bytes of blocks.
    pub fn new(cache_bytes: usize) -> Self {
        Self { plans: PlanCache::default(), results: Arc::new(KeptResults::new(cache_bytes / RESULTS_PART)) }
    }

    /// Memos for a query over a version that transactions made public.
    pub fn memos(&self, snapshot: &Snapshot) -> Arc<Memos> {
        Arc::new(Memos::with_kept(Arc::clone(&self.results), snapshot.terms_number()))
    }
}
