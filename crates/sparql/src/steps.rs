//! What planning did, step by step: how long each took, and how large the query was before and after.

use crate::statistics::Statistics;
use std::time::Duration;

/// A step: the translation of the algebra, a rewrite rule, the choice of operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// `translate`, the name of a rule ([`rule_names`](crate::rule_names)), or `operators`.
    pub name: &'static str,
    /// How long it took.
    pub time: Duration,
    /// Operators before it; none before the translation.
    pub nodes_before: usize,
    /// Operators after it.
    pub nodes_after: usize,
}

/// The steps so far, one after the other.
pub(crate) struct Steps<'a> {
    /// Whoever tells the time.
    stats: &'a dyn Statistics,
    done: Vec<PlanStep>,
    began: Duration,
    nodes: usize,
}

impl<'a> Steps<'a> {
    /// Begins the first one.
    pub fn begin(stats: &'a dyn Statistics) -> Self {
        Self { stats, done: Vec::with_capacity(12), began: stats.elapsed(), nodes: 0 }
    }

    /// Ends one, which has left so many operators, and begins the next.
    pub fn done(&mut self, name: &'static str, nodes_after: usize) {
        let now = self.stats.elapsed();
        let time = now.saturating_sub(self.began);
        self.done.push(PlanStep { name, time, nodes_before: self.nodes, nodes_after });
        (self.began, self.nodes) = (now, nodes_after);
    }

    /// All of them.
    pub fn into_done(self) -> Vec<PlanStep> {
        self.done
    }
}
