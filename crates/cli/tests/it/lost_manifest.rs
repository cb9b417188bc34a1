//! Databases that have lost their manifest, folders that are none, and snapshots that cannot be read: nothing is made, and nothing removed.

use crate::lode::Lode;

fn update(lode: &Lode, text: &str) {
    lode.run(&["update", "db", text, "--quiet"]).ok();
}

fn sorted(lode: &Lode, args: &[&str]) -> Vec<String> {
    let mut lines: Vec<String> = lode.run(args).ok().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn remove(lode: &Lode, names: &[&str]) {
    names.iter().for_each(|name| std::fs::remove_file(lode.path("db").join(name)).unwrap());
}

/// A database that has been through loads, updates, clears, compactions and snapshots.
fn prepared() -> Lode {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2, 3 .");
    update(
        &lode,
        "INSERT DATA { <http://e/b> <http://e/p> 4 GRAPH <http://e/g> { <http://e/c> <http://e/p> 5, 6 } }",
    );
    lode.run(&["snapshot", "create", "db", "first", "--quiet"]).ok();
    update(&lode, "DELETE DATA { <http://e/a> <http://e/p> 1 }");
    lode.write("more.ttl", "<http://e/0> <http://e/p> 'text', 'another' .");
    lode.run(&["load", "db", "more.ttl", "--quiet"]).ok();
    lode.run(&["compact", "db", "--quiet"]).ok();
    update(&lode, "CLEAR GRAPH <http://e/g>");
    lode.run(&["snapshot", "create", "db", "second", "--quiet"]).ok();
    update(&lode, "INSERT DATA { <http://e/d> <http://e/p> 7 }");
    lode
}

#[test]
fn without_its_manifest_a_database_is_refused_and_made_whole_again() {
    for lost in [&["MANIFEST"][..], &["MANIFEST", "MANIFEST.copy"]] {
        let lode = prepared();
        let dump: [&[&str]; 3] =
            [&["dump", "db"], &["dump", "db", "--at", "first"], &["dump", "db", "--at", "second"]];
        let before = dump.map(|args| sorted(&lode, args));
        remove(&lode, lost);
        let files = std::fs::read_dir(lode.path("db")).unwrap().count();
        for args in [
            &["load", "db", "more.ttl"][..],
            &["update", "db", "CLEAR ALL"],
            &["update", "db", "CLEAR ALL", "--create"],
            &["query", "db", "ASK {}"],
            &["compact", "db"],
            &["snapshot", "create", "db", "x"],
            &["backup", "db", "backup"],
            &["restore", "db", "other"],
        ] {
            let error = lode.run(args).fails(1);
            assert!(error.contains("lost its MANIFEST") && error.contains("lode check --salvage"), "{error}");
        }
        let report = lode.run(&["check", "db", "--quiet"]);
        assert!(report.out.contains("lost its MANIFEST"), "{report:?}");
        report.fails(6);
        assert_eq!(std::fs::read_dir(lode.path("db")).unwrap().count(), files);
        let report = lode.run(&["check", "db", "--salvage", "--quiet"]);
        assert!(report.err.contains("made again") && report.err.contains("sound: "), "{report:?}");
        // The log, to which something was committed, goes on from all segments that there are.
        assert!(!report.err.contains("in doubt: "), "{report:?}");
        report.ok();
        assert_eq!(dump.map(|args| sorted(&lode, args)), before);
        lode.run(&["load", "db", "more.ttl", "--quiet"]).ok();
        lode.run(&["check", "db", "--quiet"]).ok();
    }
}

#[test]
fn a_damaged_manifest_is_told_with_what_to_do() {
    let lode = prepared();
    let before = sorted(&lode, &["dump", "db"]);
    let path = lode.path("db/MANIFEST");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("version ", "version 9", 1)).unwrap();
    for args in [&["load", "db", "more.ttl"][..], &["query", "db", "ASK {}"]] {
        let error = lode.run(args).fails(1);
        assert!(error.contains("damaged") && error.contains("lode check --salvage"), "{error}");
    }
    let report = lode.run(&["check", "db", "--salvage", "--quiet"]);
    assert!(report.err.contains("set aside: ") && report.err.contains("of its copy"), "{report:?}");
    report.ok();
    assert!(lode.path("db/set-aside/MANIFEST").exists());
    assert_eq!(sorted(&lode, &["dump", "db"]), before);
}

#[test]
fn a_folder_of_other_things_is_left_alone() {
    let lode = Lode::new();
    std::fs::create_dir(lode.path("db")).unwrap();
    lode.write("db/log-20240101", "not ours");
    lode.write("db/notes.txt", "not ours");
    lode.write("more.ttl", "<http://e/0> <http://e/p> 'text' .");
    for args in [&["load", "db", "more.ttl"][..], &["check", "db", "--salvage"]] {
        assert!(lode.run(args).fails(1).contains("is not a database"));
    }
    remove(&lode, &["notes.txt"]);
    let error = lode.run(&["load", "db", "more.ttl"]).fails(1);
    assert!(error.contains("found: 1 log"), "{error}");
    assert_eq!(std::fs::read(lode.path("db/log-20240101")).unwrap(), b"not ours");
}

#[test]
fn a_damaged_snapshot_stops_nobody() {
    let lode = prepared();
    let path = lode.path("db/snapshots/first/MANIFEST");
    let good = std::fs::read(&path).unwrap();
    let kept = sorted(&lode, &["dump", "db", "--at", "first"]);
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    check_damaged_snapshot(&lode);
    // The manifest of another snapshot is none of this one.
    std::fs::copy(lode.path("db/snapshots/second/MANIFEST"), &path).unwrap();
    check_damaged_snapshot(&lode);
    std::fs::remove_file(&path).unwrap();
    check_damaged_snapshot(&lode);
    // Nothing that it needs is gone.
    std::fs::write(&path, &good).unwrap();
    assert_eq!(sorted(&lode, &["dump", "db", "--at", "first"]), kept);
    std::fs::remove_file(&path).unwrap();
    lode.run(&["snapshot", "drop", "db", "first"]).ok();
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(!report.err.contains("first"), "{report:?}");
    report.ok();
}

/// Everybody goes on and is warned of the snapshot `first`.
fn check_damaged_snapshot(lode: &Lode) {
    for args in [
        &["load", "db", "more.ttl", "--quiet"][..],
        &["compact", "db", "--quiet"],
        &["stats", "db"],
        &["snapshot", "list", "db"],
    ] {
        let outcome = lode.run(args);
        assert!(
            outcome.err.contains("warning: snapshot first: its manifest is damaged or missing"),
            "{outcome:?}"
        );
        outcome.ok();
    }
    let listed = lode.run(&["snapshot", "list", "db", "--json"]).ok();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[1], serde_json::json!({ "name": "first", "damaged": true }));
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(report.out.contains("snapshots/first/MANIFEST"), "{report:?}");
    report.fails(6);
    assert!(lode.run(&["dump", "db", "--at", "first"]).fails(1).contains("lode snapshot drop"));
}
