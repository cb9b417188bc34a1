//! What is published is what was in the database, only what is new is written, and who may not publish is told why.

use crate::*;
use lode_remote::PublishedVersion;
use lode_remote::Wanted;

#[test]
fn a_version_is_read_back_and_only_what_is_new_is_written() {
    let (vfs, target) = (database(200), MemVfs::new());
    let store = store(&target);
    assert!(matches!(
        read(Arc::new(crate::store(&target)), &ReadOptions::default()),
        Err(RemoteError::Unpublished { .. })
    ));
    let first = publish(&vfs, &store);
    assert_eq!((first.number, first.segments, first.segments_kept, first.quads), (1, 1, 0, 200));
    let before = contents(&open(&shared(&vfs))).unwrap();
    assert_eq!(newest_contents(&target), before);
    // Nothing new.
    let again = publish(&vfs, &store);
    assert!(again.was_there && again.number == 1 && again.bytes == 0, "{again:?}");
    // Changes of transactions become a segment.
    let database = open(&shared(&vfs));
    insert(&database, 1);
    drop(database);
    let second = publish(&vfs, &store);
    assert_eq!((second.number, second.segments, second.segments_kept, second.log_bytes), (2, 2, 1, 0));
    assert_eq!(newest_contents(&target).len(), 201);
    assert_eq!(second.epoch, 1);
    // The version before is still there.
    let options = ReadOptions { wanted: Wanted::Number(1), ..ReadOptions::default() };
    assert_eq!(
        published_contents(&read(Arc::new(crate::store(&target)), &options).unwrap()).unwrap(),
        before
    );
    // And is found by the version of the database, too.
    let of =
        |wanted| read(Arc::new(crate::store(&target)), &ReadOptions { wanted, ..ReadOptions::default() });
    for number in [1, 2] {
        let found = of(Wanted::Number(number)).unwrap();
        let version = found.version().version;
        assert_eq!(of(Wanted::OfDatabase(version)).unwrap().version().number, number);
    }
    assert!(of(Wanted::OfDatabase(1 << 40)).unwrap_err().to_string().contains("it has 1 to 2"));
    let error = read(
        Arc::new(crate::store(&target)),
        &ReadOptions { wanted: Wanted::of("7"), ..ReadOptions::default() },
    );
    assert!(error.unwrap_err().to_string().contains("has no version 7; it has 1 to 2"));
}

#[test]
fn while_somebody_writes_the_log_goes_along() {
    let (vfs, target) = (database(200), MemVfs::new());
    let store = store(&target);
    let database = open(&shared(&vfs));
    insert(&database, 1);
    let report = publish(&vfs, &store);
    assert!(report.log_bytes > 0);
    assert_eq!(newest_contents(&target), contents(&database).unwrap());
    assert!(publish(&vfs, &store).was_there);
    // The same in segments is the same, and what comes then is more.
    drop(database);
    publish(&vfs, &store);
    insert(&open(&shared(&vfs)), 2);
    assert_eq!(publish(&vfs, &store).log_bytes, 0);
    assert_eq!(newest_contents(&target).len(), 202);
}

#[test]
fn others_may_not_publish_there() {
    let (vfs, target) = (database(50), MemVfs::new());
    let store = store(&target);
    publish(&vfs, &store);
    let options = PublishOptions::default();
    let refused = |vfs: &MemVfs| match try_publish(vfs, &store, &options) {
        Err(RemoteError::Conflict { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(&database(50)).contains("another database"));
    // A copy as a restore makes it.
    let copy = vfs.deep_copy();
    copy.remove(&Path::new(DATABASE).join("PUBLISHER")).unwrap();
    insert(&open(&shared(&copy)), 5);
    assert!(refused(&copy).contains("--take-over"));
    // A copy of the folder that went another way.
    let (twin, old) = (vfs.deep_copy(), vfs.deep_copy());
    insert(&open(&shared(&vfs)), 1);
    insert(&open(&shared(&twin)), 2);
    publish(&vfs, &store);
    assert!(refused(&twin).contains("other changes"), "{}", refused(&twin));
    // One from before.
    assert!(refused(&old).contains("newer than"), "{}", refused(&old));
    // Who takes over is the one from then on.
    let take_over = PublishOptions { take_over: true, ..PublishOptions::default() };
    let report = try_publish(&copy, &store, &take_over).unwrap();
    assert_eq!((report.number, report.epoch), (3, 2));
    assert_eq!(newest_contents(&target), contents(&open(&shared(&copy))).unwrap());
    assert!(refused(&vfs).contains("another copy"));
    insert(&open(&shared(&copy)), 6);
    assert_eq!(publish(&copy, &store).number, 4);
}

#[test]
fn versions_have_names() {
    let (vfs, target) = (database(20), MemVfs::new());
    let store = store(&target);
    let named = |name: &str| PublishOptions { name: Some(name.to_owned()), ..PublishOptions::default() };
    publish(&vfs, &store);
    assert_eq!(try_publish(&vfs, &store, &named("v1.0")).unwrap().number, 2);
    assert!(try_publish(&vfs, &store, &named("v1.0")).unwrap().was_there);
    insert(&open(&shared(&vfs)), 1);
    publish(&vfs, &store);
    for bad in ["", "12", "a b", "../x"] {
        assert!(try_publish(&vfs, &store, &named(bad)).is_err(), "{bad}");
    }
    let options = ReadOptions { wanted: Wanted::of("v1.0"), ..ReadOptions::default() };
    let published = read(Arc::new(store), &options).unwrap();
    assert_eq!((published.version().number, published_contents(&published).unwrap().len()), (2, 20));
}

#[test]
fn a_published_version_is_restored() {
    let (vfs, target) = (database(20_000), MemVfs::new());
    publish(&vfs, &store(&target));
    // From files, and from afar, where nothing is kept of what is read once.
    for store in [store(&target), store(&target).remote()] {
        let (new, root) = (MemVfs::new(), Path::new("/published"));
        let published =
            Published::open_store(Arc::new(store), root, &ReadOptions::default(), shared(&new)).unwrap();
        let options = lode_store::BackupOptions { link: false, check: true };
        let (cancel, progress) = (CancelToken::default(), Default::default());
        lode_remote::restore(&published, Path::new(DATABASE), &options, &cancel, &progress).unwrap();
        let database = open(&shared(&new));
        assert_eq!(contents(&database).unwrap(), contents(&open(&shared(&vfs))).unwrap());
        insert(&database, 1);
        drop(database);
        let refused = try_publish(&new, &crate::store(&target), &PublishOptions::default());
        assert!(matches!(refused, Err(RemoteError::Conflict { .. })));
    }
}

#[test]
fn manifests_are_read_back_or_refused() {
    let (vfs, target) = (database(20), MemVfs::new());
    let database = open(&shared(&vfs));
    insert(&database, 1);
    let store = store(&target);
    try_publish(&vfs, &store, &PublishOptions { name: Some("x".to_owned()), take_over: false }).unwrap();
    let version = lode_remote::newest(&store).unwrap().unwrap();
    assert!(version.log.is_some() && version.name.is_some());
    let text = version.encode();
    assert_eq!(PublishedVersion::decode(text.as_bytes(), "m").unwrap(), version);
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        assert!(PublishedVersion::decode(&bytes, "m").is_err(), "{at}");
        assert!(PublishedVersion::decode(&text.as_bytes()[..at], "m").is_err(), "{at}");
    }
    let later = text.replacen("lodestore-published 1\n", "lodestore-published 9\n", 1);
    let decoded = |text: &str| PublishedVersion::decode(text.as_bytes(), "m");
    // Whose checksum does not fit is damaged, and was not written by a later program.
    assert!(matches!(decoded(&later), Err(RemoteError::Damaged { .. })));
    let body = &later[..later.trim_end().rfind('\n').unwrap() + 1];
    let sum = lode_base::checksum::checksum(body.as_bytes());
    for later in [format!("{body}checksum {sum:016x}\n"), format!("{body}another end\n")] {
        assert!(matches!(decoded(&later), Err(RemoteError::Format { found: 9, .. })), "{later}");
    }
    // The newest that is damaged is not passed over for one before.
    publish(&vfs, &store);
    let path = Path::new(STORE).join("manifest/00000000000000000001");
    target.overwrite(&path, b"nonsense".to_vec()).unwrap();
    assert!(matches!(lode_remote::newest(&store), Err(RemoteError::Damaged { .. })));
}
