//! Errors as `application/problem+json`, where a client names it.

use crate::client::{Answer, ask, serve_data};
use lode_server::ServerOptions;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const RESULTS: &str = "application/sparql-results+json";
const PROBLEM: &str = "application/problem+json";
const BOTH: &str = "application/sparql-results+json, application/problem+json;q=0.9";

fn address() -> SocketAddr {
    serve_data("INSERT DATA { <http://e/a> <http://e/p> 1 }", ServerOptions::default())
}

fn post(address: SocketAddr, path: &str, accept: &str, text: &str) -> Answer {
    let kind = if path == "/update" { "application/sparql-update" } else { "application/sparql-query" };
    let fields = [("Accept", accept), ("Content-Type", kind), ("X-Request-Id", "mine-1")];
    ask(address, "POST", path, &fields, text.as_bytes())
}

fn problem(answer: &Answer) -> Value {
    assert_eq!(answer.field("content-type"), Some(PROBLEM), "{}", answer.head);
    assert!(answer.head.to_ascii_lowercase().contains("vary: accept\r\n"), "{}", answer.head);
    let problem: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((&problem["type"], &problem["status"]), (&json!("about:blank"), &json!(answer.status)));
    assert_eq!(problem["request"], "mine-1");
    problem
}

#[test]
fn mistakes_of_a_text_have_places() {
    let address = address();
    let text = "SELECT * {\n ?s ?p '\u{1F600}' . ?s foaf:name ?n }";
    for accept in [PROBLEM, BOTH] {
        let found = problem(&post(address, "/query", accept, text).is(400));
        assert_eq!(found["title"], "Bad Request");
        assert!(found["detail"].as_str().unwrap().starts_with("line 2, column 17: "), "{found}");
        assert!(
            found["hint"].as_str().unwrap().contains("PREFIX foaf: <http://xmlns.com/foaf/0.1/>"),
            "{found}"
        );
        let error = &found["errors"][0];
        assert_eq!((&error["line"], &error["column"]), (&json!(2), &json!(17)));
        assert_eq!((&error["from"], &error["to"]), (&json!(28), &json!(33)));
        assert_eq!(error["span"], json!({ "start": 30, "end": 35 }));
        assert_eq!(error["help"], found["hint"]);
        assert_eq!(found["errors"].as_array().unwrap().len(), 1);
    }
    let found = problem(&post(address, "/update", PROBLEM, "INSERT DATA { ?s <http://e/p> 1 }").is(400));
    assert_eq!((&found["errors"][0]["from"], &found["errors"][0]["to"]), (&json!(14), &json!(16)), "{found}");
}

#[test]
fn other_errors_have_a_status_and_a_detail() {
    let address = address();
    for (method, path, status, title) in [
        ("GET", "/query?timeout=x&query=ASK%7B%7D", 400, "Bad Request"),
        ("GET", "/nothing", 404, "Not Found"),
        ("DELETE", "/query", 405, "Method Not Allowed"),
    ] {
        let answer =
            ask(address, method, path, &[("Accept", PROBLEM), ("X-Request-Id", "mine-1")], b"").is(status);
        let found = problem(&answer);
        assert_eq!((&found["title"], found.get("errors"), found.get("hint")), (&json!(title), None, None));
        assert!(!found["detail"].as_str().unwrap().contains("mine-1"), "{found}");
    }
}

#[test]
fn who_does_not_name_it_has_text_and_answers_are_what_they_were() {
    let address = address();
    for accept in ["*/*", RESULTS, "application/json", "application/problem+json;q=0.1, text/plain"] {
        let answer = post(address, "/query", accept, "SELECT").is(400);
        assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"));
        assert!(
            answer.text().starts_with("line 1, column 7: ") && answer.text().ends_with("[request mine-1]\n")
        );
    }
    for accept in [PROBLEM, BOTH] {
        let answer = post(address, "/query", accept, "SELECT * { ?s ?p ?o }").is(200);
        assert_eq!(answer.field("content-type"), Some(RESULTS));
        let answer = post(address, "/update", accept, "INSERT DATA { <http://e/a> <http://e/p> 2 }").is(200);
        assert_eq!(answer.field("content-type"), Some("application/json"));
    }
}

/// Sends what is wrong in many ways to an address, and looks at each error.
fn walk(address: SocketAddr, path: &str, kinds: &mut std::collections::BTreeSet<u16>) {
    let filled = |part: &str| path.replace("{id}", part).replace("{name}", part).replace("{*path}", part);
    let paths: std::collections::BTreeSet<String> =
        ["abc", "7", "%FF", "a%2Fb", "18446744073709551616"].map(filled).into();
    for path in paths {
        for query in [
            "",
            "?query=SELECT",
            "?graph=x%20y",
            "?nothing=%zz",
            "?name=%2F&to=%2F",
            "?timeout=x&query=ASK%7B%7D",
            "?at=gone&query=ASK%7B%7D",
        ] {
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
                for kind in [
                    "application/sparql-query",
                    "application/sparql-update",
                    "text/turtle",
                    "x/y",
                    "multipart/form-data",
                ] {
                    let body: &[u8] = if ["POST", "PUT", "PATCH"].contains(&method) { b"<a" } else { b"" };
                    let fields = [("Accept", PROBLEM), ("Content-Type", kind), ("X-Request-Id", "mine-1")];
                    let answer = ask(address, method, &format!("{path}{query}"), &fields, body);
                    if answer.status >= 400 {
                        let name = format!("{method} {path}{query} {kind}: {}", answer.head);
                        assert_eq!(answer.field("content-type"), Some(PROBLEM), "{name}");
                        kinds.insert(answer.status);
                        if method != "HEAD" {
                            assert!(!problem(&answer)["detail"].as_str().unwrap().is_empty(), "{name}");
                        }
                    }
                    if body.is_empty() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn every_address_tells_errors_so() {
    let address = address();
    let mut kinds = std::collections::BTreeSet::new();
    lode_server::OF_DATABASE.iter().for_each(|at| walk(address, at.path, &mut kinds));
    assert!([400, 404, 405, 406, 415].iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
    let answer =
        ask(address, "DELETE", "/admin/queries/abc", &[("Accept", PROBLEM), ("X-Request-Id", "mine-1")], b"")
            .is(400);
    assert!(problem(&answer)["detail"].as_str().unwrap().contains("abc"), "{}", answer.text());
}

#[test]
fn heads_that_nobody_reads_are_told_so() {
    let address = address();
    let long = format!("/sparql?query={}", "x".repeat(70_000));
    let many = "y".repeat(200_000);
    let no_head = "GET / HTTP/1.1\r\nno field\r\n\r\n";
    for (request, status) in [
        (format!("GET {long} HTTP/1.1\r\nHost: h\r\nAccept: {PROBLEM}\r\n\r\n"), 414),
        (format!("GET / HTTP/1.1\r\nHost: h\r\nAccept: {PROBLEM}\r\nX: {many}\r\n\r\n"), 431),
        (no_head.to_owned(), 400),
    ] {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may be refused before all of it has come.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{status}: {answer}"));
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status} "))
                && head.contains(&format!("content-type: {PROBLEM}")),
            "{head}"
        );
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!((&body["status"], body["detail"].as_str().unwrap().is_empty()), (&json!(status), false));
    }
}
