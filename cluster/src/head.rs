//! The head: finds what workers can run of a query, sends it to them, and hands their rows to our engine.

use crate::address::Address;
use crate::channels::Channels;
use crate::columns::Column;
use crate::health::Health;
use crate::members::{Members, MembersError};
use crate::part::Part;
use crate::running::{Running, Shared};
use crate::stage::Stage;
use crate::stages::Above;
use crate::telling::Telling;
use crate::token::Token;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use lode_engine::{Elsewhere, EngineError, ExecError, Planned, Spread};
use lode_exec::OpenFragment;
use lode_fragment::{Fragment, FragmentError, RunOptions, Wanted, ranges, take_apart};
use lode_sparql::aggregate::Counts;
use lode_sparql::{Plan, PlanNode, PlanOp, stack};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;
use url::Url;

/// How a head works.
#[derive(Debug, Clone)]
pub struct HeadOptions {
    /// Where workers are, or names with workers behind them.
    pub workers: Vec<Address>,
    /// A file with more of these, which is read again when it changes.
    pub workers_file: Option<PathBuf>,
    /// Hears of what is wrong with it later on.
    pub warn: fn(&str),
    /// The secret that they know.
    pub token: Token,
    /// Whose certificates are believed, as PEM.
    pub authority: Option<Arc<[u8]>>,
    /// Sub-plans that take less by the planner's estimate are run here.
    pub cost_min: Duration,
    /// Parts of a fragment that a worker runs at once.
    pub partitions: usize,
    /// Groups are put together by workers, and not here, where there are so many.
    pub groups_min: f64,
}

impl HeadOptions {
    /// These workers, and all else as usual.
    pub fn new(workers: Vec<Url>, token: Token) -> Self {
        Self {
            workers: workers.into_iter().map(Address::Worker).collect(),
            workers_file: None,
            warn: |_| {},
            token,
            authority: None,
            cost_min: Duration::from_millis(200),
            partitions: 2,
            groups_min: 100_000.0,
        }
    }
}

/// Why a head does not begin.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// The list of workers is none.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// The system gives no threads.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A head.
pub struct Head {
    shared: Arc<Shared>,
    options: HeadOptions,
    /// Who the workers are, until somebody keeps that up to date.
    members: Mutex<Option<Members>>,
    /// Dropped by [`Head::drop`].
    runtime: Option<Runtime>,
}

/// How long it may take to find out who is there.
const ASK_PATIENCE: Duration = Duration::from_secs(4);
/// So often it is looked who is there.
const LOOK: Duration = Duration::from_secs(1);

impl Head {
    /// Begins; workers are asked with the first query that is worth it.
    ///
    /// # Errors
    /// Where the system gives no threads, or the list of workers is none.
    pub fn new(options: HeadOptions) -> Result<Self, HeadError> {
        let members = Members::new(options.workers.clone(), options.workers_file.clone())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("lode-head")
            .enable_all()
            .build()?;
        let datafusion: Arc<RuntimeEnv> = RuntimeEnvBuilder::new().build_arc().map_err(io::Error::other)?;
        let shared = Shared {
            channels: Channels::new(options.token.clone(), options.authority.clone()),
            health: Health::new(members.workers()),
            datafusion,
            handle: runtime.handle().clone(),
        };
        let members = Mutex::new(Some(members));
        Ok(Self { shared: Arc::new(shared), options, members, runtime: Some(runtime) })
    }

    /// Who is there. Nobody waits to hear of more as long as there are some; from the first query on they are asked again and again.
    fn workers(&self) -> Vec<Url> {
        let shared = &self.shared;
        let mut members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = members.take();
        let waits = begins.is_some() || (shared.health.is_stale() && shared.health.there().is_empty());
        if waits {
            let (done, wait) = mpsc::channel();
            let (shared, warn) = (Arc::clone(shared), self.options.warn);
            self.shared.handle.spawn(async move {
                let Some(mut members) = begins else {
                    shared.health.ask(&shared.channels).await;
                    let _ = done.send(());
                    return;
                };
                if members.has_names() {
                    look(&shared, &mut members, warn).await;
                }
                shared.health.ask(&shared.channels).await;
                let _ = done.send(());
                let weak = Arc::downgrade(&shared);
                drop(shared);
                keep(weak, members, warn).await;
            });
            // Who is late is not there yet.
            let _ = wait.recv_timeout(ASK_PATIENCE);
        }
        drop(members);
        self.shared.health.there()
    }

    fn stage(
        &self,
        (fragment, bytes): (Fragment, Vec<u8>),
        (query, workers): (&Planned<'_>, usize),
        groups: Option<Vec<Column>>,
    ) -> Result<Stage, FragmentError> {
        let node = &fragment.plan.root;
        let above = match (&groups, node.sorted_by.is_empty()) {
            (Some(_), _) => Above::Groups,
            (None, true) => Above::Nothing,
            (None, false) => Above::InOrder,
        };
        // One task alone would be run here.
        let tasks = workers.max(2);
        let parts = if above == Above::InOrder { tasks } else { tasks * self.options.partitions.max(1) };
        let options = RunOptions::new(0, query.cancel.clone());
        let options = RunOptions { budget: query.budget.clone(), ..options };
        let (key, ranges) = ranges(&fragment, query.snapshot, &options, parts)?;
        let columns = groups.unwrap_or_else(|| vec![Column::Id; node.vars.len()]);
        let part = Part {
            database: fragment.database,
            version: fragment.version,
            time_left: None,
            columns: columns.into(),
            fragment: bytes.into(),
            ranges: Vec::new(),
        };
        let key = key.map(|var| fragment.plan.vars.name(var).to_owned());
        let (rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Stage { fragment, part, ranges, tasks, above, key, rows, bytes })
    }
}

impl Elsewhere for Head {
    fn cost_min(&self) -> f64 {
        self.options.cost_min.as_nanos() as f64
    }

    fn status(&self) -> Option<serde_json::Value> {
        Some(self.shared.health.json())
    }

    fn spread(&self, query: Planned<'_>) -> Result<Option<Spread>, EngineError> {
        let visible = query.visible.clone();
        let wanted = Wanted { cost_min: self.cost_min(), now: query.now, visible };
        let apart = take_apart(query.plan, query.snapshot, &wanted).map_err(failed)?;
        if apart.fragments.is_empty() {
            return Ok(None);
        }
        let workers = self.workers();
        if workers.is_empty() {
            return Ok(None);
        }
        let mut groups = vec![None; apart.fragments.len()];
        let head = groups_at_workers(&apart.head, self.options.groups_min, &mut groups);
        let stages = apart.fragments.into_iter().zip(groups);
        let stages = stages.map(|(fragment, groups)| self.stage(fragment, (&query, workers.len()), groups));
        let stages = stages.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let running = Arc::new(Running::new(Arc::clone(&self.shared), &query, stages));
        let told = Arc::new(Telling { running: Arc::clone(&running) });
        let rows = OpenFragment::new(move |number| running.open(number));
        Ok(Some(Spread { head, rows, told }))
    }
}

/// Looks whether others are workers now.
async fn look(shared: &Shared, members: &mut Members, warn: fn(&str)) {
    members.look().await;
    let workers = members.workers();
    shared.channels.keep(&workers);
    shared.health.set(workers);
    if shared.health.set_trouble(members.trouble()) {
        let trouble = members.trouble().unwrap_or_default();
        warn(&format!("{trouble}; the workers stay who they were"));
    }
}

/// Keeps up to date who is there, until the head is gone.
async fn keep(shared: Weak<Shared>, mut members: Members, warn: fn(&str)) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(shared) = shared.upgrade() else { return };
        if members.may_change() {
            look(&shared, &mut members, warn).await;
        }
        shared.health.keep(&shared.channels).await;
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        // Not waited for: a head may be dropped where nobody may wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn failed(error: FragmentError) -> EngineError {
    match error {
        FragmentError::Store(error) => EngineError::Store(error),
        FragmentError::Execution(error) => EngineError::Execution(error),
        other => EngineError::Execution(ExecError::Internal(other.to_string())),
    }
}

/// The plan of a head, where groups of parts that are many are put together by workers. `groups` gets the columns of these fragments.
fn groups_at_workers(head: &Plan, groups_min: f64, groups: &mut [Option<Vec<Column>>]) -> Plan {
    stack::deep(head.depth, || {
        let mut root = head.root.clone();
        replace(&mut root, groups_min, groups);
        head.with_root(root)
    })
}

fn replace(node: &mut PlanNode, groups_min: f64, groups: &mut [Option<Vec<Column>>]) {
    if let Some((number, columns)) = parts_of_groups(node).filter(|_| node.rows >= groups_min)
        && let Some(slot) = groups.get_mut(number as usize)
    {
        *slot = Some(columns);
        node.op = PlanOp::Fragment { number };
        return;
    }
    node.children_mut().into_iter().for_each(|child| stack::room(|| replace(child, groups_min, groups)));
}

/// The fragment whose groups a group puts together, with its columns.
fn parts_of_groups(node: &PlanNode) -> Option<(u32, Vec<Column>)> {
    let PlanOp::Group { input, keys, aggregates, .. } = &node.op else { return None };
    let PlanOp::Fragment { number } = input.op else { return None };
    // Only what `take_apart` has put there: sums of counts, under the names that these have below.
    let is_sum = |aggregate: &lode_sparql::Aggregate| {
        matches!(&aggregate.argument, Some(lode_sparql::Expr::Var(var)) if *var == aggregate.output)
            && aggregate.function.name == "SUM(COUNT)"
            && !aggregate.distinct
            && matches!(aggregate.function.counts, Counts::Nothing)
    };
    if keys.is_empty() || node.vars != input.vars || !aggregates.iter().all(is_sum) {
        return None;
    }
    let column = |var| match keys.contains(var) {
        true => Column::Id,
        false => Column::Count,
    };
    Some((number, node.vars.iter().map(column).collect()))
}
