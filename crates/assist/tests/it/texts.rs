//! Texts of the W3C suites and of the benchmark, whole and damaged.
//!
//! `LODE_SUITES` says where the suites are; without, the few texts here are what there is.

use lode_assist::{Assist, Form, form_of, format};
use lode_engine::{CancelToken, Database, QueryOptions, UpdateOptions};
use lode_sparql::{parse_query, parse_update};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TEXTS: [&str; 6] = [
    "PREFIX : <http://e/> # a\nSELECT DISTINCT ?s (COUNT(*) AS ?n) { ?s :p [ :q 1, -2.5 ] ; :r/:s* 'x'@en . FILTER(?s > 1 + 2 * 3 && !(?s = :a)) } GROUP BY ?s",
    "PREFIX : <http://e/> ASK { { ?s ?p <<( ?a :b 'c' )>> } UNION { << ?s ?p ?o >> ?q ( 1 2 ) {| :p ?x |} } OPTIONAL { VALUES (?x ?y) { (1 UNDEF) } } }",
    "BASE <http://e/> WITH <g> DELETE { ?s ?p ?o } INSERT { GRAPH ?g { ?s ?p 1 } } USING <h> WHERE { ?s ?p ?o BIND(ABS(?o) AS ?x) } ; COPY <a> TO DEFAULT",
    "PREFIX : <http://e/> SELECT * { ?s !(:a|^:b)/(:c|:d)+/^:e? ?o FILTER(- ?o < -1 || ?o-1 IN (1,2)) FILTER NOT EXISTS { ?o :f []; :g () } }",
    "SELECT ?x # one\n# two\n{ # three\n\n\n?x ?y ?z # four\n. # five\n} # six\n\n# seven",
    "SELECT (GROUP_CONCAT(DISTINCT ?x; SEPARATOR=\", \") AS ?y) (IF(?a, \"\"\"long\nlines\"\"\", <http://e/f>(?b)) AS ?c) { { SELECT * { ?s ?p ?x } LIMIT 3 } SERVICE SILENT <http://e/> { } }",
];

/// The texts of a folder and those below it.
fn read(folder: &Path, texts: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rq" || extension == "ru") {
            texts.extend(std::fs::read_to_string(&path));
        }
    }
}

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/src"), &mut texts);
    if let Some(folder) = std::env::var_os("LODE_SUITES") {
        read(&PathBuf::from(folder).join("w3c-rdf-tests/sparql"), &mut texts);
    }
    texts
}

/// The algebra of a text; none where it is wrong.
fn meaning(text: &str) -> Option<String> {
    let meaning = match form_of(text) {
        Form::Query => parse_query(text, Some("http://base/")).ok().map(|query| format!("{query:?}")),
        Form::Update => parse_update(text, Some("http://base/")).ok().map(|update| format!("{update:?}")),
    };
    meaning.map(|meaning| numbered(&meaning))
}

/// The same with numbers for blank nodes, whose names are random.
fn numbered(meaning: &str) -> String {
    const START: &str = "Anonymous { id: [";
    let mut pieces = meaning.split(START);
    let (mut numbered, mut known) = (pieces.next().unwrap().to_owned(), Vec::new());
    for piece in pieces {
        let (name, rest) = piece.split_once("]) }").unwrap();
        let number = known.iter().position(|other| *other == name).unwrap_or(known.len());
        if number == known.len() {
            known.push(name);
        }
        numbered += &format!("Anonymous {number}{rest}");
    }
    numbered
}

#[test]
fn formatting_keeps_meaning_and_comments_and_is_done_once() {
    let mut formatted_ones = 0;
    for text in texts() {
        let Some(meant) = meaning(&text) else { continue };
        // Relative IRIs have no base here.
        let Ok(formatted) = format(&text) else { continue };
        formatted_ones += 1;
        assert_eq!(meaning(&formatted).as_deref(), Some(meant.as_str()), "{text}\n->\n{formatted}");
        assert_eq!(format(&formatted).unwrap(), formatted, "{text}");
        assert!(formatted.lines().all(|line| line.trim_end() == line || text.contains(line)), "{formatted}");
    }
    assert!(formatted_ones >= 5, "{formatted_ones}");
}

/// Numbers that follow from one another.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound.max(1)
    }
}

fn damaged(text: &str, dice: &mut Dice) -> String {
    const PIECES: [&str; 16] =
        ["{", "}", "(", ")", "<", ">", "\"", "'", "?", "#", ";", ".", "\u{1F600}", "\\", "<<", "a:"];
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(chars.len());
        match dice.below(4) {
            0 => chars.truncate(at),
            1 => drop(chars.drain(at..(at + dice.below(20)).min(chars.len()))),
            2 => drop(chars.splice(at..at, PIECES[dice.below(PIECES.len())].chars())),
            _ => {
                let last = chars.len().saturating_sub(1);
                chars.swap(0, at.min(last));
            }
        }
        if chars.is_empty() {
            break;
        }
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_and_no_place_makes_it_fail() {
    let database = Database::in_memory().unwrap();
    let data = "INSERT DATA { <http://e/a> <http://e/p> <http://e/b>, \"x\" . <http://e/a> a <http://e/C> }";
    database.update(data, &UpdateOptions::default()).unwrap();
    let (with, without) = (Assist::new(Arc::new(database)), Assist::without_data());
    let mut dice = Dice(1);
    let options = || QueryOptions {
        cancel: CancelToken::new(Some(Duration::from_millis(50))),
        ..QueryOptions::default()
    };
    let mut slowest = Duration::ZERO;
    for (number, text) in texts().iter().enumerate() {
        let broken = damaged(text, &mut dice);
        let length = broken.encode_utf16().count();
        // Every place of the short ones without data, some of all with it.
        let every = if length < 300 { 1 } else { length / 60 };
        for position in (0..=length + 1).step_by(every.max(1)) {
            let started = Instant::now();
            let found = without.complete(&broken, position, 50, &options()).unwrap();
            slowest = slowest.max(started.elapsed());
            assert!(found.from <= found.to && found.to <= length, "{broken}");
            without.hover(&broken, position, &options()).unwrap();
        }
        let position = dice.below(length + 1);
        let found = with.complete(&broken, position, 50, &options()).unwrap();
        assert!(found.from <= found.to && found.to <= length, "{broken}");
        with.hover(&broken, position, &options()).unwrap();
        if number % 4 == 0 {
            with.check(&broken, form_of(&broken), &options());
        }
        drop(format(&broken));
    }
    // Far from what a call may take, so that a slow machine does not matter.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[test]
fn deep_and_long_texts_are_answered() {
    let (assist, options) = (Assist::without_data(), QueryOptions::default());
    for piece in ["(", "{ ", "FILTER(", "[ ?p ", "<< ", "IF(", "?s ?p ?o . ", "\"", "<", "#\n", "a:b "] {
        let text = format!("SELECT * {{ {}", piece.repeat(60_000));
        let length = text.encode_utf16().count();
        for position in [length, length / 2, 12] {
            assist.complete(&text, position, 50, &options).unwrap();
            assist.hover(&text, position, &options).unwrap();
        }
        assert!(assist.complete(&text.repeat(10), 20, 50, &options).is_ok());
        drop(format(&text));
    }
}
