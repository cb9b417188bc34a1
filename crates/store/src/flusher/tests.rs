//! Flushes beside commits, loads and compactions: what is committed while segments are written is there afterwards, under whatever ids.

use super::*;
use crate::crash_tests::assert_sound;
use crate::log::Durability;
use crate::test_data::{FOLDER, check_reads, contents, file, load_files};
use crate::transaction::tests::{Model, change, ids, open, without_blanks};
use crate::write_options::WriteOptions;
use crate::writer::flush_state::PRESSURE_BYTES_MIN;
use crate::{CompactOptions, LoadOptions, Transaction, compact};
use lode_base::fault_vfs::FaultVfs;
use lode_base::mem_vfs::MemVfs;
use lode_rdf::{Literal, NamedNode, Quad, Term, ValueId};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// Numbers of quads of the pool, and whether to insert them.
type Changes = Vec<(usize, bool)>;

#[derive(Debug, Clone)]
enum Meanwhile {
    Change(Changes, bool),
    Load(Vec<usize>),
    Compact,
    Flush,
}

#[derive(Debug, Clone)]
enum Step {
    Change(Changes, bool),
    /// Makes segments of the delta. Meanwhile others write, and one transaction spans the publishing.
    Flush {
        meanwhile: Vec<Meanwhile>,
        spanning: Changes,
    },
    Compact,
    Reopen,
}

fn changes() -> impl Strategy<Value = Changes> {
    prop::collection::vec((0_usize..200, prop::bool::weighted(0.6)), 0..14)
}

fn step() -> impl Strategy<Value = Step> {
    let change = || (changes(), any::<bool>());
    let meanwhile = prop_oneof![
        12 => change().prop_map(|(changes, blind)| Meanwhile::Change(changes, blind)),
        1 => prop::collection::vec(0_usize..200, 0..20).prop_map(Meanwhile::Load),
        1 => Just(Meanwhile::Compact),
        1 => Just(Meanwhile::Flush),
    ];
    let flush = (prop::collection::vec(meanwhile, 0..4), changes());
    prop_oneof![
        6 => change().prop_map(|(changes, blind)| Step::Change(changes, blind)),
        4 => flush.prop_map(|(meanwhile, spanning)| Step::Flush { meanwhile, spanning }),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ]
}

fn apply(transaction: &mut Transaction, pool: &[Quad], changes: &Changes) {
    for (pick, insert) in changes {
        let row = ids(transaction, &pool[pick % pool.len()]).unwrap();
        if *insert { transaction.insert(row) } else { transaction.delete(row) }
    }
}

struct Case<'a> {
    store: Store,
    pool: &'a [Quad],
    model: Model,
}

impl Case<'_> {
    fn change(&mut self, changes: &Changes, blind: bool) {
        change(&self.store, self.pool, &mut self.model, changes, (blind, false, true));
    }

    fn meanwhile(&mut self, what: &Meanwhile) {
        match what {
            Meanwhile::Change(changes, blind) => self.change(changes, *blind),
            Meanwhile::Load(picks) => {
                let quads: Vec<Quad> =
                    picks.iter().map(|pick| self.pool[pick % self.pool.len()].clone()).collect();
                self.model.extend(quads.iter().map(ToString::to_string));
                let options = LoadOptions { threads: 1, memory_bytes: 1 << 20, ..LoadOptions::default() };
                load_files(&self.store, &[("x".to_owned(), quads)], options).unwrap();
            }
            Meanwhile::Compact => {
                compact(&self.store, &CompactOptions::default(), &Arc::default()).unwrap();
            }
            Meanwhile::Flush => drop(flush(&self.store, &CancelToken::default(), &mut || {}).unwrap()),
        }
    }

    fn flush(&mut self, meanwhile: &[Meanwhile], spanning: &Changes) {
        let store = self.store.clone();
        let mut transaction = store.begin_blind().unwrap();
        apply(&mut transaction, self.pool, spanning);
        let mut waiting = meanwhile.iter();
        // More than once where it is overtaken.
        flush(&store, &CancelToken::default(), &mut || {
            if let Some(what) = waiting.next() {
                self.meanwhile(what);
            }
            waiting.by_ref().for_each(|what| {
                if let Meanwhile::Change(changes, blind) = what {
                    self.change(changes, *blind);
                }
            });
        })
        .unwrap();
        transaction.commit().unwrap();
        for (pick, insert) in spanning {
            let text = self.pool[pick % self.pool.len()].to_string();
            let _ = if *insert { self.model.insert(text) } else { self.model.remove(&text) };
        }
    }
}

fn options() -> WriteOptions {
    WriteOptions {
        durability: Durability::Sync,
        memory_bytes: 1 << 20,
        threads: 1,
        ..WriteOptions::default()
    }
}

fn run(quads: &[Quad], steps: &[Step]) {
    let pool: Vec<Quad> = quads.iter().map(without_blanks).collect();
    if pool.is_empty() {
        return;
    }
    let vfs = MemVfs::new();
    let mut case = Case { store: open(&vfs, &options()), pool: &pool, model: Model::new() };
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Change(changes, blind) => case.change(changes, *blind),
            Step::Flush { meanwhile, spanning } => case.flush(meanwhile, spanning),
            Step::Compact => case.meanwhile(&Meanwhile::Compact),
            Step::Reopen => {
                let Case { store, model, .. } = case;
                drop(store);
                case = Case { store: open(&vfs, &options()), pool: &pool, model };
            }
        }
        let snapshot = case.store.snapshot();
        assert_eq!(contents(&snapshot), case.model, "after step {number}");
        check_reads(&snapshot, number);
        let other = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
        assert_eq!(contents(&other.snapshot()), case.model, "read by another process after step {number}");
    }
    assert_sound(&vfs);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]
    #[test]
    fn nothing_is_lost_beside_a_flush(quads in file(), steps in prop::collection::vec(step(), 0..25)) {
        run(&quads, &steps);
    }
}

fn insert(store: &Store, number: u64, cancel: &CancelToken) -> Result<(), StoreError> {
    let mut transaction = store.begin_blind()?.with_cancel(cancel);
    let iri = |text: &str| Term::from(NamedNode::new_unchecked(text));
    let terms =
        [iri("http://s"), iri("http://p"), Literal::from(format!("{number}{}", "x".repeat(4000))).into()];
    let mut row = [ValueId::DEFAULT_GRAPH; 4];
    for (id, term) in row.iter_mut().zip(terms) {
        *id = transaction.intern(&term)?.unwrap();
    }
    transaction.insert(row);
    transaction.commit().map(|_| ())
}

#[test]
fn a_client_without_time_does_not_keep_the_delta_from_becoming_a_segment() {
    let options = WriteOptions { delta_bytes_max: 50_000, ..options() };
    let store = open(&MemVfs::new(), &options);
    for number in 0..50 {
        // The lock is free, so nobody asks before the commit.
        let cancel = CancelToken::default();
        cancel.cancel();
        insert(&store, number, &cancel).unwrap();
    }
    assert!(store.version().segments.len() > 1, "{:?}", store.flush_status());
    assert_eq!(store.version().quads(), 50);
    let status = store.flush_status();
    assert!(status.flushes > 1 && status.failures == 0 && status.fullness < FULL, "{status:?}");
}

#[test]
fn failures_are_told_and_commits_end_where_the_limit_is() {
    let mem = MemVfs::new();
    let options = WriteOptions { log_bytes_max: PRESSURE_BYTES_MIN, ..options() };
    let vfs = FaultVfs::counting(mem.clone(), false);
    let store = Store::open_for_writing(Arc::new(vfs), Path::new(FOLDER), 1 << 20, options).unwrap();
    // A file where the folder of the next segment would be.
    let number = store.writer().unwrap().next_segment();
    let folder = Path::new(FOLDER).join(crate::manifest::segment_folder(number));
    lode_base::vfs::Vfs::create(&mem, &folder).unwrap();
    let cancel = CancelToken::default();
    let mut committed = 0;
    let refused = loop {
        match insert(&store, committed, &cancel) {
            Ok(()) => committed += 1,
            Err(error) => break error,
        }
        assert!(committed < 2000);
    };
    let status = store.flush_status();
    assert!(matches!(&refused, StoreError::Behind { cause: Some(_) }), "{refused}");
    assert!(status.failures >= 1 && status.failing.is_some() && status.flushes == 0, "{status:?}");
    assert!(status.slowed > 0 && status.refused == 1, "{status:?}");
    assert_eq!(store.version().quads(), committed);
    let log = store.log_counters().bytes;
    assert!((3..=4).contains(&(log / PRESSURE_BYTES_MIN)), "{log}");
    // Once it can, it goes on: nobody has to do anything but to come again.
    lode_base::vfs::Vfs::remove(&mem, &folder).unwrap();
    store.writer().unwrap().flush_state.state().retry = None;
    insert(&store, committed, &cancel).unwrap();
    let status = store.flush_status();
    assert!(status.failing.is_none() && status.flushes == 1 && status.fullness < FULL, "{status:?}");
    assert_eq!(store.version().quads(), committed + 1);
}

#[test]
fn pauses_grow_and_are_bounded() {
    assert_eq!(pause(SLOW), PAUSE_MIN);
    assert!(pause(SLOW + 50) > PAUSE_MIN && pause(SLOW + 50) < PAUSE_MAX);
    assert_eq!((pause(STOP), pause(u64::MAX)), (PAUSE_MAX, PAUSE_MAX));
}
