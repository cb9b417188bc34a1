//! Aggregates: what the planner and the executor know of each, in one place.
//!
//! An aggregate is an entry of a list that the planner asks by name ([`Statistics::aggregate`](crate::Statistics::aggregate)). What computes
//! it belongs to the executor and is opaque here.

use crate::function::ValueType;
use std::any::Any;
use std::fmt;

/// How an aggregate of all rows follows from those of parts of them.
#[derive(Debug, Clone, Copy)]
pub enum InParts {
    /// It does not.
    Never,
    /// As the same aggregate of theirs, however often a value occurs.
    Same,
    /// As another aggregate of theirs, if all values count.
    As(&'static AggregateFunction),
    /// As the sum of theirs, where sums may be made in parts.
    Sums,
    /// As the quotient of their sums and their numbers of rows, where sums may be made in parts.
    Mean {
        /// The sum of a part, and of parts.
        sum: &'static AggregateFunction,
        /// The rows of a part.
        rows: &'static AggregateFunction,
        /// The sum of those.
        all_rows: &'static AggregateFunction,
    },
}

/// What an aggregate counts: operators have ways of their own for those.
#[derive(Debug, Clone, Copy)]
pub enum Counts {
    /// Nothing.
    Nothing,
    /// Rows.
    Rows,
    /// Rows whose argument has a value.
    Bound {
        /// The aggregate that is the same where all have one.
        rows: &'static AggregateFunction,
    },
}

/// An aggregate.
pub struct AggregateFunction {
    /// Its name: a keyword or an IRI, and behind a bracket what tells it from another of the same keyword.
    pub name: &'static str,
    /// What its argument is; `None`: it has none.
    pub argument: Option<ValueType>,
    /// What it gives.
    pub result: ValueType,
    /// Whether it has a value for every group; others can be errors.
    pub always_bound: bool,
    /// Whether it matters how often a value occurs, and so whether DISTINCT is asked for.
    pub counts_duplicates: bool,
    /// Whether the result for distinct values is the same in whatever sequence they come.
    pub is_of_a_set: bool,
    /// How it follows from those of parts.
    pub in_parts: InParts,
    /// What it counts.
    pub counts: Counts,
    /// What computes it, for the executor.
    pub implementation: &'static (dyn Any + Send + Sync),
}

impl AggregateFunction {
    /// An aggregate of values of which nothing more is known: duplicates and the sequence matter, it can be an error, and all rows are needed at once.
    pub const fn new(
        name: &'static str,
        argument: ValueType,
        result: ValueType,
        implementation: &'static (dyn Any + Send + Sync),
    ) -> Self {
        Self {
            name,
            argument: Some(argument),
            result,
            always_bound: false,
            counts_duplicates: true,
            is_of_a_set: false,
            in_parts: InParts::Never,
            counts: Counts::Nothing,
            implementation,
        }
    }

    /// The same, with a result that follows from those of parts.
    pub const fn in_parts(self, in_parts: InParts) -> Self {
        Self { in_parts, ..self }
    }

    /// The same, where the sequence of distinct values makes no difference.
    pub const fn of_a_set(self) -> Self {
        Self { is_of_a_set: true, ..self }
    }

    /// The same, where it makes no difference how often a value occurs.
    pub const fn of_distinct_values(self) -> Self {
        Self { counts_duplicates: false, ..self }
    }

    /// The same, with a value for every group.
    pub const fn always_bound(self) -> Self {
        Self { always_bound: true, ..self }
    }

    /// The same, as a number of something.
    pub const fn counting(self, counts: Counts) -> Self {
        let argument = if matches!(counts, Counts::Rows) { None } else { self.argument };
        Self { counts, argument, always_bound: true, ..self }
    }

    /// How a query calls it.
    pub fn keyword(&self) -> &'static str {
        if self.name.contains(':') { self.name } else { self.name.split('(').next().unwrap_or(self.name) }
    }
}

/// Each is one entry of the list.
impl PartialEq for AggregateFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for AggregateFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
