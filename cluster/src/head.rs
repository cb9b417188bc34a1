//! The head: finds what workers can run of a query, sends it to them, and hands their rows to our engine.

use crate::channels::Channels;
use crate::health::Health;
use crate::running::{Running, Shared};
use crate::stage::{Spreading, stages};
use crate::telling::Telling;
use crate::token::Token;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use lode_engine::{Elsewhere, EngineError, ExecError, Planned, Spread};
use lode_exec::OpenFragment;
use lode_fragment::{Exchange, FragmentError, Wanted, take_apart};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;
use url::Url;

/// How a head works.
#[derive(Debug, Clone)]
pub struct HeadOptions {
    /// Where workers are.
    pub workers: Vec<Url>,
    /// The secret that they know.
    pub token: Token,
    /// Whose certificates are believed, as PEM.
    pub authority: Option<Arc<[u8]>>,
    /// Sub-plans that take less by the planner's estimate are run here.
    pub cost_min: Duration,
    /// Parts of a fragment that a worker runs at once.
    pub partitions: usize,
    /// Workers exchange rows, and these do not come here, where so many are joined, or are groups that are put together.
    pub exchange_min: f64,
    /// What a row costs on its way between workers, in nanoseconds of the planner's estimates.
    pub exchange_cost: f64,
}

impl HeadOptions {
    /// These workers, and all else as usual.
    pub fn new(workers: Vec<Url>, token: Token) -> Self {
        let cost_min = Duration::from_millis(200);
        let (exchange_min, exchange_cost) = (100_000.0, 50.0);
        Self { workers, token, authority: None, cost_min, partitions: 2, exchange_min, exchange_cost }
    }
}

/// A head.
pub struct Head {
    shared: Arc<Shared>,
    options: HeadOptions,
    /// Dropped by [`Head::drop`].
    runtime: Option<Runtime>,
}

/// That there is an exchange costs as much as so many rows.
const ROWS_OF_AN_EXCHANGE: f64 = 40_000.0;
/// How long it may take to find out who is there.
const ASK_PATIENCE: Duration = Duration::from_secs(4);

impl Head {
    /// Begins; workers are asked with the first query that is worth it.
    ///
    /// # Errors
    /// Where the system gives no threads.
    pub fn new(options: HeadOptions) -> Result<Self, std::io::Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("lode-head")
            .enable_all()
            .build()?;
        let datafusion: Arc<RuntimeEnv> =
            RuntimeEnvBuilder::new().build_arc().map_err(std::io::Error::other)?;
        let shared = Shared {
            channels: Channels::new(options.token.clone(), options.authority.clone()),
            health: Health::new(options.workers.clone()),
            datafusion,
            handle: runtime.handle().clone(),
        };
        Ok(Self { shared: Arc::new(shared), options, runtime: Some(runtime) })
    }

    /// Who is there. Nobody waits to hear of more as long as there are some.
    fn workers(&self) -> Vec<Url> {
        let health = &self.shared.health;
        if health.is_stale() && (health.there().is_empty() || health.has_unknown()) {
            let (done, wait) = mpsc::channel();
            let shared = Arc::clone(&self.shared);
            self.shared.handle.spawn(async move {
                shared.health.ask(&shared.channels).await;
                let _ = done.send(());
            });
            // Who is late is not there yet.
            let _ = wait.recv_timeout(ASK_PATIENCE);
        } else if health.is_stale() {
            let shared = Arc::clone(&self.shared);
            self.shared.handle.spawn(async move { shared.health.ask(&shared.channels).await });
        }
        self.shared.health.there()
    }
}

impl Elsewhere for Head {
    fn cost_min(&self) -> f64 {
        self.options.cost_min.as_nanos() as f64
    }

    fn spread(&self, query: Planned<'_>) -> Result<Option<Spread>, EngineError> {
        let visible = query.visible.clone();
        let partitions = self.options.partitions;
        let expected = Spreading { workers: self.shared.health.all().len(), partitions };
        let (rows_min, row_cost) = (self.options.exchange_min, self.options.exchange_cost);
        let begin_cost = row_cost * ROWS_OF_AN_EXCHANGE;
        let exchange = Some(Exchange { rows_min, row_cost, parts: expected.parts(), begin_cost });
        let wanted = Wanted { cost_min: self.cost_min(), now: query.now, visible, exchange };
        let apart = take_apart(query.plan, query.snapshot, &wanted).map_err(failed)?;
        if apart.fragments.is_empty() {
            return Ok(None);
        }
        let workers = self.workers().len();
        if workers == 0 {
            return Ok(None);
        }
        let stages = stages(apart.fragments, &query, Spreading { workers, partitions }).map_err(failed)?;
        let running = Arc::new(Running::new(Arc::clone(&self.shared), &query, stages));
        let told = Arc::new(Telling { running: Arc::clone(&running) });
        let rows = OpenFragment::new(move |number| running.open(number));
        Ok(Some(Spread { head: apart.head, rows, told }))
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
