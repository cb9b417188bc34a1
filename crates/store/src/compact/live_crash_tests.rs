//! Power cuts, errors and full disks at every operation of compactions between transactions: what was acknowledged is there,
//! whether it was committed before, while or after the segments were merged.

use super::*;
use crate::crash_tests::read_all;
use crate::transaction::crash_tests::{Outcome, check_errors_and_full_disks, check_power_cuts, commit, open};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::FaultVfs;
use lode_base::mem_vfs::MemVfs;

/// Transactions of a workload.
const STEPS: u64 = 11;

fn step(store: &Store, step: u64, outcome: &mut Outcome) {
    let result = commit(store, step);
    outcome.note(step, &result, read_all(&store.snapshot()).ok().as_ref());
}

/// Merges the segments from `from` on, and commits before it switches to them.
fn compact_and_commit(
    store: &Store,
    from: usize,
    at: u64,
    outcome: &mut Outcome,
) -> Result<(), CompactError> {
    let options = CompactOptions { threads: 1, ..CompactOptions::default() };
    let (throttle, progress) = (Throttle::full(&CancelToken::default()), LoadProgress::default());
    let version = store.version();
    let mut committed = false;
    let mut compaction = Compaction::new(store, &version, from, &options, &throttle, &progress);
    let result = compaction.run_and(|| {
        step(store, at, outcome);
        committed = true;
    });
    if !committed {
        step(store, at, outcome);
    }
    result.map(|_| ())
}

/// Transactions and compactions. A step that fails is not tried again. Also tells how many compactions came to their end, and how
/// many revived a term.
fn run(vfs: &FaultVfs) -> (Outcome, [u64; 2]) {
    let (mut outcome, mut compactions) = (Outcome::default(), [0; 2]);
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
        let segments = open.version().segments.len();
        if at % 3 < 2 || segments == 0 {
            step(open, at, &mut outcome);
        } else {
            let from = if at.is_multiple_of(2) { 0 } else { segments - 1 };
            let done = compact_and_commit(open, from, at, &mut outcome);
            compactions[0] += u64::from(done.is_ok());
            let segments = &open.version().manifest.segments;
            let has_revived = segments.iter().any(|entry| entry.quads == 0 && entry.terms != [0; 5]);
            compactions[1] += u64::from(done.is_ok() && has_revived);
        }
        if at % 3 == 0 {
            // A segment more. Where that fails, all stays in the log.
            let _ = WriteGuard::lock(open, &CancelToken::default())
                .and_then(|place| place.settle(&CancelToken::default()));
        }
        if let Ok(seen) = read_all(&open.snapshot()) {
            assert!(outcome.allows(&seen), "after {at}: {seen:?} is not {:?}", outcome.model);
        }
    }
    (outcome, compactions)
}

#[test]
fn compactions_happen() {
    let (_, compactions) = run(&FaultVfs::counting(MemVfs::new(), false));
    assert!(compactions[0] > 2 && compactions[1] > 0, "{compactions:?}");
}

#[test]
fn power_cuts() {
    check_power_cuts(&|vfs| run(vfs).0);
}

#[test]
fn errors_and_full_disks() {
    check_errors_and_full_disks(&|vfs| run(vfs).0);
}
