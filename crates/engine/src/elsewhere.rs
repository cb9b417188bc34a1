//! Queries of which others run parts: who finds such parts, and has them run, is handed in. The engine knows no other machines.

use crate::EngineError;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::MemoryBudget;
use lode_exec::OpenFragment;
use lode_sparql::Plan;
use lode_sparql::plan::VisibleGraphs;
use lode_store::Snapshot;
use oxsdatatypes::DateTime;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// A run is begun again so often at most where others who ran a part of it are gone.
pub(crate) const REPEATS_MAX: usize = 2;

/// A query that is planned.
pub struct Planned<'a> {
    /// Its plan,
    pub plan: &'a Plan,
    /// over this version.
    pub snapshot: &'a Snapshot,
    /// `NOW()` in it.
    pub now: DateTime,
    /// What stops it.
    pub cancel: &'a CancelToken,
    /// Its memory.
    pub budget: &'a MemoryBudget,
    /// The graphs that there are for who asks; none: all.
    pub visible: Option<VisibleGraphs>,
}

/// Has parts of plans run elsewhere.
pub trait Elsewhere: Send + Sync {
    /// Plans that cost less by the planner's estimate, in nanoseconds, are not looked at.
    fn cost_min(&self) -> f64;

    /// What of a query others run; none: all of it is run here.
    ///
    /// # Errors
    /// Where the store cannot be read.
    fn spread(&self, query: Planned<'_>) -> Result<Option<Spread>, EngineError>;

    /// Who they are, whether they are there, and what they have done, for programs.
    fn status(&self) -> Option<Value> {
        None
    }
}

/// A plan of which others run parts.
pub struct Spread {
    /// What is left of it.
    pub head: Plan,
    /// Gets the rows of the others.
    pub rows: OpenFragment,
    /// Tells what they do.
    pub told: Arc<dyn Told>,
}

/// Tells what others do of a query.
pub trait Told: Send + Sync {
    /// For people, in lines.
    fn text(&self) -> String;
    /// For programs.
    fn json(&self) -> Value;
}

impl fmt::Debug for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told.text())
    }
}
