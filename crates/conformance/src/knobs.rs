//! How a subject stores data and runs queries in a case of the differential test.

use crate::generate::{Random, dataset_of};

/// A memory budget under which everything spills that can; what cannot may fail.
const TINY: usize = 1 << 16;
/// One under which most requests of updates are done, but a few have more batches of wide rows in hand at once than fit.
const SMALL: usize = 1 << 20;
/// With less, a single text may be no longer than those of some cases, which is a limit that the documentation names.
const TEXTS_SHORT: usize = 16 << 20;

/// How a subject stores the data and runs the query: none of it may change the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knobs {
    /// In how many parts the data is loaded, each a segment of its own.
    pub parts: usize,
    /// Worker threads.
    pub threads: usize,
    /// Rows per batch.
    pub batch_rows: usize,
    /// Whether the planner optimises.
    pub optimize: bool,
    /// Whether the planner aggregates before joins wherever it may.
    pub groups_early: bool,
    /// Whether the planner joins patterns at once wherever it may.
    pub joins_multiway: bool,
    /// Whether the planner makes common sub-plans once wherever it may.
    pub spools_always: bool,
    /// Whether a query with other constants is planned before, whose plan may then be used.
    pub related_plans: bool,
    /// Memory for operators.
    pub memory_bytes: usize,
    /// Where changes go.
    pub changes: Changes,
}

/// Where the changes of updates go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// They stay in memory.
    InMemory,
    /// They become segments of their own at once.
    Segments,
    /// They become segments once there are some dozens.
    Sometimes,
    /// All there is becomes one segment after each request.
    Compacted,
}

const CHANGES: [Changes; 4] = [Changes::InMemory, Changes::Segments, Changes::Sometimes, Changes::Compacted];

impl Default for Knobs {
    fn default() -> Self {
        Self {
            parts: 1,
            threads: 2,
            batch_rows: 4096,
            optimize: true,
            groups_early: false,
            joins_multiway: false,
            spools_always: false,
            related_plans: false,
            memory_bytes: 2 << 30,
            changes: Changes::InMemory,
        }
    }
}

impl Knobs {
    /// Whether a query may be refused for want of memory with such a message.
    pub(crate) fn may_refuse(&self, message: &str) -> bool {
        (self.memory_bytes <= TINY && message.contains("memory budget"))
            || (self.memory_bytes < TEXTS_SHORT && message.contains("a text may be a sixteenth of it"))
    }

    /// Whether an update may be refused so. It is then done again with [`Knobs::with_memory`], where it may not.
    pub(crate) fn may_refuse_update(&self, message: &str) -> bool {
        self.may_refuse(message) || (self.memory_bytes <= SMALL && message.contains("memory budget"))
    }

    /// The same with as much memory as is asked for; none where that is so already.
    pub(crate) fn with_memory(&self) -> Option<Self> {
        let memory_bytes = Self::default().memory_bytes;
        (self.memory_bytes < memory_bytes).then(|| Self { memory_bytes, ..self.clone() })
    }

    /// The knobs of a seed.
    pub fn new(seed: u64) -> Self {
        let parts = [1, 2, 3, 5][Random::new(dataset_of(seed) ^ 0x9a27).weighted(&[50, 25, 15, 10])];
        let mut random = Random::new(seed ^ 0x5eed);
        Self {
            parts,
            threads: 1 + random.below(2),
            batch_rows: [1, 3, 4096][random.weighted(&[20, 30, 50])],
            optimize: random.chance(75),
            groups_early: random.chance(50),
            related_plans: random.chance(50),
            memory_bytes: [2 << 30, SMALL, TINY][random.weighted(&[75, 10, 15])],
            changes: CHANGES[random.weighted(&[50, 15, 20, 15])],
            joins_multiway: random.chance(40),
            spools_always: random.chance(40),
        }
    }

    /// Those of a seed's updates: plans of queries are kept in half of the cases, as they are with no options for tests.
    pub fn of_updates(seed: u64) -> Self {
        let knobs = Self::new(seed);
        if !seed.is_multiple_of(2) {
            return knobs;
        }
        Self { optimize: true, groups_early: false, joins_multiway: false, spools_always: false, ..knobs }
    }
}
