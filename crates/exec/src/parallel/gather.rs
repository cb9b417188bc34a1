//! Brings the rows of several threads into one stream.
//!
//! Pipelines run as tasks that stop when enough rows wait, and are started again as rows are taken: no thread ever waits for a
//! slow reader. A reader that finds nothing waiting runs a pipeline itself.

use super::sub_plan::{Prepared, SubPlan};
use crate::operator::{BoxOp, Operator};
use lode_eval::batch::Batch;
use lode_eval::error::ExecError;
use lode_scheduler::lock;
use lode_scheduler::turns;
use lode_scheduler::waiting;
use lode_scheduler::{Scheduler, guarded};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Batches that may wait, per thread.
const WAITING_MAX: usize = 4;

#[derive(Default)]
struct State {
    waiting: VecDeque<Batch>,
    idle: Vec<BoxOp>,
    /// Tasks in the pool that have not taken a pipeline yet.
    offers: usize,
    running: usize,
    waiting_max: usize,
    error: Option<ExecError>,
    closed: bool,
}

#[derive(Default)]
struct Exchange {
    state: Mutex<State>,
    changed: Condvar,
}

impl Exchange {
    /// Runs a pipeline until enough rows wait, another query wants the processor, or it ends.
    fn run(&self, mut pipeline: BoxOp) {
        loop {
            let mut batch = Batch::default();
            let result = guarded(|| pipeline.next(&mut batch));
            let mut state = lock(&self.state);
            let ended = match result {
                Ok(true) => {
                    state.waiting.push_back(batch);
                    false
                }
                Ok(false) => true,
                Err(error) => {
                    state.error.get_or_insert(error);
                    true
                }
            };
            if ended || state.closed || state.waiting.len() >= state.waiting_max || turns::is_wanted() {
                if !ended && !state.closed {
                    state.idle.push(pipeline);
                }
                state.running -= 1;
                self.changed.notify_all();
                return;
            }
            self.changed.notify_all();
        }
    }
}

/// The operator.
pub(crate) struct Gather {
    source: Option<SubPlan>,
    prepared: Option<Arc<Prepared>>,
    exchange: Arc<Exchange>,
}

impl Gather {
    /// Over `source`, which starts with the first row asked for.
    pub(crate) fn new(source: SubPlan) -> Self {
        Self { source: Some(source), prepared: None, exchange: Arc::default() }
    }

    fn start(&mut self) -> Result<(), ExecError> {
        let Some(source) = self.source.take() else { return Ok(()) };
        let prepared = Arc::new(source.prepare()?);
        let mut state = lock(&self.exchange.state);
        state.idle = (0..prepared.threads()).map(|_| prepared.pipeline()).collect();
        state.waiting_max = prepared.threads() * WAITING_MAX;
        drop(state);
        self.prepared = Some(prepared);
        Ok(())
    }

    /// Lets the pool run idle pipelines, where rows are wanted. A task takes a pipeline when it begins, so that none waits in the
    /// pool's queue while the reader could run it.
    fn employ(&self, state: &mut State) {
        let Some(prepared) = &self.prepared else { return };
        if !Scheduler::has_room() {
            return;
        }
        while state.offers < state.idle.len() && state.waiting.len() < state.waiting_max / 2 {
            state.offers += 1;
            let exchange = Arc::clone(&self.exchange);
            let prepared = Arc::clone(prepared);
            Scheduler::shared().submit(Box::new(move || {
                let mut state = lock(&exchange.state);
                state.offers -= 1;
                let Some(pipeline) = state.idle.pop().filter(|_| !state.closed) else { return };
                state.running += 1;
                drop(state);
                let _at_work = prepared.work();
                exchange.run(pipeline);
            }));
        }
    }

    /// A step of a pipeline by the reader itself; `false`: the pipeline has ended.
    fn run_one(&self, mut pipeline: BoxOp, out: &mut Batch) -> Result<bool, ExecError> {
        let more = pipeline.next(out)?;
        if more {
            lock(&self.exchange.state).idle.push(pipeline);
        }
        Ok(more)
    }
}

impl Operator for Gather {
    fn next(&mut self, out: &mut Batch) -> Result<bool, ExecError> {
        self.start()?;
        let mut state = lock(&self.exchange.state);
        loop {
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            if let Some(batch) = state.waiting.pop_front() {
                *out = batch;
                self.employ(&mut state);
                return Ok(true);
            }
            if let Some(pipeline) = state.idle.pop() {
                self.employ(&mut state);
                drop(state);
                if self.run_one(pipeline, out)? {
                    return Ok(true);
                }
                state = lock(&self.exchange.state);
            } else if state.running > 0 {
                let wait = || self.exchange.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state = waiting(wait);
            } else {
                out.clear();
                return Ok(false);
            }
        }
    }
}

impl Drop for Gather {
    fn drop(&mut self) {
        if let Some(prepared) = &self.prepared {
            prepared.close();
        }
        let mut state = lock(&self.exchange.state);
        state.closed = true;
        state.idle.clear();
        state.waiting.clear();
    }
}
