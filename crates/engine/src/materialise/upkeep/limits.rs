//! How much a commit may do for what follows from it, and why it is not gone on from.

/// Rows that a commit may look at for what follows from it.
pub(super) const ROWS_MAX: u64 = 50_000_000;
/// Triples that may follow from a commit, or not any more.
pub(super) const TRIPLES_MAX: usize = 2_000_000;

/// Why a commit is not gone on from.
#[derive(Debug)]
pub(super) enum TooMuch {
    /// Too much had to be looked at, or follows.
    Work,
    /// Memory.
    Memory,
    /// Whole graphs were cleared: which quads they had is not known.
    Cleared,
    /// Lists with branches.
    Lists,
    /// A rule cannot be gone on from, or has failed.
    Rule,
}
