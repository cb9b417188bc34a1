//! Bulk load by several processes, on one machine or on many that share a folder or a store of objects: the same steps as in a load by one, cut into
//! tasks that each may be done again, and a place that says which are done ([why](../../../../../docs/design/059-load-in-tasks.md)).
//!
//! Each file, or piece of a file of lines, is read into sorted runs ([`read`]). Keys that bound parts are chosen ([`cut`]); each part of the terms becomes a
//! dictionary ([`terms`], and [`triples`] where triple terms have blank nodes in them), and numbers follow by sums ([`numbering`]), so that they are those that
//! one process would have given. Rows get the codes of their terms and go to the part of their subject ([`rows`]); each part is written in all orders
//! ([`orders`]) and becomes a segment (`publish.rs`).

mod board;
mod context;
mod cut;
mod finished;
mod folder;
mod frame_range;
mod line_range;
mod numbering;
mod orders;
mod output;
mod place;
mod plan;
mod publish;
mod read;
mod record;
mod repair;
mod rows;
mod status;
mod task;
mod terms;
mod triples;
mod worker;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;

use super::error::LoadError;
use crate::error::StoreError;
use crate::progress::LoadProgress;
use crate::store::Store;
use context::TaskContext;
use lode_base::cancel::CancelToken;
use std::sync::Arc;

pub use board::{Board, BoardState, Failure, PLAN};
pub use finished::{Finished, FinishedSegment, finished};
pub use place::{BYTES_MAX, WorkPlace};
pub use plan::{Base, PARTS_MAX, Plan, ReadPlan};
pub use publish::PartsReport;
pub use status::{PartsStatus, PhaseStatus};
pub use task::{Phase, Task};
pub use worker::{LEASE, Moment, WorkEnd, WorkerOptions, give_up, work, worker_name};

/// Begins a load into a database in a folder, or goes on with one that is there; whether it goes on. Finished tasks whose files are damaged since are open
/// again then ([`Board::damages`]).
///
/// # Errors
/// Where the place holds another load, or something else; where the database has changed since a load began that goes on; where the place cannot be written.
pub fn begin(store: &Store, board: &Board, plan: &Plan) -> Result<bool, LoadError> {
    begin_at(board, plan, &|there| Ok(publish::check_target(store, there)?))
}

/// The same. `check_target` says whether a new load may begin, and what the database holds then, or whether one with this plan may go on.
///
/// # Errors
/// As [`begin`], and where `check_target` fails.
pub fn begin_at(
    board: &Board,
    plan: &Plan,
    check_target: &dyn Fn(Option<&Plan>) -> Result<Option<Base>, LoadError>,
) -> Result<bool, LoadError> {
    // What has ended leaves its place to others.
    if board.is_over()? && !board.is_of(plan)? {
        board.remove()?;
    }
    let there = match board.plan()? {
        Some(there) => Some(there),
        None => {
            let base = check_target(None)?;
            board.clear()?;
            if board.put_plan(&Plan { base, ..plan.clone() })? { None } else { board.plan()? }
        }
    };
    let Some(there) = there else { return Ok(false) };
    if !there.is_like(plan) {
        return Err(StoreError::Refused(format!(
            "{} holds a load of other files, or with other options, that has not ended: end it with the same command line, or remove it",
            board.name()
        ))
        .into());
    }
    check_target(Some(&there))?;
    repair::reopen_damaged(board, &there, &CancelToken::default())?;
    board.forget_failure()?;
    Ok(true)
}

/// Publishes a load of which all tasks are done, and says so to its workers. The work folder is the caller's to remove once they have ended.
///
/// # Errors
/// Where a task is not done, the database has changed since the load began, or a file cannot be written. Then it may be tried again.
pub fn finish(
    store: &Store,
    board: &Board,
    cancel: &CancelToken,
    progress: &Arc<LoadProgress>,
) -> Result<PartsReport, LoadError> {
    let plan = board.planned()?;
    let report = publish::publish(store, &TaskContext::new(board, &plan, cancel, progress))?;
    board.put_over()?;
    Ok(report)
}
