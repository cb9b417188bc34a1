//! Loads whose database is a published one, by workers that have nothing in common but the store: the same as one process makes, whoever is killed, and
//! whichever answers of the store are lost.

use crate::*;
use lode_base::vfs::ReadAt;
use lode_remote::{LoadPlace, begin_load, check, publish_load};
use lode_store::load::parts::{
    Board, Moment, PartsReport, Phase, Plan, ReadPlan, Task, WorkEnd, WorkerOptions, work,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const FILES: usize = 3;
const PARTS: usize = 2;
/// Those of the parts, and the one of triple terms with blank nodes in them.
const SEGMENTS: usize = PARTS + 1;

/// A file with blank nodes, values, and quads that others have, too.
fn text(file: usize) -> String {
    let line = |i: usize| match i % 4 {
        0 => format!("<http://e/s{}> <http://e/p{}> \"text {}\" .\n", i / 3, i % 7, i * 7919 % 1009),
        1 => format!("_:b{} <http://e/p{}> <http://e/s{}> .\n", i / 5, i % 7, i / 2),
        2 => {
            let number = i * (file + 1);
            format!(
                "<http://e/s{i}> <http://e/n> \"{number}\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
            )
        }
        _ if i % 24 == 3 => {
            let inner = format!("<<( <http://e/s{i}> <http://e/q> _:b{} )>>", i / 7);
            format!("<http://e/s{}> <http://e/says> <<( _:b{} <http://e/q> {inner} )>> .\n", i / 3, i / 5)
        }
        _ => format!("<http://e/s{}> <http://e/q> _:b{} .\n", i / 3, i / 7),
    };
    (0..300).map(line).collect()
}

/// What one process makes of the files.
pub fn expected() -> Vec<String> {
    let vfs = MemVfs::new();
    let source =
        |file: usize| Source::bytes(format!("{file}.nt"), text(file)).with_format(RdfFormat::NTriples);
    let database = open(&shared(&vfs));
    let (sources, progress) = ((0..FILES).map(source).collect(), Arc::new(LoadProgress::default()));
    lode_store::load(database.store(), sources, LoadOptions::default(), &progress).unwrap();
    contents(&database).unwrap()
}

/// Machines with the same files.
pub struct Machines {
    /// The disks.
    vfs: MemVfs,
    kept: tempfile::TempDir,
    number: AtomicUsize,
}

impl Machines {
    pub fn new() -> Self {
        let vfs = MemVfs::new();
        vfs.create_dir_all(Path::new("/in")).unwrap();
        for file in 0..FILES {
            let path = PathBuf::from(format!("/in/{file}.nt"));
            vfs.create(&path).unwrap().write_all(text(file).as_bytes()).unwrap();
        }
        Self { vfs, kept: tempfile::tempdir().unwrap(), number: AtomicUsize::new(0) }
    }

    pub fn plan(&self) -> Plan {
        let files: Vec<PathBuf> = (0..FILES).map(|file| PathBuf::from(format!("/in/{file}.nt"))).collect();
        Plan::new(&self.vfs, &files, PARTS, 48 << 20, ReadPlan::default()).unwrap()
    }

    /// The work in a store as another machine sees it.
    pub fn board(&self, store: Arc<dyn ObjectStore>) -> Board {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let (folder, kept) = (format!("/machine{number}"), self.kept.path().join(number.to_string()));
        let place = LoadPlace::new(store, shared(&self.vfs), Path::new(&folder), &kept).unwrap();
        Board::at(Arc::new(place))
    }
}

/// Works until there is nothing more to do, or `goes_on` says no.
pub fn work_at(board: &Board, lease: Duration, goes_on: &(dyn Fn(Task, Moment) -> bool + Sync)) -> WorkEnd {
    let (cancel, progress) = (CancelToken::default(), Arc::new(LoadProgress::default()));
    let name = "test".to_owned();
    work(board, &WorkerOptions { name, lease, cancel: &cancel, progress: &progress, goes_on }).unwrap()
}

pub fn finish_at(store: &dyn ObjectStore, board: &Board) -> Result<PartsReport, RemoteError> {
    publish_load(store, board, &CancelToken::default(), &Arc::new(LoadProgress::default()))
}

/// What is published is right, and nothing else is left.
pub fn assert_published(store: &Arc<dyn ObjectStore>, expected: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let cache = lode_remote::CacheOptions { folder: folder.path().to_owned(), bytes_max: 1 << 30 };
    let options = ReadOptions { cache: Some(cache), ..ReadOptions::default() };
    let published = read(Arc::clone(store), &options).unwrap();
    assert!(published_contents(&published).unwrap() == expected);
    let found = check(&**store, &Default::default(), &CancelToken::default(), &mut |_| {}).unwrap();
    assert!(found.problems.is_empty() && found.segments == SEGMENTS as u64, "{found:?}");
    assert_eq!(Some(newest_copy(&**store)), lode_remote::newest(&**store).unwrap());
    let names = store.list("").unwrap().unwrap();
    let segments = names.iter().filter(|name| name.starts_with("segment-")).count();
    assert!(segments == SEGMENTS && !names.contains(&"load".to_owned()), "{names:?}");
}

fn folder() -> Arc<dyn ObjectStore> {
    // Objects are fetched as they are from far away.
    Arc::new(store(&MemVfs::new()).remote())
}

#[test]
fn as_one_process_by_workers_of_several_machines() {
    let expected = expected();
    // Without a lease each takes over what the others are at, so that segments are written more than once.
    for lease in [LONG, Duration::ZERO] {
        for store in [folder(), Arc::new(store(&MemVfs::new())) as Arc<dyn ObjectStore>] {
            let machines = Machines::new();
            let head = machines.board(Arc::clone(&store));
            assert!(!begin_load(&*store, &head, &machines.plan()).unwrap());
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    let board = machines.board(Arc::clone(&store));
                    scope.spawn(move || assert_eq!(work_at(&board, lease, &|_, _| true), WorkEnd::Done));
                }
            });
            let report = finish_at(&*store, &head).unwrap();
            assert_eq!((report.added, report.quads), (expected.len() as u64, 300 * FILES as u64));
            assert_eq!((report.segments, report.was_published), (SEGMENTS, false));
            // Whoever comes now has nothing to do.
            assert_eq!(work_at(&head, lease, &|_, _| true), WorkEnd::Done);
            head.remove().unwrap();
            assert_published(&store, &expected);
        }
    }
}

/// Kills a worker at each moment of each phase, and who began with it.
pub fn kills(new_store: &dyn Fn() -> Arc<dyn ObjectStore>, lease: Duration) {
    let expected = expected();
    for phase in Phase::ALL {
        for moment in [Moment::Claimed, Moment::Written, Moment::Committed] {
            let (machines, store) = (Machines::new(), new_store());
            let plan = machines.plan();
            let head = machines.board(Arc::clone(&store));
            begin_load(&*store, &head, &plan).unwrap();
            let kills = |task: Task, now| !(task.phase == phase && now == moment);
            let worker = machines.board(Arc::clone(&store));
            assert_eq!(work_at(&worker, lease, &kills), WorkEnd::Stopped);
            assert!(lode_remote::newest(&*store).unwrap().is_none());
            let done_before: BTreeSet<String> =
                store.list("load/done").unwrap().unwrap().into_iter().collect();
            let head = machines.board(Arc::clone(&store));
            assert!(begin_load(&*store, &head, &plan).unwrap(), "it goes on");
            let again = Mutex::new(Vec::new());
            let counts = |task: Task, now| {
                if now == Moment::Claimed {
                    again.lock().unwrap().push(task.to_string());
                }
                true
            };
            let worker = machines.board(Arc::clone(&store));
            assert_eq!(work_at(&worker, lease, &counts), WorkEnd::Done);
            let again = again.into_inner().unwrap();
            assert!(again.iter().all(|task| !done_before.contains(task)), "what was done was done again");
            finish_at(&*store, &head).unwrap();
            // Killed behind the step that counts.
            let head = machines.board(Arc::clone(&store));
            assert!(begin_load(&*store, &head, &plan).unwrap());
            assert!(finish_at(&*store, &head).unwrap().was_published);
            head.remove().unwrap();
            assert_published(&store, &expected);
        }
    }
}

#[test]
fn killed_at_any_moment_of_any_phase_it_goes_on() {
    kills(&folder, Duration::from_millis(20));
}

#[test]
fn what_may_not_be_loaded_into() {
    let (machines, vfs) = (Machines::new(), database(30));
    let store: Arc<dyn ObjectStore> = Arc::new(store(&vfs));
    let (head, plan) = (machines.board(Arc::clone(&store)), machines.plan());
    // The folder of a database itself.
    let own: Arc<dyn ObjectStore> = Arc::new(FolderStore::new(shared(&vfs), Path::new(DATABASE)));
    let refused = begin_load(&*own, &machines.board(Arc::clone(&own)), &plan).unwrap_err();
    assert!(refused.to_string().contains("folder of a database"), "{refused}");
    begin_load(&*store, &head, &plan).unwrap();
    let other = Plan { parts: 3, ..plan.clone() };
    let refused = begin_load(&*store, &head, &other).unwrap_err().to_string();
    assert!(refused.contains("holds a load of other files") && refused.contains("/load"), "{refused}");
    // Somebody publishes meanwhile.
    assert_eq!(work_at(&head, LONG, &|_, _| true), WorkEnd::Done);
    publish(&vfs, &*store);
    let before = newest_contents(&vfs);
    for refused in [finish_at(&*store, &head).unwrap_err(), begin_load(&*store, &head, &plan).unwrap_err()] {
        assert!(refused.to_string().contains("published there already"), "{refused}");
    }
    head.remove().unwrap();
    let refused = begin_load(&*store, &head, &plan).unwrap_err();
    assert!(refused.to_string().contains("published there already"), "{refused}");
    assert_eq!(newest_contents(&vfs), before);
}

/// A store of which answers are lost, whether or not what they answer was done: to each thread the first of every three that it asks of a key.
#[derive(Debug)]
struct Unreliable {
    store: FolderStore,
    asked: Mutex<BTreeMap<(String, String), usize>>,
}

impl Unreliable {
    fn ask<T>(&self, key: &str, work: impl FnOnce() -> Result<T, RemoteError>) -> Result<T, RemoteError> {
        let who = format!("{:?}", std::thread::current().id());
        let number = {
            let mut asked = self.asked.lock().unwrap();
            let number = asked.entry((who, key.to_owned())).or_default();
            *number += 1;
            *number
        };
        if number % 3 != 1 {
            return work();
        }
        let (object, source) = (key.to_owned(), std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        match key.len() % 3 {
            0 => Err(RemoteError::Io { object, source }),
            1 => work().and(Err(RemoteError::Io { object, source })),
            _ => work().and(Err(RemoteError::InDoubt { object, source })),
        }
    }

    fn ask_surely<T>(&self, key: &str, work: impl Fn() -> Result<T, RemoteError>) -> Result<T, RemoteError> {
        let done = self.ask(key, &work);
        // Only writes can be in doubt.
        if matches!(done, Err(RemoteError::InDoubt { .. })) { work() } else { done }
    }
}

impl ObjectStore for Unreliable {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        self.ask_surely(key, || self.store.get(key, bytes_max))
    }

    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        let buf = Mutex::new(buf);
        self.ask_surely(key, || self.store.get_range(key, offset, &mut buf.lock().unwrap()))
    }

    fn open(&self, _: &str) -> Result<Option<Arc<dyn ReadAt>>, RemoteError> {
        Ok(None)
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        self.ask_surely(folder, || self.store.list(folder))
    }

    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError> {
        self.ask_surely(key, || self.store.size(key))
    }

    fn put(&self, key: &str, body: &mut dyn std::io::Read) -> Result<(), RemoteError> {
        self.store.put(key, body)
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, RemoteError> {
        self.ask(key, || self.store.put_if_absent(key, bytes))
    }

    fn remove(&self, key: &str) -> Result<(), RemoteError> {
        self.store.remove(key)
    }
}

#[test]
fn answers_that_are_lost_change_nothing() {
    let expected = expected();
    let vfs = MemVfs::new();
    let sure: Arc<dyn ObjectStore> = Arc::new(store(&vfs));
    let unsure: Arc<dyn ObjectStore> = Arc::new(Unreliable { store: store(&vfs), asked: Mutex::default() });
    let machines = Machines::new();
    let head = machines.board(Arc::clone(&sure));
    begin_load(&*sure, &head, &machines.plan()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let board = machines.board(Arc::clone(&unsure));
            scope.spawn(move || assert_eq!(work_at(&board, LONG, &|_, _| true), WorkEnd::Done));
        }
    });
    finish_at(&*sure, &head).unwrap();
    head.remove().unwrap();
    assert_published(&sure, &expected);
}

#[test]
fn an_empty_load_is_an_empty_database() {
    let (machines, store) = (Machines::new(), folder());
    for file in 0..FILES {
        machines.vfs.overwrite(Path::new(&format!("/in/{file}.nt")), Vec::new()).unwrap();
    }
    let head = machines.board(Arc::clone(&store));
    begin_load(&*store, &head, &machines.plan()).unwrap();
    assert_eq!(work_at(&head, LONG, &|_, _| true), WorkEnd::Done);
    assert_eq!(finish_at(&*store, &head).unwrap().segments, 0);
    head.remove().unwrap();
    let published = read(Arc::clone(&store), &ReadOptions::default()).unwrap();
    assert!(published_contents(&published).unwrap().is_empty());
}

#[test]
fn what_is_left_of_a_load_is_collected() {
    let (machines, vfs) = (Machines::new(), MemVfs::new());
    let far: Arc<dyn ObjectStore> = Arc::new(store(&vfs));
    let head = machines.board(Arc::clone(&far));
    begin_load(&*far, &head, &machines.plan()).unwrap();
    work_at(&head, LONG, &|_, _| true);
    finish_at(&*far, &head).unwrap();
    let options = lode_remote::CollectOptions { keep: 1, grace: Duration::ZERO };
    // Its end may be yet to come.
    assert_eq!(lode_remote::collect(&*far, &options).unwrap().removed, 0);
    head.remove().unwrap();
    far.put("load/out/late/file", &mut &b"x"[..]).unwrap();
    far.put("segment-00000000000000000000000000000001/file", &mut &b"x"[..]).unwrap();
    assert_eq!(lode_remote::collect(&*far, &options).unwrap().removed, 2);
    assert_published(&far, &expected());
}
