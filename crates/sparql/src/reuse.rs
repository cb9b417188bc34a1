//! For which data a plan stays right.

/// How far a plan may be used again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reuse {
    /// While terms have the ids they have.
    #[default]
    SameTerms,
    /// While the data is the same: the plan relies on what kinds of terms some patterns have.
    SameData,
    /// Not at all: a constant was not in the data, a pattern had no rows, a graph has to exist, or parts are planned while the query runs.
    Never,
}
