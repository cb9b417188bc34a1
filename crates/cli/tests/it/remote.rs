//! `lode query`, `update`, `dump` and `stats` with the address of a server.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, Outcome};
use std::io::{Read, Write};
use std::net::TcpListener;

const DATA: &str = "@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix e: <http://e/> .
    e:ann a foaf:Person ; foaf:name \"Ann\" ; foaf:age 37 ; foaf:knows e:bob .
    e:bob a foaf:Person ; foaf:name \"Bob\"@en-gb .";

#[test]
fn answers_are_those_of_the_folder() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &[]);
    let select = "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o";
    let construct = "PREFIX e: <http://e/> CONSTRUCT WHERE { ?s a ?o }";
    for (query, formats) in [
        (select, &["table", "json", "csv", "tsv"][..]),
        ("ASK {}", &["table", "json", "xml"]),
        (construct, &["ttl", "nt", "json", "xml", "jsonld", "rdf"]),
        ("SELECT ?class (COUNT(*) AS ?n) { ?s a ?class } GROUP BY ?class", &["table"]),
    ] {
        for format in formats {
            let asked = |target: &str| lode.run(&["query", target, query, "--format", format]).ok();
            assert_eq!(asked(&endpoint.base), asked("db"), "{query} as {format}");
            let paths = ["/", "/sparql", "/query"].map(|path| format!("{}{path}", endpoint.base));
            paths.iter().for_each(|path| assert_eq!(asked(path), asked("db")));
        }
        let wide = |target: &str| lode.run(&["query", target, query, "--width", "60"]).ok();
        assert_eq!(wide(&endpoint.base), wide("db"));
    }
    let sorted = |target: &str, more: &[&str]| {
        let dump = lode.run(&[&["dump", target], more].concat()).ok();
        let mut lines: Vec<String> = dump.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for more in [
        &[][..],
        &["--graph", "default", "--format", "nt"],
        &["--graph", "default", "--format", "ttl"],
        &["--format", "ttl"],
        &["--format", "trig"],
        &["--format", "nt"],
    ] {
        assert_eq!(sorted(&endpoint.base, more), sorted("db", more));
    }
    let plan = lode.run(&["query", &endpoint.base, select, "--explain=json"]).ok();
    assert!(plan.contains("IndexScan"), "{plan}");
    // Times and counts aside: what stands before the brackets.
    let plan = |target: &str| -> Vec<String> {
        let text = lode.run(&["query", target, select, "--explain"]).ok();
        text.lines()
            .map(|line| line.split("  [").next().unwrap().to_owned())
            .take_while(|l| !l.is_empty())
            .collect()
    };
    assert!(plan(&endpoint.base).len() > 1);
    assert_eq!(plan(&endpoint.base), plan("db"));
    lode.run(&["query", &endpoint.base, select, "--profile"]).fails(2);
}

#[test]
fn figures_are_those_of_the_folder() {
    let lode = Lode::with_turtle(DATA);
    lode.run(&["update", "db", "INSERT DATA { GRAPH <http://e/g> { <http://e/new> <http://e/q> 1 } }"]).ok();
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let json = |target: &str| -> serde_json::Value {
        serde_json::from_str(&lode.run(&["stats", target, "--json"]).ok()).unwrap()
    };
    let (server, folder) = (json(&endpoint.base), json("db"));
    for (name, value) in server.as_object().unwrap() {
        assert_eq!(value, &folder[name], "{name}");
    }
    assert_eq!(
        server["distinct"],
        serde_json::json!({"subjects": 3, "predicates": 5, "objects": 6, "exact": true})
    );
    let text = |target: &str| lode.run(&["stats", target]).ok();
    let folder = text("db");
    for line in text(&endpoint.base).lines() {
        assert!(folder.lines().any(|other| other == line), "{line}: {folder}");
    }
}

/// The head of an answer, and then a byte now and then.
fn dripping() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
            );
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    });
    address
}

#[test]
fn a_line_without_an_end_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/n-triples\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(format!("{head}<http://e/a> <http://e/p> 1 .\n<http://e/a>").as_bytes());
            while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
        }
    });
    let error = Lode::new().run(&["query", &address, "CONSTRUCT WHERE { ?s ?p ?o }"]).fails(1);
    assert!(error.contains("the server's answer, line 2: it has more than 33554432 bytes"), "{error}");
}

#[test]
fn a_server_that_drips_is_given_up_in_time() {
    let (lode, address) = (Lode::new(), dripping());
    for command in ["update", "query"] {
        let text = if command == "update" { "CLEAR ALL" } else { "SELECT * { ?s ?p ?o }" };
        let error = lode.run(&[command, &address, text, "--timeout", "0.4"]).fails(5);
        assert!(error.contains("time-out"), "{command}: {error}");
    }
}

#[test]
fn updates_are_told_with_their_numbers() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &[]);
    let outcome =
        lode.run(&["update", &endpoint.base, "INSERT DATA { <http://e/a> <http://e/p> 1, 2 }", "--json"]);
    assert!(outcome.err.contains("inserted 2, deleted 0 quads in "), "{outcome:#?}");
    let told: serde_json::Value = serde_json::from_str(&outcome.ok()).unwrap();
    assert_eq!(told["inserted"], 2);
    assert_eq!(endpoint.quads(), 8);
    let warned = lode.run(&[
        "update",
        &endpoint.base,
        "INSERT { ?s <http://e/r> ?y } WHERE { ?s ?p ?o BIND(<http://e/f>(?o) AS ?y) }",
    ]);
    assert!(warned.err.contains("warning: no function <http://e/f> is known"), "{warned:#?}");
    let misspelt = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> DELETE WHERE { ?s foaf:nmae ?o }";
    let warned = lode.run(&["update", &endpoint.base, misspelt]);
    drop(endpoint);
    let told = "warning: no triple has the predicate foaf:nmae; foaf:name has 2";
    for outcome in [warned, lode.run(&["update", "db", misspelt])] {
        assert!(outcome.err.contains(told), "{outcome:#?}");
        outcome.ok();
    }
}

#[test]
fn refusals_are_those_of_the_server() {
    let lode = Lode::with_turtle(DATA);
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    let error = lode.run(&["query", &endpoint.base, "SELECT ?s {\n ?s ?p }"]).fails(4);
    assert!(error.contains(&endpoint.base) && error.contains("line 2"), "{error}");
    lode.run(&["update", &endpoint.base, "CLEAR ALL"]).fails(1);
    let slow = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?t . ?u ?v ?w . \
                ?a1 ?b1 ?c1 . ?a2 ?b2 ?c2 . ?a3 ?b3 ?c3 . ?a4 ?b4 ?c4 . ?a5 ?b5 ?c5 . ?a6 ?b6 ?c6 . ?a7 ?b7 ?c7 . ?a8 ?b8 ?c8 \
                FILTER(?c != ?p || ?f != ?i || ?c5 != ?c7 || ?c8 != ?b6) }";
    let error = lode.run(&["query", &endpoint.base, slow, "--timeout", "0.5"]).fails(5);
    assert!(error.contains("time-out"), "{error}");
    let error = lode.run(&["query", "http://127.0.0.1:9", "ASK {}"]).fails(1);
    assert!(error.contains("nobody answers"), "{error}");
    let error = lode.run(&["query", "http://me:secret@127.0.0.1:9", "ASK {}"]).fails(2);
    assert!(error.contains("--user") && !error.contains("secret"), "{error}");
    lode.run(&["update", &endpoint.base, "CLEAR ALL", "--create"]).fails(2);
}

#[test]
fn users_and_tokens_are_let_in() {
    let lode = Lode::with_turtle(DATA);
    lode.write("password", "long enough\n");
    let add = lode.command(&["user", "add", "users.json", "ann", "--role", "read"]);
    let mut add = add;
    let file = std::fs::File::open(lode.path("password")).unwrap();
    assert!(add.stdin(file).output().unwrap().status.success());
    let token = lode.run(&["token", "add", "users.json", "reader", "--role", "read"]).ok();
    lode.write("token", &token);
    let endpoint = Endpoint::start(&lode, &["--users", "users.json"]);
    let ask = ["query", &endpoint.base, "ASK {}"];
    let error = lode.run(&ask).fails(1);
    assert!(error.contains("--user"), "{error}");
    assert_eq!(
        lode.run(&[&ask[..], &["--user", "ann", "--password-file", "password"]].concat()).ok(),
        "yes\n"
    );
    assert_eq!(lode.run(&[&ask[..], &["--token-file", "token"]].concat()).ok(), "yes\n");
    for (name, value, more) in
        [("LODE_PASSWORD", "long enough", &["--user", "ann"][..]), ("LODE_TOKEN", token.trim(), &[])]
    {
        let args = [&ask[..], more].concat();
        assert_eq!(Outcome::of(lode.command(&args).env(name, value).output().unwrap()).ok(), "yes\n");
    }
    let args = [&ask[..], &["--user", "ann"]].concat();
    Outcome::of(lode.command(&args).env("LODE_PASSWORD", "wrong").output().unwrap()).fails(1);
}

#[test]
fn a_long_answer_is_streamed() {
    let data: String =
        (0..20_000).map(|n| format!("<http://e/node{n}> <http://e/p> <http://e/n{n}> .\n")).collect();
    let lode = Lode::with_turtle(&data);
    let endpoint = Endpoint::start(&lode, &[]);
    for format in ["table", "csv", "json"] {
        let query = ["query", &endpoint.base, "SELECT * { ?s ?p ?o }", "--format", format];
        assert!(lode.run(&query).ok().matches("http://e/node").count() == 20_000);
    }
    let turtle = lode.run(&["query", &endpoint.base, "CONSTRUCT WHERE { ?s ?p ?o }"]).ok();
    assert_eq!(turtle.matches(" .\n").count(), 20_000);
}

/// An address where each request gets this answer.
fn answering(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // What comes in one piece is the whole request here.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn what_was_not_done_is_not_told_as_done() {
    let lode = Lode::with_turtle(DATA);
    let update = "INSERT DATA { <http://e/a> <http://e/p> 1 }";
    let moved = answering(
        "HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/sparql\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    let page = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\nConnection: close\r\n\r\n<html></html>",
    );
    for (address, expected) in [(&moved, "https://elsewhere.example/sparql"), (&page, "a web page answers")] {
        for arguments in [
            &["update", address, update][..],
            &["query", address, "ASK {}", "--format", "csv"],
            &["dump", address],
            &["stats", address],
            &["shell", address, "--no-history", "-c", update],
        ] {
            let error = lode.run(arguments).fails(1);
            assert!(error.contains(expected), "{arguments:?}: {error}");
        }
    }
    // What another server sends is not in the dump that was asked for.
    let json = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    );
    lode.run(&["dump", &json]).fails(1);
}

#[test]
fn options_of_evaluation_are_those_of_the_server() {
    let lode = Lode::with_turtle(DATA);
    for arguments in [
        &["query", "http://127.0.0.1:9", "ASK {}", "--default-graph", "union"][..],
        &["update", "http://127.0.0.1:9", "CLEAR ALL", "--default-graph", "union"],
        &["query", "http://127.0.0.1:9", "ASK {}", "--memory", "1GiB"],
        &["shell", "http://127.0.0.1:9", "-c", "ASK {}", "--threads", "1"],
    ] {
        let error = lode.run(arguments).fails(2);
        assert!(error.contains(arguments[arguments.len() - 2]), "{error}");
    }
}

#[test]
fn nothing_of_an_answer_controls_the_terminal() {
    let lode = Lode::with_turtle(DATA);
    let hostile = answering(
        "HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\nConnection: close\r\n\r\n{\"head\":{\"vars\":[\"x\\u001b[31m\"]},\"results\":{\"bindings\":[]}}",
    );
    let error = lode.run(&["query", &hostile, "SELECT * { ?s ?p ?o }"]).fails(1);
    assert!(!error.contains('\u{1b}'), "{error}");
}

#[test]
fn an_address_is_made_no_folder() {
    let lode = Lode::with_turtle("<http://e/s> <http://e/p> 1 .");
    lode.write("more.ttl", "<http://e/s> <http://e/p> 2 .");
    for args in [
        &["load", "http://127.0.0.1:1", "more.ttl"][..],
        &["check", "HTTPS://example.org/db"],
        &["compact", "http://127.0.0.1:1"],
        &["backup", "http://127.0.0.1:1", "backup"],
    ] {
        let told = lode.run(args).fails(2);
        assert!(told.contains("takes the folder of a database") && told.contains("curl -T FILE"), "{told}");
    }
    assert!(!lode.path("http:").exists());
}
