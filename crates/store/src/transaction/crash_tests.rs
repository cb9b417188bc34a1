//! Power cuts, errors and full disks at every operation of a workload of transactions: what was acknowledged is there, what
//! was not is there as a whole or not at all.

use crate::crash_tests::{assert_sound, contents, read_all};
use crate::test_data::FOLDER;
use crate::write_options::WriteOptions;
use crate::{Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_rdf::{Literal, NamedNode, Term, ValueId};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Transactions of a workload.
const STEPS: u64 = 9;

/// The quads of a database as [`contents`] lists them (object, subject, predicate, graph).
pub(crate) type Model = BTreeSet<String>;

/// What one transaction does: numbers of quads, and whether to insert them.
fn changes(step: u64) -> Vec<(u64, bool)> {
    // Small ones, and every fourth too large for the log.
    let count = if step % 4 == 3 { 9 } else { 2 };
    (0..count).map(|i| ((step * 7 + i * 5) % 23, !(step * 3 + i).is_multiple_of(4))).collect()
}

fn terms(number: u64) -> [Term; 3] {
    let iri = |text: String| Term::from(NamedNode::new_unchecked(text));
    let subject = iri(format!("http://s{}", number % 5));
    [subject, iri("http://p".to_owned()), Literal::from(format!("o{number}")).into()]
}

pub(crate) fn apply(model: &mut Model, step: u64) {
    for (number, insert) in changes(step) {
        let [s, p, o] = terms(number);
        let text = format!("{o} {s} {p} ");
        if insert {
            model.insert(text);
        } else {
            model.remove(&text);
        }
    }
}

pub(crate) fn commit(store: &Store, step: u64) -> Result<(), StoreError> {
    let blind = step.is_multiple_of(2);
    let mut transaction = if blind { store.begin_blind()? } else { store.begin(&CancelToken::default())? };
    for (number, insert) in changes(step) {
        let mut row = [ValueId::DEFAULT_GRAPH; 4];
        for (id, term) in row.iter_mut().zip(terms(number)) {
            *id = transaction.intern(&term)?.unwrap_or_default();
        }
        if insert { transaction.insert(row) } else { transaction.delete(row) }
    }
    transaction.commit().map(|_| ())
}

fn options() -> WriteOptions {
    WriteOptions {
        delta_bytes_max: 3 << 10,
        logged_changes_max: 6,
        memory_bytes: 1 << 20,
        threads: 1,
        ..WriteOptions::default()
    }
}

pub(crate) fn open(vfs: Arc<dyn Vfs>) -> Result<Store, StoreError> {
    Store::open_for_writing(vfs, Path::new(FOLDER), 1 << 16, options())
}

/// What is known of a database after a workload.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What was acknowledged.
    pub(crate) model: Model,
    /// With one of those that failed since: it may be there nevertheless.
    pub(crate) perhaps: Vec<Model>,
}

impl Outcome {
    pub(crate) fn note(&mut self, step: u64, result: &Result<(), StoreError>, seen: Option<&Model>) {
        let mut with = self.model.clone();
        apply(&mut with, step);
        self.note_with(with, result, seen);
    }

    /// Notes the result of a transaction that was to lead to the model `with`.
    pub(crate) fn note_with(&mut self, with: Model, result: &Result<(), StoreError>, seen: Option<&Model>) {
        match result {
            Ok(()) => (self.model, self.perhaps) = (with, Vec::new()),
            Err(error) if seen == Some(&with) && with != self.model => {
                // It is there, but a power cut may take it away until something is acknowledged after it.
                assert!(matches!(error, StoreError::InDoubt { .. }), "{error}");
                self.perhaps.push(std::mem::replace(&mut self.model, with));
            }
            Err(_) => {
                assert!(seen.is_none_or(|seen| *seen == self.model), "{seen:?} is not {:?}", self.model);
                self.perhaps.push(with);
            }
        }
    }

    /// What was written to the log and not acknowledged is found there, and stays.
    pub(crate) fn reopened(&mut self, store: Option<&Store>) {
        let found = store.and_then(|store| read_all(&store.snapshot()).ok());
        if let Some(found) = found.filter(|found| self.perhaps.contains(found)) {
            (self.model, self.perhaps) = (found, Vec::new());
        }
    }

    pub(crate) fn allows(&self, found: &Model) -> bool {
        *found == self.model || self.perhaps.contains(found)
    }
}

/// Runs the workload, opening the database again in the middle. A step that fails is not tried again.
fn run(vfs: &FaultVfs) -> Outcome {
    let mut outcome = Outcome::default();
    let mut store = None;
    for step in 0..STEPS {
        if step == STEPS / 2 {
            store = None;
        }
        if store.is_none() {
            store = open(Arc::new(vfs.clone())).ok();
            outcome.reopened(store.as_ref());
        }
        let Some(open) = &store else { continue };
        let result = commit(open, step);
        outcome.note(step, &result, read_all(&open.snapshot()).ok().as_ref());
    }
    outcome
}

/// Operations of a workload that nothing disturbs.
fn operations(run: &dyn Fn(&FaultVfs) -> Outcome, reads_count: bool) -> u64 {
    let counting = FaultVfs::counting(MemVfs::new(), reads_count);
    let outcome = run(&counting);
    assert!(outcome.perhaps.is_empty());
    assert_eq!(contents(counting.inner()).unwrap(), outcome.model);
    counting.operations()
}

fn check_crash(vfs: &FaultVfs, kind: CrashKind, outcome: &Outcome, at: u64) {
    let after = vfs.after_crash(kind);
    match contents(&after) {
        Err(StoreError::Missing { .. }) => {
            assert!(outcome.model.is_empty(), "operation {at}, {kind:?}: lost")
        }
        Err(error) => panic!("operation {at}, {kind:?}: {error}"),
        Ok(found) => {
            assert!(outcome.allows(&found), "operation {at}, {kind:?}: {found:?} is not {:?}", outcome.model);
            assert_sound(&after);
            // Opening again changes nothing, and the next transaction builds on what was found.
            let store = open(Arc::new(after.clone())).unwrap();
            assert_eq!(contents(&after).unwrap(), found);
            commit(&store, STEPS).unwrap();
            let mut next = found;
            apply(&mut next, STEPS);
            assert_eq!(contents(&after).unwrap(), next, "operation {at}, {kind:?}");
            assert_sound(&after);
        }
    }
}

/// Cuts the power at every operation of a workload.
pub(crate) fn check_power_cuts(run: &dyn Fn(&FaultVfs) -> Outcome) {
    for at in 0..=operations(run, false) {
        let vfs = FaultVfs::new(MemVfs::new(), Fault::PowerCut, at, false);
        let outcome = run(&vfs);
        for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0x5A5A)] {
            check_crash(&vfs, kind, &outcome, at);
        }
    }
}

/// Lets every operation of a workload fail, and every one from some on for want of space.
pub(crate) fn check_errors_and_full_disks(run: &dyn Fn(&FaultVfs) -> Outcome) {
    for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
        for at in 0..operations(run, reads_count) {
            let vfs = FaultVfs::new(MemVfs::new(), fault, at, reads_count);
            let outcome = run(&vfs);
            match contents(vfs.inner()) {
                Err(StoreError::Missing { .. }) => assert!(outcome.model.is_empty()),
                found => {
                    let found = found.unwrap();
                    assert!(
                        outcome.allows(&found),
                        "{fault:?} at {at}: {found:?} is not {:?}",
                        outcome.model
                    );
                    assert_sound(vfs.inner());
                }
            }
            check_crash(&vfs, CrashKind::LoseAll, &outcome, at);
            check_crash(&vfs, CrashKind::Torn(at), &outcome, at);
        }
    }
}

#[test]
fn power_cuts() {
    check_power_cuts(&run);
}

#[test]
fn errors_and_full_disks() {
    check_errors_and_full_disks(&run);
}

/// Commits some, and notes what became of them.
fn commit_some(store: &Store, steps: std::ops::Range<u64>, outcome: &mut Outcome) {
    for step in steps {
        let result = commit(store, step);
        outcome.note(step, &result, read_all(&store.snapshot()).ok().as_ref());
    }
}

#[test]
fn what_is_committed_after_a_lost_sync_of_the_folder_is_durable() {
    for nth in 0..10 {
        let (vfs, mut outcome) = (FaultVfs::counting(MemVfs::new(), false), Outcome::default());
        let store = open(Arc::new(vfs.clone())).unwrap();
        commit_some(&store, 0..2, &mut outcome);
        vfs.fail_nth(Fault::LostSync, Operation::SyncDir, nth);
        commit_some(&store, 2..9, &mut outcome);
        check_crash(&vfs, CrashKind::LoseAll, &outcome, nth);
    }
}
