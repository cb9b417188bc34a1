//! Bulk load by several processes, on one machine or on many that share a folder: the same steps as in a load by one, cut into tasks that each may be
//! done again, and a folder that says which are done ([why](../../../../../docs/design/059-load-in-tasks.md)).
//!
//! Each file, or piece of a file of lines, is read into sorted runs ([`read`]). Keys that bound parts are chosen ([`cut`]); each part of the terms becomes a
//! dictionary ([`terms`]), and numbers follow by sums ([`numbering`]), so that they are those that one process would have given. Rows get the codes of
//! their terms and go to the part of their subject ([`rows`]); each part is written in all orders ([`orders`]) and becomes a segment (`publish.rs`).

mod board;
mod context;
mod cut;
mod line_range;
mod numbering;
mod orders;
mod plan;
mod publish;
mod read;
mod record;
mod rows;
mod status;
mod task;
mod terms;
mod worker;

#[cfg(test)]
mod tests;

use super::error::LoadError;
use crate::error::StoreError;
use crate::progress::LoadProgress;
use crate::store::Store;
use context::TaskContext;
use lode_base::cancel::CancelToken;
use std::sync::Arc;

pub use board::{Board, Failure};
pub use plan::{PARTS_MAX, Plan, ReadPlan};
pub use publish::PartsReport;
pub use status::{PartsStatus, PhaseStatus};
pub use task::{Phase, Task};
pub use worker::{LEASE, Moment, WorkEnd, WorkerOptions, give_up, work};

/// Begins a load in a work folder, or goes on with one that is there; whether it goes on.
///
/// # Errors
/// Where the folder holds another load, or something else; where the database holds data of elsewhere; where the folder cannot be written.
pub fn begin(store: &Store, board: &Board, plan: &Plan) -> Result<bool, LoadError> {
    let there = match board.plan()? {
        Some(there) => Some(there),
        None => {
            publish::check_target(store, None)?;
            clear(board)?;
            if board.put_plan(plan)? { None } else { board.plan()? }
        }
    };
    let Some(there) = there else { return Ok(false) };
    if !there.is_like(plan) {
        return Err(StoreError::Refused(format!(
            "{} holds a load of other files, or with other options, that has not ended: end it with the same command line, or remove the folder",
            board.folder().display()
        ))
        .into());
    }
    publish::check_target(store, Some(&there))?;
    board.forget_failure()?;
    Ok(true)
}

/// Removes what is left of a load that has ended. A folder that holds anything else is somebody else's.
fn clear(board: &Board) -> Result<(), StoreError> {
    let (vfs, folder) = (board.vfs(), board.folder());
    let found = match vfs.list(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(StoreError::io(folder))?,
    };
    if found.iter().any(|name| !board::FILES.iter().any(|ours| name.as_os_str() == *ours)) {
        let what = "holds other files, and no load; give a new or empty folder with --work";
        return Err(StoreError::Refused(format!("{} {what}", folder.display())));
    }
    vfs.remove_dir_all(folder).map_err(StoreError::io(folder))
}

/// Publishes a load of which all tasks are done, and says so to its workers. The work folder is the caller's to remove once they have ended.
///
/// # Errors
/// Where a task is not done, the database holds data of elsewhere, or a file cannot be written. Then it may be tried again.
pub fn finish(
    store: &Store,
    board: &Board,
    cancel: &CancelToken,
    progress: &Arc<LoadProgress>,
) -> Result<PartsReport, LoadError> {
    let missing = || StoreError::Refused(format!("there is no load in {}", board.folder().display()));
    let plan = board.plan()?.ok_or_else(missing)?;
    let report = publish::publish(store, &TaskContext::new(board, &plan, cancel, progress))?;
    board.put_over()?;
    Ok(report)
}
