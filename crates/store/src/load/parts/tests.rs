//! Loads in tasks against a load by one process and against a model: all kinds of terms, many runs, workers killed at each step, power cuts.

use super::board::Board;
use super::plan::{Plan, ReadPlan};
use super::task::{Phase, Task};
use super::worker::{Moment, WorkEnd, WorkerOptions, work};
use super::{PartsReport, begin, finish};
use crate::crash_tests::assert_sound;
use crate::load::error::LoadError;
use crate::progress::LoadProgress;
use crate::store::Store;
use crate::test_data::{
    FOLDER, Model, add_to, check_reads, contents, file, load_files, named, open, rows, text,
};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::Quad;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const WORK: &str = "/work";

/// Writes files of quads, and plans a load of them with pieces of about `shard_bytes`.
pub fn plan_of(
    vfs: &MemVfs,
    files: &[(String, Vec<Quad>)],
    parts: usize,
    memory_bytes: usize,
    shard_bytes: u64,
) -> Plan {
    vfs.create_dir_all(Path::new("/in")).unwrap();
    let mut paths = Vec::new();
    for (name, quads) in files {
        let path = PathBuf::from(format!("/in/{name}.nq"));
        let mut out = vfs.create(&path).unwrap();
        out.write_all(&text(quads)).unwrap();
        out.sync().unwrap();
        paths.push(path);
    }
    vfs.sync_dir(Path::new("/in")).unwrap();
    let shards = (shard_bytes, shard_bytes);
    Plan::cut(vfs, &paths, parts, (memory_bytes, shards), ReadPlan::default()).unwrap()
}

/// Works until there is nothing more to do, or `goes_on` says no.
pub fn work_with(
    vfs: &Arc<dyn Vfs>,
    lease: Duration,
    goes_on: &(dyn Fn(Task, Moment) -> bool + Sync),
) -> Result<WorkEnd, LoadError> {
    let (cancel, progress) = (CancelToken::default(), Arc::new(LoadProgress::default()));
    let options = WorkerOptions { name: "test".into(), lease, cancel: &cancel, progress: &progress, goes_on };
    work(&Board::new(vfs, Path::new(WORK)), &options)
}

pub fn begin_and_finish(
    vfs: &Arc<dyn Vfs>,
    plan: &Plan,
    lease: Duration,
) -> Result<(Store, PartsReport), LoadError> {
    let store = Store::create_or_open(Arc::clone(vfs), Path::new(FOLDER), 1 << 20)?;
    let board = Board::new(vfs, Path::new(WORK));
    begin(&store, &board, plan)?;
    assert_eq!(work_with(vfs, lease, &|_, _| true)?, WorkEnd::Done);
    let report = finish(&store, &board, &CancelToken::default(), &Arc::new(LoadProgress::default()))?;
    board.remove()?;
    Ok((store, report))
}

pub fn shared(vfs: &MemVfs) -> Arc<dyn Vfs> {
    Arc::new(vfs.clone())
}

/// Bytes of all files of the segments but their descriptions, which have random numbers.
pub fn segment_files(vfs: &MemVfs) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_of_segment = |path: &PathBuf| {
        let text = path.to_string_lossy();
        text.starts_with("/db/segment-") && !text.ends_with("segment.meta")
    };
    vfs.files()
        .into_iter()
        .filter(is_of_segment)
        .map(|path| (path.clone(), vfs.read(&path).unwrap()))
        .collect()
}

/// Loads files one after the other.
pub fn load_each(vfs: &MemVfs, files: &[(String, Vec<Quad>)]) {
    for file in files {
        load_files(&open(vfs), std::slice::from_ref(file), crate::LoadOptions::default()).unwrap();
    }
}

pub fn many_values(count: usize) -> Vec<Quad> {
    let text: String = (0..count)
        .map(|n| {
            format!("<http://s/{}> <http://p/{}> {} <http://g/{}> .\n", n % 97, n % 300, value(n), n % 7)
        })
        .collect();
    quads_of(&text)
}

/// The same, and triple terms with blank nodes in them, some of which are in others, and in each of the files.
pub fn triple_values(count: usize) -> Vec<Quad> {
    let text: String = (0..count / 3)
        .map(|n| {
            let (a, b, c) = (n % 11, n % 7, n % 5);
            let inner = format!("<<( _:b{a} <http://p/{c}> {} )>>", value(n % 50));
            let outer = format!("<<( <http://s/{b}> <http://p/{c}> {inner} )>>");
            let both = format!("<<( _:c{c} <http://p/{b}> {outer} )>>");
            let plain = format!("<<( <http://s/{a}> <http://p/{b}> \"plain\" )>>");
            let object = [inner, outer, both, plain][n % 4].clone();
            format!("_:b{} <http://p/says> {object} .\n", n % 13)
        })
        .collect();
    [many_values(count), quads_of(&text)].concat()
}

fn quads_of(text: &str) -> Vec<Quad> {
    let mut quads = Vec::new();
    let format = lode_rdf::RdfFormat::NQuads;
    lode_rdf::parse::parse(format, text.as_bytes(), &lode_rdf::ParseOptions::default(), &mut |quad| {
        quads.push(Quad::from(quad));
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    quads
}

fn value(number: usize) -> String {
    match number % 3 {
        0 => format!("\"{number}\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
        1 => format!("\"{number}.5\"^^<http://www.w3.org/2001/XMLSchema#decimal>"),
        _ => format!("\"text {number}\""),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn as_one_process(
        files in proptest::collection::vec(file(), 0..4),
        parts in 1_usize..6,
        short in any::<bool>(),
        shard_bytes in prop_oneof![Just(1_u64), Just(40), Just(700), Just(1 << 20)],
        pick in any::<usize>(),
        there in 0_usize..3,
    ) {
        let files: Vec<(String, Vec<Quad>)> = files.iter().enumerate().map(|(at, quads)| {
            let name = format!("file{at}");
            (name.clone(), named(&name, quads))
        }).collect();
        let mut model = Model::new();
        for (name, quads) in &files {
            add_to(&mut model, name, quads);
        }
        let vfs = MemVfs::new();
        // A shard for each byte would be too many.
        let bytes: usize = files.iter().map(|(_, quads)| text(quads).len()).sum();
        let shard_bytes = shard_bytes.max(bytes as u64 / 40);
        let memory_bytes = if short { 0 } else { 1 << 30 };
        // The first are in the database already, by as many loads.
        let (before, files) = files.split_at(there.min(files.len()));
        let mut known = Model::new();
        before.iter().for_each(|(name, quads)| add_to(&mut known, name, quads));
        load_each(&vfs, before);
        let plan = plan_of(&vfs, files, parts, memory_bytes, shard_bytes);
        let (store, report) = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
        prop_assert_eq!(report.added, (model.len() - known.len()) as u64);
        prop_assert_eq!(report.quads, files.iter().map(|(_, quads)| quads.len() as u64).sum::<u64>());
        prop_assert_eq!(&contents(&store.snapshot()), &model);
        check_reads(&store.snapshot(), pick);
        assert_sound(&vfs);
        // The same ids as one process gives, so the same fingerprints.
        let alone = MemVfs::new();
        load_each(&alone, before);
        let alone = open(&alone);
        let of_one = load_files(&alone, files, crate::LoadOptions::default()).unwrap();
        prop_assert_eq!(report.existing, of_one.existing);
        prop_assert_eq!(report.terms, of_one.new_terms);
        prop_assert_eq!(report.blank_nodes, of_one.blank_nodes);
        prop_assert_eq!(
            rows(&alone.snapshot(), Order::Spog, &[]),
            rows(&store.snapshot(), Order::Spog, &[])
        );
        // And it is a database like others.
        drop(store);
        let store = open(&vfs);
        let more = vec![("more".to_owned(), named("more", &files.first().map(|file| file.1.clone()).unwrap_or_default()))];
        load_files(&store, &more, crate::LoadOptions::default()).unwrap();
        drop(store);
        assert_sound(&vfs);
    }
}

#[test]
fn values_and_names_that_are_not_listed() {
    let files = vec![("many".to_owned(), many_values(9000))];
    // So little memory that neither are.
    let vfs = MemVfs::new();
    let plan = plan_of(&vfs, &files, 3, 0, 100_000);
    let (store, _) = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
    assert_sound(&vfs);
    let other = MemVfs::new();
    let alone = open(&other);
    load_files(&alone, &files, crate::LoadOptions::default()).unwrap();
    let spog = |store: &Store| rows(&store.snapshot(), Order::Spog, &[]);
    assert!(spog(&alone) == spog(&store));
    // Runs are tiny, so terms weigh as much as rows, and the first part may have only names.
    let segments = store.version().manifest.segments.clone();
    assert!(segments.len() == 3 && segments.iter().filter(|segment| segment.quads > 1000).count() >= 2);
    let sum = |store: &Store| {
        let segments = store.version();
        segments.manifest.segments.iter().fold(0_u64, |sum, entry| sum.wrapping_add(entry.fingerprint))
    };
    assert_eq!(sum(&alone), sum(&store));
}

#[test]
fn into_databases_with_more_terms_than_are_new() {
    // So little memory that neither values nor names are listed, and dictionaries are looked up term by term, or read.
    for (old, new) in [(9000, 300), (300, 9000)] {
        let before = vec![("before".to_owned(), many_values(old))];
        let files = vec![("more".to_owned(), many_values(new)), ("other".to_owned(), named("other", &[]))];
        let (vfs, other) = (MemVfs::new(), MemVfs::new());
        load_each(&vfs, &before);
        load_each(&other, &before);
        // Some of it is deleted, so what comes again is new.
        for vfs in [&vfs, &other] {
            let store = open(vfs);
            let some = rows(&store.snapshot(), Order::Spog, &[]);
            let mut transaction = store.begin(&CancelToken::default()).unwrap();
            some.iter().step_by(6).for_each(|quad| transaction.delete(*quad));
            transaction.commit().unwrap();
        }
        let plan = plan_of(&vfs, &files, 3, 0, 20_000);
        let (store, report) = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
        let alone = open(&other);
        let of_one = load_files(&alone, &files, crate::LoadOptions::default()).unwrap();
        assert_eq!((report.added, report.existing), (of_one.added, of_one.existing));
        let spog = |store: &Store| rows(&store.snapshot(), Order::Spog, &[]);
        assert!(spog(&alone) == spog(&store));
        assert_sound(&vfs);
    }
}

#[test]
fn the_same_bytes_however_many_work() {
    let files = vec![("a".to_owned(), many_values(3000)), ("b".to_owned(), triple_values(500))];
    let mut first = None;
    for workers in [1, 2, 5] {
        let vfs = MemVfs::new();
        let plan = plan_of(&vfs, &files, 4, 0, 20_000);
        let (shared, board) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)));
        let store = open(&vfs);
        begin(&store, &board, &plan).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                // Without a lease each takes over what the others are at, so that tasks are done more than once.
                let lease = if workers == 5 { Duration::ZERO } else { Duration::from_secs(60) };
                let shared = &shared;
                scope.spawn(move || {
                    assert_eq!(work_with(shared, lease, &|_, _| true).unwrap(), WorkEnd::Done);
                });
            }
        });
        finish(&store, &board, &CancelToken::default(), &Arc::default()).unwrap();
        let found = segment_files(&vfs);
        assert!(found.len() > 4 * 7);
        assert_sound(&vfs);
        assert!(*first.get_or_insert(found.clone()) == found, "{workers} workers");
    }
}

#[test]
fn a_worker_killed_at_any_moment_of_any_phase() {
    let files = vec![("a".to_owned(), triple_values(300))];
    let expected = {
        let vfs = MemVfs::new();
        let plan = plan_of(&vfs, &files, 2, 0, 4000);
        begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
        segment_files(&vfs)
    };
    for phase in Phase::ALL {
        for moment in [Moment::Claimed, Moment::Written, Moment::Committed] {
            let vfs = MemVfs::new();
            let plan = plan_of(&vfs, &files, 2, 0, 4000);
            let (shared, board) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)));
            let store = open(&vfs);
            begin(&store, &board, &plan).unwrap();
            let kills = |task: Task, now| !(task.phase == phase && now == moment);
            assert_eq!(work_with(&shared, Duration::from_millis(20), &kills).unwrap(), WorkEnd::Stopped);
            let done_before = board.done().unwrap();
            // The coordinator is killed with it, and begins again.
            drop(store);
            let store = open(&vfs);
            assert!(begin(&store, &board, &plan).unwrap(), "it goes on");
            let again = Mutex::new(Vec::new());
            let counts = |task: Task, now| {
                if now == Moment::Claimed {
                    again.lock().unwrap().push(task.to_string());
                }
                true
            };
            assert_eq!(work_with(&shared, Duration::from_millis(20), &counts).unwrap(), WorkEnd::Done);
            let again = again.into_inner().unwrap();
            assert!(again.iter().all(|task| !done_before.contains(task)), "what was done was done again");
            finish(&store, &board, &CancelToken::default(), &Arc::default()).unwrap();
            assert!(segment_files(&vfs) == expected, "{phase:?} {moment:?}");
        }
    }
}

#[test]
fn many_workers_and_random_kills() {
    let files = vec![("a".to_owned(), many_values(400))];
    for round in 0..8_u64 {
        let vfs = MemVfs::new();
        let plan = plan_of(&vfs, &files, 3, 0, 3000);
        let (shared, board) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)));
        let store = open(&vfs);
        begin(&store, &board, &plan).unwrap();
        let (dice, kills) = (AtomicU64::new(round.wrapping_mul(0x9E37_79B9) + 1), AtomicUsize::new(0));
        let goes_on = |_: Task, _: Moment| {
            let drawn = dice.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
            let is_killed = (drawn ^ (drawn >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 61 == 0;
            kills.fetch_add(usize::from(is_killed), Ordering::Relaxed);
            !is_killed
        };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        match work_with(&shared, Duration::from_millis(10), &goes_on).unwrap() {
                            WorkEnd::Done => break,
                            WorkEnd::Stopped => {}
                            WorkEnd::Failed(why) => panic!("{}", why.text),
                        }
                    }
                });
            }
        });
        finish(&store, &board, &CancelToken::default(), &Arc::default()).unwrap();
        assert_sound(&vfs);
        assert_eq!(store.snapshot().quad_count(), 400);
        assert!(kills.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn power_cuts_of_loads_into_new_databases() {
    power_cuts(&[], 3);
}

#[test]
fn power_cuts_of_loads_into_databases_with_data() {
    power_cuts(&[("before".to_owned(), many_values(20))], 7);
}

/// Power goes at every so many operations of a whole load, on the machine of the work folder and of the database; then it goes on.
fn power_cuts(there: &[(String, Vec<Quad>)], every: usize) {
    let files = vec![("a".to_owned(), many_values(40))];
    let (before, lease) = (MemVfs::new(), Duration::from_millis(4));
    load_each(&before, there);
    let held: usize = there.iter().map(|(_, quads)| quads.len()).sum();
    let plan = plan_of(&before, &files, 2, 1 << 30, 1 << 20);
    let counting = FaultVfs::counting(before.deep_copy(), false);
    let vfs: Arc<dyn Vfs> = Arc::new(counting.clone());
    begin_and_finish(&vfs, &plan, Duration::from_secs(60)).unwrap();
    let expected = segment_files(counting.inner());
    // Beats are operations, too, so their number is not always the same.
    for at in (0..counting.operations() + 2).step_by(every) {
        let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let _ = begin_and_finish(&shared, &plan, Duration::from_secs(60));
        for kind in [CrashKind::LoseAll, CrashKind::Torn(at)] {
            let after = vfs.after_crash(kind);
            let store = open(&after);
            let is_there = store.snapshot().quad_count() > held as u64;
            let board = Board::new(&self::shared(&after), Path::new(WORK));
            let has_ended = board.has_ended(&plan).unwrap();
            assert!(is_there || !has_ended, "operation {at}, {kind:?}");
            if has_ended || is_there && board.plan().unwrap().is_none() {
                // It was over, and the work folder was gone, or was on its way.
                assert_sound(&after);
                continue;
            }
            drop(store);
            let (_, report) = begin_and_finish(&self::shared(&after), &plan, lease)
                .unwrap_or_else(|error| panic!("operation {at}, {kind:?}: {error}"));
            assert_eq!(report.added, 40 - held as u64, "operation {at}, {kind:?}");
            assert!(
                is_there || segment_files(&after).values().eq(expected.values()),
                "operation {at}, {kind:?}"
            );
            assert_sound(&after);
            assert!(!after.exists(&Path::new(WORK).join("plan")));
        }
    }
}

#[test]
fn bad_files_end_the_load_for_all_until_they_are_mended() {
    let vfs = MemVfs::new();
    let files = vec![("a".to_owned(), many_values(50))];
    let plan = plan_of(&vfs, &files, 2, 0, 1000);
    let path = PathBuf::from("/in/a.nq");
    let good = vfs.read(&path).unwrap();
    let mut bad = good.clone();
    let middle = good.len() / 2 + good[good.len() / 2..].iter().position(|byte| *byte == b'<').unwrap();
    bad[middle] = b'!';
    vfs.overwrite(&path, bad).unwrap();
    let (shared, board, store) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)), open(&vfs));
    begin(&store, &board, &plan).unwrap();
    let error = work_with(&shared, Duration::from_secs(60), &|_, _| true).unwrap_err().to_string();
    let line = good[..middle].iter().filter(|byte| **byte == b'\n').count() + 1;
    let begin = good[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    assert!(error.starts_with(&format!("/in/a.nq:{line}:")), "{error}");
    assert!(error.contains(&format!("begins at byte {begin}")), "{error}");
    let WorkEnd::Failed(why) = work_with(&shared, Duration::from_secs(60), &|_, _| true).unwrap() else {
        panic!("others are told");
    };
    assert_eq!((why.text, why.is_syntax), (error, true));
    assert!(finish(&store, &board, &CancelToken::default(), &Arc::default()).is_err());
    assert_eq!(store.snapshot().quad_count(), 0);
    vfs.overwrite(&path, good).unwrap();
    drop(store);
    let (store, _) = begin_and_finish(&shared, &plan, Duration::from_millis(10)).unwrap();
    assert_eq!(store.snapshot().quad_count(), 50);
}

/// Who removes the work of a load that has ended may be killed in between: the same command line must not load all of it again.
#[test]
fn what_tells_that_a_load_has_ended_goes_last() {
    let (vfs, files) = (MemVfs::new(), vec![("a".to_owned(), many_values(20))]);
    let plan = plan_of(&vfs, &files, 2, 0, 1000);
    let (vfs_of_all, board) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)));
    let store = open(&vfs);
    begin(&store, &board, &plan).unwrap();
    assert!(!board.has_ended(&plan).unwrap());
    work_with(&vfs_of_all, Duration::from_secs(60), &|_, _| true).unwrap();
    finish(&store, &board, &CancelToken::default(), &Arc::default()).unwrap();
    assert!(board.has_ended(&plan).unwrap());
    for key in ["out", "claims", "beats", "done", "failed"] {
        let left = vfs.deep_copy();
        left.remove_dir_all(&Path::new(WORK).join(key)).ok();
        assert!(Board::new(&shared(&left), Path::new(WORK)).has_ended(&plan).unwrap(), "{key}");
    }
    // Whatever is stopped after so many operations: it has ended, or there is no more of it than that it has.
    let mut stops = 0;
    for at in 0..40 {
        let left = vfs.deep_copy();
        let faulty: Arc<dyn Vfs> = Arc::new(FaultVfs::new(left.clone(), Fault::Outage(3), at, false));
        if Board::new(&faulty, Path::new(WORK)).remove().is_ok() {
            assert!(!left.exists(Path::new(WORK)));
            continue;
        }
        let board = Board::new(&shared(&left), Path::new(WORK));
        let names = left.list(Path::new(WORK)).unwrap_or_default();
        let is_only_over = names.iter().all(|name| name.as_os_str() == "over");
        assert!(board.has_ended(&plan).unwrap() || is_only_over, "{stops} {names:?}");
        stops += 1;
    }
    assert!(stops > 3, "{stops}");
    // Another load may begin where one has ended.
    let other = Plan { parts: 3, ..plan.clone() };
    assert!(!begin(&store, &board, &other).is_ok_and(|goes_on| goes_on));
    assert!(!board.has_ended(&plan).unwrap());
}

#[test]
fn what_may_not_be_loaded_into() {
    let (vfs, files) = (MemVfs::new(), vec![("a".to_owned(), many_values(20))]);
    let plan = plan_of(&vfs, &files, 2, 0, 1000);
    let (shared, board) = (shared(&vfs), Board::new(&shared(&vfs), Path::new(WORK)));
    let store = open(&vfs);
    begin(&store, &board, &plan).unwrap();
    // Another load in the same folder.
    let other = Plan { parts: 3, ..plan.clone() };
    let error = begin(&store, &board, &other).unwrap_err().to_string();
    assert!(error.contains("holds a load of other files"), "{error}");
    // Somebody else has put something into the database meanwhile.
    load_files(&store, &files, crate::LoadOptions::default()).unwrap();
    let error = begin(&store, &board, &plan).unwrap_err().to_string();
    assert!(error.contains("holds other data"), "{error}");
    work_with(&shared, Duration::from_secs(60), &|_, _| true).unwrap();
    let error = finish(&store, &board, &CancelToken::default(), &Arc::default()).unwrap_err().to_string();
    assert!(error.contains("holds other data"), "{error}");
    // A folder with other things.
    vfs.create_dir_all(Path::new("/photos/cats")).unwrap();
    let empty = Store::create_or_open(Arc::clone(&shared), Path::new("/new"), 0).unwrap();
    let error = begin(&empty, &Board::new(&shared, Path::new("/photos")), &plan).unwrap_err().to_string();
    assert!(error.contains("other files") && vfs.exists(Path::new("/photos/cats")), "{error}");
    // A file that is not what it was.
    let plan = plan_of(&vfs, &[("a".to_owned(), many_values(30))], 2, 0, 1000);
    let plan = Plan {
        shards: plan.shards.into_iter().map(|shard| super::plan::Shard { file_bytes: 1, ..shard }).collect(),
        ..plan
    };
    let board = Board::new(&shared, Path::new(WORK));
    board.remove().unwrap();
    begin(&empty, &board, &plan).unwrap();
    let error = work_with(&shared, Duration::from_secs(60), &|_, _| true).unwrap_err().to_string();
    assert!(error.contains("another length"), "{error}");
}

#[test]
fn triple_terms_with_blank_nodes_of_files_and_databases() {
    let files: Vec<_> = ["a", "b", "c"].map(|name| (name.to_owned(), triple_values(300))).into();
    for (there, memory_bytes) in [(0, 0), (0, 1 << 30), (1, 0), (2, 1 << 30)] {
        let (before, files) = files.split_at(there);
        let (vfs, alone) = (MemVfs::new(), MemVfs::new());
        load_each(&vfs, before);
        load_each(&alone, before);
        let plan = plan_of(&vfs, files, 3, memory_bytes, 5000);
        assert!(plan.shards.len() > 4);
        let (store, report) = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
        let alone = open(&alone);
        let of_one = load_files(&alone, files, crate::LoadOptions::default()).unwrap();
        assert_eq!((report.added, report.existing), (of_one.added, of_one.existing));
        assert_eq!((report.terms, report.segments), (of_one.new_terms, 4));
        let spog = |store: &Store| rows(&store.snapshot(), Order::Spog, &[]);
        assert!(spog(&alone) == spog(&store));
        drop(store);
        assert_sound(&vfs);
    }
}

/// A compressed file of frames that begin and end anywhere in lines, and the plan of its load.
fn compressed(vfs: &MemVfs, plain: &[u8]) -> Plan {
    vfs.create_dir_all(Path::new("/in")).unwrap();
    let path = PathBuf::from("/in/a.nq.zst");
    let frames: Vec<u8> = plain.chunks(777).flat_map(super::frame_range::tests::frame).collect();
    vfs.create(&path).unwrap().write_all(&frames).unwrap();
    Plan::cut(vfs, &[path], 3, (0, (20_000, 20_000)), ReadPlan::default()).unwrap()
}

#[test]
fn compressed_files_of_frames_are_read_in_pieces() {
    let (vfs, files) = (MemVfs::new(), vec![("a".to_owned(), triple_values(900))]);
    let plan = compressed(&vfs, &text(&files[0].1));
    assert!(plan.shards.len() > 10 && plan.shards.iter().all(|shard| shard.range.is_some()));
    assert!(Plan::decode(Path::new("plan"), plan.encode()).unwrap() == plan);
    let (store, report) = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).unwrap();
    let other = MemVfs::new();
    let alone = open(&other);
    let of_one = load_files(&alone, &files, crate::LoadOptions::default()).unwrap();
    assert_eq!((report.added, report.quads), (of_one.added, files[0].1.len() as u64));
    let spog = |store: &Store| rows(&store.snapshot(), Order::Spog, &[]);
    assert!(spog(&alone) == spog(&store));
    drop(store);
    assert_sound(&vfs);
}

#[test]
fn what_is_wrong_in_a_compressed_piece_is_told_with_its_place() {
    let vfs = MemVfs::new();
    let mut plain = text(&many_values(900));
    let at = plain.len() / 2 + plain[plain.len() / 2..].iter().position(|byte| *byte == b'<').unwrap();
    plain[at] = b'!';
    let plan = compressed(&vfs, &plain);
    let error = begin_and_finish(&shared(&vfs), &plan, Duration::from_secs(60)).err().unwrap().to_string();
    assert!(error.starts_with("/in/a.nq.zst:") && error.contains("behind byte"), "{error}");
}

#[test]
fn plans_are_read_back() {
    let vfs = MemVfs::new();
    let plan = plan_of(&vfs, &[("a".to_owned(), many_values(100))], 4, 7, 500);
    let read = ReadPlan {
        format: Some(lode_rdf::RdfFormat::NQuads),
        base_iri: Some("http://b/".into()),
        graph: Some("http://g".into()),
        lenient: true,
        statement_bytes_max: Some(9),
    };
    let manifest = open(&vfs).version().manifest.clone();
    let base = super::plan::Base { folder: PathBuf::from("/db"), manifest };
    let plan = Plan { read, base: Some(base), ..plan };
    assert!(plan.shards.len() > 3);
    let bytes = plan.encode();
    assert_eq!(Plan::decode(Path::new("plan"), bytes.clone()).unwrap(), plan);
    for end in 0..bytes.len() {
        assert!(Plan::decode(Path::new("plan"), bytes[..end].to_vec()).is_err(), "{end}");
    }
}
