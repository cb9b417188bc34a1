//! `lode shell`: scripts, and a person in front of it.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, Outcome};
use crate::pseudo::{Step, played};
use std::io::Write;
use std::process::Stdio;

const DATA: &str = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix e: <http://e/> .
    e:ann a foaf:Person ; foaf:name \"Ann\" ; foaf:knows e:bob .
    e:bob a foaf:Person ; foaf:name \"Bob\" .";

fn script(lode: &Lode, args: &[&str], text: &str) -> Outcome {
    let args = [&["shell"], args].concat();
    let mut command = lode.command(&args);
    command.env("XDG_STATE_HOME", lode.path("state"));
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Outcome::of(child.wait_with_output().unwrap())
}

/// Statements and commands that are the same for a folder and a server.
fn asks_and_changes(lode: &Lode, target: &str) {
    let out = script(
        lode,
        &[target],
        ".mode csv\n.classes\n.graphs\nSELECT ?n {\n ?s foaf:name ?n }\nORDER BY ?n;\n",
    )
    .ok();
    assert_eq!(
        out,
        "class,things\r\nhttp://xmlns.com/foaf/0.1/Person,2\r\ngraph,quads\r\nn\r\nAnn\r\nBob\r\n"
    );
    let update =
        "PREFIX e: <http://e/>\nINSERT DATA { e:cyd foaf:name 'Cyd' };\n\nASK { e:cyd foaf:name ?n }\n";
    let outcome = script(lode, &[target], update);
    assert!(outcome.err.contains("inserted 1, deleted 0 quads"), "{outcome:#?}");
    assert_eq!(outcome.ok(), "yes\n");
    // What was declared is kept, for another session, too.
    let out =
        script(lode, &[target, "-c", ".mode csv", "-c", ".predicates foaf:Person", "-c", ".prefix"], "").ok();
    assert!(
        out.contains("http://xmlns.com/foaf/0.1/knows,1\r\n") && out.contains("PREFIX e: <http://e/>\n"),
        "{out}"
    );
    assert_eq!(script(lode, &[target], "ASK { e:cyd foaf:name ?n }").ok(), "yes\n");
    let described = script(lode, &[target], ".describe e:cyd\n").ok();
    assert!(described.contains("e:cyd foaf:name \"Cyd\" ."), "{described}");
    // Where nothing is said of a thing, that is told, and what it may be.
    let told = |command: &str| script(lode, &[target], &format!("{command}\n")).err;
    let class = told(".describe foaf:Person");
    assert!(class.contains("no triple has the subject foaf:Person; 2 things are of this class"), "{class}");
    let misspelt = told(".describe foaf:Preson");
    assert!(misspelt.contains("nothing is known of foaf:Preson; did you mean foaf:Person"), "{misspelt}");
    assert!(told(".describe e:an").contains("did you mean e:ann?"), "{}", told(".describe e:an"));
    assert!(told(".describe Persn").contains("did you mean foaf:Person?"), "{}", told(".describe Persn"));
    assert_eq!(told(".describe e:ann"), "");
    // Formats that cannot hold an answer leave it to another one.
    let rows = script(lode, &[target], ".mode nt\nSELECT ?n { ?s foaf:name ?n FILTER(?n = 'Ann') }\n").ok();
    assert_eq!(rows, "?n\n-----\n\"Ann\"\n");
    let turtle =
        script(lode, &[target], ".mode csv\nCONSTRUCT { ?s foaf:nick 'A' } { ?s foaf:name 'Ann' }\n").ok();
    assert!(
        turtle.contains("<http://e/ann> foaf:nick \"A\" .") || turtle.contains("e:ann foaf:nick \"A\" ."),
        "{turtle}"
    );
    let plan = script(lode, &[target], ".explain SELECT * { ?s foaf:name ?n }\n").ok();
    assert!(plan.contains("IndexScan") && plan.contains("\nplanning ") && !plan.starts_with('{'), "{plan}");
    lode.write("with a space.ttl", "<http://e/eve> <http://xmlns.com/foaf/0.1/name> 'Eve' .");
    let quoted = ".load \"with a space.ttl\"\nASK { e:eve foaf:name 'Eve' }\n";
    assert_eq!(script(lode, &[target], quoted).ok(), "yes\n");
    script(lode, &[target], ".load 'open\n").fails(2);
    lode.write("more.ttl", "<http://e/dan> <http://xmlns.com/foaf/0.1/name> 'Dan' .");
    assert_eq!(script(lode, &[target], ".load more.ttl\nASK { e:dan foaf:name 'Dan' }\n").ok(), "yes\n");
    script(lode, &[target, "--read-only"], "DELETE WHERE { ?s ?p ?o }").fails(2);
    // What follows, where it is asked for.
    lode.write("schema.ttl", "<http://xmlns.com/foaf/0.1/Person> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/Agent> .");
    let agents = "SELECT (COUNT(*) AS ?n) { ?s a <http://e/Agent> };\n";
    let reasons = format!(".load schema.ttl\n.mode csv\n{agents}.reason rdfs\n{agents}.reason off\n{agents}");
    assert_eq!(script(lode, &[target], &reasons).ok(), "n\r\n0\r\nn\r\n2\r\nn\r\n0\r\n");
    assert_eq!(
        script(
            lode,
            &[target, "--reason", "rdfs", "-c", ".mode csv", "-c", agents.trim_end_matches(";\n")],
            ""
        )
        .ok(),
        "n\r\n2\r\n"
    );
    let told = script(lode, &[target], ".reason hierarchies\n.reason\n").err;
    assert!(told.contains("queries reason by hierarchies"), "{told}");
    let wrong = script(lode, &[target], ".reason nothing\n").fails(2);
    assert!(wrong.contains("no rules are called `nothing`"), "{wrong}");
    let plan = script(lode, &[target], &format!(".reason rdfs\n.explain {agents}")).ok();
    assert!(plan.contains("rdf-syntax-ns#type> <http://xmlns.com/foaf/0.1/Person>"), "{plan}");
    // Files get answers as pipes do.
    script(lode, &[target], ".output out.txt\nSELECT ?s { ?s foaf:name 'Dan' }\n\n.output\nASK {}\n").ok();
    let written = std::fs::read_to_string(lode.path("out.txt")).unwrap();
    assert_eq!(written, "?s\n--------------\n<http://e/dan>\n");
}

#[test]
fn scripts_over_a_folder() {
    let lode = Lode::with_turtle(DATA);
    asks_and_changes(&lode, "db");
    let plan = script(&lode, &["db"], ".explain SELECT * { ?s foaf:name ?n }\n").ok();
    assert!(plan.contains("IndexScan"), "{plan}");
    let help = script(&lode, &["db"], ".help\n").ok();
    for command in [
        ".graphs",
        ".classes",
        ".predicates",
        ".describe",
        ".search",
        ".prefix",
        ".mode",
        ".timer",
        ".reason",
        ".explain",
        ".output",
        ".load",
        ".help",
        ".quit",
    ] {
        assert!(help.contains(command), "{help}");
    }
}

#[test]
fn scripts_over_a_server() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &[]);
    asks_and_changes(&lode, &endpoint.base);
}

/// Prefixes of loaded files are those of the database, for everybody who shows or asks.
#[test]
fn prefixes_of_loaded_files() {
    let lode = Lode::with_turtle(DATA);
    let query = "SELECT ?s { ?s foaf:name 'Ann' }";
    assert_eq!(script(&lode, &["db", "--width", "40"], query).ok(), "?s\n-----\ne:ann\n");
    assert_eq!(script(&lode, &["db", "-c", "ASK { e:ann foaf:knows e:bob }"], "").ok(), "yes\n");
    assert!(script(&lode, &["db"], ".prefix\n").ok().contains("PREFIX e: <http://e/>\n"));
    // What somebody declares counts more, and is nobody else's.
    let own =
        script(&lode, &["db"], "PREFIX e: <http://other/> ASK { e:ann ?p ?o }\n\nASK { e:ann ?p ?o }\n");
    assert_eq!(own.ok(), "no\nno\n");
    script(&lode, &["db"], ".prefix -e\nASK { e:ann ?p ?o }\n").ok();
    let full = "SELECT ?s { ?s <http://xmlns.com/foaf/0.1/name> 'Ann' }";
    let construct = "CONSTRUCT WHERE { ?s <http://xmlns.com/foaf/0.1/knows> ?o }";
    let endpoint = Endpoint::start(&lode, &[]);
    for target in ["db", &endpoint.base] {
        let table = lode.run(&["query", target, full, "--width", "40"]).ok();
        assert_eq!(table, "?s\n-----\ne:ann\n", "{target}");
        let turtle = lode.run(&["query", target, construct, "--format", "ttl"]).ok();
        assert!(turtle.contains("e:ann foaf:knows e:bob ."), "{turtle}");
        let turtle = lode.run(&["dump", target, "--format", "ttl"]).ok();
        assert!(turtle.contains("@prefix e: <http://e/> .") && turtle.contains("e:ann"), "{turtle}");
    }
    assert_eq!(script(&lode, &[&endpoint.base, "--width", "40"], query).ok(), "?s\n-----\ne:ann\n");
    // Also those of what was sent to a server, unless the name is taken.
    let sent = "@prefix e: <http://taken/> . @prefix new: <http://new/> . new:a new:b e:c .";
    endpoint.send("POST", "/data?default", &[("Content-Type", "text/turtle")], sent.as_bytes()).is(200);
    let prefixes = endpoint.send("GET", "/api/prefixes", &[], b"").is(200).body;
    for known in ["\"http://e/\"", "\"http://new/\"", "\"foaf\""] {
        assert!(prefixes.contains(known), "{prefixes}");
    }
    assert!(!prefixes.contains("taken"), "{prefixes}");
    let turtle = endpoint.send("GET", "/data?default", &[("Accept", "text/turtle")], b"").is(200).body;
    assert!(turtle.contains("new:a new:b <http://taken/c> ."), "{turtle}");
    let asked = serde_json::json!({ "text": "SELECT * { new:", "position": 15 }).to_string();
    let completed =
        endpoint.send("POST", "/api/complete", &[("Content-Type", "application/json")], asked.as_bytes());
    assert!(completed.is(200).body.contains("\"new:a\""));
    drop(endpoint);
    // A backup has them, too.
    lode.run(&["backup", "db", "copy"]).ok();
    lode.run(&["restore", "copy", "again"]).ok();
    assert_eq!(lode.run(&["query", "again", full, "--width", "40"]).ok(), "?s\n-----\ne:ann\n");
}

#[test]
fn the_first_error_ends_a_script() {
    let lode = Lode::with_turtle(DATA);
    let outcome = script(&lode, &["db"], "ASK {};\nSELECT ?s {\n ?s foaf:name };\nASK {};\n");
    assert_eq!(outcome.out, "yes\n");
    // The line is that of the statement, without the prefixes that were supplied.
    let error = outcome.fails(4);
    assert!(error.contains("line 2, column"), "{error}");
    script(&lode, &["db"], ".quit\nSELCT").ok();
    let error = script(&lode, &["db"], ".clases\n").fails(2);
    assert!(error.contains("did you mean .classes?"), "{error}");
    lode.run(&["shell", "nothing.db"]).fails(1);
}

/// Takes ages.
const SLOW: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?t . ?u ?v ?w . \
                    ?a1 ?b1 ?c1 . ?a2 ?b2 ?c2 . ?a3 ?b3 ?c3 . ?a4 ?b4 ?c4 . ?a5 ?b5 ?c5 . ?a6 ?b6 ?c6 . ?a7 ?b7 ?c7 . ?a8 ?b8 ?c8 \
                    FILTER(?c != ?p || ?f != ?i || ?c5 != ?c7 || ?c8 != ?b6) }\r";

fn person(lode: &Lode, target: &str) {
    let steps = [
        Step::See("lode> "),
        // Ctrl-C at the prompt takes back what was typed.
        Step::Send("SELECT nonsense\u{3}"),
        Step::See("lode> "),
        // Many lines: an unfinished query goes on.
        Step::Send("SELECT ?name {\r"),
        Step::See("-> "),
        Step::Send("?s foaf:name ?name }\r"),
        Step::See("\"Ann\""),
        Step::See("2 rows in "),
        // What is not finished goes on behind an empty line; two of them run it, and tell.
        Step::See("lode> "),
        Step::Send("SELECT ?name {\r\r?s foaf:name ?name\r}\r"),
        Step::See("2 rows in "),
        Step::See("lode> "),
        Step::Send("SELECT ?name {\r\r\r"),
        Step::See("is not closed before the end of the text"),
        // Ctrl-C ends the query and not the shell.
        Step::See("lode> "),
        Step::Send(SLOW),
        Step::Pause(1.5),
        Step::Send("\u{3}"),
        Step::See("stopped: cancelled"),
        Step::See("lode> "),
        // Completion by what the data has.
        Step::Send("ASK { ?s foaf:kno\t"),
        Step::See("foaf:knows"),
        Step::Send(" ?o }\r"),
        Step::See("yes"),
        Step::See("lode> "),
        // A command, and its completion.
        Step::Send(".clas\t\r"),
        Step::See("foaf:Person"),
        Step::See("1 row in "),
        Step::See("lode> "),
        // The query before the last from the history.
        Step::Send("\u{1b}[A\u{1b}[A\r"),
        Step::See("yes"),
        Step::See("lode> "),
        Step::Send("SELCT\r"),
        Step::See("did you mean"),
        Step::See("lode> "),
        Step::Send("\u{4}"),
    ];
    if played(lode, &["shell", target], 100, &steps, 0).is_none() {
        return;
    }
    let history = lode.path("state/lode/history");
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.contains("ASK { ?s foaf:knows ?o }") && text.contains(".classes"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_person_over_a_folder() {
    let lode = Lode::with_turtle(DATA);
    person(&lode, "db");
}

#[test]
fn a_person_over_a_server() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &[]);
    person(&lode, &endpoint.base);
    // What was cancelled runs no more.
    let running = endpoint.send("GET", "/admin/queries", &[], b"").is(200).body;
    assert_eq!(running.trim(), "[]");
}

#[test]
fn commands_complete_and_are_silent_where_nothing_fits() {
    let lode = Lode::with_turtle(DATA);
    lode.write("things to load.ttl", "<http://e/x> <http://e/y> 1 .");
    let steps = [
        Step::See("lode> "),
        Step::Send(".load thi\t\r"),
        Step::See("loaded"),
        Step::See("lode> "),
        Step::Send(".predicates foaf:Per\t\r"),
        Step::See("foaf:knows"),
        Step::See("lode> "),
        // The line is drawn again before the next one is asked for.
        Step::Send(".timer of\t\r"),
        Step::See(".timer off"),
        Step::See("lode> "),
        // Nothing fits: Enter is for the line.
        Step::Send(".mode zz\t\r"),
        Step::See("unknown format zz"),
        Step::See("lode> "),
        Step::Send(".graphs x\t\r"),
        Step::See("?graph"),
        Step::See("lode> "),
        Step::Send("\u{4}"),
    ];
    let Some(text) = played(&lode, &["shell", "db"], 100, &steps, 0) else { return };
    assert!(!text.contains("NO RECORDS"), "{text}");
}
