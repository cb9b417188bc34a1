//! Plans, and what became of them, for programs: the tree of operators with the planner's estimates and, once it runs, with what each
//! operator did. The JSON of these is described in `docs/guide/src/profile.md`.

use lode_base::block_work::BlockWork;
use lode_exec::Profile;
use lode_exec::profile::{NodeProfile, Work};
use lode_sparql::explain::Explained;
use lode_sparql::stack;
use lode_sparql::{PlanStep, PlanWarning};
use serde::{Serialize, Serializer};
use std::time::Duration;

/// A planned query; `run` once it runs.
#[derive(Debug, Clone, Serialize)]
pub struct PlanReport {
    /// `select`, `ask`, `construct` or `describe`.
    pub form: &'static str,
    /// Whether the plan is that of an earlier query, with other constants.
    pub from_cache: bool,
    /// Time to parse and to plan.
    pub planning_seconds: f64,
    /// Rows that the planner expects to be read from indexes and made by joins.
    pub estimated_reads: f64,
    /// What of the query is most likely not meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The same in parts, for programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warning_details: Vec<WarningReport>,
    /// How the plan was made: of one from the cache, when that was made.
    pub steps: Vec<StepReport>,
    /// The top operator.
    pub plan: PlanReportNode,
    /// What all of it did so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunReport>,
    /// What others run of it, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<serde_json::Value>,
}

/// A warning in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WarningReport {
    /// Its kind.
    pub code: &'static str,
    /// What is the matter.
    pub message: String,
    /// What may be meant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Where it is in the text of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanReport>,
}

/// A place in a text, in bytes of its UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SpanReport {
    /// The first.
    pub start: usize,
    /// The one behind the last.
    pub end: usize,
}

impl WarningReport {
    /// The parts of a warning.
    pub fn new(warning: &PlanWarning) -> Self {
        Self {
            code: warning.code(),
            message: warning.message(),
            help: warning.help().to_owned(),
            span: warning.span().map(|span| SpanReport { start: span.start, end: span.end }),
        }
    }
}

/// A step of planning.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// `translate`, the name of a rewrite rule, or `operators`.
    pub name: &'static str,
    /// Time that it took.
    pub seconds: f64,
    /// Operators before it; 0 before the translation.
    pub nodes_before: usize,
    /// Operators after it.
    pub nodes_after: usize,
}

/// An operator.
#[derive(Debug, Clone, Serialize)]
pub struct PlanReportNode {
    /// Its number in the plan.
    pub id: u32,
    /// Its name.
    pub operator: &'static str,
    /// What it works on: a pattern, a condition, keys.
    pub detail: String,
    /// Columns that it delivers, with `?`.
    pub columns: Vec<String>,
    /// Columns by which its rows are sorted, with `?`.
    pub sorted_by: Vec<String>,
    /// Rows that the planner expects.
    pub estimated_rows: f64,
    /// Time that the planner expects, with the operators below.
    pub estimated_seconds: f64,
    /// What it did so far; nothing where it has not begun, or another does its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// Operators whose rows it takes.
    #[serde(serialize_with = "deep_inputs")]
    pub inputs: Vec<Self>,
}

/// Inputs of inputs of inputs: each with the stack for those below.
fn deep_inputs<S: Serializer>(inputs: &[PlanReportNode], serializer: S) -> Result<S::Ok, S::Error> {
    struct Input<'a>(&'a PlanReportNode);

    impl Serialize for Input<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            stack::room(|| self.0.serialize(serializer))
        }
    }

    serializer.collect_seq(inputs.iter().map(Input))
}

/// What an operator did, all threads together.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// Rows that its inputs delivered.
    pub rows_in: u64,
    /// Rows for each that was expected: 1 is right, 10 is ten times as many, 0.1 a tenth. Less than a row counts as one.
    pub rows_per_expected: f64,
    /// Time, with the operators below.
    pub seconds_with_inputs: f64,
    /// Its own part.
    #[serde(flatten)]
    pub work: WorkReport,
}

/// Work of one part of a query, all threads together.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WorkReport {
    /// Rows delivered.
    pub rows: u64,
    /// Batches delivered.
    pub batches: u64,
    /// Time of its own.
    pub seconds: f64,
    /// The most memory that its state took in one thread.
    pub memory_bytes_max: u64,
    /// Keys looked up in an index.
    pub lookups: u64,
    /// Rows read from an index.
    pub sequential_rows: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
    /// Requests to other endpoints (SERVICE).
    pub requests: u64,
    /// Bytes of their queries.
    pub bytes_sent: u64,
    /// Bytes of the answers.
    pub bytes_received: u64,
    /// Blocks of the index and of the dictionary.
    pub blocks: BlockReport,
}

/// Blocks, and what became of them.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct BlockReport {
    /// Opened.
    pub touched: u64,
    /// Of these, found in the cache.
    pub cached: u64,
    /// Of these, read from a file.
    pub read: u64,
    /// Bytes read from files.
    pub bytes_read: u64,
    /// Requests to devices: of one block, or of several that are near each other.
    pub requests: u64,
    /// Of the blocks read from files, those that were asked for before they were wanted.
    pub read_ahead: u64,
    /// Passed by a seek without being opened.
    pub skipped: u64,
    /// Decoded parts of opened ones: 128 values of a column each.
    pub mini_blocks_decoded: u64,
}

/// A query that runs or has run.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// Time since it began.
    pub seconds: f64,
    /// Rows or triples of the answer so far; 1 for ASK.
    pub rows: u64,
    /// Threads that work on it now.
    pub threads: usize,
    /// Memory that its operators hold now.
    pub memory_bytes: usize,
    /// The most that they held at once.
    pub memory_bytes_max: usize,
    /// Terms looked up in dictionaries, by planning too.
    pub terms_looked_up: u64,
    /// Ids turned into terms.
    pub terms_read: u64,
    /// What makes terms, their text and triples of the rows.
    pub answer: WorkReport,
    /// Everything: all operators and the answer.
    pub total: WorkReport,
}

impl StepReport {
    pub(crate) fn new(step: &PlanStep) -> Self {
        let PlanStep { name, time, nodes_before, nodes_after } = *step;
        Self { name, seconds: time.as_secs_f64(), nodes_before, nodes_after }
    }
}

impl PlanReportNode {
    pub(crate) fn new(explained: Explained, profile: Option<&Profile>) -> Self {
        let has_begun = |node: &&NodeProfile| node.work.time_ns > 0;
        let measured = profile.and_then(|profile| profile.node(explained.id)).filter(has_begun);
        let measured = measured.map(Measured::new);
        let Explained { id, operator, detail, columns, sorted_by, rows, cost, inputs } = explained;
        Self {
            id,
            operator,
            detail,
            columns,
            sorted_by,
            estimated_rows: rows,
            estimated_seconds: cost / 1e9,
            measured,
            inputs: inputs.into_iter().map(|input| Self::new(input, profile)).collect(),
        }
    }

    /// This node and all below, parents first, each with its distance from this one.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(usize, &'a Self)) {
        let mut open = vec![(0, self)];
        while let Some((depth, node)) = open.pop() {
            visit(depth, node);
            open.extend(node.inputs.iter().rev().map(|input| (depth + 1, input)));
        }
    }
}

impl Measured {
    fn new(node: &NodeProfile) -> Self {
        Self {
            rows_in: node.rows_in,
            rows_per_expected: node.rows_per_expected(),
            seconds_with_inputs: seconds(node.total_ns),
            work: WorkReport::from(node.work),
        }
    }
}

impl From<Work> for WorkReport {
    fn from(work: Work) -> Self {
        Self {
            rows: work.rows,
            batches: work.batches,
            seconds: seconds(work.time_ns),
            memory_bytes_max: work.bytes_max,
            lookups: work.lookups,
            sequential_rows: work.sequential_rows,
            spilled_bytes: work.spilled_bytes,
            requests: work.requests,
            bytes_sent: work.bytes_sent,
            bytes_received: work.bytes_received,
            blocks: BlockReport::from(work.blocks),
        }
    }
}

impl From<BlockWork> for BlockReport {
    fn from(blocks: BlockWork) -> Self {
        Self {
            touched: blocks.touched(),
            cached: blocks.cached,
            read: blocks.read,
            bytes_read: blocks.bytes_read,
            requests: blocks.requests,
            read_ahead: blocks.ahead,
            skipped: blocks.skipped,
            mini_blocks_decoded: blocks.decoded,
        }
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}
