//! A check of a published version finds every object that is not what was published, and says which and where. Prefixes are published, too.

use crate::*;
use lode_remote::{Wanted, check};
use std::path::PathBuf;

fn checked(target: &MemVfs) -> lode_remote::PublishedCheck {
    let mut heard = 0;
    let report =
        check(&store(target), &Wanted::Newest, &CancelToken::default(), &mut |bytes| heard += bytes).unwrap();
    assert_eq!(heard, report.bytes);
    report
}

/// All objects that a version names, but for its manifest.
fn named(target: &MemVfs) -> Vec<PathBuf> {
    let is_named = |path: &PathBuf| {
        path.to_string_lossy().contains("/segment-") || path.to_string_lossy().contains("/log-")
    };
    target.files().into_iter().filter(is_named).collect()
}

/// Behind a web server, too, which is asked for parts only.
#[test]
fn what_a_web_server_hands_out_is_looked_at() {
    let (vfs, target) = (database(300), MemVfs::new());
    publish(&vfs, &store(&target));
    let on_web = |target: &MemVfs| {
        let server = web_server::WebServer::start(target);
        check(&server.store(), &Wanted::Newest, &CancelToken::default(), &mut |_| {}).unwrap()
    };
    assert_eq!(on_web(&target), checked(&target));
    let object = named(&target).swap_remove(0);
    target.remove(&object).unwrap();
    let report = on_web(&target);
    assert_eq!(report.problems.len(), 1, "{report:?}");
    assert_eq!(report.problems[0].what, "is missing");
}

#[test]
fn every_object_is_looked_at() {
    let (vfs, target) = (database(3000), MemVfs::new());
    // With a log.
    let open = open(&shared(&vfs));
    insert(&open, 1);
    publish(&vfs, &store(&target));
    let sound = checked(&target);
    assert_eq!(sound.problems, []);
    let objects = named(&target);
    assert!(objects.iter().any(|path| path.to_string_lossy().contains("/log-")));
    assert_eq!(sound.objects, objects.len() as u64 + 1);
    for object in objects {
        let name = object.file_name().unwrap().to_str().unwrap();
        let bytes = target.read(&object).unwrap();
        let only = |damaged: &MemVfs| {
            let report = checked(damaged);
            assert_eq!(report.problems.len(), 1, "{name}: {report:?}");
            assert!(report.problems[0].object.ends_with(name), "{name}: {report:?}");
            report.problems[0].clone()
        };
        let damaged = target.deep_copy();
        damaged.remove(&object).unwrap();
        assert_eq!(only(&damaged).what, "is missing");
        damaged.create(&object).unwrap().write_all(&bytes[..bytes.len() - 1]).unwrap();
        let short = only(&damaged);
        assert_eq!(short.offset, bytes.len() as u64 - 1, "{short:?}");
        for at in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut other = bytes.clone();
            other[at] ^= 0x40;
            damaged.create(&object).unwrap().write_all(&other).unwrap();
            let found = only(&damaged).offset;
            let is_whole = name == "index" || name.starts_with("log-");
            assert_eq!(found, if is_whole { 0 } else { at as u64 / 65_536 * 65_536 }, "{name}");
        }
    }
}

#[test]
fn prefixes_are_published_and_restored() {
    let (vfs, target) = (database(10), MemVfs::new());
    let prefixes = [("ex", "http://example.org/"), ("", "http://e/")];
    {
        let open = open(&shared(&vfs));
        open.store().keep_prefixes(prefixes);
    }
    publish(&vfs, &store(&target));
    let published = read(Arc::new(store(&target)), &ReadOptions::default()).unwrap();
    let database = published.database(&OpenOptions::default(), OpenFiles::Now).unwrap();
    let known: Vec<(String, String)> = database.store().prefixes().to_vec();
    assert_eq!(
        known,
        [("", "http://e/"), ("ex", "http://example.org/")]
            .map(|(name, iri)| (name.to_owned(), iri.to_owned()))
    );
    // Another one is another version.
    assert!(publish(&vfs, &store(&target)).was_there);
    open(&shared(&vfs)).store().keep_prefixes([("more", "http://more/")]);
    assert_eq!(publish(&vfs, &store(&target)).number, 2);
    let published = read(Arc::new(store(&target)), &ReadOptions::default()).unwrap();
    let database = published.database(&OpenOptions::default(), OpenFiles::Now).unwrap();
    assert_eq!(database.store().prefixes().len(), 3);
}
