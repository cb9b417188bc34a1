//! `lode serve`: queries over loopback.

use crate::endpoint::Endpoint;
use crate::lode::Lode;

const TURTLE: &str = "@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 ; :q :a .";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const CSV: (&str, &str) = ("Accept", "text/csv");

#[test]
fn the_query_operation_in_all_its_ways() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let query = "SELECT ?o { <http://e/b> <http://e/p> ?o }";
    let encoded = "query=SELECT+?o+%7B%3Chttp://e/b%3E+%3Chttp://e/p%3E+?o%7D";
    for path in ["/sparql", "/query"] {
        let answer = endpoint.send("GET", &format!("{path}?{encoded}"), &[CSV], b"").is(200);
        assert_eq!(
            (answer.media_type.as_str(), answer.body.as_str()),
            ("text/csv; charset=utf-8", "o\r\n3\r\n")
        );
        let form = endpoint.send("POST", path, &[CSV, FORM], encoded.as_bytes());
        assert_eq!(form.is(200).body, "o\r\n3\r\n");
    }
    assert_eq!(endpoint.rows(query), ["3"]);
    let answer = endpoint.query("ASK {}", "*/*").is(200);
    assert_eq!(answer.media_type, "application/sparql-results+json");
    assert!(answer.body.contains("true"));
    // Relative IRIs are resolved against the endpoint.
    let answer =
        endpoint.query("CONSTRUCT { <r> ?p ?o } { ?s ?p ?o FILTER isIRI(?o) }", "application/n-triples");
    assert_eq!(answer.media_type, "application/n-triples");
    assert_eq!(answer.body, format!("<{}/r> <http://e/q> <http://e/a> .\n", endpoint.base));
}

#[test]
fn errors_are_text_with_a_status() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--timeout", "0.3"]);
    let answer = endpoint.query("SELECT nonsense", "*/*").is(400);
    assert_eq!(answer.media_type, "text/plain; charset=utf-8");
    assert!(answer.body.contains("line 1, column"), "{answer:?}");
    endpoint.query("ASK {}", "image/png").is(406);
    endpoint.query("SELECT * { ?s ?p ?o }", "text/turtle").is(406);
    let cross = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r . ?s ?t ?u . ?v ?w ?x . ?y ?z ?a1 . ?b1 ?c1 ?d1 . ?e1 ?f1 ?g1 . ?h1 ?i1 ?j1";
    let slow =
        format!("SELECT (COUNT(*) AS ?total) {{ {cross} FILTER(?c != ?j1 || ?f != ?g1 || ?a != ?h1) }}");
    endpoint.query(&slow, "*/*").is(504);
    endpoint.send("PUT", "/sparql", &[], b"x").is(405);
    endpoint.send("DELETE", "/query", &[], b"").is(405);
}

#[test]
fn graphs_of_the_protocol_override_the_query() {
    let lode = Lode::new();
    lode.write(
        "g.nq",
        "<http://e/a> <http://e/p> \"1\" <http://e/g> .\n<http://e/a> <http://e/p> \"2\" <http://e/h> .\n",
    );
    lode.run(&["load", "db", "g.nq"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    let path = "/sparql?query=SELECT+?o+%7B+?s+?p+?o+%7D&default-graph-uri=http://e/g";
    assert_eq!(endpoint.send("GET", path, &[CSV], b"").body, "o\r\n1\r\n");
    let description = endpoint.send("GET", "/sparql", &[], b"").is(200).body;
    assert!(description.contains("sd:Service") && description.contains("sd:SPARQL11Update"), "{description}");
    assert!(endpoint.send("GET", "/", &[], b"").body.contains("page/main.js"));
}

#[test]
fn long_answers_stream_whole() {
    let lode = Lode::new();
    let lines = (0..20_000).map(|i| format!("<http://e/{i}> <http://e/p> \"{i}\" .\n")).collect::<String>();
    lode.write("many.nt", lines);
    lode.run(&["load", "db", "many.nt"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    assert_eq!(endpoint.rows("SELECT * { ?s ?p ?o }").len(), 20_000);
    let all = endpoint.send("GET", "/data?default", &[("Accept", "application/n-triples")], b"").is(200);
    assert_eq!(all.body.lines().count(), 20_000);
}

#[test]
fn one_writes_and_others_read() {
    let lode = Lode::with_turtle(TURTLE);
    let writer = Endpoint::start(&lode, &[]);
    writer.update("INSERT DATA { <http://e/c> <http://e/p> 4 }").is(200);
    let error = lode.run(&["serve", "db", "--bind", "127.0.0.1:0"]).fails(1);
    assert!(error.contains("is locked") && error.contains("--read-only"), "{error}");
    let reader = Endpoint::start(&lode, &["--read-only"]);
    assert_eq!(reader.quads(), 5);
    for answer in [
        reader.update("CLEAR ALL"),
        reader.send("POST", "/sparql", &[FORM], b"update=CLEAR+ALL"),
        reader.send("PUT", "/data?default", &[("Content-Type", "text/turtle")], b""),
        reader.send("DELETE", "/data?default", &[], b""),
    ] {
        assert!(answer.is(403).body.contains("read-only"));
    }
    assert!(!reader.send("GET", "/sparql", &[], b"").body.contains("SPARQL11Update"));
    reader.send("GET", "/data?default", &[], b"").is(200);
    assert_eq!(writer.quads(), 5);
    assert!(writer.stop().contains("stopped"));
}

#[test]
fn figures_for_the_one_who_runs_it() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--admin-token", "secret"]);
    endpoint.update("INSERT DATA { <http://e/c> <http://e/p> 4 }").is(200);
    endpoint.send("GET", "/admin/stats", &[], b"").is(401);
    endpoint.send("GET", "/admin/stats", &[("Authorization", "Bearer sesame")], b"").is(401);
    let allowed = ("Authorization", "Bearer secret");
    endpoint.send("GET", "/admin/stats", &[allowed, ("Origin", "http://page")], b"").is(403);
    let answer = endpoint.send("GET", "/admin/stats", &[allowed], b"").is(200);
    assert_eq!(
        (answer.number("quads"), answer.number("segments"), answer.number("delta_changes")),
        (5, 1, 1)
    );
    let flush = &serde_json::from_str::<serde_json::Value>(&answer.body).unwrap()["flush"];
    assert_eq!(
        (&flush["flushes"], &flush["error"]),
        (&serde_json::json!(0), &serde_json::Value::Null),
        "{flush}"
    );
    endpoint.send("POST", "/admin/compact", &[], b"").is(401);
    assert_eq!(endpoint.send("POST", "/admin/compact", &[allowed], b"").is(200).number("quads"), 5);
    let answer = endpoint.send("GET", "/admin/stats", &[allowed], b"").is(200);
    assert_eq!(
        (answer.number("quads"), answer.number("segments"), answer.number("delta_changes")),
        (5, 1, 0)
    );
    drop(endpoint);
    // From this machine without a token.
    Endpoint::start(&lode, &[]).send("GET", "/admin/stats", &[], b"").is(200);
}

#[test]
fn where_there_is_nothing_an_empty_database_is_made() {
    let lode = Lode::new();
    for refuses in ["--must-exist", "--read-only"] {
        let error = lode.run(&["serve", "new", "--bind", "127.0.0.1:0", refuses]).fails(1);
        assert!(error.contains("there is no database at new"), "{error}");
        assert!(!lode.path("new").exists());
    }
    let endpoint = Endpoint::serve(&lode, "new", &[]);
    assert!(endpoint.greeting.contains("new was not there: made an empty database"), "{}", endpoint.greeting);
    assert_eq!(endpoint.quads(), 0);
    endpoint.update("INSERT DATA { <http://e/a> <http://e/p> 1 }").is(200);
    endpoint.stop();
    let again = Endpoint::serve(&lode, "new", &["--must-exist"]);
    assert_eq!((again.quads(), again.greeting.as_str()), (1, ""));
    drop(again);
    // An empty folder is nothing, too.
    std::fs::create_dir(lode.path("empty")).unwrap();
    assert_eq!(Endpoint::serve(&lode, "empty", &[]).quads(), 0);
}

#[test]
fn what_is_left_of_a_database_or_belongs_to_others_is_left_alone() {
    let lode = Lode::with_turtle(TURTLE);
    for name in ["MANIFEST", "MANIFEST.copy"] {
        std::fs::remove_file(lode.path("db").join(name)).unwrap();
    }
    std::fs::create_dir(lode.path("photos")).unwrap();
    lode.write("photos/cat.jpg", "a cat");
    lode.write("file", "no folder");
    let names = |folder: &str| {
        let names = std::fs::read_dir(lode.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = (names("db"), names("photos"));
    for (path, expected) in [("db", "salvage"), ("photos", "is not a database"), ("file", "")] {
        let error = lode.run(&["serve", path, "--bind", "127.0.0.1:0"]).fails(1);
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!((names("db"), names("photos")), before);
}

#[test]
fn an_address_in_use_is_told_once_with_what_to_do() {
    let lode = Lode::with_turtle(TURTLE);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let error = lode.run(&["serve", "db", "--bind", &address]).fails(1);
    assert_eq!(error.matches("in use").count(), 1, "{error}");
    assert!(error.contains(&address) && error.contains("--bind"), "{error}");
}

#[test]
fn other_addresses_and_methods_are_told_what_there_is() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    for path in ["/sparq", "/repositories/db", "/admin", "/admin/"] {
        let answer = endpoint.send("GET", path, &[], b"").is(404);
        assert!(answer.body.contains(path), "{answer:?}");
        for route in ["/sparql", "/data", "/admin/queries"] {
            assert!(answer.body.contains(&format!("\n{route}")), "{answer:?}");
        }
        assert_eq!(answer.media_type, "text/plain; charset=utf-8");
    }
    let answer = endpoint.send("POST", "/admin/stats", &[], b"").is(405);
    assert!(answer.body.contains("/admin/stats does not take POST"), "{answer:?}");
}

#[test]
fn errors_name_what_a_client_can_do() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let refused = endpoint.update("LOAD <file:///etc/hosts>").is(403).body;
    assert!(refused.contains("/data") && refused.contains("administrator"), "{refused}");
    let cross = (0..12).map(|i| format!("?a{i} ?b{i} ?c{i} .")).collect::<String>();
    let slow =
        format!("SELECT (COUNT(*) AS ?n) {{ {cross} FILTER(?c0 != ?c11 || ?a1 != ?b2 || ?a3 != ?a4) }}");
    let text = ("Content-Type", "application/sparql-query");
    let late = endpoint.send("POST", "/query?timeout=0.2", &[text], slow.as_bytes()).is(504).body;
    assert!(late.contains("timeout=SECONDS") && late.contains("administrator"), "{late}");
}

#[test]
fn what_is_no_folder_of_a_database_is_told() {
    let lode = Lode::with_turtle(TURTLE);
    for (place, says) in [
        ("http://127.0.0.1:7878", "is an address; --bind ADDRESS:PORT says where to listen"),
        ("localhost:7878", "--bind localhost:7878 listens there"),
        (".", "holds 1 database: lode serve --databases . serves all in it, lode serve ./db one"),
    ] {
        let outcome = lode.run(&["serve", place, "--bind", "127.0.0.1:0"]);
        assert!(outcome.code != 0 && outcome.err.contains(says), "{outcome:#?}");
    }
    assert!(
        !lode.path("http:").exists()
            && !lode.path("localhost:7878").exists()
            && !lode.path("MANIFEST").exists()
    );
    // An address without its scheme.
    for command in ["query", "update", "stats", "dump", "shell"] {
        let more: &[&str] = if ["query", "update"].contains(&command) { &["ASK {}"] } else { &[] };
        let error = lode.run(&[&[command, "localhost:1/db"], more].concat()).fails(1);
        assert!(error.contains("did you mean the server http://localhost:1/db?"), "{command}: {error}");
    }
}
