//! `lode snapshot`, `--at`, and `lode check --salvage`.

use crate::lode::Lode;

fn insert(lode: &Lode, number: u32) {
    let request = format!("INSERT DATA {{ <http://e/s{number}> <http://e/p> {number} }}");
    lode.run(&["update", "db", &request]).ok();
}

#[test]
fn snapshots_are_made_queried_listed_and_dropped() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    insert(&lode, 1);
    assert!(lode.run(&["snapshot", "create", "db", "first"]).err.contains("snapshot first: version "));
    lode.run(&["update", "db", "CLEAR ALL"]).ok();
    insert(&lode, 2);
    lode.run(&["compact", "db", "--quiet"]).ok();
    let count = ["query", "db", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--format", "csv"];
    assert_eq!(lode.run(&count).ok(), "n\r\n1\r\n");
    assert_eq!(lode.run(&[&count[..], &["--at", "first"]].concat()).ok(), "n\r\n3\r\n");
    assert_eq!(lode.run(&["dump", "db", "--at", "first"]).ok().lines().count(), 3);
    let list: serde_json::Value =
        serde_json::from_str(&lode.run(&["snapshot", "list", "db", "--json"]).ok()).unwrap();
    assert_eq!((&list[0]["name"], &list[0]["quads"]), (&"first".into(), &3.into()));
    assert!(lode.run(&["snapshot", "list", "db"]).ok().starts_with("first "));
    assert!(lode.run(&["stats", "db"]).ok().contains(", by 1 named snapshot\n"));
    lode.run(&["check", "db", "--quiet"]).ok();
    assert!(lode.run(&["snapshot", "create", "db", "../x"]).fails(1).contains("letters, digits"));
    assert!(lode.run(&["snapshot", "create", "db", "first"]).fails(1).contains("already"));
    lode.run(&["snapshot", "drop", "db", "first"]).ok();
    assert!(lode.run(&[&count[..], &["--at", "first"]].concat()).fails(1).contains("no such snapshot"));
    assert!(!lode.run(&["stats", "db"]).ok().contains("snapshots"));
    lode.run(&["check", "db", "--quiet"]).ok();
    assert!(lode.run(&["snapshot", "create", "none", "x"]).fails(1).contains("there is no database"));
    assert!(!lode.path("none").exists());
}

#[test]
fn a_damaged_log_is_told_and_salvaged() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    for number in 1..=6 {
        insert(&lode, number);
    }
    assert!(lode.run(&["check", "db", "--salvage"]).err.contains("nothing to salvage"));
    let log = lode.path("db/log-000001");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(report.out.contains("log-000001: byte ") && report.err.contains("--salvage"), "{report:?}");
    report.fails(6);
    let error = lode.run(&["update", "db", "CLEAR ALL"]).fails(1);
    assert!(error.contains("damaged at byte") && error.contains("lode check --salvage"), "{error}");
    let salvaged = lode.run(&["check", "db", "--salvage"]);
    assert!(salvaged.err.contains("gave up ") && salvaged.err.contains("log-000001.damaged"), "{salvaged:?}");
    salvaged.ok();
    assert!(lode.path("db/log-000001.damaged").exists());
    insert(&lode, 7);
    let left = lode.run(&["dump", "db"]).ok().lines().count();
    assert!((4..8).contains(&left), "{left}");
}

#[test]
fn a_missing_log_is_told_and_given_up() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    (1..=3).for_each(|number| insert(&lode, number));
    std::fs::remove_file(lode.path("db/log-000001")).unwrap();
    for args in [
        &["query", "db", "ASK {}"][..],
        &["stats", "db"],
        &["dump", "db"],
        &["backup", "db", "backup"],
        &["update", "db", "CLEAR ALL"],
    ] {
        let error = lode.run(args).fails(1);
        assert!(error.contains("the log is missing") && error.contains("lode check --salvage"), "{error}");
    }
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(report.out.contains("log-000001: byte 0: the log is missing"), "{report:?}");
    assert!(
        report.err.contains("lode check --salvage") && !report.err.contains("from a backup"),
        "{report:?}"
    );
    assert!(report.err.contains("damaged: 1 problem\n"), "{report:?}");
    report.fails(6);
    let salvaged = lode.run(&["check", "db", "--salvage", "--quiet"]);
    assert!(salvaged.err.contains("gave up the whole log: 3 commits or more"), "{salvaged:?}");
    assert!(salvaged.err.contains("kept 0 commits of the log, up to version 2: "), "{salvaged:?}");
    assert!(salvaged.err.contains("sound: 2 quads in 1 segment, "), "{salvaged:?}");
    salvaged.ok();
    insert(&lode, 7);
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 3);
}

#[test]
fn a_damaged_log_is_told_by_whoever_reads() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    (1..=3).for_each(|number| insert(&lode, number));
    let log = lode.path("db/log-000001");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
    for args in [&["query", "db", "ASK {}"][..], &["stats", "db"], &["backup", "db", "backup"]] {
        let error = lode.run(args).fails(1);
        assert!(error.contains("has been cut") && error.contains("lode check --salvage"), "{error}");
    }
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(!report.err.contains("from a backup"), "{report:?}");
    report.fails(6);
}

#[test]
fn the_end_of_a_log_without_its_mark_is_told_to_be_unproved() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    (1..=3).for_each(|number| insert(&lode, number));
    assert!(!lode.run(&["check", "db", "--quiet"]).err.contains("end mark"));
    let (log, mark) = (lode.path("db/log-000001"), lode.path("db/log-000001.end"));
    let (bytes, good) = (std::fs::read(&log).unwrap(), std::fs::read(&mark).unwrap());
    std::fs::remove_file(&mark).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(report.err.contains("no end mark says that the log ends at byte"), "{report:?}");
    report.ok();
    // A mark that is damaged is problem enough, and mended.
    std::fs::write(&log, &bytes).unwrap();
    std::fs::write(&mark, &good[1..]).unwrap();
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(
        report.out.contains("log-000001.end") && report.err.contains("lode check --salvage"),
        "{report:?}"
    );
    report.fails(6);
    let salvaged = lode.run(&["check", "db", "--salvage", "--quiet"]);
    assert!(
        salvaged.err.contains("log-000001.end: it was damaged, and has been written again"),
        "{salvaged:?}"
    );
    salvaged.ok();
    assert!(!lode.run(&["check", "db", "--quiet"]).err.contains("end mark"));
}

#[test]
fn the_cause_of_an_error_is_told_once() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    std::fs::remove_file(lode.path("db/segment-000001/spog.perm")).unwrap();
    for args in
        [&["query", "db", "SELECT * { ?s ?p ?o }"][..], &["stats", "db"], &["dump", "db"], &["compact", "db"]]
    {
        let error = lode.run(args).fails(1);
        assert_eq!(error.matches("No such file").count(), 1, "{error}");
    }
    let report = lode.run(&["check", "db", "--quiet"]);
    assert!(report.err.contains("restore the database from a backup") && !report.err.contains("--salvage"));
    report.fails(6);
}
