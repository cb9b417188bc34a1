//! Full-text search: the oracle, which reads a query anew for each text and looks at lists of words, and the engine find the same with the same scores.

use crate::indexed::Random;
use lode_conformance::answer::Answer;
use lode_conformance::dataset::Dataset;
use lode_conformance::engine_subject::EngineSubject;
use lode_conformance::subject::{NaiveSubject, QuerySettings, Subject};

/// Calls of one query.
const CALLS: usize = 200;

const WORDS: [&str; 14] = [
    "fox", "foxes", "dog", "dogs", "running", "run", "Café", "cafe", "red-fox", "日本", "日", "häuser",
    "Haus", "don't",
];

fn text(random: &mut Random) -> String {
    let words: Vec<&str> = (0..random.below(9)).map(|_| random.of(&WORDS)).collect();
    let tag = random.of(&["", "@en", "@de", "@fr", "@zh"]);
    format!("\"{}\"{tag}", words.join(random.of(&[" ", ", ", "  "])))
}

fn query(random: &mut Random, depth: usize) -> String {
    let mut out = String::new();
    for part in 0..=random.below(3) {
        if part > 0 {
            out += random.of(&[" ", " ", " AND ", " OR ", " && ", " || "]);
        }
        out += random.of(&["", "", "", "+", "-", "NOT ", "!"]);
        out += &match random.below(8) {
            0 if depth > 0 => format!("({})", query(random, depth - 1)),
            1 => format!("\\\"{} {}\\\"", random.of(&WORDS), random.of(&WORDS)),
            2 => format!("\\\"{} {}\\\"~{}", random.of(&WORDS), random.of(&WORDS), random.below(4)),
            3 => random.of(&["fo*", "*og", "d?g", "r*n*", "*a*"]).to_owned(),
            4 => format!("{}^{}", random.of(&WORDS), random.below(4)),
            _ => random.of(&WORDS).to_owned(),
        };
    }
    out
}

#[test]
fn oracle_and_engine_find_the_same_words() {
    let (mut naive, mut engine) = (NaiveSubject::default(), EngineSubject::default());
    engine.load(&Dataset::default()).expect("no data");
    let mut random = Random(24);
    let mut found = 0;
    for _ in 0..20 {
        // Queries are values, so that wrong ones are errors of a call.
        let calls: Vec<String> =
            (0..CALLS).map(|_| format!("({} \"{}\")", text(&mut random), query(&mut random, 2))).collect();
        let text = format!(
            "PREFIX text: <urn:lodestore:text:> SELECT ?t ?q (text:matches(?t, ?q) AS ?m) (text:score(?t, ?q) AS ?s) (text:snippet(?t, ?q) AS ?c) {{ VALUES (?t ?q) {{ {} }} }}",
            calls.join(" ")
        );
        let rows = |subject: &mut dyn Subject| match subject.query(&text, &QuerySettings::default()) {
            Ok(Answer::Solutions { mut rows, .. }) => {
                rows.sort_by_key(|row| format!("{row:?}"));
                rows
            }
            other => panic!("{text}: {other:?}"),
        };
        let (expected, actual) = (rows(&mut naive), rows(&mut engine));
        found += expected.iter().filter(|row| format!("{:?}", row[2]).contains("true")).count();
        for (expected, actual) in expected.iter().zip(&actual) {
            assert_eq!(expected, actual);
        }
        assert_eq!(expected.len(), actual.len());
    }
    assert!(found > 500, "{found} of {}", 20 * CALLS);
}
