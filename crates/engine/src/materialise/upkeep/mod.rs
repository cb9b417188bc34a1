//! What follows is kept up to date by each commit: what its changes add is added, what only they held up is removed, in the same transaction.
//!
//! Insertions go on from what is new (semi-naive). Deletions delete and derive again (DRed, Gupta et al. 1993): all that has a derivation through what was
//! deleted goes, but for what a short proof from stated triples keeps, and what has another derivation comes back. Rules are taken stratum by stratum; one that must see all there is,
//! by NOT EXISTS or an aggregate, is read as a whole, before and after, where that has changed.
//!
//! Where nothing is deleted and much follows (a statement of an ontology), that is left to rounds as those of a materialisation, which go on from what is there.
//!
//! What would take longer than to materialise anew is given up, and that is done in the same transaction, by segments as ever. So is what cannot be gone on from, if the database is
//! small; and where there is no memory for that, the inferences are stale, and who commits is told.

mod compiled;
mod equals;
mod intersections;
mod limits;
mod prove;
mod queries;
mod solve;
mod view;
mod work;

use super::gather::Triple;
use super::kept::KeptRules;
use super::report::{MaterialiseOptions, MaterialiseReport};
use super::rounds::Inferring;
use crate::EngineError;
use crate::options::DefaultGraph;
use compiled::Compiled;
use limits::{STATED_BEFORE_ROUNDS, TooMuch};
use lode_base::memory_budget::MemoryBudget;
use lode_packed::Order;
use lode_rdf::ValueId;
use lode_store::{CommitUpkeep, Snapshot, Store, StoreError, Transaction};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use view::Stop;

/// A database of so many quads is materialised anew where rules cannot be gone on from, whatever was changed.
const SMALL: u64 = 20_000;
/// Bytes that an inferred triple takes while all are made anew, at least.
const INFERRED_BYTES: u64 = 128;
/// Bytes of memory for upkeep, beside those of the transaction.
const MEMORY_BYTES: usize = 1 << 30;

#[cfg(test)]
pub(super) use limits::ROWS;
#[cfg(test)]
thread_local! {
    /// How often commits were not gone on from.
    pub(super) static ANEW: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// How often they were, by rounds.
    pub(super) static BY_ROUNDS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
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
    let changes = transaction.changes()?;
    let before = transaction.before();
    let why = match go_on(transaction, &compiled, before, changes) {
        Ok(()) => return Ok(true),
        Err(Stop::TooMuch(why)) => why,
        Err(Stop::Failed(error @ EngineError::Execution(_))) => {
            given_up(error)?;
            TooMuch::Memory
        }
        Err(Stop::Failed(error)) => {
            given_up(error)?;
            TooMuch::Rule
        }
    };
    transaction.go_back(savepoint);
    anew(transaction, &kept.rules, &why)
}

/// What a commit fails with; other errors are of rules, so that the inferences are stale.
fn given_up(error: EngineError) -> Result<(), StoreError> {
    match error {
        EngineError::Cancelled(reason) => Err(StoreError::Cancelled(reason)),
        // Memory, or room on the disk, was not there for it.
        EngineError::Store(error) if error.is_disk_full() => Ok(()),
        EngineError::Store(error) => Err(error),
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

/// Quads (S, P, O, G; sorted) that appear, and that disappear.
type Changes = [Vec<[ValueId; 4]>; 2];

/// Goes on from what followed from the version `before`, by what has changed since; none: that is not known.
fn go_on(
    transaction: &mut Transaction,
    compiled: &Compiled,
    before: Snapshot,
    changes: Option<Changes>,
) -> Result<(), Stop> {
    if compiled.refused.is_some() {
        return Err(Stop::TooMuch(TooMuch::Rule));
    }
    let Some([inserted, deleted]) = changes else {
        return Err(Stop::TooMuch(TooMuch::Cleared));
    };
    let budget = memory(transaction);
    // What is stated elsewhere is read by no rule, then, or by patterns as all else.
    let only_adds = deleted.is_empty() && compiled.only_adds;
    let mut work = work::Work::new(transaction, compiled, before, only_adds, &budget)?;
    work.begin(&inserted, &deleted)?;
    let begun = only_adds.then(|| work.begun()).transpose()?;
    let is_large = begun.as_ref().is_some_and(|(new, _)| new.len() > STATED_BEFORE_ROUNDS);
    let done = match is_large {
        true => Err(Stop::TooMuch(TooMuch::Work)),
        false => (0..compiled.strata.len()).try_for_each(|stratum| work.stratum(stratum)),
    };
    match (done, begun) {
        (Err(Stop::TooMuch(TooMuch::Work)), Some((new, savepoint))) => {
            drop(work);
            transaction.go_back(savepoint);
            Ok(by_rounds(transaction, compiled, new, &budget)?)
        }
        (done, _) => done,
    }
}

/// Goes on by whole rounds from new triples, where nothing was deleted.
fn by_rounds(
    transaction: &mut Transaction,
    compiled: &Compiled,
    new: Vec<Triple>,
    budget: &MemoryBudget,
) -> Result<(), EngineError> {
    #[cfg(test)]
    BY_ROUNDS.set(BY_ROUNDS.get() + 1);
    let options = options(transaction);
    let graph = super::graph_of(transaction)?;
    let default_graph = if compiled.all_graphs { DefaultGraph::Union } else { DefaultGraph::Separate };
    let rules = compiled.rules.clone();
    let mut inferring = Inferring::new(transaction, graph, rules, default_graph, &options, budget)?;
    inferring.go_on(new, &HashSet::new())?;
    inferring.finish(&[], &mut MaterialiseReport::empty())
}

/// What of the rules is remembered from one time to the next.
#[derive(Default)]
pub(crate) struct Remembered(Known);

/// Brings the inferences of a transaction up to date that begins with those of the segments of its version alone. False where that is too much, or they are not of these segments;
/// then nothing was changed.
pub(super) fn go_on_from_segments(
    transaction: &mut Transaction,
    rules: &str,
    known: &Remembered,
) -> Result<bool, EngineError> {
    let compiled = compiled(rules, &known.0)?;
    if transaction.before().inferred_version().is_none() {
        return Ok(false);
    }
    let savepoint = transaction.savepoint()?;
    let (before, changes) = transaction.since_segments();
    let done = match go_on(transaction, &compiled, before, Some(changes)) {
        Ok(()) => return Ok(true),
        Err(Stop::TooMuch(_)) => Ok(false),
        Err(Stop::Failed(EngineError::Execution(lode_exec::ExecError::OutOfMemory(_)))) => Ok(false),
        Err(Stop::Failed(error)) => Err(error),
    };
    transaction.go_back(savepoint);
    done
}

fn memory(transaction: &Transaction) -> MemoryBudget {
    transaction.memory().part_beside(MEMORY_BYTES, 0)
}

/// Materialises anew in the same transaction, where that is worth it.
fn anew(transaction: &mut Transaction, text: &str, why: &TooMuch) -> Result<bool, StoreError> {
    #[cfg(test)]
    ANEW.set(ANEW.get() + 1);
    let savepoint = transaction.savepoint()?;
    let done = is_worth_it(transaction, why).and_then(|is_worth_it| match is_worth_it {
        true => materialise(transaction, text).map(|()| true),
        false => Ok(false),
    });
    if let Err(error) = done {
        given_up(error)?;
        transaction.go_back(savepoint);
        return Ok(false);
    }
    Ok(done.unwrap_or(false))
}

/// Whether a commit is to materialise anew: not each one of a large database whose rules cannot be gone on from, and not where there is no memory for what was there before.
fn is_worth_it(transaction: &mut Transaction, why: &TooMuch) -> Result<bool, EngineError> {
    let graph = super::graph_of(transaction)?;
    let snapshot = transaction.snapshot()?;
    let quads = snapshot.quad_count();
    if matches!(why, TooMuch::Rule | TooMuch::Lists) {
        return Ok(quads <= SMALL);
    }
    let bytes = snapshot.count(Order::Gspo, &[graph])?.saturating_mul(INFERRED_BYTES);
    Ok(quads <= SMALL || bytes <= memory(transaction).limit() as u64)
}

fn materialise(transaction: &mut Transaction, text: &str) -> Result<(), EngineError> {
    let kept = KeptRules::decode(text)?;
    let options = options(transaction);
    let budget = memory(transaction);
    let mut report = MaterialiseReport::empty();
    super::fill(transaction, &kept, &options, &budget, &mut report)
}

/// How rules are applied within a transaction.
fn options(transaction: &Transaction) -> MaterialiseOptions {
    let mut options = MaterialiseOptions::default();
    options.evaluation.cancel = transaction.cancel().clone();
    options.evaluation.takes_turns = false;
    options
}
