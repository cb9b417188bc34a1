//! Power cuts, errors and full disks at every operation of flushes, with transactions while segments are written: what was
//! acknowledged is there.

use super::*;
use crate::crash_tests::read_all;
use crate::transaction::crash_tests::{Outcome, check_errors_and_full_disks, check_power_cuts, commit, open};
use lode_base::fault_vfs::FaultVfs;
use lode_base::mem_vfs::MemVfs;
use std::sync::Arc;

/// Transactions of a workload.
const STEPS: u64 = 9;

fn step(store: &Store, step: u64, outcome: &mut Outcome) {
    let result = commit(store, step);
    outcome.note(step, &result, read_all(&store.snapshot()).ok().as_ref());
}

/// Transactions, and flushes beside some of them. Also tells how many flushes were published with changes that came meanwhile.
fn run(vfs: &FaultVfs) -> (Outcome, u64) {
    let (mut outcome, mut beside) = (Outcome::default(), 0);
    let mut store = None;
    for at in 0..STEPS {
        if at == STEPS / 2 {
            store = None;
        }
        if store.is_none() {
            store = open(Arc::new(vfs.clone())).ok();
            outcome.reopened(store.as_ref());
        }
        let Some(open) = &store else { continue };
        if at.is_multiple_of(3) {
            step(open, at, &mut outcome);
            continue;
        }
        let mut committed = false;
        let flushed = flush(open, &CancelToken::default(), &mut || {
            if !committed {
                step(open, at, &mut outcome);
                committed = true;
            }
        });
        beside += u64::from(flushed.is_ok() && open.version().delta.changes() > 0);
        if !committed {
            step(open, at, &mut outcome);
        }
        if let Ok(seen) = read_all(&open.snapshot()) {
            assert!(outcome.allows(&seen), "after {at}: {seen:?} is not {:?}", outcome.model);
        }
    }
    (outcome, beside)
}

#[test]
fn flushes_happen_beside_commits() {
    let (_, beside) = run(&FaultVfs::counting(MemVfs::new(), false));
    assert!(beside > 2, "{beside}");
}

#[test]
fn power_cuts() {
    check_power_cuts(&|vfs| run(vfs).0);
}

#[test]
fn errors_and_full_disks() {
    check_errors_and_full_disks(&|vfs| run(vfs).0);
}
