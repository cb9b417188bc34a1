//! Files as the world has them. `tests/dirt` holds what is wrong in as many ways as we know; `expected.txt` beside them says what a strict
//! load, a lenient one, and one with a quarantine make of each. Files in other encodings, and damaged ones, are made here.

use crate::lode::{Lode, note};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

const GOOD: &str = "<http://e/a> <http://e/p> \"caf\u{e9}\" .\n<http://e/good> <http://e/p> \"good\" .\n";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dirt")
}

fn utf16_le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf16_be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

fn replaced(bytes: Vec<u8>, from: u8, to: u8) -> Vec<u8> {
    bytes.into_iter().map(|byte| if byte == from { to } else { byte }).collect()
}

fn xml(encoding: &str, text: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"{encoding}\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" \
         xmlns:e=\"http://e/\">\n<rdf:Description rdf:about=\"http://e/a\"><e:p>{text}</e:p></rdf:Description>\n</rdf:RDF>\n"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// What no text file could be.
fn made() -> Vec<(&'static str, Vec<u8>)> {
    let json = "[{\"@id\": \"http://e/a\", \"http://e/p\": \"caf\u{e9}\"}]";
    let many: String = (0..3000).map(|i| format!("<http://e/{i}> <http://e/p> \"{}\" .\n", i * i)).collect();
    let mut damaged = gzip(many.as_bytes());
    let checksum = damaged.len() - 6;
    damaged[checksum] ^= 1;
    let halves = [utf16_le("\u{feff}<http://e/a> <http://e/p> \"x"), vec![0, 0xD8], utf16_le("y\" .\n")];
    let with_mark = |text: &str| ["\u{feff}", text].concat();
    let bad_line = latin1("<http://e/a> <http://e/p> \"caf\u{e9}\" .\n<http://e/b> <http://e/p> \"b\" .\n");
    vec![
        ("latin1.rdf", latin1(&xml("ISO-8859-1", "caf\u{e9}\u{80}"))),
        ("windows.rdf", replaced(latin1(&xml("windows-1252", "caf\u{e9} @")), b'@', 0x80)),
        ("shift-jis.rdf", replaced(replaced(xml("Shift_JIS", "@~").into_bytes(), b'@', 0x82), b'~', 0xA0)),
        ("ascii-bad.rdf", latin1(&xml("US-ASCII", "caf\u{e9}"))),
        ("utf8-bad.rdf", latin1(&xml("UTF-8", "caf\u{e9}"))),
        ("utf16-le.rdf", utf16_le(&with_mark(&xml("UTF-16", "caf\u{e9}")))),
        ("utf16-be.rdf", utf16_be(&with_mark(&xml("UTF-16", "caf\u{e9}")))),
        ("utf16-no-mark.rdf", utf16_le(&xml("utf-16le", "caf\u{e9}"))),
        (
            "utf16-le.ttl",
            utf16_le(&with_mark("@prefix : <http://e/> . :a :p \"caf\u{e9}\", \"\u{1f600}\" .")),
        ),
        ("utf16-be.nt", utf16_be(&with_mark(GOOD))),
        ("utf16-le.nq", utf16_le(&with_mark(GOOD))),
        ("utf16-be.trig", utf16_be(&with_mark("<http://e/g> { <http://e/a> <http://e/p> \"caf\u{e9}\" }"))),
        ("utf16-le.jsonld", utf16_le(&with_mark(json))),
        ("utf16-odd.nt", [utf16_le(&with_mark(GOOD)), vec![b'#']].concat()),
        ("utf16-half.ttl", halves.concat()),
        ("utf16.nt.gz", gzip(&utf16_le(&with_mark(GOOD)))),
        ("utf32.ttl", [&[0xFF, 0xFE, 0, 0][..], b"a\0\0\0"].concat()),
        ("mark.nt", with_mark(GOOD).into_bytes()),
        ("mark.nq", with_mark(GOOD).into_bytes()),
        ("mark.ttl", with_mark("@prefix : <http://e/> . :a :p :b .").into_bytes()),
        ("mark.trig", with_mark("{ <http://e/a> <http://e/p> 1 }").into_bytes()),
        ("mark.rdf", with_mark(&xml("utf-8", "x")).into_bytes()),
        ("mark.jsonld", with_mark(json).into_bytes()),
        ("latin1.nt", bad_line.clone()),
        ("latin1.ttl", bad_line),
        ("cut.nt.gz", {
            let whole = gzip(many.as_bytes());
            whole[..whole.len() / 2].to_vec()
        }),
        ("checksum.nt.gz", damaged),
        ("empty.nt.gz", Vec::new()),
        ("zeros.nt", vec![0; 5000]),
    ]
}

/// What became of a file: quads, bad statements, and whether it could not be read to its end.
fn outcomes(report: &Value) -> BTreeMap<String, (u64, u64, bool)> {
    let of = |source: &Value| {
        let name = source["name"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (
            name,
            (source["quads"].as_u64().unwrap(), source["bad"].as_u64().unwrap(), !source["failed"].is_null()),
        )
    };
    report["sources"].as_array().unwrap().iter().map(of).collect()
}

fn told((quads, bad, failed): (u64, u64, bool)) -> String {
    let bad = if bad > 0 { format!(" -{bad}") } else { String::new() };
    format!("{quads}{bad}{}", if failed { " failed" } else { "" })
}

#[test]
fn each_file_gives_what_is_expected() {
    let lode = Lode::new();
    std::fs::create_dir(lode.path("dirt")).unwrap();
    for entry in std::fs::read_dir(corpus()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension != "txt") {
            std::fs::copy(&path, lode.path("dirt").join(path.file_name().unwrap())).unwrap();
        }
    }
    for (name, bytes) in made() {
        lode.write(&format!("dirt/{name}"), bytes);
    }
    let run = |args: &[&str], code: i32| {
        let outcome = lode.run(args);
        assert_eq!(outcome.code, code, "{outcome:#?}");
        serde_json::from_str::<Value>(&outcome.out).unwrap()
    };
    let strict = outcomes(&run(&["load", "--dry-run", "dirt", "--json"], 4));
    let kept = run(&["load", "kept", "dirt", "--lenient", "--quarantine", "kept.txt", "--json"], 3);
    let aside = run(&["load", "aside", "dirt", "--quarantine", "aside.txt", "--json"], 3);
    let (lenient, aside_by_file) = (outcomes(&kept), outcomes(&aside));
    let mut found = String::new();
    for (name, outcome) in &strict {
        let strict = if outcome.1 > 0 || outcome.2 { "error".to_owned() } else { outcome.0.to_string() };
        let (kept, aside) = (told(lenient[name]), told(aside_by_file[name]));
        found.push_str(&format!("{name:<26}| {strict:<6}| {kept:<10}| {aside}\n"));
    }
    let expected = std::fs::read_to_string(corpus().join("expected.txt")).unwrap_or_default();
    let rows: String =
        expected.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    if found != rows {
        note(format_args!("{found}"));
    }
    for (found, expected) in found.lines().zip(rows.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), rows.lines().count());
    // Nothing is counted that is not there, and what was set aside can be read.
    let sum = |outcomes: &BTreeMap<String, (u64, u64, bool)>| {
        outcomes.values().map(|outcome| outcome.0).sum::<u64>()
    };
    for (database, report, outcomes) in [("kept", &kept, &lenient), ("aside", &aside, &aside_by_file)] {
        assert_eq!(report["quads"].as_u64(), Some(sum(outcomes)), "{database}");
        let dump = lode.run(&["dump", database]).ok();
        assert_eq!(report["distinct"].as_u64(), Some(dump.lines().count() as u64), "{database}");
        lode.run(&["check", database]).ok();
        // What was kept goes out and comes in again.
        lode.write("again.nq", &dump);
        let args = ["load", &format!("{database}-again"), "again.nq", "--lenient", "--json"];
        let again = run(&args, 0);
        assert_eq!(again["distinct"], report["distinct"], "{database}");
        let mut lines: Vec<String> = lode.run(&["dump", args[1]]).ok().lines().map(without_blanks).collect();
        let mut before: Vec<String> = dump.lines().map(without_blanks).collect();
        lines.sort_unstable();
        before.sort_unstable();
        assert!(lines == before, "{database}");
    }
}

/// A line without the labels of blank nodes, which are others in each database.
fn without_blanks(line: &str) -> String {
    line.split(' ')
        .map(|word| if word.starts_with("_:") { "_:b" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_summary_tells_what_was_done() {
    let lode = Lode::new();
    lode.write("a.ttl", utf16_le("\u{feff}<a> <http://e/p> \"caf\u{e9}\" ."));
    lode.write("b.nt", "<http://e/a b> <http://e/p> \"x\"@en_US .\nbad\n");
    lode.write("c.rdf", "<rdf:RDF");
    let args = ["load", "db", "a.ttl", "b.nt", "c.rdf", "--lenient", "--quarantine", "bad.txt"];
    let told = lode.run(&args).fails(3);
    for part in [
        "a.ttl: transcoded from UTF-16LE",
        "a.ttl had relative IRIs; its own address was used: --base IRI",
        "kept: 1 invalid IRIs, such as b.nt:1:2 `http://e/a b`",
        "kept: 1 invalid language tags, such as b.nt:1:",
        "set aside: c.rdf:1:1: ",
        "(nothing of this file was loaded)",
        "set aside: 1 bad statements, in bad.txt",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let dump = lode.run(&["dump", "db"]).ok();
    assert!(
        dump.contains(&format!("<file://{}/a> ", std::fs::canonicalize(lode.path("")).unwrap().display())),
        "{dump}"
    );
    assert!(dump.contains("<http://e/a\\u0020b> <http://e/p> \"x\"@en_us ."), "{dump}");
    let aside = std::fs::read_to_string(lode.path("bad.txt")).unwrap();
    assert!(
        aside.contains("# b.nt:2:1: ") && aside.contains("\nbad\n") && aside.contains("# c.rdf:1:1: "),
        "{aside}"
    );
}

#[test]
fn invalid_bytes_of_other_encodings_have_a_place() {
    let lode = Lode::new();
    lode.write("a.nt", [utf16_le("\u{feff}<http://e/a> <http://e/p> \"x\" .\nab"), vec![0, 0xDC]].concat());
    assert!(
        lode.run(&["load", "db", "a.nt"])
            .fails(4)
            .contains("a.nt:2:3: byte 70 of the (unpacked) file is not valid UTF-16LE")
    );
    lode.write("a.ttl", utf16_le("\u{feff}@prefix : <http://e/> .\n:\u{e9} :p oops ."));
    assert!(lode.run(&["load", "db", "a.ttl"]).fails(4).contains("a.ttl:2:"));
}

#[test]
fn bases_of_files_archives_and_standard_input() {
    let lode = Lode::new();
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    let text = "<#x> <http://e/p> \"in archive\" .";
    header.set_size(text.len() as u64);
    archive.append_data(&mut header, "in/a b.ttl", text.as_bytes()).unwrap();
    lode.write("files.tar", archive.into_inner().unwrap());
    lode.write("a.jsonld", "{\"@id\": \"b\", \"http://e/p\": \"json\"}");
    lode.run(&["load", "db", "files.tar", "a.jsonld"]).ok();
    let dump = lode.run(&["dump", "db"]).ok();
    let folder = std::fs::canonicalize(lode.path("")).unwrap().display().to_string();
    assert!(dump.contains(&format!("<file://{folder}/files.tar/in/a%20b.ttl#x>")), "{dump}");
    assert!(dump.contains(&format!("<file://{folder}/b>")), "{dump}");
    lode.run(&["load", "other", "files.tar", "--base", "http://e/base"]).ok();
    assert!(lode.run(&["dump", "other"]).ok().contains("<http://e/base#x>"));
    let mut command = lode.command(&["load", "third", "-", "--format", "ttl"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let outcome = crate::lode::Outcome::of(child.wait_with_output().unwrap());
    assert!(outcome.fails(4).contains("--base IRI"));
}

#[test]
fn contexts_come_from_a_folder() {
    let lode = Lode::new();
    lode.write(
        "a.jsonld",
        "{\"@context\": \"https://schema.org/\", \"@id\": \"http://e/a\", \"name\": \"x\"}",
    );
    let error = lode.run(&["load", "db", "a.jsonld"]).fails(4);
    assert!(error.contains("https://schema.org/") && error.contains("--contexts DIR"), "{error}");
    std::fs::create_dir(lode.path("contexts")).unwrap();
    let error = lode.run(&["load", "db", "a.jsonld", "--contexts", "contexts"]).fails(4);
    assert!(error.contains("contexts/schema.org.jsonld"), "{error}");
    lode.write("contexts/schema.org.jsonld", "{\"@context\": {\"name\": \"http://schema.org/name\"}}");
    lode.run(&["load", "db", "a.jsonld", "--contexts", "contexts"]).ok();
    assert_eq!(lode.run(&["dump", "db"]).ok(), "<http://e/a> <http://schema.org/name> \"x\" .\n");
    assert!(lode.run(&["load", "db", "a.jsonld", "--contexts", "none"]).fails(1).contains("none"));
}

#[test]
fn a_document_that_is_wrong_at_its_end_leaves_nothing() {
    let lode = Lode::new();
    let many: String = (0..20_000)
        .map(|i| format!("<rdf:Description rdf:about=\"http://e/{i}\"><e:p>{i}</e:p></rdf:Description>\n"))
        .collect();
    let xml = format!(
        "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"http://e/\">\n{many}"
    );
    lode.write("bad.rdf", format!("{xml}</oops>"));
    lode.write("good.rdf", format!("{xml}</rdf:RDF>"));
    lode.write("other.nt", GOOD);
    let args = ["load", "db", "bad.rdf", "other.nt", "--quarantine", "bad.txt", "--json"];
    let outcome = lode.run(&args);
    assert_eq!(outcome.code, 3, "{outcome:#?}");
    let report: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((report["quads"].as_u64(), report["failed_files"].as_u64()), (Some(2), Some(1)));
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 2);
    let outcome = lode.run(&["load", "db", "good.rdf", "--quarantine", "none.txt"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    assert_eq!(lode.run(&["dump", "db"]).ok().lines().count(), 20_002);
}
