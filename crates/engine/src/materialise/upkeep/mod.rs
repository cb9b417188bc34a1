//! What follows is kept up to date by each commit: what its changes add is added, what only they held up is removed, in the same transaction.
//!
//! Insertions go on from what is new (semi-naive). Deletions delete and derive again (DRed, Gupta et al. 1993): all that has a derivation through what was
//! deleted goes, but for what a short proof from stated triples keeps, and what has another derivation comes back. Rules are taken stratum by stratum; one that must see all there is,
//! by NOT EXISTS or an aggregate, is read as a whole, before and after, where that has changed.
//!
//! What is too much, or cannot be gone on from, is materialised anew if the database is small; else the inferences are stale, and who commits is told.

mod compiled;
mod intersections;
mod limits;
mod prove;
mod queries;
mod solve;
mod view;
mod work;

use super::kept::KeptRules;
use super::report::{MaterialiseOptions, MaterialiseReport};
use super::rounds::Inferring;
use crate::EngineError;
use compiled::Compiled;
use limits::TooMuch;
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_sparql::rules::strata;
use lode_store::{CommitUpkeep, Store, StoreError, Transaction};
use std::sync::{Arc, Mutex, PoisonError};
use view::{Stop, View};

/// A database of so many quads is materialised anew where a commit cannot be gone on from.
const SMALL: u64 = 20_000;
/// Bytes of memory for upkeep, beside those of the transaction.
const MEMORY_BYTES: usize = 1 << 30;

#[cfg(test)]
thread_local! {
    /// How often commits were not gone on from.
    pub(super) static ANEW: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The rules as they were last read.
type Known = Mutex<Option<Arc<Compiled>>>;

/// From now on commits to a store bring inferences up to date, where they are to be.
pub(crate) fn keep_up(store: &Store) {
    if store.is_writable() {
        let known = Known::default();
        store.keep_up(CommitUpkeep::new(move |transaction| complete(transaction, &known)));
    }
}

/// Adds to a transaction what follows from it. False where the inferences are stale then.
fn complete(transaction: &mut Transaction, known: &Known) -> Result<bool, StoreError> {
    let Some(kept) = transaction.before().inferences() else { return Ok(true) };
    let savepoint = transaction.savepoint()?;
    let compiled = match compiled(&kept.rules, known) {
        Ok(compiled) => compiled,
        Err(_) => return Ok(false),
    };
    match go_on(transaction, &compiled) {
        Ok(()) => return Ok(true),
        Err(Stop::TooMuch(TooMuch::Cleared)) => return anew(transaction, &kept.rules),
        Err(Stop::TooMuch(_)) => {}
        Err(Stop::Failed(error)) => given_up(error)?,
    }
    transaction.go_back(savepoint);
    anew(transaction, &kept.rules)
}

/// What a commit fails with; other errors are of rules, so that the inferences are stale.
fn given_up(error: EngineError) -> Result<(), StoreError> {
    match error {
        EngineError::Cancelled(reason) => Err(StoreError::Cancelled(reason)),
        EngineError::Store(error) => Err(error),
        // Also what memory was not there for.
        _ => Ok(()),
    }
}

fn compiled(text: &str, known: &Known) -> Result<Arc<Compiled>, EngineError> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.as_ref().filter(|compiled| compiled.text == text) {
        return Ok(Arc::clone(compiled));
    }
    let kept = KeptRules::decode(text)?;
    let compiled = Arc::new(Compiled::of(text, kept.rules()?, kept.all_graphs)?);
    *known = Some(Arc::clone(&compiled));
    Ok(compiled)
}

fn go_on(transaction: &mut Transaction, compiled: &Compiled) -> Result<(), Stop> {
    if compiled.refused.is_some() {
        return Err(Stop::TooMuch(TooMuch::Rule));
    }
    let Some([inserted, deleted]) = transaction.changes()? else {
        return Err(Stop::TooMuch(TooMuch::Cleared));
    };
    let budget = memory(transaction);
    let mut work = work::Work::new(transaction, compiled, &budget)?;
    work.begin(&inserted, &deleted)?;
    for stratum in 0..compiled.strata.len() {
        work.stratum(stratum)?;
    }
    Ok(())
}

fn memory(transaction: &Transaction) -> MemoryBudget {
    transaction.memory().part_beside(MEMORY_BYTES, 0)
}

/// Materialises a small database anew, in the same transaction.
fn anew(transaction: &mut Transaction, text: &str) -> Result<bool, StoreError> {
    #[cfg(test)]
    ANEW.set(ANEW.get() + 1);
    let snapshot = transaction.snapshot()?;
    let quads = snapshot.quad_count();
    drop(snapshot);
    if quads > SMALL {
        return Ok(false);
    }
    let savepoint = transaction.savepoint()?;
    match materialise(transaction, text) {
        Ok(()) => Ok(true),
        Err(error) => {
            given_up(error)?;
            transaction.go_back(savepoint);
            Ok(false)
        }
    }
}

fn materialise(transaction: &mut Transaction, text: &str) -> Result<(), EngineError> {
    let kept = KeptRules::decode(text)?;
    let named = kept.rules()?;
    let rules: Vec<_> = named.iter().map(|(_, rule)| rule.clone()).collect();
    let strata = strata(&rules).map_err(|error| EngineError::Rules(error.to_string()))?;
    let graph = super::graph_of(transaction)?;
    let snapshot = transaction.snapshot()?;
    let inferred = View { snapshot, inferred: graph, all_graphs: kept.all_graphs };
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut scan = inferred.snapshot.scan(Order::Gspo, &[graph], 0b1110)?;
    while scan.next(4096, &mut columns)? > 0 {}
    let [_, subjects, predicates, objects] = columns;
    for ((s, p), o) in subjects.into_iter().zip(predicates).zip(objects) {
        transaction.delete([s, p, o, graph]);
    }
    let mut options = MaterialiseOptions::default();
    options.evaluation.cancel = transaction.cancel().clone();
    let budget = memory(transaction);
    let mut inferring = Inferring::new(transaction, graph, rules, kept.default_graph(), &options, &budget)?;
    strata.iter().try_for_each(|stratum| inferring.stratum(stratum))?;
    let mut report = MaterialiseReport::empty();
    inferring.finish(&named, &mut report)
}
