//! A check of a published version finds every object that is not what was published, and says which and where. Prefixes are published, too.

use crate::*;
use lode_remote::{ObjectRemedy, Wanted, check};
use std::path::{Path, PathBuf};

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

/// Manifests, too: damage to any byte, one that is cut, gone or another version's, of who lists a store and of who reads a web server.
#[test]
fn manifests_and_their_copy_are_looked_at() {
    let (vfs, target) = (database(300), MemVfs::new());
    publish(&vfs, &store(&target));
    insert(&open(&shared(&vfs)), 1);
    publish(&vfs, &store(&target));
    let sound = checked(&target);
    assert_eq!((sound.number, &*sound.problems), (2, &[][..]));
    let path = |name: &str| Path::new(STORE).join("manifest").join(name);
    let names = ["00000000000000000002", "latest"];
    let bytes = target.read(&path("latest")).unwrap();
    let first = target.read(&path("00000000000000000001")).unwrap();
    let other = |at: usize| {
        let mut other = bytes.clone();
        other[at] ^= 0x20;
        Some(other)
    };
    let cut = bytes[..bytes.len() / 2].to_vec();
    let kinds = [
        other(3),
        other(20),
        other(bytes.len() / 2),
        other(bytes.len() - 3),
        Some(cut),
        Some(Vec::new()),
        None,
    ];
    for (kind, content) in kinds.into_iter().chain([Some(first)]).enumerate() {
        for name in names {
            let damaged = target.deep_copy();
            damaged.remove(&path(name)).unwrap();
            if let Some(content) = &content {
                damaged.create(&path(name)).unwrap().write_all(content).unwrap();
            }
            let report = checked(&damaged);
            // Who publishes is stopped before he has written the copy, or before he has written it again.
            let is_stopped = name == "latest" && (content.is_none() || kind == 7);
            if is_stopped {
                assert_eq!(report, sound);
                continue;
            }
            assert_eq!(report.problems.len(), 1, "{kind}: {report:?}");
            let problem = &report.problems[0];
            assert!(problem.object.ends_with(&format!("manifest/{name}")), "{kind}: {report:?}");
            let remedy = match (name, &content) {
                ("latest", _) | (_, None) => ObjectRemedy::Publish,
                _ => ObjectRemedy::RemoveAndPublish,
            };
            assert_eq!(problem.remedy, remedy, "{kind}: {report:?}");
            // The rest was read all the same.
            assert_eq!(
                (report.number, report.objects, report.bytes),
                (2, sound.objects, sound.bytes),
                "{kind}"
            );
            // What is advised mends it.
            if remedy == ObjectRemedy::RemoveAndPublish {
                damaged.remove(&path(name)).unwrap();
            }
            publish(&vfs, &store(&damaged));
            assert_eq!(checked(&damaged), sound, "{kind} {name}");
            if kind % 3 == 0 {
                let server = web_server::WebServer::start(&damaged);
                let report =
                    check(&server.store(), &Wanted::Newest, &CancelToken::default(), &mut |_| {}).unwrap();
                assert_eq!(report.problems, [], "{kind} {name}");
            }
        }
    }
    // Without its copy a damaged manifest is all that there is to tell.
    let damaged = target.deep_copy();
    damaged.remove(&path("latest")).unwrap();
    damaged.overwrite(&path(names[0]), b"nonsense".to_vec()).unwrap();
    let report = checked(&damaged);
    assert_eq!(
        (report.problems.len(), report.problems[0].remedy),
        (1, ObjectRemedy::PublishElsewhere),
        "{report:?}"
    );
    // Another version is checked all the same.
    let of_first = check(&store(&damaged), &Wanted::Number(1), &CancelToken::default(), &mut |_| {}).unwrap();
    assert_eq!((of_first.number, &*of_first.problems), (1, &[][..]));
    // A web server with a damaged copy has no other way in.
    target.overwrite(&path("latest"), b"nonsense".to_vec()).unwrap();
    let server = web_server::WebServer::start(&target);
    let report = check(&server.store(), &Wanted::Newest, &CancelToken::default(), &mut |_| {}).unwrap();
    assert!(report.problems[0].object.ends_with("manifest/latest"), "{report:?}");
    // A server that closes connections tells nothing of objects.
    server.play("latest", web_server::Trick::Closes, 99);
    let error = check(&server.store(), &Wanted::Newest, &CancelToken::default(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, lode_remote::RemoteError::Io { .. }), "{error}");
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
