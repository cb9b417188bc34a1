//! The tasks of a load, phase after phase. A task reads what those of the phases before it have written, and nothing else, so it may be done again or
//! twice: what it writes is the same.

use super::plan::Plan;
use std::fmt;

/// What tasks do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Read a shard: runs of sorted terms, and rows.
    Read,
    /// Choose the keys that bound the parts.
    Cut,
    /// Merge the terms of a part of the keys: its dictionary, and the numbers of the terms of each run.
    Terms,
    /// Merge all triple terms, where some have blank nodes in them: their keys have the numbers of these, which the phase before gives.
    Triples,
    /// Give the rows of a shard their codes, and each part its rows.
    Rows,
    /// Sort and write the orders of a part.
    Orders,
}

impl Phase {
    /// All, in order.
    pub const ALL: [Self; 6] = [Self::Read, Self::Cut, Self::Terms, Self::Triples, Self::Rows, Self::Orders];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Cut => "cut",
            Self::Terms => "terms",
            Self::Triples => "triples",
            Self::Rows => "rows",
            Self::Orders => "orders",
        }
    }

    /// How many tasks it has. Triple terms with blank nodes in them become a segment of their own, beside the parts.
    pub fn tasks(self, plan: &Plan, has_open_triples: bool) -> usize {
        match self {
            Self::Read | Self::Rows => plan.shards.len(),
            Self::Cut => 1,
            Self::Terms => plan.parts,
            Self::Triples => usize::from(has_open_triples),
            Self::Orders => plan.parts + usize::from(has_open_triples),
        }
    }
}

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    /// What it does.
    pub phase: Phase,
    /// Its number in the phase.
    pub number: usize,
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:06}", self.phase.name(), self.number)
    }
}

impl Task {
    /// The task of one name.
    pub fn new(phase: Phase, number: usize) -> Self {
        Self { phase, number }
    }

    /// How the claim of it for the `time`th time is called.
    pub fn claim(self, time: u32) -> String {
        format!("{self}.{time:04}")
    }
}

/// What is put beside the tasks that are done, by who chooses the bounds of parts, where triple terms have blank nodes in them.
pub const OPEN_TRIPLES: &str = "open-triples";

/// The first phase with tasks that are not done, and these; none once all are.
pub fn open_tasks(plan: &Plan, done: &[String]) -> Option<(Phase, Vec<Task>)> {
    let done: std::collections::HashSet<&str> = done.iter().map(String::as_str).collect();
    let has_open_triples = done.contains(OPEN_TRIPLES);
    Phase::ALL.into_iter().find_map(|phase| {
        let tasks = (0..phase.tasks(plan, has_open_triples)).map(|number| Task::new(phase, number));
        let open: Vec<Task> = tasks.filter(|task| !done.contains(task.to_string().as_str())).collect();
        (!open.is_empty()).then_some((phase, open))
    })
}
