//! Errors as `application/problem+json`, where a client names it.

use crate::client::{Answer, ask, serve_data};
use lode_server::ServerOptions;
use serde_json::{Value, json};
use std::net::SocketAddr;

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
