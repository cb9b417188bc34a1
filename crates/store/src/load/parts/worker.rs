//! A worker: claims tasks that are open and does them, until there are no more.
//!
//! Whoever is at a task says again and again that he is. Where another sees that this has stopped for the lease, by his own clock, he claims the
//! task for the next time. Both may be at it then, and each writes into a folder of his own; what the first commits counts.

use super::board::{Attempt, Board, BoardState, Failure, GIVEN_UP};
use super::context::TaskContext;
use super::cut::cut_parts;
use super::finished::described;
use super::orders::write_part;
use super::output::Output;
use super::plan::Plan;
use super::read::read_shard;
use super::repair::inputs_are_whole;
use super::rows::pack_shard;
use super::task::{Phase, Task, open_tasks};
use super::terms::merge_part;
use super::triples::merge_triples;
use crate::error::StoreError;
use crate::load::error::LoadError;
use crate::progress::LoadProgress;
use lode_base::cancel::{self, CancelToken};
use lode_base::identity::random_identity;
use lode_ingest::IngestError;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a worker may say nothing before others take over.
pub const LEASE: Duration = Duration::from_secs(10);

/// A place where a worker may be killed, in tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// It has claimed a task.
    Claimed,
    /// It has written what comes of it.
    Written,
    /// It has committed that.
    Committed,
}

/// How to work.
pub struct WorkerOptions<'a> {
    /// What others call it.
    pub name: String,
    /// See [`LEASE`].
    pub lease: Duration,
    /// Stops the work.
    pub cancel: &'a CancelToken,
    /// Told how far the current task is.
    pub progress: &'a Arc<LoadProgress>,
    /// Asked now and then whether to go on, as if killed where not.
    pub goes_on: &'a (dyn Fn(Task, Moment) -> bool + Sync),
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkEnd {
    /// All tasks are done.
    Done,
    /// The load cannot go on: why.
    Failed(Failure),
    /// It was told not to go on.
    Stopped,
}

/// Does tasks of the load in a work folder until all are done, by whomever.
///
/// # Errors
/// Where there is no load in the folder, it cannot be read or written, or the work was cancelled. What fails in a task ends the load for all.
pub fn work(board: &Board, options: &WorkerOptions<'_>) -> Result<WorkEnd, LoadError> {
    let Some(plan) = board.plan()? else {
        return Err(StoreError::Refused(format!(
            "there is no load in {}: it has ended, or was never begun (lode load DB FILES --workers N begins one, with the work folder DB.load or --work)",
            board.name()
        ))
        .into());
    };
    let mut worker = Worker { board, plan: &plan, options, seen: HashMap::new() };
    match cancel::with_current(Some(options.cancel), || worker.run()) {
        // Whoever published has removed what was read or written.
        Err(LoadError::Store(_)) if board.state()? == BoardState::Over => Ok(WorkEnd::Done),
        end => end,
    }
}

/// A name for a worker that no other worker of the load has, on whatever machine.
pub fn worker_name() -> String {
    format!("{:016x}", random_identity() as u64)
}

/// Says that a worker, which has ended without a word, has given up what it was at, so that others need not wait for the lease.
///
/// # Errors
/// Where the folder cannot be read or written.
pub fn give_up(board: &Board, name: &str) -> Result<(), StoreError> {
    for claim in board.claims()? {
        let said = board.beat(&claim)?.unwrap_or_default();
        if String::from_utf8_lossy(&said).split(' ').nth(1) == Some(name) {
            board.put_beat(&claim, GIVEN_UP)?;
        }
    }
    Ok(())
}

struct Worker<'a> {
    board: &'a Board,
    plan: &'a Plan,
    options: &'a WorkerOptions<'a>,
    /// What was last heard of claims of others, and when that was new.
    seen: HashMap<String, (Option<Vec<u8>>, Instant)>,
}

impl Worker<'_> {
    fn run(&mut self) -> Result<WorkEnd, LoadError> {
        loop {
            self.options.cancel.check()?;
            match self.board.state()? {
                BoardState::Open => {}
                BoardState::Over => return Ok(WorkEnd::Done),
                BoardState::Failed(why) => return Ok(WorkEnd::Failed(why)),
            }
            let Some((_, open)) = open_tasks(self.plan, &self.board.done()?) else {
                return Ok(WorkEnd::Done);
            };
            match self.claim_one(&open)? {
                Some((task, time)) => {
                    if !self.run_task(task, time)? {
                        return Ok(WorkEnd::Stopped);
                    }
                }
                None => std::thread::sleep(self.board.look_every().min(self.options.lease / 4)),
            }
        }
    }

    /// Claims a task that nobody is at: which, and for which time.
    fn claim_one(&mut self, open: &[Task]) -> Result<Option<(Task, u32)>, LoadError> {
        let claims = self.board.claims()?;
        for task in open {
            let prefix = format!("{task}.");
            let times = claims.iter().filter_map(|claim| claim.strip_prefix(&prefix)?.parse::<u32>().ok());
            let last = times.max();
            if let Some(last) = last
                && !self.is_silent(&task.claim(last))?
            {
                continue;
            }
            let time = last.unwrap_or(0) + 1;
            if self.board.put_claim(&task.claim(time))? {
                return Ok(Some((*task, time)));
            }
        }
        Ok(None)
    }

    /// Whether whoever has a claim has said nothing new for the lease, or that he has given it up.
    fn is_silent(&mut self, claim: &str) -> Result<bool, LoadError> {
        let (now, said) = (Instant::now(), self.board.beat(claim)?);
        let seen = self.seen.entry(claim.to_owned()).or_insert_with(|| (said.clone(), now));
        if seen.0 != said {
            *seen = (said, now);
        }
        let has_given_up = seen.0.as_deref() == Some(GIVEN_UP.as_bytes());
        Ok(has_given_up || now.duration_since(seen.1) >= self.options.lease)
    }

    /// Does a task, claimed for the `time`th time; false where the worker was told not to go on.
    fn run_task(&self, task: Task, time: u32) -> Result<bool, LoadError> {
        let goes_on = |moment| (self.options.goes_on)(task, moment);
        if !goes_on(Moment::Claimed) {
            return Ok(false);
        }
        let claim = task.claim(time);
        let damaged = self.board.damaged()?;
        let attempt = self.board.new_attempt(&claim)?;
        let result = self.while_beating(&claim, || {
            self.perform(task, &attempt)?;
            self.keep(task, time, &attempt)
        });
        let output = match result {
            Ok(output) => output,
            Err(error) => return self.fail(task, (&claim, &damaged), &attempt, error).map(|()| true),
        };
        if !goes_on(Moment::Written) {
            return Ok(false);
        }
        if !attempt.commit(task, &output)? {
            attempt.discard();
        }
        Ok(goes_on(Moment::Committed))
    }

    fn perform(&self, task: Task, attempt: &Attempt<'_>) -> Result<(), LoadError> {
        let folder = &attempt.folder;
        let context = TaskContext::new(self.board, self.plan, self.options.cancel, self.options.progress);
        match task.phase {
            Phase::Read => read_shard(task.number, folder, &context),
            Phase::Cut => cut_parts(folder, &context),
            Phase::Terms => merge_part(task.number, folder, &context),
            Phase::Triples => merge_triples(folder, &context),
            Phase::Rows => pack_shard(task.number, folder, &context),
            Phase::Orders => write_part(task.number, folder, &context),
        }
    }

    fn keep(&self, task: Task, time: u32, attempt: &Attempt<'_>) -> Result<Output, LoadError> {
        let kept = match task.phase {
            Phase::Orders => attempt.keep_segment(|meta| described(meta, self.plan, task.number, time)),
            phase => attempt.keep(phase),
        };
        Ok(kept?)
    }

    /// A task has failed. That ends the load, unless another has done it meanwhile, what it reads has to be made again first, or this worker was only
    /// stopped.
    fn fail(
        &self,
        task: Task,
        (claim, damaged): (&str, &[String]),
        attempt: &Attempt<'_>,
        error: LoadError,
    ) -> Result<(), LoadError> {
        if self.options.cancel.check().is_err() {
            self.board.put_beat(claim, GIVEN_UP)?;
            return Err(error);
        }
        if self.board.state()? == BoardState::Over || self.board.done()?.contains(&task.to_string()) {
            return Ok(());
        }
        let error = match self.inputs_are_whole(task, damaged, &error) {
            Ok(true) => error,
            Ok(false) => {
                attempt.discard();
                return Ok(self.board.put_beat(claim, GIVEN_UP)?);
            }
            Err(error) => error,
        };
        let is_syntax = matches!(error, LoadError::Source(IngestError::Syntax { .. }));
        self.board.put_failure(&Failure { text: error.to_string(), is_syntax })?;
        Err(error)
    }

    /// Whether what a task reads is not what has made it fail. `damaged` is what was when it began.
    fn inputs_are_whole(&self, task: Task, damaged: &[String], error: &LoadError) -> Result<bool, LoadError> {
        match error {
            LoadError::Store(error) if !error.is_disk_full() => {}
            LoadError::Build(_) => {}
            _ => return Ok(true),
        }
        // Others that have read the same may have it made again already.
        if self.board.damaged()? != damaged {
            return Ok(false);
        }
        inputs_are_whole(task, self.board, self.plan, self.options.cancel)
    }

    /// Works, and says meanwhile that somebody is at it.
    fn while_beating<T>(&self, claim: &str, work: impl FnOnce() -> T) -> T {
        let (stop, stopped) = channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut beats = 0_u64;
                loop {
                    let sample = self.options.progress.sample();
                    let text = format!("{beats} {} {} {}", self.options.name, sample.quads, sample.terms);
                    // Where that cannot be written, others take over.
                    let _ = self.board.put_beat(claim, &text);
                    beats += 1;
                    match stopped.recv_timeout(self.options.lease / 4) {
                        Err(RecvTimeoutError::Timeout) => {}
                        _ => return,
                    }
                }
            });
            let result = work();
            drop(stop);
            result
        })
    }
}
