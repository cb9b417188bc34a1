//! Tables, Turtle and mistakes, on a terminal and elsewhere.

use crate::lode::Lode;
use crate::pseudo::{Step, played};

const DATA: &str = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix e: <http://e/> .
    e:ann a foaf:Person ; foaf:name \"Ann\" ; foaf:knows e:bob, e:cyd .
    e:bob a foaf:Person ; foaf:name \"\u{1B}[31mBob\u{7}\" .
    e:cyd a e:Robot ; foaf:name \"漢字漢字漢字\" .";

const CLASSES: &str = "SELECT ?class (COUNT(*) AS ?n) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?n)";

#[test]
fn files_and_pipes_have_whole_cells() {
    let long = "x".repeat(300);
    let lode = Lode::with_turtle(&format!("<http://e/a> <http://xmlns.com/foaf/0.1/name> \"{long}\" ."));
    let query = "PREFIX e: <http://e/> SELECT * { ?s ?p ?o }";
    let table = lode.run(&["query", "db", query]).ok();
    assert!(
        table.contains(&format!("<http://e/a>  <http://xmlns.com/foaf/0.1/name>  \"{long}\"\n")),
        "{table}"
    );
    assert_eq!(lode.run(&["query", "db", query, "--full", "--no-pager"]).ok(), table);
    // Nothing is said of rows and time.
    let outcome = lode.run(&["query", "db", query]);
    assert_eq!((outcome.err.as_str(), outcome.out.lines().count()), ("", 3));
    let narrow = lode.run(&["query", "db", query, "--width", "40"]).ok();
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(narrow.contains("e:a") && narrow.contains("foaf:name") && narrow.contains('…'), "{narrow}");
    lode.run(&["query", "db", query, "--full", "--width", "40"]).fails(2);
}

#[test]
fn control_characters_are_shown_by_others() {
    let lode = Lode::with_turtle(DATA);
    let query = "SELECT ?name { ?s <http://xmlns.com/foaf/0.1/name> ?name }";
    assert!(!lode.run(&["query", "db", query]).ok().contains('\u{1B}'));
    // A program gets what there is.
    assert!(lode.run(&["query", "db", query, "--format", "csv"]).ok().contains("\u{1B}[31mBob\u{7}"));
    let Some(text) = played(&lode, &["query", "db", query, "--format", "csv"], 80, &[], 0) else { return };
    assert!(text.contains("␛[31mBob␇") && !text.contains("\u{1B}[31m"), "{text}");
}

#[test]
fn nothing_of_others_turns_a_terminal_around() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> \"x\u{202E}y\u{2066}z\" .");
    let query = "SELECT ?o { ?s ?p ?o }";
    assert!(lode.run(&["query", "db", query, "--format", "tsv"]).ok().contains('\u{202E}'));
    for command in [
        &["query", "db", query, "--format", "csv"][..],
        &["query", "db", query, "--format", "tsv"],
        &["query", "db", "CONSTRUCT WHERE { ?s ?p ?o }", "--format", "nt"],
        &["dump", "db"],
    ] {
        let Some(text) = played(&lode, command, 80, &[], 0) else { return };
        assert!(text.contains(r"x\u202Ey\u2066z") && !text.contains(['\u{202E}', '\u{2066}']), "{text}");
    }
    let wrong = "SELECT * { ?s ?p \"\u{202E}\" ?o ?x }";
    let Some(text) = played(&lode, &["query", "db", wrong], 80, &[], 4) else { return };
    assert!(text.contains(r"\u202E") && !text.contains('\u{202E}'), "{text}");
}

#[test]
fn answers_end_their_line_on_a_terminal() {
    let lode = Lode::with_turtle(DATA);
    for format in ["json", "csv", "tsv", "xml"] {
        let asked = ["query", "db", "ASK { ?s ?p ?o }", "--no-pager", "--format", format];
        let piped = lode.run(&asked).ok();
        let Some(text) = played(&lode, &asked, 80, &[], 0) else { return };
        assert_eq!(text, format!("{}\n\nEXIT 0\n", piped.trim_end()), "{format}");
    }
}

#[test]
fn a_terminal_has_bars_prefixes_rows_and_time() {
    let lode = Lode::with_turtle(DATA);
    let bars = lode.run(&["query", "db", CLASSES, "--width", "80"]).ok();
    assert!(bars.contains("foaf:Person   2 ████████████\n") && bars.contains(" 1 ██████\n"), "{bars}");
    let types = lode.run(&["query", "db", "SELECT DISTINCT ?p { ?s ?p ?o }", "--width", "80"]).ok();
    assert!(types.contains("\nrdf:type\n") && types.contains("\nfoaf:name\n"), "{types}");
    let Some(text) = played(&lode, &["query", "db", CLASSES], 60, &[], 0) else { return };
    assert!(text.contains("foaf:Person   2 ████████████") && text.contains("2 rows in "), "{text}");
    let names = "SELECT * { ?s <http://xmlns.com/foaf/0.1/name> ?name }";
    let Some(text) = played(&lode, &["query", "db", names, "--no-pager"], 30, &[], 0) else { return };
    assert!(text.contains("\\u001B[3") && text.contains("3 rows in "), "{text}");
}

#[test]
fn several_mistakes_stand_apart_and_are_counted() {
    let lode = Lode::with_turtle(DATA);
    let error = lode.run(&["query", "db", "SELECT ?s {\n ?s ?p .\n ?s my:p 1 }"]).fails(4);
    let mistakes: Vec<&str> = error.trim_end().split("\n\n").collect();
    assert!(mistakes.len() == 3 && mistakes[1].starts_with("line 3"), "{error}");
    assert_eq!(mistakes[2], "2 mistakes", "{error}");
}

#[test]
fn turtle_has_prefixes() {
    let lode = Lode::with_turtle(DATA);
    let query =
        "PREFIX e: <http://e/> CONSTRUCT { ?s a ?c ; <http://other/p> 1 } WHERE { ?s a ?c } ORDER BY ?s";
    let turtle = lode.run(&["query", "db", query, "--format", "ttl"]).ok();
    assert!(
        turtle.starts_with("@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n@prefix e: <http://e/> .\n"),
        "{turtle}"
    );
    assert!(turtle.contains("e:ann a foaf:Person ;\n\t<http://other/p> 1 .\n"), "{turtle}");
    assert!(!turtle.contains("@prefix rdf"), "{turtle}");
    let lines = lode.run(&["query", "db", query, "--format", "nt"]).ok();
    assert!(lines.contains("<http://e/ann> <http://other/p> \"1\"^^<http"), "{lines}");
    // What a dump has written is read again.
    for format in ["ttl", "trig"] {
        let text = lode.run(&["dump", "db", "--format", format]).ok();
        assert!(
            text.contains("@prefix foaf: <http://xmlns.com/foaf/0.1/> .") && text.contains(" a foaf:Person"),
            "{text}"
        );
        lode.write(&format!("again.{format}"), &text);
        lode.run(&["load", &format!("{format}.db"), &format!("again.{format}")]).ok();
        let sorted = |database: &str| {
            let dump = lode.run(&["dump", database]).ok();
            let mut lines: Vec<String> = dump.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&format!("{format}.db")), sorted("db"));
    }
}

#[test]
fn long_answers_go_through_a_pager() {
    let data: String = (0..200).map(|n| format!("<http://e/n{n}> <http://e/p> {n} .\n")).collect();
    let lode = Lode::with_turtle(&data);
    lode.write("pager.sh", "#!/bin/sh\necho PAGED; cat\n");
    let query = "SELECT * { ?s <http://e/p> ?n } ORDER BY ?n";
    let pager = lode.path("pager.sh");
    let command =
        format!("PAGER='sh {}' exec {} query db '{query}'", pager.display(), env!("CARGO_BIN_EXE_lode"));
    lode.write("run.sh", command);
    let program =
        std::process::Command::new("sh").arg("run.sh").current_dir(lode.path(".")).output().unwrap();
    assert!(!String::from_utf8(program.stdout).unwrap().contains("PAGED"));
    // The same in a terminal.
    let shell = lode.path("run.sh");
    let steps = [Step::See("PAGED"), Step::See("200 rows in ")];
    crate::pseudo::played_program(&lode, &["sh", shell.to_str().unwrap()], 80, &steps, 0);
}
