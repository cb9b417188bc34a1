//! Compactions of a database that lives: with deletions, of all segments or only the newest, while transactions and loads go on.

use super::*;
use crate::crash_tests::assert_sound;
use crate::log::Durability;
use crate::snapshot::Snapshot;
use crate::test_data::{FOLDER, check_reads, contents, file, load_files, rows};
use crate::transaction::tests::{Model, change, ids, open, without_blanks};
use crate::write_options::WriteOptions;
use crate::{LoadOptions, Transaction};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::{Quad, ValueId};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// Numbers of quads of the pool, and whether to insert them.
type Changes = Vec<(usize, bool)>;

#[derive(Debug, Clone)]
enum Write {
    Change(Changes, bool),
    Load(Vec<usize>),
    /// Deletes all quads of the pool whose number leaves this rest.
    DeleteMany(usize, usize),
    /// Clears the graph of a quad.
    Clear(usize),
}

#[derive(Debug, Clone)]
enum Step {
    Write(Write),
    /// Merges the segments from one on. Meanwhile others write, and one transaction spans the switch.
    Compact {
        from: usize,
        meanwhile: Vec<Write>,
        spanning: Changes,
        threads: usize,
        short: bool,
    },
    Full(bool),
    Reopen,
}

fn changes() -> impl Strategy<Value = Changes> {
    prop::collection::vec((0_usize..200, prop::bool::weighted(0.6)), 0..14)
}

fn write() -> impl Strategy<Value = Write> {
    prop_oneof![
        5 => (changes(), any::<bool>()).prop_map(|(changes, blind)| Write::Change(changes, blind)),
        2 => prop::collection::vec(0_usize..200, 0..20).prop_map(Write::Load),
        1 => (1_usize..4, 0_usize..4).prop_map(|(of, rest)| Write::DeleteMany(of, rest % of)),
        1 => (0_usize..200).prop_map(Write::Clear),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let compact =
        (any::<usize>(), prop::collection::vec(write(), 0..4), changes(), 1_usize..3, any::<bool>());
    prop_oneof![
        6 => write().prop_map(Step::Write),
        3 => compact.prop_map(|(from, meanwhile, spanning, threads, short)| {
            Step::Compact { from, meanwhile, spanning, threads, short }
        }),
        1 => any::<bool>().prop_map(Step::Full),
        1 => Just(Step::Reopen),
    ]
}

struct Case<'a> {
    store: Store,
    pool: &'a [Quad],
    model: Model,
}

impl Case<'_> {
    fn write(&mut self, write: &Write) {
        match write {
            Write::Change(changes, blind) => {
                change(&self.store, self.pool, &mut self.model, changes, (*blind, false, true));
            }
            Write::Load(picks) => {
                let quads: Vec<Quad> =
                    picks.iter().map(|pick| self.pool[pick % self.pool.len()].clone()).collect();
                self.model.extend(quads.iter().map(ToString::to_string));
                let options = LoadOptions { threads: 1, memory_bytes: 1 << 20, ..LoadOptions::default() };
                load_files(&self.store, &[("x".to_owned(), quads)], options).unwrap();
            }
            Write::DeleteMany(of, rest) => self.delete_many(*of, *rest),
            Write::Clear(pick) => self.clear(*pick),
        }
    }

    fn delete_many(&mut self, of: usize, rest: usize) {
        let picks = (0..self.pool.len()).filter(|pick| pick % of == rest);
        let changes: Changes = picks.map(|pick| (pick, false)).collect();
        change(&self.store, self.pool, &mut self.model, &changes, (true, false, true));
    }

    fn clear(&mut self, pick: usize) {
        let quad = &self.pool[pick % self.pool.len()];
        let mut transaction = self.store.begin(&CancelToken::default()).unwrap();
        let graph = ids(&mut transaction, quad).unwrap()[3];
        transaction.clear_graph(graph).unwrap();
        transaction.commit().unwrap();
        let of_graph = self.pool.iter().filter(|other| other.graph_name == quad.graph_name);
        let gone: Model = of_graph.map(ToString::to_string).collect();
        self.model.retain(|text| !gone.contains(text));
    }

    fn gather(&self, transaction: &mut Transaction, changes: &Changes) {
        for (pick, insert) in changes {
            let row = ids(transaction, &self.pool[pick % self.pool.len()]).unwrap();
            if *insert { transaction.insert(row) } else { transaction.delete(row) }
        }
    }

    fn compact(&mut self, from: usize, meanwhile: &[Write], spanning: &Changes, options: &CompactOptions) {
        let (store, throttle) = (self.store.clone(), Throttle::full(&CancelToken::default()));
        let version = store.version();
        let held = store.snapshot();
        let before = contents(&held);
        let from = from % version.segments.len().max(1);
        let progress = LoadProgress::default();
        let mut compaction = Compaction::new(&store, &version, from, options, &throttle, &progress);
        let mut transaction = store.begin_blind().unwrap();
        self.gather(&mut transaction, &spanning[..spanning.len() / 2].to_vec());
        let done = compaction.run_and(|| meanwhile.iter().for_each(|write| self.write(write)));
        match done {
            Ok(new) => assert!(new.len() <= 1 + usize::from(from > 0)),
            Err(CompactError::Overtaken) => {
                assert!(meanwhile.iter().any(|write| matches!(write, Write::Clear(_))));
            }
            Err(error) => panic!("{error}"),
        }
        assert_eq!(contents(&held), before);
        self.gather(&mut transaction, &spanning[spanning.len() / 2..].to_vec());
        transaction.commit().unwrap();
        for (pick, insert) in spanning {
            let text = self.pool[pick % self.pool.len()].to_string();
            if *insert {
                self.model.insert(text)
            } else {
                self.model.remove(&text)
            };
        }
    }
}

/// Terms of the dictionaries that are in no quad.
pub fn unused_terms(snapshot: &Snapshot) -> u64 {
    let rows = rows(snapshot, Order::Spog, &[]);
    let has_number = |id: &&ValueId| id.kind().and_then(lode_rdf::Kind::section).is_some();
    let used: BTreeSet<ValueId> = rows.as_flattened().iter().filter(has_number).copied().collect();
    snapshot.version().manifest.terms().iter().sum::<u64>() - used.len() as u64
}

fn run(quads: &[Quad], steps: &[Step], options: &WriteOptions) {
    let pool: Vec<Quad> = quads.iter().map(without_blanks).collect();
    if pool.is_empty() {
        return;
    }
    let vfs = MemVfs::new();
    let mut case = Case { store: open(&vfs, options), pool: &pool, model: Model::new() };
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Write(write) => case.write(write),
            Step::Compact { from, meanwhile, spanning, threads, short } => {
                let memory_bytes = if *short { 0 } else { 1 << 30 };
                let options = CompactOptions { threads: *threads, memory_bytes, ..CompactOptions::default() };
                case.compact(*from, meanwhile, spanning, &options);
            }
            Step::Full(force) => {
                let options = CompactOptions { threads: 1, force: *force, ..CompactOptions::default() };
                compact(&case.store, &options, &Arc::default()).unwrap();
                let version = case.store.version();
                assert!(version.segments.len() <= 1 && version.delta.is_empty());
                assert!(!force || unused_terms(&case.store.snapshot()) == 0);
            }
            Step::Reopen => {
                drop(case.store);
                case.store = open(&vfs, options);
            }
        }
        let snapshot = case.store.snapshot();
        assert_eq!(contents(&snapshot), case.model, "after step {number}");
        check_reads(&snapshot, number);
        assert_sound(&vfs);
        let other = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap();
        assert_eq!(contents(&other.snapshot()), case.model, "read by another process after step {number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]
    #[test]
    fn compactions_change_nothing(
        quads in file(),
        steps in prop::collection::vec(step(), 0..20),
        delta_bytes_max in prop_oneof![Just(0_usize), Just(4_000), Just(usize::MAX)],
        logged_changes_max in prop_oneof![Just(0_usize), Just(5), Just(usize::MAX)],
    ) {
        let options = WriteOptions {
            durability: Durability::Sync,
            delta_bytes_max,
            logged_changes_max,
            memory_bytes: 1 << 20,
            threads: 1,
            ..WriteOptions::default()
        };
        run(&quads, &steps, &options);
    }
}
