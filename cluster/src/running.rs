//! A query of which workers run parts: opens these, takes their rows, and tells what is lost from what is wrong.

use crate::channels::{Channels, OnTask};
use crate::collected::{Collected, done};
use crate::columns::from_arrow;
use crate::failure::{self, Fault};
use crate::health::Health;
use crate::route::route;
use crate::session::{CONNECTION_BYTES, EXCHANGE_BYTES, Places, start};
use crate::stage::Stage;
use crate::stages::{in_plan, plan};
use datafusion::arrow::array::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures_util::StreamExt;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_engine::store::Snapshot;
use lode_engine::{Again, ExecError, Planned};
use lode_exec::{FragmentRows, OpenFragment};
use lode_fragment::{FragmentError, RunOptions, ranges, rows, rows_over};
use lode_scheduler::waiting;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use url::Url;

/// What all queries of a head share.
pub struct Shared {
    pub channels: Channels,
    pub health: Health,
    pub datafusion: Arc<RuntimeEnv>,
    pub handle: Handle,
}

/// A query.
pub struct Running {
    shared: Arc<Shared>,
    pub stages: Vec<Stage>,
    snapshot: Snapshot,
    cancel: CancelToken,
    budget: MemoryBudget,
    /// Workers have not what the head has: all is run here.
    is_native: AtomicBool,
    /// How often a worker was lost.
    pub lost: AtomicU64,
    /// What the tasks of each fragment did.
    pub collected: Vec<Arc<Collected>>,
}

/// Batches that wait for our engine.
const BATCHES_AHEAD: usize = 4;
/// A query is called off within this.
const CANCEL_WITHIN: Duration = Duration::from_millis(20);

/// What is said to who sees the error: else it has been begun again.
const TOO_LATE: &str =
    "it could not be begun again (rows had gone out, or workers were lost before): ask again";

/// What comes of a fragment. Without the last of it, something has broken off.
enum Came {
    Rows(RecordBatch),
    End,
    Failed(ExecError),
}

impl Running {
    pub fn new(shared: Arc<Shared>, query: &Planned<'_>, stages: Vec<Stage>) -> Self {
        let (cancel, budget) = (query.cancel.clone(), query.budget.clone());
        let (is_native, lost) = (AtomicBool::new(false), AtomicU64::new(0));
        let collected = stages.iter().map(|_| Arc::default()).collect();
        Self { shared, stages, snapshot: query.snapshot.clone(), cancel, budget, is_native, lost, collected }
    }

    /// Which worker has which task of a stage, as things are.
    pub fn routed(&self, stage: &Stage) -> Vec<Url> {
        route(stage.part.database, stage.tasks, &self.shared.health.there())
    }

    /// Begins to get the rows of a fragment.
    pub fn open(self: &Arc<Self>, number: u32) -> Result<FragmentRows, ExecError> {
        let stage = self.stages.get(number as usize);
        let stage = stage.ok_or_else(|| ExecError::Internal(format!("there is no fragment {number}")))?;
        let workers = self.shared.health.there();
        if workers.is_empty() || self.is_native.load(Ordering::Relaxed) {
            return self.here(number);
        }
        let plan = plan(&self.stages, number as usize, self.cancel.time_left());
        let plan = plan.map_err(|error| ExecError::Internal(error.to_string()))?;
        let connection_bytes = match stage.fragment.inputs.is_empty() {
            true => CONNECTION_BYTES,
            false => EXCHANGE_BYTES,
        };
        // What waits on connections cannot be spilled.
        let Ok(held) = self.budget.reserve(connection_bytes.saturating_mul(stage.tasks)) else {
            return self.here(number);
        };
        let places = Places { database: stage.part.database, workers, connection_bytes };
        let (sender, mut receiver) = mpsc::channel(BATCHES_AHEAD);
        let shared = &self.shared;
        let channels = shared.channels.heard_by(self.on_task(number));
        let rows = start(plan, places, channels, Arc::clone(&shared.datafusion));
        let running = Arc::clone(self);
        shared.handle.spawn(async move {
            let last = match rows.await {
                Ok(mut rows) => running.hand_over(&mut rows, &sender).await,
                Err(error) => Some(Came::Failed(running.failed(&error).await)),
            };
            if let Some(last) = last {
                let _ = sender.send(last).await;
            }
        });
        let (running, number) = (Arc::clone(self), number as usize);
        let mut has_ended = false;
        Ok(Box::new(move |out| {
            let _held = &held;
            let broken = || ExecError::Elsewhere { message: "a fragment broke off".into(), again: Again::No };
            let batch = match waiting(|| receiver.blocking_recv()) {
                // Some ask again at the end.
                _ if has_ended => return Ok(false),
                Some(Came::Rows(batch)) => batch,
                Some(Came::End) => {
                    has_ended = true;
                    return Ok(false);
                }
                Some(Came::Failed(error)) => return Err(error),
                None => return Err(broken()),
            };
            let stage = running.stages.get(number).ok_or_else(broken)?;
            let wrong = || ExecError::Internal(format!("fragment {number} has other columns"));
            stage.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
            stage.bytes.fetch_add(batch.get_array_memory_size() as u64, Ordering::Relaxed);
            from_arrow(&batch, &stage.part.columns, out).ok_or_else(wrong)?;
            Ok(true)
        }))
    }

    /// Hears of the tasks of a fragment, which begins now, and of those that it is made of.
    fn on_task(&self, number: u32) -> OnTask {
        let shared = Arc::clone(&self.shared);
        let fragments = in_plan(&self.stages, number as usize);
        let collected: Vec<_> =
            fragments.iter().filter_map(|fragment| self.collected.get(*fragment).cloned()).collect();
        collected.iter().for_each(|fragment| fragment.clear());
        Arc::new(move |url, stage, metrics| {
            let done = done(metrics);
            shared.health.did(url, &done);
            // The first stage of a plan is 1.
            if let Some(fragment) = stage.checked_sub(1).and_then(|at| collected.get(at)) {
                fragment.add(stage, url, &done);
            }
        })
    }

    /// Hands on what comes, until there is no more, nobody wants it, or the query is called off.
    async fn hand_over(&self, rows: &mut SendableRecordBatchStream, to: &mpsc::Sender<Came>) -> Option<Came> {
        let mut tick = tokio::time::interval(CANCEL_WITHIN);
        loop {
            let came = tokio::select! {
                () = to.closed() => return None,
                _ = tick.tick() => {
                    match self.cancel.check() {
                        Ok(()) => continue,
                        Err(cancelled) => return Some(Came::Failed(cancelled.into())),
                    }
                }
                came = rows.next() => came,
            };
            match came {
                Some(Ok(batch)) => {
                    if batch.num_rows() > 0 && to.send(Came::Rows(batch)).await.is_err() {
                        return None;
                    }
                }
                Some(Err(error)) => return Some(Came::Failed(self.failed(&error).await)),
                None => return Some(Came::End),
            }
        }
    }

    /// What an error means. Where a worker may be gone, all are asked whether they are there.
    async fn failed(&self, error: &DataFusionError) -> ExecError {
        if let Err(cancelled) = self.cancel.check() {
            return cancelled.into();
        }
        match failure::said(error) {
            Some((Fault::Query, message)) => {
                ExecError::Elsewhere { message: format!("at a worker: {message}"), again: Again::No }
            }
            Some((Fault::Worker, message)) => {
                self.is_native.store(true, Ordering::Relaxed);
                let message = format!("at a worker: {message}; {TOO_LATE}");
                ExecError::Elsewhere { message, again: Again::Here }
            }
            Some((Fault::Cancelled, _)) | None => {
                self.lost.fetch_add(1, Ordering::Relaxed);
                let gone = self.shared.health.ask_all(&self.shared.channels).await;
                let message = format!("{gone} of the workers of the query are gone; {TOO_LATE} ({error})");
                ExecError::Elsewhere { message, again: Again::Elsewhere }
            }
        }
    }

    /// The same rows, made here: in one range, so that groups are whole.
    fn here(self: &Arc<Self>, number: u32) -> Result<FragmentRows, ExecError> {
        let stage = self.stages.get(number as usize);
        let stage = stage.ok_or_else(|| ExecError::Internal(format!("there is no fragment {number}")))?;
        let options = RunOptions { budget: self.budget.clone(), ..RunOptions::new(0, self.cancel.clone()) };
        let (fragment, snapshot) = (stage.fragment.clone(), self.snapshot.clone());
        if fragment.inputs.is_empty() {
            let (_, all) = ranges(&fragment, &snapshot, &options, 1).map_err(of_fragment)?;
            return Ok(rows(fragment, snapshot, all, options));
        }
        let (running, inputs) = (Arc::clone(self), fragment.inputs.clone());
        let inputs = OpenFragment::new(move |number| {
            let input = inputs.get(number as usize);
            let input = input.ok_or_else(|| ExecError::Internal(format!("there is no input {number}")))?;
            running.here(input.fragment)
        });
        Ok(rows_over(fragment, snapshot, vec![inputs], options))
    }
}

fn of_fragment(error: FragmentError) -> ExecError {
    match error {
        FragmentError::Execution(error) => error,
        FragmentError::Store(error) => error.into(),
        other => ExecError::Internal(other.to_string()),
    }
}
