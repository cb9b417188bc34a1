//! Tests of operators: random plans against a naive evaluator, with all batch sizes, one and two threads, and budgets that force
//! spilling.

mod answers;
mod filters;
pub(crate) mod generate;
mod multiway;
mod naive;
mod naive_path;
mod plans;
mod scans;
mod spools;
mod units;

use crate::context::QueryContext;
use crate::execute::execute;
use crate::exists::ExistsRunner;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::memory_budget::MemoryBudget;
use lode_eval::context::EvalContext;
use lode_eval::error::ExecError;
use lode_rdf::ValueId;
use lode_scheduler::turns::Share;
use lode_sparql::plan::Dataset;
use lode_sparql::template::Reuse;
use lode_sparql::{GraphScope, Plan, PlanNode, QueryForm, VarTable};
use lode_store::{Snapshot, Store};
use oxsdatatypes::DateTime;
use std::path::Path;
use std::sync::Arc;

/// How many cases a property test tries: `few`, or what the environment's `PROPTEST_CASES` says.
pub(crate) fn cases(few: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(few)
}

/// How to run a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) batch_rows: usize,
    pub(crate) threads: usize,
    pub(crate) budget: usize,
}

/// All the ways in which a plan must give the same rows.
pub(crate) fn setups() -> Vec<Setup> {
    let mut setups = Vec::new();
    for batch_rows in [1, 2, 3, 4096] {
        for threads in [1, 2] {
            for budget in [usize::MAX, 0] {
                setups.push(Setup { batch_rows, threads, budget });
            }
        }
    }
    setups
}

/// A database without quads.
pub(crate) fn empty_snapshot() -> Snapshot {
    let store = Store::create_or_open(Arc::new(MemVfs::new()), Path::new("/db"), 1 << 20).unwrap();
    store.snapshot()
}

pub(crate) fn context(snapshot: &Snapshot, setup: Setup) -> Arc<QueryContext> {
    let default = GraphScope::Default;
    let eval = EvalContext {
        snapshot: snapshot.clone(),
        local: Arc::default(),
        budget: MemoryBudget::new(setup.budget),
        cancel: CancelToken::default(),
        now: DateTime::MIN,
        dataset: Arc::new(Dataset {
            default,
            named: None,
            base_iri: None,
            schema: None,
            relates_places: false,
            hidden: Arc::default(),
        }),
        batch_rows: setup.batch_rows,
        spill_dir: std::env::temp_dir(),
        memos: Arc::default(),
        vars: Arc::default(),
        sub_queries: Arc::new(ExistsRunner::new(None, Share::default())),
    };
    let share = Share::default();
    Arc::new(QueryContext {
        eval,
        service: None,
        threads: setup.threads,
        share,
        domain: None,
        fragments: None,
    })
}

/// A plan that selects all columns of `root`; its nodes are numbered.
pub(crate) fn plan(mut root: PlanNode) -> Arc<Plan> {
    let mut next = 0;
    number(&mut root, &mut next);
    let mut vars = VarTable::default();
    for i in 0..64 {
        vars.add(format!("v{i}"));
    }
    Arc::new(Plan {
        form: QueryForm::Select(root.vars.clone()),
        root,
        vars,
        dataset: Arc::new(Dataset {
            default: GraphScope::Default,
            named: None,
            base_iri: None,
            schema: None,
            relates_places: false,
            hidden: Arc::default(),
        }),
        node_count: next,
        reuse: Reuse::default(),
        uses_literals: false,
        depth: 0,
        steps: Vec::new(),
    })
}

fn number(node: &mut PlanNode, next: &mut u32) {
    node.id = *next;
    *next += 1;
    for child in node.children_mut() {
        number(child, next);
    }
}

/// The rows of a plan, in the order in which they come.
pub(crate) fn run(plan: &Arc<Plan>, cx: &Arc<QueryContext>) -> Result<Vec<Vec<ValueId>>, ExecError> {
    let mut execution = execute(Arc::clone(plan), Arc::clone(cx))?;
    let mut rows = Vec::new();
    while let Some(batch) = execution.next()? {
        assert!(batch.rows > 0, "an empty batch");
        assert_eq!(*batch.vars, *plan.root.vars);
        assert!(batch.columns.iter().all(|column| column.len() == batch.rows));
        rows.extend((0..batch.rows).map(|row| batch.columns.iter().map(|c| c[row]).collect()));
    }
    assert!(execution.next()?.is_none(), "rows after the end");
    let profile = execution.probe().profile();
    assert_eq!(profile.node(plan.root.id).map(|node| node.work.rows), Some(rows.len() as u64));
    Ok(rows)
}
