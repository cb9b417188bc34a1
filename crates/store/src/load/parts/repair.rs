//! Finished tasks whose files are not any more what they wrote: they are done again, since what a task writes is the same each time.
//!
//! Who goes on with a load looks at what no task reads with checksums before it is published: dictionaries and segments. The rest consists of frames, and a
//! task that cannot read one looks which of its inputs it is.

use super::board::Board;
use super::cut;
use super::output::{Look, Output, OutputFile, is_damage};
use super::plan::Plan;
use super::read;
use super::task::{OPEN_TRIPLES, Phase, Task};
use super::terms;
use crate::error::StoreError;
use crate::load::error::LoadError;
use lode_base::cancel::CancelToken;
use lode_packed::segment::DICTIONARY_FILE;

/// A task whose files are damaged more often is not done again: the disk or the memory is not what to write a database with.
const DAMAGES_MAX: usize = 3;

/// Has finished tasks done again whose files are damaged, of a load that goes on.
pub fn reopen_damaged(board: &Board, plan: &Plan, cancel: &CancelToken) -> Result<(), LoadError> {
    let done = board.done()?;
    let is_done = |task: &Task| done.contains(&task.to_string());
    let mut whole_segments = Vec::new();
    // The dictionary of a part is a file of its segment, once that is there.
    for phase in Phase::ALL.into_iter().rev() {
        for task in all_of(phase, plan, &done).filter(is_done) {
            // The segment that a dictionary becomes a file of.
            let part = match phase {
                Phase::Terms => Some(task.number),
                Phase::Triples => Some(plan.parts),
                _ => None,
            };
            let look = |file: &OutputFile| match &*file.name {
                // What is published is told from these.
                read::RUNS_FILE | cut::FILE | terms::FILE => Look::All,
                DICTIONARY_FILE if whole_segments.contains(&part) => Look::None,
                _ => Look::Unread,
            };
            let is_whole = reopen_if_damaged(board, task, &look, cancel)?;
            if is_whole && phase == Phase::Orders {
                whole_segments.push(Some(task.number));
            }
        }
    }
    Ok(())
}

/// Whether all that a task reads is there as it was written. What is damaged is done again.
pub fn inputs_are_whole(
    task: Task,
    board: &Board,
    plan: &Plan,
    cancel: &CancelToken,
) -> Result<bool, LoadError> {
    let (done, mut are_whole) = (board.done()?, true);
    for input in inputs(task, plan, &done) {
        if !done.contains(&input.to_string()) {
            are_whole = false;
        } else if !reopen_if_damaged(board, input, &|_| Look::All, cancel)? {
            are_whole = false;
            let prefix = format!("{input}.");
            let times = board.damaged()?.iter().filter(|name| name.starts_with(&prefix)).count();
            if times > DAMAGES_MAX {
                let what = format!(
                    "what the task {input} wrote was damaged {times} times: look after the disk and the memory of the machines"
                );
                return Err(StoreError::Limit(what).into());
            }
        }
    }
    Ok(are_whole)
}

/// The tasks whose files a task reads.
fn inputs(task: Task, plan: &Plan, done: &[String]) -> Vec<Task> {
    let all = |phase: Phase| all_of(phase, plan, done);
    match task.phase {
        Phase::Read => Vec::new(),
        Phase::Cut => all(Phase::Read).collect(),
        Phase::Terms => all(Phase::Read).chain(all(Phase::Cut)).collect(),
        Phase::Triples => all(Phase::Read).chain(all(Phase::Cut)).chain(all(Phase::Terms)).collect(),
        Phase::Rows => {
            let own = [Task::new(Phase::Read, task.number)].into_iter();
            own.chain(all(Phase::Cut)).chain(all(Phase::Terms)).chain(all(Phase::Triples)).collect()
        }
        Phase::Orders => {
            let terms = all(Phase::Cut).chain(all(Phase::Terms)).chain(all(Phase::Triples));
            terms.chain(all(Phase::Rows)).collect()
        }
    }
}

fn all_of(phase: Phase, plan: &Plan, done: &[String]) -> impl Iterator<Item = Task> + use<> {
    let has_open_triples = done.iter().any(|name| name == OPEN_TRIPLES);
    (0..phase.tasks(plan, has_open_triples)).map(move |number| Task::new(phase, number))
}

/// Whether the files of a task that is done are as they were written, as far as is looked; where not, it is done again.
fn reopen_if_damaged(
    board: &Board,
    task: Task,
    look: &dyn Fn(&OutputFile) -> Look,
    cancel: &CancelToken,
) -> Result<bool, LoadError> {
    let output = match board.output(task) {
        Ok(Some(output)) => output,
        Ok(None) => return Ok(false),
        Err(error @ StoreError::Corruption { .. }) => {
            board.reopen(task, None, &format!("{task}: {error}"))?;
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    };
    let look = |file: &OutputFile| match look(file) {
        Look::Unread if board.vouches() => Look::None,
        look => look,
    };
    let Some(damage) = damage(task, &output, board, &look, cancel)? else { return Ok(true) };
    board.reopen(task, Some(&output), &damage)?;
    Ok(false)
}

/// What is wrong with the files of a task that is done, as far as `look` says to look; none where nothing is.
fn damage(
    task: Task,
    output: &Output,
    board: &Board,
    look: &dyn Fn(&OutputFile) -> Look,
    cancel: &CancelToken,
) -> Result<Option<String>, LoadError> {
    for file in &output.files {
        let look = look(file);
        if look == Look::None {
            continue;
        }
        let found = board.open_output(output, file).and_then(|opened| {
            let path = board.path_of(output, file);
            file.check(&*opened, look, cancel).map_err(StoreError::io(&path))
        });
        cancel.check()?;
        match found {
            Err(error) if is_damage(&error) => return Ok(Some(format!("{task}: {error}"))),
            found => found?,
        }
    }
    Ok(None)
}
