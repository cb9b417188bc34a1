//! `lode load`, `compact`, `dump`, `stats` and `check`.

use crate::lode::{Lode, Outcome};
use std::io::Write;
use std::process::Stdio;

const TURTLE: &str =
    "@prefix : <http://e/> . :a :p 1, 01, 1.50, \"x\"@en ; :q [ :r \"\"\"two\nlines\"\"\" ] .";

#[test]
fn every_syntax_and_standard_input() {
    let lode = Lode::new();
    lode.write("a.nt", "<http://e/a> <http://e/p> \"nt\" .\n");
    lode.write("b.nq", "<http://e/a> <http://e/p> \"nq\" <http://e/g> .\n");
    lode.write("c.ttl", "<http://e/a> <http://e/p> \"ttl\" .");
    lode.write("d.trig", "<http://e/g> { <http://e/a> <http://e/p> \"trig\" . }");
    lode.write(
        "e.rdf",
        r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"><rdf:Description rdf:about="http://e/a"><e:p>rdf</e:p></rdf:Description></rdf:RDF>"#,
    );
    lode.write("f.jsonld", r#"{"@id": "http://e/a", "http://e/p": "jsonld"}"#);
    let files = ["a.nt", "b.nq", "c.ttl", "d.trig", "e.rdf", "f.jsonld"];
    lode.run(&[&["load", "db"][..], &files].concat()).ok();
    let mut child = lode
        .command(&["load", "db", "-", "--format", "ttl", "--base", "http://e/"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"<a> <p> \"stdin\" .").unwrap();
    Outcome::of(child.wait_with_output().unwrap()).ok();
    let dump = lode.run(&["dump", "db"]).ok();
    let mut lines: Vec<&str> = dump.lines().collect();
    lines.sort_unstable();
    let expected = ["jsonld", "nq\" <http://e/g", "nt", "rdf", "stdin", "trig\" <http://e/g", "ttl"];
    assert_eq!(lines.len(), expected.len(), "{dump}");
    for (line, part) in lines.iter().zip(expected) {
        assert!(line.contains(part), "{line} has no {part}");
    }
    lode.run(&["check", "db"]).ok();
}

#[test]
fn lexical_forms_survive_and_loading_twice_adds_nothing() {
    let lode = Lode::with_turtle(TURTLE);
    let ntriples = lode.run(&["dump", "db", "--format", "nt"]).ok();
    for part in ["\"01\"^^", "\"1.50\"^^", "\"x\"@en", "\"two\\nlines\""] {
        assert!(ntriples.contains(part), "{part} in {ntriples}");
    }
    lode.write("plain.nt", "<http://e/a> <http://e/p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n");
    let report = lode.run(&["load", "db", "plain.nt", "--json"]).ok();
    assert!(report.contains("\"existing\": 1") && report.contains("\"added\": 0"), "{report}");
}

#[test]
fn syntax_errors_name_the_place_and_leave_nothing() {
    let lode = Lode::new();
    lode.write("bad.nt", "<http://e/a> <http://e/p> <http://e/o> .\n<http://e/a> <http://e/p> oops .\n");
    let error = lode.run(&["load", "db", "bad.nt"]).fails(4);
    assert!(error.contains("bad.nt:2:27"), "{error}");
    assert!(!lode.path("db").exists(), "a failed first load leaves no database");
    let missing = lode.run(&["load", "db", "none.nt"]).fails(1);
    assert!(missing.contains("none.nt"), "{missing}");
}

#[test]
fn a_failed_load_leaves_the_old_content() {
    let lode = Lode::with_turtle(TURTLE);
    let before = lode.run(&["dump", "db"]).ok();
    lode.write("bad.ttl", "<http://e/x> <http://e/p> 1 . <http://e/y> <http://e/p> ; .");
    lode.run(&["load", "db", "bad.ttl"]).fails(4);
    assert_eq!(lode.run(&["dump", "db"]).ok(), before);
    lode.run(&["check", "db"]).ok();
}

#[test]
fn quarantine_sets_bad_lines_aside() {
    let lode = Lode::new();
    lode.write(
        "mixed.nt",
        "<http://e/a> <http://e/p> \"good\" .\nbad line\n<http://e/a> <http://e/p> \"also good\" .\n",
    );
    let outcome = lode.run(&["load", "db", "mixed.nt", "--quarantine", "bad.txt"]);
    assert!(outcome.fails(3).contains("1 bad statement"));
    assert!(std::fs::read_to_string(lode.path("bad.txt")).unwrap().contains("bad line"));
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 2);
}

#[test]
fn graphs_are_named_and_dumped_alone() {
    let lode = Lode::new();
    lode.write("a.nt", "<http://e/a> <http://e/p> \"in g\" .\n");
    lode.write("b.nt", "<http://e/a> <http://e/p> \"in default\" .\n");
    lode.run(&["load", "db", "a.nt", "--graph", "http://e/g"]).ok();
    lode.run(&["load", "db", "b.nt"]).ok();
    assert!(lode.run(&["dump", "db", "--graph", "http://e/g", "--format", "ttl"]).ok().contains("in g"));
    let default = lode.run(&["dump", "db", "--graph", "default", "--format", "nt"]).ok();
    assert_eq!(default, "<http://e/a> <http://e/p> \"in default\" .\n");
    let error = lode.run(&["dump", "db", "--format", "nt"]).fails(1);
    assert!(error.contains("--graph"), "{error}");
    assert!(lode.run(&["dump", "db", "--graph", "http://e/none"]).fails(1).contains("no graph"));
    let stats = lode.run(&["stats", "db"]).ok();
    assert!(stats.contains("<http://e/g>") && stats.contains("spog"), "{stats}");
}

#[test]
fn gzip_is_recognised_by_its_first_bytes() {
    let lode = Lode::new();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"<http://e/a> <http://e/p> \"zipped\" .\n").unwrap();
    lode.write("data.nt", encoder.finish().unwrap());
    lode.run(&["load", "db", "data.nt"]).ok();
    assert!(lode.run(&["dump", "db"]).ok().contains("zipped"));
}

#[test]
fn damage_is_found() {
    let lode = Lode::with_turtle(TURTLE);
    let file = lode.path("db").join("segment-000001").join("posg.perm");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x10;
    std::fs::write(&file, bytes).unwrap();
    let outcome = lode.run(&["check", "db"]);
    assert!(outcome.out.contains("posg.perm"), "{outcome:#?}");
    outcome.fails(6);
}

#[test]
fn what_is_not_a_database_is_said_so() {
    let lode = Lode::new();
    assert!(lode.run(&["query", "nothing", "ASK {}"]).fails(1).contains("no database at nothing"));
    lode.write("file", "text");
    lode.run(&["query", "file", "ASK {}"]).fails(1);
    lode.run(&["load", "file", "file"]).fails(1);
    lode.run(&["load"]).fails(2);
}

#[test]
fn compacting_makes_one_segment_of_many() {
    let lode = Lode::with_turtle(TURTLE);
    let nothing = lode.run(&["compact", "db"]);
    assert!(nothing.err.contains("nothing to do"), "{nothing:?}");
    assert_eq!(nothing.code, 0);
    lode.write("more.nq", "_:x <http://e/0> <<( _:x <http://e/p> \"y\" )>> <http://e/g> .\n");
    lode.run(&["load", "db", "more.nq"]).ok();
    let sorted = |lode: &Lode| {
        let dump = lode.run(&["dump", "db"]).ok();
        let mut lines: Vec<String> = dump.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let before = sorted(&lode);
    let report = lode.run(&["compact", "db", "--json", "--threads", "1", "--memory", "64MiB"]).ok();
    assert!(report.contains("\"compacted\": true") && report.contains("\"segments\": 2"), "{report}");
    assert_eq!(sorted(&lode), before);
    let stats = lode.run(&["stats", "db", "--json"]).ok();
    assert!(stats.contains("\"segments\": 1"), "{stats}");
    lode.run(&["check", "db"]).ok();
    let forced = lode.run(&["compact", "db", "--force"]);
    assert!(forced.err.contains("compacted"), "{forced:?}");
    let missing = lode.run(&["compact", "nowhere"]).fails(1);
    assert!(missing.contains("no database") && !lode.path("nowhere").exists(), "{missing}");
}
