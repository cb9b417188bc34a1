//! The head: finds what workers can run of a query, sends it to them, and hands their rows to our engine.

use crate::address::Address;
use crate::channels::Channels;
use crate::health::Health;
use crate::members::{Members, MembersError};
use crate::running::{Running, Shared};
use crate::stage::{Spreading, stages};
use crate::telling::Telling;
use crate::token::Token;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use lode_engine::{Elsewhere, EngineError, ExecError, Planned, Spread};
use lode_exec::OpenFragment;
use lode_fragment::{Apart, Exchange, Fragment, FragmentError, Wanted, take_apart};
use std::io;
use std::path::PathBuf;
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
    /// Parts of a fragment that a worker runs at once, at most.
    pub partitions: usize,
    /// What a part is worth at least, by the planner's estimate.
    pub part_min: Duration,
    /// Workers exchange rows, and these do not come here, where so many are joined, or are groups that are put together.
    pub exchange_min: f64,
    /// What a row costs on its way between workers, in nanoseconds of the planner's estimates.
    pub exchange_cost: f64,
}

impl HeadOptions {
    /// These workers, and all else as usual.
    pub fn new(workers: Vec<Url>, token: Token) -> Self {
        let (exchange_min, exchange_cost) = (100_000.0, 50.0);
        Self {
            workers: workers.into_iter().map(Address::Worker).collect(),
            workers_file: None,
            warn: |_| {},
            token,
            authority: None,
            cost_min: Duration::from_millis(200),
            partitions: 2,
            part_min: Duration::from_millis(10),
            exchange_min,
            exchange_cost,
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

/// That there is an exchange costs as much as so many rows.
const ROWS_OF_AN_EXCHANGE: f64 = 40_000.0;
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
        let (partitions, part_min) = (self.options.partitions, self.options.part_min.as_nanos() as f64);
        let of = |workers| Spreading { workers, partitions, part_min };
        let parts = of(self.shared.health.count()).parts(query.plan.root.cost);
        let (rows_min, row_cost) = (self.options.exchange_min, self.options.exchange_cost);
        let begin_cost = row_cost * ROWS_OF_AN_EXCHANGE;
        let exchange = Some(Exchange { rows_min, row_cost, parts, begin_cost });
        let wanted = Wanted { cost_min: self.cost_min(), now: query.now, visible, exchange };
        let Apart { head, fragments, stays } =
            take_apart(query.plan, query.snapshot, &wanted).map_err(failed)?;
        if fragments.is_empty() {
            return Ok(None);
        }
        let workers = self.workers().len();
        if workers == 0 || !is_worth_it(&fragments, query.plan.root.cost, workers, (row_cost, begin_cost)) {
            return Ok(None);
        }
        let stages = stages(fragments, &query, of(workers)).map_err(failed)?;
        let running = Arc::new(Running::new(Arc::clone(&self.shared), &query, stages));
        let told = Arc::new(Telling { running: Arc::clone(&running), stays });
        let rows = OpenFragment::new(move |number| running.open(number));
        Ok(Some(Spread { head, rows, told }))
    }
}

/// Whether what is exchanged for a query that takes so long costs each worker less than others do for it.
fn is_worth_it(
    fragments: &[(Fragment, Vec<u8>)],
    cost: f64,
    workers: usize,
    (row_cost, begin_cost): (f64, f64),
) -> bool {
    let inputs = fragments.iter().flat_map(|(fragment, _)| &fragment.inputs);
    let exchanged = inputs.filter_map(|input| fragments.get(input.fragment as usize));
    let exchanges: f64 = exchanged.map(|(input, _)| input.plan.root.rows * row_cost + begin_cost).sum();
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let others = workers.saturating_sub(1) as f64;
    exchanges <= cost * others
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
