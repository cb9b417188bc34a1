//! What roles may take: each limit up to itself, and what is told beyond it.

use crate::client::ask;
use crate::{LONG, SLOW, encoded, requests, retry_after, send, send_as, serve, small_thread, wait_for};
use lode_server::{Graphs, LimitsOfRoles, Rights, Role, ServerOptions, Users};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// All 2,000 triples of it.
const ALL: &str = "SELECT * { ?s ?p ?o }";

fn limited(anonymous: &str) -> SocketAddr {
    let roles = LimitsOfRoles { anonymous: anonymous.parse().unwrap(), ..LimitsOfRoles::default() };
    serve(ServerOptions { roles, ..ServerOptions::default() })
}

fn query(address: SocketAddr, text: &str) -> (u16, String, String) {
    send(address, "POST", "/query", text)
}

/// What is told names the limit, its value, and where it is set.
fn refused(answer: &(u16, String, String), status: u16, parts: &[&str]) {
    let (found, head, body) = answer;
    assert_eq!(*found, status, "{body}");
    assert_eq!(head.contains("retry-after"), [429, 503].contains(&status), "{head}");
    for part in parts {
        assert!(body.contains(part), "{part}: {body}");
    }
}

#[test]
fn rows_of_an_answer() {
    let address = limited("rows=1000");
    for ask in
        ["SELECT * { ?s ?p ?o } LIMIT 1000", "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } LIMIT 1000", "ASK {}"]
    {
        assert_eq!(query(address, ask).0, 200, "{ask}");
    }
    let told = ["more than 1000 rows", "anonymous requests is 1000 rows (rows of limits.anonymous)", "LIMIT"];
    for ask in ["SELECT * { ?s ?p ?o } LIMIT 1001", ALL, "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } LIMIT 1001"] {
        refused(&query(address, ask), 413, &told);
        // Also once it is known that it is short.
        refused(&query(address, ask), 413, &told);
    }
    refused(&send(address, "GET", "/data?default", ""), 413, &told);
    refused(&send(address, "GET", "/data", ""), 413, &told);
    let address = limited("rows=2000");
    assert_eq!(query(address, ALL).2.lines().count(), 2001);
    assert_eq!(send(address, "GET", "/data?default", "").0, 200);
}

#[test]
fn bytes_of_an_answer() {
    let whole = query(limited(""), ALL).2.len();
    assert_eq!(query(limited(&format!("bytes={whole}")), ALL).2.len(), whole);
    let told = ["(bytes of limits.anonymous)"];
    refused(&query(limited(&format!("bytes={}", whole - 1)), ALL), 413, &told);
    // A download is streamed once there is more of it than this.
    assert_eq!(send(limited("bytes=1M"), "GET", "/data?default", "").0, 200);
    refused(&send(limited("bytes=60000"), "GET", "/data?default", ""), 413, &told);
}

#[test]
fn a_long_answer_that_is_cut_does_not_look_whole() {
    // More than is kept until the answer is whole.
    let ask = "SELECT * { ?s ?p ?o . ?a ?b ?c }";
    for limit in ["bytes=1000000", "rows=20000"] {
        let address = limited(limit);
        let mut stream = TcpStream::connect(address).unwrap();
        let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: text/csv\r\nContent-Type: application/sparql-query\r\n";
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{ask}", ask.len()).as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A cut connection may also be an error here.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("HTTP/1.1 200") && text.contains("transfer-encoding: chunked"), "{limit}");
        assert!(!text.ends_with("0\r\n\r\n"), "{limit}: the last chunk says that it is whole");
        assert!(bytes.len() > 100_000 && bytes.len() < 1_200_000, "{limit}: {}", bytes.len());
    }
}

#[test]
fn texts() {
    let address = limited("query-bytes=20");
    assert_eq!(query(address, &format!("ASK {{}} #{}", "x".repeat(12))).0, 200);
    let long = format!("ASK {{}} #{}", "x".repeat(13));
    let told = ["the text has 21 bytes", "20 bytes (query-bytes of limits.anonymous)"];
    refused(&query(address, &long), 413, &told);
    refused(&send(address, "GET", &format!("/query?query={}", encoded(&long)), ""), 413, &told);
    refused(
        &send_as("application/sparql-update", address, "POST", "/update", "DELETE WHERE { ?s ?p 0 }"),
        413,
        &["query-bytes"],
    );
}

#[test]
fn what_a_plan_would_read() {
    let address = limited("reads=2100");
    for ask in [
        ALL,
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o . ?a ?b ?c } LIMIT 10",
        "ASK { ?s ?p ?o . ?a ?b ?c }",
    ] {
        let (status, _, body) = query(address, ask);
        assert_eq!(status, 200, "{ask}: {body}");
    }
    let told = [
        "this would read about",
        "anonymous requests is 2100 (reads of limits.anonymous)",
        "LIMIT",
        "log in",
    ];
    for ask in
        ["SELECT * { ?s ?p ?o . ?a ?b ?c }", SLOW, "SELECT * { ?s ?p ?o . ?a ?b ?c } ORDER BY ?s LIMIT 10"]
    {
        refused(&query(address, ask), 403, &told);
    }
    // Tests of rows by a pattern that is no join, and searches along paths.
    let tested = "SELECT * { ?s ?p ?o BIND(EXISTS { ?o ?a ?b } AS ?e) }";
    refused(&query(address, tested), 403, &["this would read about 66000 rows"]);
    refused(&query(address, "SELECT * { ?s (!<http://e/none>)* ?o }"), 403, &told);
    assert_eq!(query(address, &format!("{tested} LIMIT 10")).0, 200);
    assert_eq!(query(limited("reads=2000"), ALL).0, 200);
    refused(&query(limited("reads=1999"), ALL), 403, &["this would read about 2000 rows"]);
    // Whoever wonders may look at the plan.
    let (status, _, plan) = send(address, "GET", &format!("/query?explain=1&query={}", encoded(SLOW)), "");
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert!(status == 200 && plan["estimated_reads"].as_f64().unwrap() > 1e9, "{plan}");
    refused(&send(address, "GET", &format!("/query?profile=1&query={}", encoded(SLOW)), ""), 403, &told);
    let (_, _, plan) = send(address, "GET", &format!("/query?explain=1&query={}", encoded(ALL)), "");
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan["estimated_reads"].as_f64(), Some(2000.0), "{plan}");
}

#[test]
fn what_a_plan_would_read_is_no_limit_for_who_may_not_read_all_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.json");
    let token = |name: &str, graphs: &[String]| {
        let mut rights = Rights::default();
        rights.give(Role::Read, &[], &Graphs::parse(graphs, &[]).unwrap());
        let token = Users::change(&users, |users| users.add_token(name, rights, None)).unwrap();
        format!("Bearer {token}")
    };
    let (all, some) = (token("all", &[]), token("some", &["default".to_owned()]));
    let roles = LimitsOfRoles { read: "reads=10".parse().unwrap(), ..LimitsOfRoles::default() };
    let address = serve(ServerOptions { roles, users: Some(users.clone()), ..ServerOptions::default() });
    let status = |token: &str| {
        let fields = [("Authorization", token), ("Content-Type", "application/sparql-query")];
        ask(address, "POST", "/query", &fields, b"SELECT (COUNT(?a) AS ?n) { ?s ?p ?o . ?s ?a ?b }").status
    };
    assert_eq!(status(&all), 403);
    // The estimate is of the whole database: a refusal would tell how much there is in other graphs.
    assert_eq!(status(&some), 200);
}

#[test]
fn time_and_memory() {
    let address = limited("time=0.3");
    refused(&query(address, SLOW), 504, &["0.3 seconds (time of limits.anonymous)"]);
    let shorter = query(address, "ASK {}");
    assert_eq!(shorter.0, 200);
    let (status, _, body) = send(address, "GET", &format!("/query?timeout=0.1&query={}", encoded(SLOW)), "");
    assert!(status == 504 && !body.contains("limits.anonymous"), "{body}");
    // Of each of these values more is reserved before it is read.
    let values = format!("SELECT * {{ VALUES ?x {{ {} }} }}", "1 ".repeat(3000));
    assert_eq!(query(limited("memory=64MiB"), &values).0, 200);
    let told = ["1048576 bytes (memory of limits.anonymous)"];
    refused(&query(limited("memory=1MiB"), &values), 413, &told);
}

#[test]
fn requests_a_minute() {
    let address = limited("requests-a-minute=20");
    (0..20).for_each(|_| assert_eq!(query(address, "ASK {}").0, 200));
    let answer = query(address, "ASK {}");
    refused(
        &answer,
        429,
        &["too many requests", "20 a minute (requests-a-minute of limits.anonymous): try again in"],
    );
    assert!((1..=3).contains(&retry_after(&answer.1)), "{}", answer.1);
    // Whether the server is well everybody may ask, and who runs it what it does.
    assert_eq!(send(address, "GET", "/health/ready", "").0, 200);
    assert_eq!(send(address, "GET", "/admin/queries", "").0, 200);
    refused(&send(address, "GET", "/data", ""), 429, &["requests-a-minute"]);
}

#[test]
fn requests_at_once() {
    let roles = LimitsOfRoles { anonymous: "requests=2".parse().unwrap(), ..LimitsOfRoles::default() };
    let address = serve(ServerOptions { roles, timeout: LONG * 1000, ..ServerOptions::default() });
    let clients: Vec<_> = (0..2).map(|_| small_thread(move || query(address, SLOW))).collect();
    wait_for("both run", || requests(address, "running").len() == 2);
    let answer = query(address, "ASK {}");
    refused(&answer, 429, &["2 at once (requests of limits.anonymous)"]);
    assert_eq!(retry_after(&answer.1), 1);
    crate::cancel_all(address);
    clients.into_iter().for_each(|client| assert_eq!(client.join().unwrap().0, 503));
    wait_for("places were given back", || query(address, "ASK {}").0 == 200);
}
