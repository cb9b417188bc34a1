//! Asks the data what gives answers: by queries that have little time and memory, and whose errors only mean that nothing is known.

use crate::clock::Clock;
use lode_engine::store::{KeptPrefixes, Snapshot};
use lode_engine::{Database, EngineError, PlanWarning, QueryOptions, QueryResults};
use lode_rdf::Term;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// An ASK has so long: others may have an answer sooner.
const ASK_TIME: Duration = Duration::from_millis(8);
/// Memory of a query.
const MEMORY_BYTES: usize = 64 << 20;
/// Rows come in small batches, since the first ones matter.
const BATCH_ROWS: usize = 256;

/// The data that a call asks.
pub(crate) struct Data<'a> {
    pub database: &'a Arc<Database>,
    pub snapshot: Snapshot,
    options: QueryOptions,
    pub clock: Clock,
}

/// What was found, and whether that is all.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    pub terms: Vec<Term>,
    pub is_all: bool,
}

impl<'a> Data<'a> {
    /// The current version, asked as queries with these options are.
    pub fn new(database: &'a Arc<Database>, options: &QueryOptions, clock: Clock) -> Self {
        let options = QueryOptions {
            memory_bytes: options.memory_bytes.min(MEMORY_BYTES),
            threads: 1,
            takes_turns: false,
            service: None,
            ..options.clone()
        };
        Self { database, snapshot: database.snapshot(), options, clock }
    }

    /// The prefixes that are kept with the data.
    pub fn prefixes(&self) -> KeptPrefixes {
        self.database.store().prefixes()
    }

    /// The memory that all share, for what is kept.
    pub fn memory(&self) -> Option<&lode_engine::MemoryBudget> {
        self.options.memory.as_ref()
    }

    /// Whether an ASK is true; none where that is not known in time.
    pub fn ask(&self, text: &str) -> Option<bool> {
        if self.clock.is_over() {
            return None;
        }
        let options = QueryOptions { cancel: self.clock.token(ASK_TIME), ..self.options.clone() };
        match self.database.query(text, &options) {
            Ok(QueryResults::Boolean(answer)) => Some(answer),
            _ => None,
        }
    }

    /// The distinct terms of the first column, as many as come in the time; all, where there are fewer rows than `rows`. None where the query is not right.
    pub fn select(&self, text: &str, clock: &Clock, rows: usize) -> Option<Selected> {
        let options = QueryOptions {
            cancel: clock.token(Duration::from_secs(60)),
            batch_rows: BATCH_ROWS,
            ..self.options.clone()
        };
        let mut selected = Selected::default();
        let mut solutions = match self.database.query(text, &options) {
            Ok(QueryResults::Solutions(solutions)) => solutions,
            Ok(_) | Err(EngineError::Syntax(_) | EngineError::Plan(_)) => return None,
            Err(_) => return Some(selected),
        };
        let (mut seen, mut count) = (HashSet::new(), 0);
        while let Ok(batch) = solutions.next_batch() {
            let Some(batch) = batch else {
                selected.is_all = count < rows;
                break;
            };
            count += batch.rows();
            for term in (0..batch.rows()).filter_map(|row| batch.get(row, 0)) {
                if !seen.contains(term) {
                    seen.insert(term.clone());
                    selected.terms.push(term.clone());
                }
            }
        }
        Some(selected)
    }

    /// The terms of the first two columns, as far as they come in the time.
    pub fn pairs(&self, text: &str, clock: &Clock) -> Vec<(Term, Term)> {
        let options = QueryOptions { cancel: clock.token(Duration::from_secs(60)), ..self.options.clone() };
        let mut pairs = Vec::new();
        let Ok(QueryResults::Solutions(mut solutions)) = self.database.query(text, &options) else {
            return pairs;
        };
        while let Ok(Some(batch)) = solutions.next_batch() {
            let rows = (0..batch.rows()).filter_map(|row| batch.get(row, 0).zip(batch.get(row, 1)));
            pairs.extend(rows.map(|(first, second)| (first.clone(), second.clone())));
        }
        pairs
    }

    /// What the engine warns of in a query.
    pub fn warnings(&self, text: &str) -> Vec<PlanWarning> {
        let options =
            QueryOptions { cancel: self.clock.token(Duration::from_secs(1)), ..self.options.clone() };
        let prepared = self.database.prepare(text, &options);
        prepared.map_or(Vec::new(), |query| query.warnings().to_vec())
    }

    /// What the engine warns of in an update, which is not run.
    pub fn update_warnings(&self, text: &str) -> Vec<PlanWarning> {
        let options =
            QueryOptions { cancel: self.clock.token(Duration::from_secs(1)), ..self.options.clone() };
        self.database.update_warnings(text, &options).map_or(Vec::new(), |warnings| warnings.to_vec())
    }
}
