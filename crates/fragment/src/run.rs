//! Running fragments: over a range of values, with the budget, the time and the rules for graphs of the query.

use crate::error::FragmentError;
use crate::fragment::Fragment;
use crate::graphs;
use crate::values::set_apart;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_exec::exists::ExistsRunner;
use lode_exec::turns::Share;
use lode_exec::{
    EvalContext, ExecError, Execution, FragmentRows, OpenFragment, QueryContext, execute, execute_between,
    key_ranges,
};
use lode_rdf::ValueId;
use lode_sparql::VarId;
use lode_store::Snapshot;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// What running a fragment may take.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Bytes that its operators may hold, with all other runs that share it.
    pub budget: MemoryBudget,
    /// Stops it.
    pub cancel: CancelToken,
    /// Threads that may make what it needs once.
    pub threads: usize,
    /// Rows of a batch, at most.
    pub batch_rows: usize,
    /// Where temporary files go.
    pub spill_dir: PathBuf,
}

impl RunOptions {
    /// So much memory, one thread, batches and temporary files as usual, until `cancel` says to stop.
    pub fn new(memory_bytes: usize, cancel: CancelToken) -> Self {
        let (budget, batch_rows) = (MemoryBudget::new(memory_bytes), lode_exec::batch::BATCH_ROWS);
        Self { budget, cancel, threads: 1, batch_rows, spill_dir: std::env::temp_dir() }
    }
}

/// The variable whose values confine the parts of a fragment, and at most `parts` ranges of them with about equally much to read: in their order, and
/// together all values.
///
/// # Errors
///
/// Where `snapshot` is of another version, or cannot be read.
pub fn ranges(
    fragment: &Fragment,
    snapshot: &Snapshot,
    options: &RunOptions,
    parts: usize,
) -> Result<(Option<VarId>, Vec<Range<ValueId>>), FragmentError> {
    let cx = context(fragment, snapshot, options)?;
    Ok(key_ranges(&cx, &fragment.plan.root, parts)?)
}

/// Begins to run a fragment over a range. Its rows come in the order that its plan promises.
///
/// # Errors
///
/// Where `snapshot` is of another version, the fragment reads graphs that are not visible for who asks, it cannot be run by ranges, the query was
/// cancelled, there is no memory for what operators hold from the beginning, or the store cannot be read.
pub fn run(
    fragment: &Fragment,
    snapshot: &Snapshot,
    range: &Range<ValueId>,
    options: &RunOptions,
) -> Result<Execution, FragmentError> {
    let cx = context(fragment, snapshot, options)?;
    Ok(execute_between(Arc::clone(&fragment.plan), cx, range)?)
}

/// Begins to run a fragment over the rows of others: `inputs` gets them, by their numbers in it.
///
/// # Errors
///
/// As [`run`].
pub fn run_over(
    fragment: &Fragment,
    snapshot: &Snapshot,
    inputs: OpenFragment,
    options: &RunOptions,
) -> Result<Execution, FragmentError> {
    let cx = context(fragment, snapshot, options)?;
    let cx = Arc::new(QueryContext { fragments: Some(inputs), ..(*cx).clone() });
    Ok(execute(Arc::clone(&fragment.plan), cx)?)
}

/// The rows of a fragment over ranges, one after the other, run by whoever asks for them.
pub fn rows(
    fragment: Fragment,
    snapshot: Snapshot,
    ranges: Vec<Range<ValueId>>,
    options: RunOptions,
) -> FragmentRows {
    let mut ranges = ranges.into_iter();
    rows_of_runs(move || ranges.next().map(|range| run(&fragment, &snapshot, &range, &options)).transpose())
}

/// The same of a fragment over the rows of others: `parts` of them, of which each gets its inputs by its number.
pub fn rows_over(
    fragment: Fragment,
    snapshot: Snapshot,
    inputs: Vec<OpenFragment>,
    options: RunOptions,
) -> FragmentRows {
    let mut inputs = inputs.into_iter();
    rows_of_runs(move || {
        inputs.next().map(|inputs| run_over(&fragment, &snapshot, inputs, &options)).transpose()
    })
}

/// The rows of several runs, one after the other.
fn rows_of_runs(
    mut next: impl FnMut() -> Result<Option<Execution>, FragmentError> + Send + 'static,
) -> FragmentRows {
    let mut running: Option<Execution> = None;
    Box::new(move |out| {
        loop {
            let execution = match &mut running {
                Some(execution) => execution,
                none => match next().map_err(failed)? {
                    Some(execution) => none.insert(execution),
                    None => return Ok(false),
                },
            };
            match execution.next()? {
                Some(batch) if batch.vars == out.batch.vars => {
                    out.batch = batch;
                    set_apart(out, execution.context())?;
                    return Ok(true);
                }
                Some(_) => return Err(ExecError::Internal("a fragment with other columns".into())),
                None => running = None,
            }
        }
    })
}

fn failed(error: FragmentError) -> ExecError {
    match error {
        FragmentError::Execution(error) => error,
        FragmentError::Store(error) => error.into(),
        other => ExecError::Internal(other.to_string()),
    }
}

fn context(
    fragment: &Fragment,
    snapshot: &Snapshot,
    options: &RunOptions,
) -> Result<Arc<QueryContext>, FragmentError> {
    Fragment::check_version((fragment.database, fragment.version), snapshot)?;
    graphs::check(&fragment.plan.root, fragment.visible.as_ref())?;
    let share = Share::of(&options.cancel);
    let eval = EvalContext {
        snapshot: snapshot.for_query(&options.cancel),
        local: Arc::default(),
        budget: options.budget.clone(),
        cancel: options.cancel.clone(),
        now: fragment.now,
        dataset: Arc::clone(&fragment.plan.dataset),
        batch_rows: options.batch_rows.max(1),
        spill_dir: options.spill_dir.clone(),
        memos: Arc::default(),
        vars: Arc::default(),
        sub_queries: Arc::new(ExistsRunner::new(None, share.clone())),
    };
    let threads = options.threads.max(1);
    Ok(Arc::new(QueryContext { eval, service: None, threads, share, domain: None, fragments: None }))
}
