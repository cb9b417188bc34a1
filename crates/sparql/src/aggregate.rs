//! Aggregates: what planner, executor and explanations know of each, in one place.

use crate::expr::AggregateFunction;

/// How an aggregate of all rows follows from those of parts of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InParts {
    /// It does not.
    Never,
    /// As the same aggregate of theirs, however often a value occurs.
    Same,
    /// As the sum of theirs, which are counts.
    Counts,
    /// As the sum of theirs, where sums may be made in parts.
    Sums,
    /// As the quotient of their sums and their counts.
    Mean,
}

impl AggregateFunction {
    /// The names of all of them.
    pub const NAMES: [&'static str; 7] = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"];

    /// Its name in a query.
    pub fn name(&self) -> &'static str {
        match self {
            Self::CountAll | Self::Count => "COUNT",
            Self::Sum | Self::CountSum => "SUM",
            Self::Avg => "AVG",
            Self::Min => "MIN",
            Self::Max => "MAX",
            Self::Sample => "SAMPLE",
            Self::GroupConcat(_) => "GROUP_CONCAT",
        }
    }

    /// Whether it matters how often a value occurs, and so whether DISTINCT is asked for.
    pub fn counts_duplicates(&self) -> bool {
        !matches!(self, Self::Min | Self::Max | Self::Sample)
    }

    /// Whether the result for distinct values is the same in whatever sequence they come.
    pub(crate) fn is_of_a_set(&self) -> bool {
        matches!(self, Self::Count | Self::Sum | Self::Avg | Self::Min | Self::Max)
    }

    pub(crate) fn in_parts(&self) -> InParts {
        match self {
            Self::CountAll | Self::Count | Self::CountSum => InParts::Counts,
            Self::Sum => InParts::Sums,
            Self::Avg => InParts::Mean,
            Self::Min | Self::Max | Self::Sample => InParts::Same,
            Self::GroupConcat(_) => InParts::Never,
        }
    }
}
