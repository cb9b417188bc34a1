//! `lode update`.

use crate::lode::Lode;
use std::io::Write;
use std::process::Stdio;

/// An update that takes longer than anybody waits: of two quads it makes 2^40 solutions.
pub fn slow_update() -> String {
    let patterns: String = (0..40).map(|i| format!("?a{i} ?b{i} ?c{i} . ")).collect();
    format!("INSERT {{ ?a0 ?b0 ?c0 }} WHERE {{ {patterns} FILTER(?c0 != ?c39 || ?c1 != ?c38) }}")
}

fn count(lode: &Lode) -> usize {
    lode.run(&["dump", "db"]).ok().lines().count()
}

#[test]
fn a_request_from_anywhere() {
    let lode = Lode::new();
    let insert = "INSERT DATA { <http://e/a> <http://e/p> 1, 2 }";
    // A name that was mistyped is not that of a new database.
    let error = lode.run(&["update", "db", insert]).fails(1);
    assert!(error.contains("there is no database at db") && error.contains("--create"), "{error}");
    assert!(!lode.path("db").exists());
    let outcome = lode.run(&["update", "db", insert, "--create"]);
    assert!(outcome.err.starts_with("inserted 2, deleted 0 quads in "), "{}", outcome.err);
    outcome.ok();
    lode.write("request.ru", "DELETE WHERE { ?s ?p 1 } ; INSERT DATA { <b> <p> 3 }");
    let args = ["update", "db", "-f", "request.ru", "--base", "http://e/", "--json", "--quiet"];
    let outcome = lode.run(&args);
    assert_eq!(outcome.err, "");
    let report: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
    assert_eq!(
        (&report["operations"], &report["inserted"], &report["deleted"]),
        (&2.into(), &1.into(), &1.into())
    );
    for args in [&["update", "db"][..], &["update", "db", "-"], &["update", "db", "-f", "-"]] {
        let mut child = lode.command(args).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let text = format!("INSERT DATA {{ <http://e/c> <http://e/p> {} }}", args.len());
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(count(&lode), 5);
    lode.run(&["check", "db", "--quiet"]).ok();
}

#[test]
fn errors_have_their_places_and_codes_and_change_nothing() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    let error = lode.run(&["update", "db", "CLEAR ALL ;\nINSERT DATA { ?s <http://e/p> 1 }"]).fails(4);
    assert!(error.contains("line 2, column ") && error.contains("INSERT DATA { ?s"), "{error}");
    let error = lode.run(&["update", "db", "CLEAR ALL ; COPY <http://e/none> TO DEFAULT"]).fails(1);
    assert!(error.contains("COPY: there is no graph <http://e/none>"), "{error}");
    lode.run(&["update", "db", &slow_update(), "--timeout", "0.2"]).fails(5);
    assert_eq!(count(&lode), 2);
    lode.run(&["update", "new", "INSERT DATA { ?s ?p ?o }", "--create"]).fails(4);
    assert!(!lode.path("new").exists());
}

#[test]
fn load_reads_what_is_allowed_and_nothing_else() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1 .");
    std::fs::create_dir_all(lode.path("open/deeper")).unwrap();
    std::fs::create_dir_all(lode.path("closed")).unwrap();
    lode.write("open/data.ttl", "<http://e/a> <http://e/p> 1, 2, _:x . _:x <> \"twice\" .");
    lode.write(
        "open/deeper/graph.trig",
        "<http://e/b> <http://e/p> 1 . <http://e/h> { <http://e/b> <http://e/p> 2 }",
    );
    lode.write("open/wrong.ttl", "<http://e/c> <http://e/p> 1 . <http://e/c> <http://e/p> .");
    lode.write("closed/secret.nt", "<http://e/s> <http://e/p> <http://e/o> .\n");
    std::os::unix::fs::symlink(lode.path("closed"), lode.path("open/link")).unwrap();
    let iri = |name: &str| format!("file://{}", lode.path(name).display());
    let update = |text: &str| lode.run(&["update", "db", text, "--allow-load", "open"]);
    update(&format!("LOAD <{}> ; LOAD <{0}>", iri("open/data.ttl"))).ok();
    // Blank nodes of a document are its own, each time it is read.
    assert_eq!(count(&lode), 6);
    update(&format!("LOAD <{}> INTO GRAPH <http://e/g>", iri("open/deeper/graph.trig"))).ok();
    let dump = lode.run(&["dump", "db"]).ok();
    assert!(
        dump.contains(
            "<http://e/b> <http://e/p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> <http://e/g>"
        ),
        "{dump}"
    );
    assert!(dump.contains("> <http://e/h> ."), "{dump}");
    for name in ["closed/secret.nt", "open/../closed/secret.nt", "open/link/secret.nt", "closed/none.nt"] {
        let error = update(&format!("LOAD <{}>", iri(name))).fails(1);
        assert!(error.contains("--allow-load"), "{name}: {error}");
    }
    assert!(update(&format!("LOAD <{}>", iri("open/none.ttl"))).fails(1).contains("No such file"));
    assert!(update(&format!("LOAD <{}>", iri("open/deeper"))).fails(1).contains("is not a file"));
    assert!(update(&format!("LOAD <{}>", iri("open/wrong.ttl"))).fails(1).contains("wrong.ttl:1:"));
    let error = lode.run(&["update", "db", &format!("LOAD <{}>", iri("open/data.ttl"))]).fails(1);
    assert!(error.contains("LOAD is not allowed here (--allow-load"), "{error}");
    // Nothing remains of what failed in silence.
    update(&format!("LOAD SILENT <{}> ; LOAD SILENT <{}>", iri("open/wrong.ttl"), iri("closed/secret.nt")))
        .ok();
    assert_eq!(count(&lode), 8);
}

#[test]
fn the_help_is_complete() {
    let help = Lode::new().run(&["update", "--help"]).ok();
    for word in [
        "--allow-load",
        "--timeout",
        "--memory",
        "--threads",
        "--base",
        "--create",
        "--json",
        "--file",
        "Exit codes",
        "LOAD",
    ] {
        assert!(help.contains(word), "{word}");
    }
}

#[test]
fn what_is_not_there_to_be_deleted_is_told() {
    let lode = Lode::with_turtle("@prefix e: <http://e/> . e:ann e:age 41 ; e:name \"Ann\" .");
    let update =
        |text: &str| lode.run(&["update", "db", &format!("PREFIX e: <http://e/> DELETE DATA {{ {text} }}")]);
    // Warnings are looked for within milliseconds, and a busy machine may have none to spare: nothing changes, so it is asked again.
    let warned = |text: &str| {
        let mut outcome = update(text);
        for _ in 0..20 {
            if outcome.err.contains("warning") {
                break;
            }
            outcome = update(text);
        }
        outcome
    };
    let outcome = warned("e:ann e:aeg 41");
    assert!(outcome.err.contains("warning: no triple has the predicate e:aeg; e:age has 1"), "{outcome:#?}");
    assert!(outcome.err.contains("nothing has changed: inserted 0, deleted 0 quads in "), "{outcome:#?}");
    let outcome = warned("e:ann e:age 42");
    assert!(
        outcome.err.contains("so there is nothing to delete; e:age has \"41\"^^xsd:integer"),
        "{outcome:#?}"
    );
    let outcome = update("e:ann e:age 41");
    assert!(
        !outcome.err.contains("warning") && outcome.err.contains("inserted 0, deleted 1 quad in "),
        "{outcome:#?}"
    );
}
