//! What a server knows of the place where its database is published: it follows what is published there, or publishes there itself.

use serde::Serialize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What a server does with the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkRole {
    /// It goes on to what is published there.
    Follows,
    /// It publishes there what its database becomes.
    Publishes,
}

/// The version that was read, or written, last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LinkVersion {
    /// Its number there.
    pub number: u64,
    /// How often the right to publish has gone over.
    pub epoch: u64,
    /// The version of the database.
    pub version: u64,
}

/// A server's link with what is published. Whoever works on it tells of it here.
#[derive(Debug)]
pub struct Link {
    address: String,
    role: LinkRole,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    at: LinkVersion,
    /// When all was well last.
    reached: Option<Instant>,
    /// Why it is not.
    problem: Option<String>,
    failures: u64,
    is_fenced: bool,
}

impl Link {
    /// A link that has not been tried yet.
    pub fn new(role: LinkRole, address: String) -> Self {
        Self { address, role, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All is well, and this is the newest version; whether something was wrong before.
    pub fn reached(&self, at: LinkVersion) -> bool {
        let mut state = self.state();
        (state.at, state.reached) = (at, Some(Instant::now()));
        state.problem.take().is_some()
    }

    /// All is well, and there was nothing to do.
    pub fn reached_again(&self) {
        let at = self.state().at;
        self.reached(at);
    }

    /// It could not be reached, read or written; whether that is another problem than the one of before.
    pub fn failed(&self, problem: String) -> bool {
        let mut state = self.state();
        state.failures += 1;
        let is_new = state.problem.as_ref() != Some(&problem);
        state.problem = Some(problem);
        is_new
    }

    /// Another writer has taken over: what this one's database becomes is never published any more.
    pub fn fenced(&self, problem: String) {
        let mut state = self.state();
        (state.problem, state.is_fenced) = (Some(problem), true);
    }

    /// Why nothing may be written any more.
    pub(crate) fn fence(&self) -> Option<String> {
        let state = self.state();
        state.problem.clone().filter(|_| state.is_fenced)
    }

    /// What is wrong, if anything is, where queries are answered all the same.
    pub(crate) fn problem(&self) -> Option<String> {
        let state = self.state();
        let problem = state.problem.as_ref()?;
        let what = match self.role {
            LinkRole::Follows => "still serving",
            LinkRole::Publishes => "last published:",
        };
        Some(format!("{what} version {} of {}: {problem}", state.at.number, self.address))
    }

    /// Whether versions come without anybody writing here.
    pub(crate) fn follows(&self) -> bool {
        self.role == LinkRole::Follows
    }

    pub(crate) fn figures(&self) -> LinkFigures {
        let state = self.state();
        LinkFigures {
            role: self.role,
            address: self.address.clone(),
            at: state.at,
            age_seconds: state.reached.map(|reached| reached.elapsed().as_secs_f64()),
            failures: state.failures,
            failing: state.problem.is_some(),
            fenced: state.is_fenced,
            error: state.problem.clone(),
        }
    }
}

/// The same for who watches.
#[derive(Debug, Serialize)]
pub(crate) struct LinkFigures {
    pub(crate) role: LinkRole,
    pub(crate) address: String,
    #[serde(flatten)]
    pub(crate) at: LinkVersion,
    /// Since when nobody knows whether this is the newest.
    pub(crate) age_seconds: Option<f64>,
    pub(crate) failures: u64,
    pub(crate) failing: bool,
    pub(crate) fenced: bool,
    pub(crate) error: Option<String>,
}

#[cfg(test)]
mod tests {
    //! What is told follows what became of the work.
    use super::*;

    #[test]
    fn problems_come_and_go_and_a_fence_stays() {
        let link = Link::new(LinkRole::Publishes, "file:///x".to_owned());
        assert!(link.problem().is_none() && link.figures().age_seconds.is_none());
        assert!(!link.reached(LinkVersion { number: 3, epoch: 1, version: 9 }));
        assert!(link.failed("no disk".to_owned()) && !link.failed("no disk".to_owned()));
        let told = link.problem().unwrap();
        assert!(told.contains("version 3 of file:///x: no disk") && link.fence().is_none(), "{told}");
        assert!(link.reached(LinkVersion { number: 4, epoch: 1, version: 10 }) && link.problem().is_none());
        link.fenced("taken over".to_owned());
        let figures = link.figures();
        assert!(figures.fenced && figures.failing && figures.failures == 2 && figures.at.number == 4);
        assert_eq!(link.fence().as_deref(), Some("taken over"));
    }
}
