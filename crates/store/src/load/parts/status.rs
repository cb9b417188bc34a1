//! How far a load in tasks is, for people.

use super::board::Board;
use super::plan::Plan;
use super::task::{OPEN_TRIPLES, Phase, Task, open_tasks};
use crate::error::StoreError;

/// How far a load is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartsStatus {
    /// Of each phase.
    pub phases: Vec<PhaseStatus>,
    /// Who is at which task, as far as he has said.
    pub running: Vec<(Task, String)>,
}

/// How far a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseStatus {
    /// Which.
    pub phase: Phase,
    /// Tasks that are done.
    pub done: usize,
    /// Tasks.
    pub all: usize,
}

impl PartsStatus {
    /// That of the load in a work folder.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn read(board: &Board, plan: &Plan) -> Result<Self, StoreError> {
        let done: std::collections::HashSet<String> = board.done()?.into_iter().collect();
        let claims = board.claims()?;
        let mut status = Self::default();
        for phase in Phase::ALL {
            let all = phase.tasks(plan, done.contains(OPEN_TRIPLES));
            let (ended, open): (Vec<Task>, Vec<Task>) = (0..all)
                .map(|number| Task::new(phase, number))
                .partition(|task| done.contains(&task.to_string()));
            status.phases.push(PhaseStatus { phase, done: ended.len(), all });
            for task in open {
                let prefix = format!("{task}.");
                let Some(claim) = claims.iter().filter(|claim| claim.starts_with(&prefix)).max() else {
                    continue;
                };
                let said = board.beat(claim)?.unwrap_or_default();
                let said = String::from_utf8_lossy(&said).into_owned();
                let name = said.split(' ').nth(1).unwrap_or_default();
                status.running.push((task, name.to_owned()));
            }
        }
        Ok(status)
    }

    /// Whether all tasks are done.
    ///
    /// # Errors
    /// Where the folder cannot be read.
    pub fn is_done(board: &Board, plan: &Plan) -> Result<bool, StoreError> {
        Ok(open_tasks(plan, &board.done()?).is_none())
    }

    /// The phase that goes on; none once all are done.
    pub fn current(&self) -> Option<PhaseStatus> {
        self.phases.iter().copied().find(|phase| phase.done < phase.all)
    }
}
