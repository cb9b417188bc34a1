//! How much a commit may do for what follows from it, and why it is not gone on from.

/// Rows that a commit may look at for what follows from it, whatever there is.
const ROWS_LEAST: u64 = 500_000;
/// More are never looked at.
const ROWS_MOST: u64 = 50_000_000;
/// What a look into an index costs besides its rows, in rows.
pub(super) const LOOK_ROWS: usize = 4;

#[cfg(test)]
thread_local! {
    /// In the place of all that.
    pub(in super::super) static ROWS: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// A row takes about three times as long to look at one by one as to infer all anew takes for each quad: so what is given up has taken less than a third of that, in vain.
const ROW_COST: u64 = 10;

/// Rows that a commit may look at in a database of so many quads.
pub(super) fn rows_max(quads: u64) -> u64 {
    #[cfg(test)]
    if let Some(rows) = ROWS.get() {
        return rows;
    }
    (quads / ROW_COST).clamp(ROWS_LEAST, ROWS_MOST)
}

/// The same for a commit that only adds something: of what needs more, whole rounds are quicker than looking at triples one by one.
const ROWS_BEFORE_ROUNDS: u64 = 100_000;
/// Such a commit is left to rounds at once where it states more triples than this.
pub(super) const STATED_BEFORE_ROUNDS: usize = 4096;

/// Rows that a commit may look at that only adds something, before it is left to rounds.
pub(super) fn rows_before_rounds(quads: u64) -> u64 {
    rows_max(quads).min(ROWS_BEFORE_ROUNDS)
}

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
