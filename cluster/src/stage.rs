//! A fragment of a query, and how it is spread over workers.

use crate::columns::Column;
use crate::part::Part;
use lode_engine::Planned;
use lode_fragment::{Fragment, FragmentError, Input, RunOptions, ranges};
use lode_rdf::ValueId;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Where the rows of a fragment go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Above {
    /// To the head, and the ranges come one after the other.
    InOrder,
    /// To the head.
    Nothing,
    /// To the workers that run the fragment which is made of them, by hash.
    Exchange,
}

/// A fragment, and how it is spread.
#[derive(Debug)]
pub struct Stage {
    pub fragment: Fragment,
    /// All but its ranges and its time.
    pub part: Part,
    /// None: it is made of the rows of others.
    pub ranges: Vec<Range<ValueId>>,
    pub tasks: usize,
    pub above: Above,
    /// The variable by whose values it is cut, by name.
    pub key: Option<String>,
    /// Rows that came, and bytes of them as columns.
    pub rows: AtomicU64,
    pub bytes: AtomicU64,
}

/// How fragments are spread over workers.
#[derive(Debug, Clone, Copy)]
pub struct Spreading {
    /// How many there are.
    pub workers: usize,
    /// Parts of a fragment that one runs at once, at most.
    pub partitions: usize,
    /// A part is worth that much by the planner's estimate, in nanoseconds.
    pub part_min: f64,
}

impl Spreading {
    /// Tasks of a stage: one alone would be run at the head.
    fn tasks(self) -> usize {
        self.workers.max(2)
    }

    /// Parts of a stage, at most.
    fn parts_max(self) -> usize {
        self.tasks().saturating_mul(self.partitions.max(1))
    }

    /// Parts of a stage that takes that long. Each of them has its own tables of what is not cut, and its own groups.
    pub fn parts(self, cost: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let worth = (cost / self.part_min.max(1.0)) as usize;
        worth.clamp(self.tasks(), self.parts_max())
    }

    /// Tasks of a stage that is made of so many exchanged rows. Each is a part: see `stages`. Each reads from all tasks that it is made of, so that more tasks
    /// than workers pay with many rows only.
    fn tasks_over(self, rows: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let worth = (rows / ROWS_OF_A_TASK) as usize;
        worth.clamp(self.tasks(), self.parts_max())
    }
}

/// So many exchanged rows are worth a task.
const ROWS_OF_A_TASK: f64 = 200_000.0;

/// Stages for fragments, of which those that others are made of come before these.
///
/// # Errors
/// Where the store cannot be read.
pub fn stages(
    fragments: Vec<(Fragment, Vec<u8>)>,
    query: &Planned<'_>,
    spreading: Spreading,
) -> Result<Vec<Stage>, FragmentError> {
    let exchanged: Vec<u32> =
        fragments.iter().flat_map(|(fragment, _)| &fragment.inputs).map(|input| input.fragment).collect();
    let rows: Vec<f64> = fragments.iter().map(|(fragment, _)| fragment.plan.root.rows).collect();
    let numbered = (0..).zip(fragments);
    numbered
        .map(|(number, (fragment, bytes))| {
            let of_input = |input: &Input| rows.get(input.fragment as usize).copied().unwrap_or(0.0);
            let tasks = match fragment.inputs.is_empty() {
                true => spreading.tasks(),
                false => spreading.tasks_over(fragment.inputs.iter().map(of_input).sum()),
            };
            let above = match exchanged.contains(&number) {
                true => Above::Exchange,
                false if fragment.plan.root.sorted_by.is_empty() => Above::Nothing,
                false => Above::InOrder,
            };
            stage((fragment, bytes), above, query, (spreading, tasks))
        })
        .collect()
}

fn stage(
    (fragment, bytes): (Fragment, Vec<u8>),
    above: Above,
    query: &Planned<'_>,
    (spreading, tasks): (Spreading, usize),
) -> Result<Stage, FragmentError> {
    let (key, ranges) = match fragment.inputs.is_empty() {
        true => {
            let cost = fragment.plan.root.cost;
            let parts = if above == Above::InOrder { tasks } else { spreading.parts(cost) };
            let options = RunOptions::new(0, query.cancel.clone());
            let options = RunOptions { budget: query.budget.clone(), ..options };
            ranges(&fragment, query.snapshot, &options, parts)?
        }
        false => (None, Vec::new()),
    };
    let column = |var| match fragment.terms.contains(var) {
        true => Column::Term,
        false => Column::Id,
    };
    let part = Part {
        database: fragment.database,
        version: fragment.version,
        time_left: None,
        columns: fragment.plan.root.vars.iter().map(column).collect(),
        fragment: bytes.into(),
        ranges: Vec::new(),
        waiting_bytes: 0,
        spread: None,
    };
    let key = key.map(|var| fragment.plan.vars.name(var).to_owned());
    let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    Ok(Stage { fragment, part, ranges, tasks, above, key, rows, bytes })
}

#[cfg(test)]
mod tests {
    //! How many tasks there are.
    use super::*;

    #[test]
    fn few_rows_are_not_worth_many_tasks() {
        let spreading = Spreading { workers: 3, partitions: 2, part_min: 1e7 };
        for (rows, tasks) in [(0.0, 3), (800_000.0, 4), (1e12, 6), (f64::INFINITY, 6), (f64::NAN, 3)] {
            assert_eq!(spreading.tasks_over(rows), tasks, "{rows}");
        }
        for (cost, parts) in [(0.0, 3), (2.9e7, 3), (4.1e7, 4), (1e12, 6), (f64::INFINITY, 6), (f64::NAN, 3)]
        {
            assert_eq!(spreading.parts(cost), parts, "{cost}");
        }
        assert_eq!(Spreading { part_min: 0.0, ..spreading }.parts(6.0), 6);
        assert_eq!(Spreading { workers: 1, partitions: 1, part_min: 1e7 }.tasks_over(1e9), 2);
    }
}
