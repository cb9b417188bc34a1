//! What somebody meets who uses the program for the first time: words in the wrong place, numbers that must be right, clients made for
//! other stores.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::net::TcpListener;
use std::process::Stdio;

const TURTLE: &str = "@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 ; :q :a .";
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
}

/// Lines about so many subjects from a number on, of two properties.
fn lines(subjects: std::ops::Range<u32>) -> String {
    subjects
        .map(|i| {
            format!("<http://e/s{i}> <http://e/p> \"{}\" .\n<http://e/s{i}> <http://e/q> \"{i}\" .\n", i % 7)
        })
        .collect()
}

#[test]
fn distinct_numbers_are_exact_over_segments_and_changes() {
    let lode = Lode::new();
    let stats =
        || -> serde_json::Value { serde_json::from_str(&lode.run(&["stats", "db", "--json"]).ok()).unwrap() };
    let distinct = |stats: &serde_json::Value| {
        ["subjects", "predicates", "objects"].map(|name| stats["distinct"][name].as_u64().unwrap())
    };
    lode.write("a.nt", lines(0..15_000));
    lode.write("b.nt", lines(5_000..20_000));
    lode.run(&["load", "db", "a.nt"]).ok();
    assert_eq!(distinct(&stats()), [15_000, 2, 15_000]);
    lode.run(&["load", "db", "b.nt", "--no-merge"]).ok();
    let two = stats();
    assert_eq!((&two["segments"], &two["distinct"]["exact"]), (&2.into(), &true.into()));
    assert_eq!(distinct(&two), [20_000, 2, 20_000]);
    let change = "DELETE WHERE { <http://e/s7> ?p ?o } ; INSERT DATA { <http://e/s8> <http://e/r> <http://e/s8> , \"new\" }";
    lode.run(&["update", "db", change]).ok();
    // "7" is no object any more: the others of s7 are "0".
    let changed = stats();
    assert_eq!(distinct(&changed), [19_999, 3, 20_001]);
    lode.run(&["compact", "db", "--quiet"]).ok();
    assert_eq!(distinct(&stats()), distinct(&changed));
    let text = lode.run(&["stats", "db"]).ok();
    let line = text.lines().find(|line| line.starts_with("distinct subjects")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["distinct", "subjects", "19,999"]);
}

#[test]
fn words_in_the_wrong_place() {
    let lode = Lode::with_turtle(TURTLE);
    lode.write("q.rq", "ASK {}");
    lode.write("u.ru", "CLEAR ALL");
    assert_says(&lode.run(&["query", "db", "q.rq"]).fails(2), &["q.rq is a file", "--file q.rq"]);
    assert_says(&lode.run(&["update", "db", "u.ru"]).fails(2), &["u.ru is a file", "--file u.ru"]);
    let swapped = lode.run(&["query", "ASK {}", "db"]).fails(2);
    assert_says(&swapped, &["the database comes first", "lode query db '...'"]);
    assert_says(&lode.run(&["update", "CLEAR ALL", "db", "--create"]).fails(2), &["lode update db '...'"]);
    for command in [
        &["query", "data.ttl", "ASK {}"][..],
        &["update", "data.ttl", "CLEAR ALL"],
        &["stats", "data.ttl"],
        &["load", "data.ttl", "data.ttl"],
    ] {
        let error = lode.run(command).fails(1);
        assert_says(&error, &["data.ttl is a file, not a database", "lode load DB data.ttl"]);
    }
    let swapped = lode.run(&["load", "data.ttl", "db"]).fails(2);
    assert_says(
        &swapped,
        &["data.ttl is a file, not a database", "the database comes first", "lode load db data.ttl"],
    );
    let swapped = lode.run(&["load", "data.ttl", "q.rq", "new.db"]).fails(2);
    assert_says(&swapped, &["lode load new.db data.ttl q.rq"]);
    assert!(!lode.path("new.db").exists());
    assert_says(&lode.run(&["query", "db", "CLEAR ALL"]).fails(4), &["this is an update", "lode update"]);
    let query = "# all\nPREFIX : <http://e/#> SELECT * { ?s ?p ?o }";
    assert_says(&lode.run(&["update", "db", query]).fails(4), &["this is a query", "lode query"]);
    assert_eq!(lode.run(&["query", "db", "--file", "q.rq", "--format", "csv"]).ok().trim(), "true");
}

#[test]
fn wrong_values_of_options_are_a_wrong_command_line() {
    let lode = Lode::with_turtle(TURTLE);
    for command in [
        &["load", "new", "data.ttl", "--format", "word"][..],
        &["load", "new", "data.ttl", "--graph", "no iri"],
        &["dump", "db", "--format", "word"],
        &["dump", "db", "--graph", "no iri"],
        &["query", "db", "ASK {}", "--format", "word"],
        &["dump", "db", "--memory", "1"],
        &["serve", "db", "--bind", "here"],
    ] {
        lode.run(command).fails(2);
    }
    assert_says(&lode.run(&["dump", "db", "--memory", "1"]).fails(2), &["the least is 64 MiB"]);
    assert_says(
        &lode.run(&["serve", "db", "--bind", "here"]).fails(2),
        &["127.0.0.1:7878", "localhost:7878"],
    );
    for (command, parts) in [
        ("load", &["at least 48MiB", "default: a quarter"][..]),
        ("dump", &["at least 64MiB", "default: 1GiB"]),
        ("compact", &["default: a quarter"]),
    ] {
        let help = lode.run(&[command, "--help"]).ok();
        assert_says(&help.split_whitespace().collect::<Vec<_>>().join(" "), parts);
    }
}

#[test]
fn a_clean_load_leaves_no_file_of_what_was_set_aside() {
    let lode = Lode::new();
    lode.write("a.nt", lines(0..1));
    lode.run(&["load", "db", "a.nt", "--quarantine", "bad"]).ok();
    assert!(!lode.path("bad").exists());
    lode.run(&["load", "--dry-run", "a.nt", "--quarantine", "bad"]).ok();
    assert!(!lode.path("bad").exists());
    lode.write("b.nt", "nonsense\n");
    lode.run(&["load", "db", "b.nt", "--quarantine", "bad"]).fails(3);
    assert!(lode.path("bad").exists());
}

#[test]
fn a_language_tag_with_an_underscore() {
    let lode = Lode::new();
    for name in ["a.nt", "a.ttl"] {
        lode.write(name, "<http://e/a> <http://e/p> \"x\"@en_US .\n");
        assert_says(&lode.run(&["load", "db", name]).fails(4), &["language tag", "--lenient keeps it"]);
        lode.run(&["load", "db", name, "--lenient"]).ok();
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let lode = Lode::with_turtle(TURTLE);
    for command in [&["load", "db", "data.ttl", "--json"][..], &["stats", "db", "--json"], &["dump", "db"]] {
        let mut child = lode.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !told.contains("error"), "{command:?}: {told}");
    }
}

#[test]
fn servers_are_found_by_any_form_of_their_address() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let bare = endpoint.base.trim_start_matches("http://").to_owned();
    for address in [format!("{}/sparql", endpoint.base), bare.clone(), format!("{bare}/")] {
        let text = lode.run(&["top", "--once", "--endpoint", &address]).ok();
        assert_says(&text, &[&endpoint.base, "0 running"]);
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    assert_says(
        &lode.run(&["top", "--once", "--endpoint", &closed]).fails(1),
        &["nobody answers", "lode serve DB"],
    );
}

#[test]
fn uploads_say_what_helps_over_http() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let plain = ("Content-Type", "text/plain");
    let turtle = b"@prefix : <http://e/> .\n:x :p 1 .\n";
    let error = endpoint.send("POST", "/data?default", &[plain], turtle).is(400).body;
    assert_says(&error, &["looks like Turtle", "Content-Type: text/turtle"]);
    assert!(!error.contains("--format"), "{error}");
    let form = ("Content-Type", "multipart/form-data; boundary=xyz");
    let part = |head: &str| {
        format!(
            "--xyz\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{head}\r\n\r\n{}--xyz--\r\n",
            String::from_utf8_lossy(turtle)
        )
    };
    let error = endpoint
        .send("POST", "/data?default", &[form], part("a.txt\"\r\nContent-Type: text/plain").as_bytes())
        .is(400)
        .body;
    assert_says(&error, &["looks like Turtle", ";type=text/turtle"]);
    let error = endpoint.send("POST", "/data?default", &[form], part("a.png\"").as_bytes()).is(415).body;
    assert_says(&error, &[";type=text/turtle"]);
    let quads = ("Content-Type", "application/n-quads");
    let error = endpoint
        .send(
            "POST",
            "/data?graph=http://e/g",
            &[quads],
            b"<http://e/a> <http://e/p> <http://e/o> <http://e/h> .\n",
        )
        .is(400)
        .body;
    assert_says(&error, &["send quads to /data without a graph"]);
    let error = endpoint.query("CLEAR ALL", "*/*").is(400).body;
    assert_says(&error, &["this is an update", "POST to /update"]);
    assert_says(&endpoint.update("ASK {}").is(400).body, &["this is a query", "/query"]);
}

#[test]
fn clients_that_send_the_same_to_every_endpoint() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let select = "query=SELECT+*+%7B+?s+?p+?o+%7D";
    let construct = "query=CONSTRUCT+WHERE+%7B+?s+?p+?o+%7D";
    // SPARQLWrapper sends all three names of the format.
    for (query, format, media_type) in [
        (select, "json", "application/sparql-results+json"),
        (select, "xml", "application/sparql-results+xml"),
        (select, "csv", "text/csv; charset=utf-8"),
        (construct, "xml", "application/rdf+xml"),
        (construct, "turtle", "text/turtle"),
        (construct, "json-ld", "application/ld+json"),
        (construct, "json", "application/ld+json"),
    ] {
        let all = format!("{query}&format={format}&output={format}&results={format}");
        let accept = ("Accept", media_type.split(';').next().unwrap());
        let by_get = endpoint.send("GET", &format!("/sparql?{all}"), &[accept], b"").is(200);
        assert_eq!(by_get.media_type, media_type, "{all}");
        let by_post = endpoint.send("POST", "/sparql", &[accept, FORM], all.as_bytes()).is(200);
        assert_eq!((by_post.media_type, by_post.body), (by_get.media_type, by_get.body));
    }
    // Query pages send their empty fields.
    let page = format!(
        "/sparql?default-graph-uri=&named-graph-uri=&{select}&output=csv&should-sponge=&run=+Run+Query+&debug=on&infer=false&_=17"
    );
    assert_eq!(endpoint.send("GET", &page, &[], b"").is(200).body.lines().count(), 5);
    let error = endpoint.send("GET", &format!("/sparql?{select}&grahp=http://e/g"), &[], b"").is(400).body;
    assert_says(&error, &["'grahp'"]);
}

#[test]
fn the_demo_is_where_it_was_asked_for() {
    let lode = Lode::with_turtle(TURTLE);
    let demo = |place: &str| lode.run(&["demo", "--database", place, "--products", "20", "--once"]);
    assert!(demo("shop").ok().contains("?"));
    let answer = lode.run(&["query", "shop", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "--format", "csv"]).ok();
    assert!(answer.trim_end().rsplit('\n').next().unwrap().parse::<u64>().unwrap() > 5_000, "{answer}");
    // Nothing else is left.
    let names: Vec<_> =
        std::fs::read_dir(lode.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("demo")), "{names:?}");
    assert_says(&demo("shop").fails(1), &["shop is a database already", "lode serve shop"]);
    std::fs::create_dir(lode.path("folder")).unwrap();
    lode.write("folder/notes.txt", "mine");
    assert_says(&demo("folder").fails(1), &["folder is there already, and no database"]);
}

#[test]
fn a_server_that_was_just_started_is_waited_for() {
    let lode = Lode::with_turtle(TURTLE);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}");
    let error = lode.run(&["status", &address, "--wait", "0.2"]).fails(1);
    assert_says(&error, &["not ready after 200 ms", "nobody answers"]);
    let mut waiting = lode.command(&["status", &address, "--wait", "60"]);
    let mut waiting = waiting.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut server =
        lode.command(&["serve", "db", "--bind", &port.to_string()]).stderr(Stdio::null()).spawn().unwrap();
    let status = waiting.wait().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(status.success());
}

#[test]
fn the_version_is_told_in_the_ways_of_other_programs() {
    let lode = Lode::new();
    let version = lode.run(&["--version"]).ok();
    assert!(version.starts_with("lode "), "{version}");
    for words in [&["-v"][..], &["version"], &["-V"]] {
        assert_eq!(lode.run(words).ok(), version, "{words:?}");
    }
    lode.run(&["version", "db"]).fails(2);
    let told = lode.run(&["load", "db", "a.nt", "--workers", "10.0.0.2:7879"]).fails(2);
    assert!(told.contains("--workers 4, and not 10.0.0.2:7879"), "{told}");
}
