//! A reader that follows has each version soon and wholly, keeps the one before where a newer one is damaged, and queries that run keep theirs.

use crate::*;
use lode_remote::{CollectOptions, Follower, Publishing, collect};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

struct Reader {
    database: Database,
    follower: Follower,
}

impl Reader {
    fn new(store: Arc<dyn ObjectStore>) -> Self {
        let published = read(store, &ReadOptions::default()).unwrap();
        let database = published.database(&OpenOptions::with_cache(1 << 20), OpenFiles::WhenRead).unwrap();
        Self { database, follower: published.follower() }
    }

    fn look(&mut self) -> Result<bool, RemoteError> {
        self.follower.look(self.database.store(), &CancelToken::default())
    }

    fn contents(&self) -> Vec<String> {
        contents(&self.database).unwrap()
    }
}

fn take_over() -> PublishOptions {
    PublishOptions { take_over: true, ..PublishOptions::default() }
}

#[test]
fn versions_are_followed_near_and_far() {
    let (vfs, target) = (database(2_000), MemVfs::new());
    publish(&vfs, &store(&target));
    let web = web_server::WebServer::start(&target);
    let mut readers = [
        Reader::new(Arc::new(store(&target))),
        Reader::new(Arc::new(store(&target).remote())),
        Reader::new(Arc::new(web.store())),
    ];
    let writer = open(&shared(&vfs));
    for round in 0..12 {
        insert(&writer, round);
        if round % 4 == 3 {
            let progress = Arc::default();
            lode_store::compact(writer.store(), &lode_store::CompactOptions::default(), &progress).unwrap();
        }
        // Some come late and find several at once.
        publish(&vfs, &store(&target));
        for (at, reader) in readers.iter_mut().enumerate() {
            if round % (at + 1) == 0 || round == 11 {
                let held = reader.database.snapshot();
                let before = held.quad_count();
                assert!(reader.look().unwrap(), "{round} {at}");
                assert_eq!(reader.contents(), contents(&writer).unwrap(), "{round} {at}");
                assert_eq!(reader.database.snapshot().version_number(), writer.snapshot().version_number());
                assert_eq!(held.quad_count(), before);
                assert!(!reader.look().unwrap());
                // Figures are of the version of now, wherever its files come from.
                let figures = lode_store::StoreStats::gather(reader.database.store(), 10).unwrap();
                assert_eq!(figures.quads, writer.snapshot().quad_count());
            }
        }
    }
    // What is known of segments is not fetched again.
    insert(&writer, 100);
    publish(&vfs, &store(&target));
    web.requests();
    readers[2].look().unwrap();
    let asked = web.requests();
    assert!(asked.len() <= 5 && !asked.iter().any(|path| path.contains("/index")), "{asked:?}");
}

#[test]
fn a_newer_version_that_cannot_be_read_changes_nothing() {
    let (vfs, target) = (database(300), MemVfs::new());
    publish(&vfs, &store(&target));
    let mut reader = Reader::new(Arc::new(store(&target).remote()));
    let before = reader.contents();
    let good = target.deep_copy();
    load(&shared(&vfs), 1_000, 50);
    publish(&vfs, &store(&target));
    let whole = target.deep_copy();
    let path = |key: &str| Path::new(STORE).join(key);
    let segments = store(&target).list("").unwrap().unwrap();
    let is_new = |name: &&String| name.starts_with("segment-") && !good.exists(&path(name));
    let new = segments.iter().find(is_new).unwrap().clone();
    let break_file = |key: &str| {
        let mut bytes = whole.read(&path(key)).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        target.create(&path(key)).unwrap().write_all(&bytes).unwrap();
    };
    let mend = |key: &str| {
        let bytes = whole.read(&path(key)).unwrap();
        target.create(&path(key)).unwrap().write_all(&bytes).unwrap();
    };
    let index = format!("{new}/index");
    for keys in [vec![manifest_key(2), "manifest/latest".to_owned()], vec![index.clone()]] {
        keys.iter().for_each(|key| break_file(key));
        let looked = reader.look();
        assert!(matches!(looked, Err(RemoteError::Damaged { .. })), "{keys:?} {looked:?}");
        assert_eq!(reader.contents(), before, "{keys:?}");
        keys.iter().for_each(|key| mend(key));
    }
    target.remove(&path(&index)).unwrap();
    assert!(matches!(reader.look(), Err(RemoteError::Missing { .. })));
    assert_eq!(reader.contents(), before);
    mend(&index);
    // One of the two manifests is enough.
    break_file("manifest/latest");
    assert!(reader.look().unwrap());
    assert_eq!(reader.contents().len(), 350);
    mend("manifest/latest");
    // All of it gone, or something else in its place.
    target.remove_dir_all(Path::new(STORE)).unwrap();
    assert!(reader.look().unwrap_err().to_string().contains("not published any more"));
    publish(&database(10), &store(&target));
    assert!(reader.look().is_err());
    assert_eq!(reader.contents().len(), 350);
}

#[test]
fn versions_that_were_removed_meanwhile_are_passed_over() {
    let (vfs, target) = (database(300), MemVfs::new());
    publish(&vfs, &store(&target));
    let mut reader = Reader::new(Arc::new(store(&target)));
    let writer = open(&shared(&vfs));
    for round in 0..5 {
        insert(&writer, round);
        publish(&vfs, &store(&target));
        collect(&store(&target), &CollectOptions { keep: 1, grace: Duration::from_secs(3600) }).unwrap();
    }
    assert!(reader.look().unwrap());
    assert_eq!((reader.follower.version().number, reader.contents().len()), (6, 305));
}

#[test]
fn another_copy_that_takes_over_is_followed_though_its_numbers_are_the_same() {
    let (vfs, target) = (database(300), MemVfs::new());
    publish(&vfs, &store(&target));
    let copy = vfs.deep_copy();
    copy.remove(&Path::new(DATABASE).join("PUBLISHER")).unwrap();
    insert(&open(&shared(&vfs)), 1);
    publish(&vfs, &store(&target));
    let mut reader = Reader::new(Arc::new(store(&target)));
    let query = "ASK { <http://e/new1> ?p ?o }";
    let found = |reader: &Reader| {
        matches!(reader.database.query(query, &QueryOptions::default()).unwrap(), QueryResults::Boolean(true))
    };
    // Often enough for its plan to be kept.
    assert!((0..3).all(|_| found(&reader)));
    let number = reader.database.snapshot().version_number();
    insert(&open(&shared(&copy)), 2);
    assert_eq!(try_publish(&copy, &store(&target), &take_over()).unwrap().epoch, 2);
    assert!(reader.look().unwrap());
    assert_eq!(reader.database.snapshot().version_number(), number);
    assert!((0..3).all(|_| !found(&reader)));
    assert_eq!(reader.contents(), contents(&open(&shared(&copy))).unwrap());
    // The same folder may go back, too, which is another course.
    let back = copy.deep_copy();
    insert(&open(&shared(&copy)), 3);
    publish(&copy, &store(&target));
    assert!(reader.look().unwrap());
    assert_eq!(try_publish(&back, &store(&target), &take_over()).unwrap().epoch, 3);
    assert!(reader.look().unwrap());
    assert_eq!(reader.contents(), contents(&open(&shared(&back))).unwrap());
}

#[test]
fn a_writer_that_was_replaced_stops() {
    let (vfs, target) = (database(50), MemVfs::new());
    let first = open(&shared(&vfs));
    let mut publishing = Publishing::new(Arc::new(store(&target)));
    let mut step = |database: &Database| publishing.step(database.store(), &CancelToken::default());
    assert_eq!(step(&first).unwrap().unwrap().number, 1);
    assert!(step(&first).unwrap().is_none());
    insert(&first, 1);
    assert_eq!(step(&first).unwrap().unwrap().number, 2);
    // What was published is restored elsewhere and goes on.
    let new = MemVfs::new();
    let published = Published::open_store(
        Arc::new(store(&target)),
        Path::new("/published"),
        &ReadOptions::default(),
        shared(&new),
    )
    .unwrap();
    let options = lode_store::BackupOptions { link: false, check: true };
    lode_remote::restore(
        &published,
        Path::new(DATABASE),
        &options,
        &CancelToken::default(),
        &Default::default(),
    )
    .unwrap();
    assert_eq!(try_publish(&new, &store(&target), &take_over()).unwrap().epoch, 2);
    // The first one notices without publishing, and is refused where it tries.
    assert!(matches!(step(&first), Err(RemoteError::Conflict { .. })));
    insert(&first, 2);
    assert!(matches!(step(&first), Err(RemoteError::Conflict { .. })));
    let second = open(&shared(&new));
    insert(&second, 3);
    let mut publishing = Publishing::new(Arc::new(store(&target)));
    publishing.step(second.store(), &CancelToken::default()).unwrap().unwrap();
    assert_eq!(newest_contents(&target), contents(&second).unwrap());
    // Also where garbage collection has removed the number that it would take.
    insert(&second, 4);
    publishing.step(second.store(), &CancelToken::default()).unwrap().unwrap();
    collect(&store(&target), &CollectOptions { keep: 1, grace: Duration::from_secs(3600) }).unwrap();
    assert!(matches!(step(&first), Err(RemoteError::Conflict { .. })));
    assert_eq!(newest_contents(&target), contents(&second).unwrap());
}

/// Queries run while versions come: each sees one of them, wholly.
#[test]
fn queries_see_one_version_each_while_versions_come() {
    let (vfs, target) = (database(200), MemVfs::new());
    let writer = open(&shared(&vfs));
    publish(&vfs, &store(&target));
    let mut reader = Reader::new(Arc::new(store(&target)));
    let is_over = AtomicBool::new(false);
    let (database, follower) = (&reader.database, &mut reader.follower);
    std::thread::scope(|scope| {
        let asks = || {
            let mut last = 0;
            while !is_over.load(Ordering::Relaxed) {
                // Each round changes two triples that say the same.
                let text = "SELECT ?a ?b { <http://e/x> <http://e/a> ?a . <http://e/y> <http://e/a> ?b }";
                let results = database.query(text, &QueryOptions::default()).unwrap();
                let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
                for row in solutions.collect_rows().unwrap() {
                    assert_eq!(row[0], row[1]);
                    let number: u64 =
                        row[0].as_ref().unwrap().to_string().split('"').nth(1).unwrap().parse().unwrap();
                    assert!(number >= last);
                    last = number;
                }
            }
            last
        };
        let askers: Vec<_> = (0..3).map(|_| scope.spawn(asks)).collect();
        for round in 0..40 {
            let text = format!(
                "DELETE WHERE {{ ?s <http://e/a> ?o }} ; INSERT DATA {{ <http://e/x> <http://e/a> {round} . <http://e/y> <http://e/a> {round} }}"
            );
            writer.update(&text, &UpdateOptions::default()).unwrap();
            if round % 10 == 9 {
                let progress = Arc::default();
                lode_store::compact(writer.store(), &lode_store::CompactOptions::default(), &progress)
                    .unwrap();
            }
            publish(&vfs, &store(&target));
            assert!(follower.look(database.store(), &CancelToken::default()).unwrap());
        }
        is_over.store(true, Ordering::Relaxed);
        askers.into_iter().for_each(|asker| assert!(asker.join().unwrap() <= 39));
    });
}
