//! Help for who writes queries, over HTTP.

use crate::{send, send_as, serve, serve_database};
use lode_engine::{Database, UpdateOptions};
use lode_server::ServerOptions;
use serde_json::{Value, json};
use std::net::SocketAddr;

const DATA: &str = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> INSERT DATA {
    <http://e/ann> a foaf:Person ; foaf:name \"Ann\" ; foaf:knows <http://e/bob> .
    <http://e/bob> foaf:name \"Bob\" . foaf:knows rdfs:label \"knows\" }";

fn people() -> SocketAddr {
    let database = Database::in_memory().unwrap();
    database.update(DATA, &UpdateOptions::default()).unwrap();
    serve_database(database, ServerOptions::default())
}

fn post(address: SocketAddr, path: &str, body: &Value) -> (u16, Value) {
    let (status, head, text) = send_as("application/json", address, "POST", path, &body.to_string());
    if status == 200 {
        assert!(head.contains("content-type: application/json"), "{head}");
    }
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[test]
fn completion_and_hover_are_answered_as_json() {
    let address = people();
    let asked = json!({ "text": "SELECT * { ?s foaf:kn }", "position": 21 });
    // The first call may have no time to look at everything.
    let answers = (0..50).map(|_| post(address, "/api/complete", &asked));
    let (status, answer) = answers.into_iter().find(|(_, answer)| answer["items"][0].is_object()).unwrap();
    assert_eq!(status, 200);
    let prefix = json!({ "name": "foaf", "iri": "http://xmlns.com/foaf/0.1/" });
    let item = json!({ "label": "foaf:knows", "insert": "foaf:knows", "kind": "predicate", "detail": "knows",
        "iri": "http://xmlns.com/foaf/0.1/knows", "count": 1, "prefix": prefix });
    assert_eq!((&answer["from"], &answer["to"], &answer["items"]), (&json!(14), &json!(21), &json!([item])));
    assert!(answer["incomplete"].is_boolean());
    let (status, hover) =
        post(address, "/api/hover", &json!({ "text": "ASK { <http://e/ann> ?p ?o }", "position": 8 }));
    assert_eq!(status, 200);
    let counts = json!({ "subject": 3, "predicate": 0, "object": 0, "graph": 0 });
    let types = json!([{ "iri": "http://xmlns.com/foaf/0.1/Person" }]);
    assert_eq!((&hover["from"], &hover["to"], &hover["counts"]), (&json!(6), &json!(20), &counts));
    assert_eq!((&hover["label"], &hover["types"]), (&json!("Ann"), &types));
    let (status, nothing) =
        post(address, "/api/hover", &json!({ "text": "ASK { ?s ?p ?o }", "position": 5 }));
    assert_eq!((status, nothing), (204, json!("")));
}

#[test]
fn formats_checks_and_prefixes() {
    let address = people();
    let (status, formatted) = post(address, "/api/format", &json!({ "text": "ask{?s ?p ?o}" }));
    assert_eq!((status, &formatted["text"]), (200, &json!("ASK {\n  ?s ?p ?o\n}\n")));
    let (status, _) = post(address, "/api/format", &json!({ "text": "ask{" }));
    assert_eq!(status, 400);
    let (status, checked) =
        post(address, "/api/check", &json!({ "text": "ASK { ?s foaf:name ?o }", "kind": "query" }));
    assert_eq!(status, 200);
    assert_eq!((&checked["errors"][0]["from"], &checked["errors"][0]["to"]), (&json!(9), &json!(14)));
    assert!(checked["errors"][0]["help"].as_str().unwrap().contains("PREFIX foaf:"));
    let text = "SELECT * {\n ?s ?p '\u{1F600}' ; <http://xmlns.com/foaf/0.1/nmae> ?n }";
    let (_, checked) = post(address, "/api/check", &json!({ "text": text }));
    let mark = &checked["warnings"][0];
    let place = json!({ "start": 27, "end": 59 });
    assert_eq!((&mark["from"], &mark["to"], &mark["span"]), (&json!(25), &json!(57), &place), "{checked}");
    assert_eq!(
        (&mark["line"], &mark["column"], &mark["code"]),
        (&json!(2), &json!(14), &json!("unknown-constant"))
    );
    let (_, checked) = post(address, "/api/check", &json!({ "text": "CLEAR ALL", "kind": "update" }));
    assert_eq!(checked, json!({ "errors": [], "warnings": [] }));
    let (status, _, text) = send(address, "GET", "/api/prefixes", "");
    let prefixes: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status, 200);
    assert_eq!(prefixes["prefixes"][0], json!({ "name": "foaf", "iri": "http://xmlns.com/foaf/0.1/" }));
}

#[test]
fn what_is_wrong_is_refused() {
    let address = serve(ServerOptions::default());
    assert_eq!(post(address, "/api/complete", &json!({ "text": "" })).0, 400);
    assert_eq!(send_as("application/json", address, "POST", "/api/hover", "no JSON").0, 400);
    assert_eq!(send(address, "GET", "/api/complete", "").0, 405);
    assert_eq!(send(address, "POST", "/api/nothing", "").0, 404);
    let long = json!({ "text": "a".repeat(3 << 20), "position": 0 });
    assert_eq!(post(address, "/api/complete", &long).0, 413);
    let far = json!({ "text": "ASK {", "position": 4_000_000, "limit": 1_000_000 });
    let (status, answer) = post(address, "/api/complete", &far);
    assert_eq!((status, &answer["from"]), (200, &json!(5)));
}
