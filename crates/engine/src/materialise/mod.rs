//! Materialisation: what rules say follows from the data is added to it, in a graph of its own, in one transaction.
//!
//! The rules stay with the database. What is in the graph of inferences is replaced whole: applied again to the same data, the same rules give the same
//! triples, whatever was there before.

mod background;
mod closure;
mod data;
mod equality;
mod found;
mod gather;
mod head;
mod kept;
mod report;
mod rounds;
#[cfg(test)]
pub(crate) mod tests;
mod upkeep;

pub(crate) use background::catch_up;
pub use background::{CaughtUp, Upkeeper, UpkeeperOptions, UpkeeperStatus};
pub(crate) use gather::too_much;
pub(crate) use kept::KeptRules;
pub use kept::{KeptInferences, RuleSource};
pub use report::{MaterialiseOptions, MaterialiseProgress, MaterialiseReport, RuleReport};
pub(crate) use upkeep::{Remembered, keep_up};

use crate::EngineError;
use crate::inferred;
use crate::options::{DefaultGraph, QueryOptions};
use gather::DELETION_BYTES;
use lode_base::memory_budget::{MemoryBudget, Reservation};
use lode_packed::Order;
use lode_rdf::{Term, ValueId};
use lode_sparql::rules::{Rule, strata};
use lode_store::manifest::Inferences;
use lode_store::{Graphs, Store, Transaction};
use rounds::{Inferring, only_adds};
use std::collections::HashSet;
use std::time::Instant;

/// Applies rules.
pub(crate) fn materialise(
    store: &Store,
    options: &MaterialiseOptions,
) -> Result<MaterialiseReport, EngineError> {
    let start = Instant::now();
    let budget = options.evaluation.budget();
    let mut transaction = store.begin(&options.evaluation.cancel)?.within(&budget);
    let snapshot = transaction.snapshot()?;
    let known = snapshot.inferences();
    let kept = rules(options, known.as_ref())?;
    let text = kept.encode()?;
    let graph = graph_of(&mut transaction)?;
    let before = snapshot.count(Order::Gspo, &[graph])?;
    let version = snapshot.version_number();
    let mut report = MaterialiseReport { before, inferred: before, version, ..MaterialiseReport::empty() };
    let current = known.filter(Inferences::is_current);
    if current.as_ref().is_none_or(|known| known.rules != text) {
        drop(snapshot);
        match added(&kept, current.as_ref())? {
            Some(added) => extend(&mut transaction, &kept, &added, options, &budget, &mut report)?,
            None => fill(&mut transaction, &kept, options, &budget, &mut report)?,
        }
        transaction.set_inferences(Some(kept.applied(text)))?;
        report.version = transaction.commit()?.version;
        report.was_up_to_date = false;
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// Puts what follows in the place of all that was inferred.
fn fill(
    transaction: &mut Transaction,
    kept: &KeptRules,
    options: &MaterialiseOptions,
    budget: &MemoryBudget,
    report: &mut MaterialiseReport,
) -> Result<(), EngineError> {
    let named = kept.rules()?;
    let rules: Vec<_> = named.iter().map(|(_, rule)| rule.clone()).collect();
    let strata = strata(&rules).map_err(|error| EngineError::Rules(error.to_string()))?;
    let graph = graph_of(transaction)?;
    let _held = clear(transaction, graph, budget)?;
    let mut inferring = Inferring::new(transaction, graph, rules, kept.default_graph(), options, budget)?;
    strata.iter().try_for_each(|stratum| inferring.stratum(stratum))?;
    inferring.finish(&named, report)
}

/// The rules that are new (their numbers), where what follows by others is there and can be gone on from.
fn added(kept: &KeptRules, current: Option<&Inferences>) -> Result<Option<HashSet<usize>>, EngineError> {
    let Some(Ok(before)) = current.map(|known| KeptRules::decode(&known.rules)) else { return Ok(None) };
    let rules: Vec<Rule> = kept.rules()?.into_iter().map(|(_, rule)| rule).collect();
    if only_adds(&rules) { kept.added_to(&before) } else { Ok(None) }
}

/// Adds what follows by more rules to what is inferred.
fn extend(
    transaction: &mut Transaction,
    kept: &KeptRules,
    added: &HashSet<usize>,
    options: &MaterialiseOptions,
    budget: &MemoryBudget,
    report: &mut MaterialiseReport,
) -> Result<(), EngineError> {
    let named = kept.rules()?;
    let rules = named.iter().map(|(_, rule)| rule.clone()).collect();
    let graph = graph_of(transaction)?;
    let mut inferring = Inferring::new(transaction, graph, rules, kept.default_graph(), options, budget)?;
    inferring.go_on(Vec::new(), added)?;
    inferring.finish(&named, report)
}

/// Clears the graph of inferences; what that takes of the memory until the transaction ends.
fn clear(
    transaction: &mut Transaction,
    graph: ValueId,
    budget: &MemoryBudget,
) -> Result<Reservation, EngineError> {
    let mut held = budget.reserve_empty();
    let triples = transaction.snapshot()?.count(Order::Gspo, &[graph])?;
    if triples > 0 {
        if !transaction.clears_at_once(Graphs::One(graph))? {
            let quads = usize::try_from(triples).unwrap_or(usize::MAX);
            held.grow(quads.saturating_mul(DELETION_BYTES)).map_err(too_much)?;
        }
        transaction.clear_graph(graph)?;
    }
    Ok(held)
}

/// Removes all inferences, and the rules. How many there were.
pub(crate) fn drop_inferences(store: &Store, options: &QueryOptions) -> Result<u64, EngineError> {
    let budget = options.budget();
    let mut transaction = store.begin(&options.cancel)?.within(&budget);
    let snapshot = transaction.snapshot()?;
    let graph = snapshot.id_of(&Term::from(inferred::name()))?;
    let triples = graph.map_or(Ok(0), |graph| snapshot.count(Order::Gspo, &[graph]))?;
    if triples == 0 && !snapshot.has_inferences() {
        return Ok(0);
    }
    let _held = graph.map(|graph| clear(&mut transaction, graph, &budget)).transpose()?;
    transaction.set_inferences(None)?;
    transaction.commit()?;
    Ok(triples)
}

/// The graph of inferences, which may be new.
fn graph_of(transaction: &mut Transaction) -> Result<ValueId, EngineError> {
    let id = transaction.intern(&Term::from(inferred::name()))?;
    id.ok_or_else(|| EngineError::Rules("the graph of inferences has no name".to_owned()))
}

/// The rules that are asked for, or those that the database keeps.
fn rules(options: &MaterialiseOptions, known: Option<&Inferences>) -> Result<KeptRules, EngineError> {
    let before = known.map(|known| KeptRules::decode(&known.rules));
    let given = options.default_graph.map(|graph| graph == DefaultGraph::Union);
    match (options.rules.is_empty(), before) {
        (true, None) => Err(EngineError::Rules(
            "the database keeps no rules: name a set of rules or a file with some".to_owned(),
        )),
        (true, Some(before)) => {
            let before = before?;
            let maintained = options.maintained.unwrap_or(before.maintained);
            Ok(KeptRules { all_graphs: given.unwrap_or(before.all_graphs), maintained, ..before })
        }
        (false, before) => {
            let before = before.and_then(Result::ok);
            let all_before = before.as_ref().is_some_and(|before| before.all_graphs);
            let maintained = options.maintained.or(before.map(|before| before.maintained)).unwrap_or(true);
            let sources = options.rules.clone();
            Ok(KeptRules { sources, all_graphs: given.unwrap_or(all_before), maintained })
        }
    }
}
