//! Morsels: parts of a sub-plan's work that threads take one after the other, and the queue that they take them from.

mod assignment;
mod part;
mod queue;

pub(crate) use assignment::Assignment;
pub(crate) use part::{Divisible, Morsel, Part, Split};
pub(crate) use queue::{Queue, Running};
