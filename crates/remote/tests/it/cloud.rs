//! S3 as `moto` plays it (PyPI: `moto[server]`): the same things that hold for folders. `LODE_MOTO_SERVER` names its program; without it nothing is tried.

use crate::*;
use lode_remote::{CloudStore, CollectOptions, Publishing, WebOptions, collect};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

const PUBLISHERS: usize = 16;

struct Moto {
    child: Child,
    endpoint: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Moto {
    /// A server with an empty bucket; none where there is no program.
    fn start() -> Option<Self> {
        let Some(program) = std::env::var_os("LODE_MOTO_SERVER") else {
            note("skipped: LODE_MOTO_SERVER names no moto_server");
            return None;
        };
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let moto = Self { child: command.spawn().unwrap(), endpoint: format!("http://127.0.0.1:{port}") };
        let begun = Instant::now();
        let bucket = format!("{}/bucket", moto.endpoint);
        while ureq::put(&bucket).send_empty().is_err() {
            assert!(begun.elapsed() < Duration::from_secs(120), "moto does not answer");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(moto)
    }

    fn at(&self, address: &str) -> CloudStore {
        let own = [
            ("AWS_ENDPOINT", &*self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
            ("HOME", "/"),
        ];
        let variables = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        CloudStore::new(address, variables, WebOptions { silence_max: Duration::from_secs(60) }).unwrap()
    }

    fn store(&self, prefix: &str) -> CloudStore {
        self.at(&format!("s3://bucket/{prefix}"))
    }
}

fn note(text: &str) {
    use std::io::Write;
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

#[test]
fn objects_are_kept_as_in_a_folder() {
    let Some(moto) = Moto::start() else { return };
    let store = moto.store("a/b c");
    assert!(matches!(store.get("manifest/latest", 10), Err(RemoteError::Missing { .. })));
    assert_eq!(store.size("x").unwrap(), None);
    assert_eq!(store.list("").unwrap().unwrap(), Vec::<String>::new());
    store.put("segment-1/f", &mut &b"hello"[..]).unwrap();
    store.put("log-1", &mut &b"x"[..]).unwrap();
    assert_eq!(store.list("").unwrap().unwrap(), ["log-1", "segment-1"]);
    assert_eq!(store.list("segment-1").unwrap().unwrap(), ["f"]);
    assert_eq!(
        (store.size("segment-1/f").unwrap(), store.get("segment-1/f", 5).unwrap()),
        (Some(5), b"hello".to_vec())
    );
    assert!(matches!(store.get("segment-1/f", 4), Err(RemoteError::Damaged { .. })));
    let mut part = [0; 3];
    store.get_range("segment-1/f", 1, &mut part).unwrap();
    assert_eq!(&part, b"ell");
    assert!(store.get_range("segment-1/f", 3, &mut part).is_err());
    assert!(store.put_if_absent("manifest/1", b"one").unwrap());
    assert!(!store.put_if_absent("manifest/1", b"two").unwrap());
    // Somebody else's, even if it is the same.
    assert!(!store.put_if_absent("manifest/1", b"one").unwrap());
    // In parts, and nothing of one that fails.
    let long: Vec<u8> = (0..40_000_000_u32).map(|i| (i * 7 % 251) as u8).collect();
    store.put("long", &mut &long[..]).unwrap();
    assert_eq!(store.size("long").unwrap(), Some(long.len() as u64));
    let mut middle = vec![0; 100_000];
    store.get_range("long", 16_700_000, &mut middle).unwrap();
    assert_eq!(middle, long[16_700_000..16_800_000]);
    let mut broken = std::io::Read::chain(&long[..20_000_000], Broken);
    assert!(store.put("other", &mut broken).is_err());
    assert_eq!(store.size("other").unwrap(), None);
    store.remove("segment-1").unwrap();
    store.remove("nothing").unwrap();
    assert!(store.size("segment-1/f").unwrap().is_none() && store.size("log-1").unwrap().is_some());
    // Nobody else's.
    assert_eq!(moto.store("a").list("").unwrap().unwrap(), ["b c"]);
    let refused = moto.at("s3://none/x").put("a", &mut &b"x"[..]);
    assert!(matches!(&refused, Err(RemoteError::Missing { .. } | RemoteError::Io { .. })), "{refused:?}");
}

#[test]
fn who_has_no_credentials_is_told() {
    // Nobody answers there.
    let own = [("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1"), ("AWS_ENDPOINT", "http://127.0.0.1:1")];
    let variables = own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let store = CloudStore::new("s3://bucket/x", variables, WebOptions::default()).unwrap();
    let told = store.get("manifest/latest", 10).unwrap_err().to_string();
    assert!(told.contains("no credentials in the environment"), "{told}");
}

struct Broken;

impl std::io::Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("broken"))
    }
}

#[test]
fn a_database_is_published_followed_and_restored() {
    let Some(moto) = Moto::start() else { return };
    let vfs = database(3_000);
    let store = || Arc::new(moto.store("db"));
    let writer = open(&shared(&vfs));
    let mut publishing = Publishing::new(store());
    publishing.step(writer.store(), &CancelToken::default()).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions {
        cache: Some(lode_remote::CacheOptions { folder: folder.path().to_owned(), bytes_max: 1 << 30 }),
        ..ReadOptions::default()
    };
    let published = read(store(), &options).unwrap();
    let reader = published.database(&OpenOptions::with_cache(1 << 20), OpenFiles::WhenRead).unwrap();
    let mut follower = published.follower();
    assert_eq!(contents(&reader).unwrap(), contents(&writer).unwrap());
    for round in 0..4 {
        insert(&writer, round);
        publishing.step(writer.store(), &CancelToken::default()).unwrap().unwrap();
        assert!(follower.look(reader.store(), &CancelToken::default()).unwrap());
        assert_eq!(contents(&reader).unwrap(), contents(&writer).unwrap());
    }
    let report = collect(&*store(), &CollectOptions { keep: 1, grace: Duration::ZERO }).unwrap();
    assert!(report.versions == 1 && report.versions_removed == 4 && report.removed >= 3, "{report:?}");
    assert_eq!(published_contents(&read(store(), &options).unwrap()).unwrap(), contents(&writer).unwrap());
    let new = MemVfs::new();
    let published =
        Published::open_store(store(), Path::new("/published"), &ReadOptions::default(), shared(&new))
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
    assert_eq!(contents(&open(&shared(&new))).unwrap(), contents(&writer).unwrap());
}

#[test]
fn of_sixteen_who_publish_at_once_one_wins() {
    let Some(moto) = Moto::start() else { return };
    let vfs = database(20);
    let writer = open(&shared(&vfs));
    publish(&vfs, &moto.store("db"));
    let rounds: usize =
        std::env::var("LODE_RACE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let stores: Vec<CloudStore> = (0..PUBLISHERS).map(|_| moto.store("db")).collect();
    let mut numbers = BTreeSet::from([1]);
    for round in 0..rounds {
        insert(&writer, round);
        let barrier = Barrier::new(PUBLISHERS);
        let results: Vec<Result<PublishReport, RemoteError>> = std::thread::scope(|scope| {
            let (barrier, vfs) = (&barrier, &vfs);
            let publishers = stores.iter().map(|store| {
                scope.spawn(move || {
                    barrier.wait();
                    try_publish(vfs, store, &PublishOptions::default())
                })
            });
            let threads: Vec<_> = publishers.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut new = Vec::new();
        for result in results {
            match result {
                Ok(report) if !report.was_there => new.push(report.number),
                Ok(_) | Err(RemoteError::Conflict { .. } | RemoteError::Lost { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(new.len(), 1, "round {round}: {new:?}");
        assert!(new.into_iter().all(|number| numbers.insert(number)));
    }
    assert_eq!(numbers.len() as u64, *numbers.last().unwrap());
    let published = read(Arc::new(moto.store("db")), &ReadOptions::default()).unwrap();
    assert_eq!(published_contents(&published).unwrap().len(), 20 + rounds);
}

#[test]
fn a_load_survives_kills_in_each_phase() {
    let Some(moto) = Moto::start() else { return };
    let number = std::cell::Cell::new(0);
    let new_store = || -> Arc<dyn ObjectStore> {
        number.set(number.get() + 1);
        Arc::new(moto.store(&format!("load/{}", number.get())))
    };
    crate::load::kills(&new_store, Duration::from_secs(2));
}

#[test]
fn workers_of_several_machines_load_together() {
    let Some(moto) = Moto::start() else { return };
    let store = || -> Arc<dyn ObjectStore> { Arc::new(moto.store("many")) };
    let machines = crate::load::Machines::new();
    let head = machines.board(store());
    lode_remote::begin_load(&*store(), &head, &machines.plan()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let board = machines.board(store());
            // So short that each task is done more than once.
            let lease = Duration::from_millis(1);
            scope.spawn(move || crate::load::work_at(&board, lease, &|_, _| true));
        }
    });
    crate::load::finish_at(&*store(), &head).unwrap();
    head.remove().unwrap();
    crate::load::assert_published(&store(), &crate::load::expected());
}
