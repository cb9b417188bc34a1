//! Power cuts, errors and full disks at every operation of transactions that clear graphs at once.

use crate::crash_tests::read_all;
use crate::store::Store;
use crate::transaction::crash_tests::{
    Model, Outcome, apply, check_errors_and_full_disks, check_power_cuts, commit, open,
};
use crate::{StoreError, Transaction};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::FaultVfs;
use lode_rdf::{NamedNode, Term, ValueId};
use std::sync::Arc;

/// Transactions of the workload; the large ones make segments.
const STEPS: u64 = 8;
const OTHER: &str = "http://other";

/// Whether a step clears the default graph between two insertions, in a named graph and in the default graph; or drops what it has done.
fn clears(step: u64) -> Option<bool> {
    match step {
        4 => Some(false),
        5 | 7 => Some(true),
        _ => None,
    }
}

fn id(transaction: &mut Transaction, iri: &str) -> Result<ValueId, StoreError> {
    let term = Term::from(NamedNode::new_unchecked(iri));
    Ok(transaction.intern(&term)?.unwrap_or_default())
}

fn clear(store: &Store, step: u64, goes_on: bool) -> Result<(), StoreError> {
    let mut transaction = store.begin(&CancelToken::default())?;
    let subject = id(&mut transaction, &format!("http://new{step}"))?;
    let graph = id(&mut transaction, OTHER)?;
    transaction.insert([subject, subject, subject, graph]);
    transaction.clear_graph(ValueId::DEFAULT_GRAPH)?;
    transaction.insert([subject, subject, subject, ValueId::DEFAULT_GRAPH]);
    let seen = read_all(&transaction.snapshot()?)?;
    assert_eq!(seen.iter().filter(|quad| quad.ends_with(' ')).count(), 1, "{seen:?}");
    if goes_on { transaction.commit().map(|_| ()) } else { Ok(()) }
}

fn cleared(model: &Model, step: u64) -> Model {
    let mut with: Model = model.iter().filter(|quad| !quad.ends_with(' ')).cloned().collect();
    let new = format!("<http://new{step}>");
    with.insert(format!("{new} {new} {new} "));
    with.insert(format!("{new} {new} {new} <{OTHER}>"));
    with
}

fn run(vfs: &FaultVfs) -> Outcome {
    let mut outcome = Outcome::default();
    let mut store = None;
    for step in 0..STEPS {
        if store.is_none() {
            store = open(Arc::new(vfs.clone())).ok();
            outcome.reopened(store.as_ref());
        }
        let Some(open) = &store else { continue };
        let mut with = outcome.model.clone();
        let result = match clears(step) {
            None => {
                apply(&mut with, step);
                commit(open, step)
            }
            Some(false) => clear(open, step, false),
            Some(true) => {
                with = cleared(&with, step);
                clear(open, step, true)
            }
        };
        let seen = read_all(&open.snapshot()).ok();
        if clears(step) == Some(false) {
            assert!(seen.is_none_or(|seen| seen == outcome.model), "what was dropped is seen");
            continue;
        }
        outcome.note_with(with, &result, seen.as_ref());
    }
    outcome
}

#[test]
fn the_workload_clears_at_once() {
    let vfs = FaultVfs::counting(lode_base::mem_vfs::MemVfs::new(), false);
    assert!(run(&vfs).perhaps.is_empty());
    let store = open(Arc::new(vfs)).unwrap();
    let manifest = store.version().manifest.encode();
    assert!(manifest.contains("\nterms "), "{manifest}");
}

#[test]
fn power_cuts() {
    check_power_cuts(&run);
}

#[test]
fn errors_and_full_disks() {
    check_errors_and_full_disks(&run);
}
