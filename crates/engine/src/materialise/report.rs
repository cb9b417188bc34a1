//! How to materialise, how far it is, and what it did.

use super::kept::RuleSource;
use crate::options::{DefaultGraph, QueryOptions};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How to materialise.
#[derive(Clone)]
pub struct MaterialiseOptions {
    /// By which rules; none given: by those that the database keeps.
    pub rules: Vec<RuleSource>,
    /// What the rules read besides what follows; none given: what they read before, or the default graph.
    pub default_graph: Option<DefaultGraph>,
    /// Whether each commit brings what follows up to date from then on; not said: as before, or else yes.
    pub maintained: Option<bool>,
    /// Memory, threads, the folder for temporary files, and what stops the work.
    pub evaluation: QueryOptions,
    /// So many rounds may bring something new: rules that make new terms may have no end.
    pub rounds_max: u64,
    /// Told how far it is.
    pub progress: Option<Arc<MaterialiseProgress>>,
}

impl Default for MaterialiseOptions {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            default_graph: None,
            maintained: None,
            evaluation: QueryOptions::default(),
            rounds_max: 10_000,
            progress: None,
        }
    }
}

/// How far it is, for whoever watches.
#[derive(Debug, Default)]
pub struct MaterialiseProgress {
    pub(super) round: AtomicU64,
    pub(super) triples: AtomicU64,
    rule: Mutex<String>,
}

impl MaterialiseProgress {
    /// The round, from 1; 0 before the first.
    pub fn round(&self) -> u64 {
        self.round.load(Ordering::Relaxed)
    }

    /// Triples that were added in the rounds before.
    pub fn triples(&self) -> u64 {
        self.triples.load(Ordering::Relaxed)
    }

    /// The rule that is applied.
    pub fn rule(&self) -> String {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_rule(&self, name: &str) {
        let mut rule = self.rule.lock().unwrap_or_else(PoisonError::into_inner);
        rule.clear();
        rule.push_str(name);
    }
}

/// What a rule did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleReport {
    /// Its set or text.
    pub source: String,
    /// Its name there.
    pub rule: String,
    /// Triples that it was the first to find.
    pub triples: u64,
    /// How often its body was read, or a part of it with what was new.
    pub evaluations: u64,
    /// How long that took.
    pub seconds: f64,
}

/// What materialising did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialiseReport {
    /// Whether there was nothing to do: the same rules had been applied to the same data.
    pub was_up_to_date: bool,
    /// Triples that were inferred before.
    pub before: u64,
    /// Triples that are inferred now.
    pub inferred: u64,
    /// Rounds that brought something new.
    pub rounds: u64,
    /// What each rule did.
    pub rules: Vec<RuleReport>,
    /// Chains and keys that are longer than the rules for them.
    pub lists_too_long: u64,
    /// The version of the database from now on.
    pub version: u64,
    /// How long it took.
    pub seconds: f64,
}

impl MaterialiseReport {
    /// Nothing was to be done.
    pub(super) fn empty() -> Self {
        Self {
            was_up_to_date: true,
            before: 0,
            inferred: 0,
            rounds: 0,
            rules: Vec::new(),
            lists_too_long: 0,
            version: 0,
            seconds: 0.0,
        }
    }
}
