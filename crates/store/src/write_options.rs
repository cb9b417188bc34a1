//! How a store writes.

use crate::log::Durability;
use lode_base::memory_budget::MemoryBudget;

/// How a store writes.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// When a commit is acknowledged.
    pub durability: Durability,
    /// Bytes of memory of the delta beyond which it becomes a segment. At twice as many commits are slowed down, at three times as
    /// many they are refused until a segment is written.
    pub delta_bytes_max: usize,
    /// Bytes of the log beyond which the delta becomes a segment; commits are slowed down and refused in the same way.
    pub log_bytes_max: u64,
    /// Changes of one transaction beyond which they become a segment at once, without the log.
    pub logged_changes_max: usize,
    /// Bytes of the new terms of one transaction beyond which it does so, too.
    pub logged_bytes_max: usize,
    /// Bytes of memory for writing segments.
    pub memory_bytes: usize,
    /// Threads for writing segments.
    pub threads: usize,
    /// The pool that the delta, and what writes segments of it, count in. Neither is ever refused: what is committed must stay.
    pub memory: MemoryBudget,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Sync,
            delta_bytes_max: 128 << 20,
            log_bytes_max: 256 << 20,
            logged_changes_max: 100_000,
            logged_bytes_max: 64 << 20,
            memory_bytes: 1 << 30,
            threads: lode_base::cores::cores(),
            memory: MemoryBudget::unlimited(),
        }
    }
}
