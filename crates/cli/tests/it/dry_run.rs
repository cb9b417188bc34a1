//! `lode load --dry-run`, and the reports of loads as programs read them.

use crate::lode::Lode;
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn a_dry_run_tells_all_errors_and_touches_nothing() {
    let lode = Lode::new();
    lode.write("good.ttl", "<http://e/a> <http://e/p> 1, 2, 3 .");
    lode.write("bad.nt", "oops\n<http://e/a> <http://e/p> \"x\" .\n<http://e/a> oops .\n");
    lode.write("bad.ttl", "<http://e/a> <http://e/p> 1 .\n<http://e/a> <http://e/p> ; .\n");
    let outcome = lode.run(&["load", "db", "--dry-run", "good.ttl", "bad.nt", "bad.ttl", "--json"]);
    for part in
        ["bad.nt:1:1", "bad.nt:3:", "bad.ttl:2:", "good.ttl: 3 quads (Turtle)", "bad.nt: 1 quad, 2 bad"]
    {
        assert!(outcome.err.contains(part), "{part}: {outcome:#?}");
    }
    assert_eq!(outcome.code, 4);
    assert!(!lode.path("db").exists());
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    let expected = [
        "bad",
        "errors",
        "failed_files",
        "kept",
        "peak_resident_bytes",
        "processor_seconds",
        "quads",
        "quarantined",
        "seconds_total",
        "skipped",
        "skipped_files",
        "source_bytes",
        "sources",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!((&report["quads"], &report["bad"]), (&Value::from(5), &Value::from(3)));
    assert_eq!(report["errors"].as_array().unwrap().len(), 3);
    lode.run(&["load", "--dry-run", "good.ttl", "--quiet"]).ok();
}

#[test]
fn a_dry_run_goes_on_behind_errors_of_turtle_and_trig() {
    let lode = Lode::new();
    let statement = |number: usize| match number % 100 {
        7 => format!("e:s{number} e:p .\n"),
        8 => format!("e:s{number} e:p \"a\\qb\" .\n"),
        _ => format!("e:s{number} e:p \"{number}\" .\n"),
    };
    // Many pieces, each of which has errors.
    let all: String = (0..100_000).map(statement).collect();
    lode.write("bad.ttl", format!("@prefix e: <http://e/> .\n{all}"));
    lode.write(
        "bad.trig",
        "@prefix e: <http://e/> .\ne:g { e:a e:p 1 . e:b e:p , . e:c e:p 2 }\ne:d e:p <a b> .\ne:e e:p 3 .\n",
    );
    let outcome = lode.run(&["load", "--dry-run", "bad.ttl", "bad.trig", "--json"]);
    assert_eq!(outcome.code, 4);
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((&report["quads"], &report["bad"]), (&Value::from(98_003), &Value::from(2002)));
    // Of each file the first ones are told, and how many there are.
    for part in ["bad.ttl:9:", "bad.ttl:10:", "bad.ttl:909:", "bad.ttl:910:", "bad.trig:2:", "bad.trig:3:"] {
        assert!(outcome.err.contains(part), "{part}: {outcome:#?}");
    }
    assert_eq!(report["errors"].as_array().unwrap().len(), 22);
    assert!(outcome.err.contains("bad.ttl: 98,000 quads, 2,000 bad"), "{outcome:#?}");
    // A quarantine takes just these.
    lode.run(&["load", "db", "bad.ttl", "bad.trig", "--quarantine", "set-aside", "--json"]).fails(3);
    let set_aside = std::fs::read_to_string(lode.path("set-aside")).unwrap();
    assert_eq!(set_aside.matches("e:s").count(), 2000);
}

#[test]
fn a_dry_run_needs_no_database_but_may_name_one() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    lode.write("good.nt", "<http://e/a> <http://e/p> \"x\" .\n");
    let before = lode.run(&["dump", "db"]).ok();
    for args in [&["good.nt"][..], &["good.nt", "data.ttl"], &["db", "good.nt"], &["none", "good.nt"]] {
        let outcome = lode.run(&[&["load", "--dry-run"][..], args].concat());
        assert!(outcome.err.contains("good.nt: 1 quad "), "{outcome:#?}");
        assert_eq!(outcome.err.contains("data.ttl: 1 quad "), args.contains(&"data.ttl"));
        outcome.ok();
    }
    assert_eq!(lode.run(&["dump", "db"]).ok(), before);
    assert!(!lode.path("none").exists());
    lode.run(&["load", "--dry-run", "db"]).fails(1);
}

#[test]
fn a_dry_run_sets_lines_aside_as_a_load_does() {
    let lode = Lode::new();
    lode.write("mixed.nt", "<http://e/a> <http://e/p> \"x\" .\nbad line\n");
    lode.run(&["load", "--dry-run", "mixed.nt", "--quarantine", "bad.txt"]).fails(3);
    assert!(std::fs::read_to_string(lode.path("bad.txt")).unwrap().contains("bad line"));
    lode.write("worse.ttl", "<a");
    lode.run(&["load", "--dry-run", "mixed.nt", "worse.ttl", "--quarantine", "more.txt"]).fails(3);
    // Nothing is written over, least of all what is to be loaded.
    let before = std::fs::read(lode.path("mixed.nt")).unwrap();
    let error = lode.run(&["load", "--dry-run", "mixed.nt", "--quarantine", "mixed.nt"]).fails(1);
    assert!(error.contains("give the name of a new one"), "{error}");
    assert_eq!(std::fs::read(lode.path("mixed.nt")).unwrap(), before);
}

#[test]
fn the_report_of_a_load_keeps_its_keys() {
    let lode = Lode::new();
    lode.write("data.nt", "<http://e/a> <http://e/p> \"x\" .\n".repeat(3));
    let outcome = lode.run(&["load", "db", "data.nt", "--json"]);
    for part in [
        "loaded 3 quads",
        "1 distinct",
        "2 duplicates",
        "bytes a quad: spog",
        "dictionary",
        "s of processors",
    ] {
        assert!(outcome.err.contains(part), "{part}: {outcome:#?}");
    }
    let report: Value = serde_json::from_str(&outcome.ok()).unwrap();
    let expected = [
        "added",
        "blank_nodes",
        "block_fill",
        "distinct",
        "duplicates",
        "existing",
        "failed_files",
        "file_bytes",
        "inline_values",
        "kept",
        "new_terms",
        "peak_resident_bytes",
        "processor_seconds",
        "quads",
        "quarantined",
        "seconds",
        "seconds_total",
        "segment_bytes",
        "skipped",
        "skipped_files",
        "source_bytes",
        "sources",
    ];
    assert_eq!(keys(&report), expected);
    let files = ["dictionary", "gspo", "opsg", "ospg", "posg", "psog", "sopg", "spog"];
    assert_eq!(keys(&report["file_bytes"]), files);
    assert_eq!(
        keys(&report["seconds"]),
        ["merging terms", "reading", "sorting", "syncing", "writing indexes"]
    );
    let of_source = ["bad", "encoding", "failed", "format", "kept", "name", "quads", "used_own_address"];
    assert_eq!(keys(&report["sources"][0]), of_source);
    assert_eq!(
        (&report["quads"], &report["distinct"], &report["duplicates"]),
        (&3.into(), &1.into(), &2.into())
    );
}
