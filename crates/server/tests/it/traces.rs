//! Traces: what a collector gets of requests, and what endpoints of SERVICE are sent.

use crate::client::ask;
use crate::{encoded, serve_database, wait_for};
use lode_engine::{Database, HttpService, HttpServiceOptions, QueryOptions};
use lode_server::{LogFile, LogFormat, Logs, ServerOptions, Traces};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// Heads and bodies of the requests that somebody got.
type Got = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// Answers each request with the same, and keeps what came.
fn listen(media_type: &'static str, answer: &'static str) -> (String, Got) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let got = Got::default();
    let kept = Arc::clone(&got);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut head, mut byte) = (stream.unwrap(), Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            stream.read_exact(&mut body).unwrap();
            kept.lock().unwrap().push((head, body));
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                answer.len()
            );
            let _ = stream.write_all(format!("{head}{answer}").as_bytes());
        }
    });
    (address, got)
}

fn spans(got: &Got) -> Vec<Value> {
    let got = got.lock().unwrap();
    let documents = got.iter().map(|(head, body)| {
        assert!(
            head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/json"),
            "{head}"
        );
        serde_json::from_slice::<Value>(body).unwrap()
    });
    documents
        .flat_map(|document| {
            document["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
        })
        .collect()
}

#[test]
fn a_collector_gets_spans_and_endpoints_the_trace() {
    let (collector, got) = listen("application/json", "{}");
    let (endpoint, asked) =
        listen("application/sparql-results+json", r#"{"head":{"vars":["x"]},"results":{"bindings":[]}}"#);
    let service = HttpService::new(HttpServiceOptions {
        allowed: vec![format!("{endpoint}/sparql")],
        ..HttpServiceOptions::default()
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access");
    let logs = Logs {
        access: Some(LogFile::open(&log).unwrap()),
        access_format: LogFormat::Json,
        traces: Some(Traces::start(&collector, 0.0).unwrap()),
        ..Logs::default()
    };
    let query = QueryOptions { service: Some(Arc::new(service)), ..QueryOptions::default() };
    let address = serve_database(
        Database::in_memory().unwrap(),
        ServerOptions { logs, query, ..ServerOptions::default() },
    );
    let path = |query: &str| format!("/sparql?query={}", encoded(query));
    let sampled = format!("00-{TRACE}-{PARENT}-01");
    let fields = [("traceparent", sampled.as_str()), ("X-Request-Id", "mine-1")];
    ask(
        address,
        "GET",
        &path(&format!("SELECT * {{ SERVICE <{endpoint}/sparql> {{ ?x ?y ?z }} }}")),
        &fields,
        b"",
    )
    .is(200);
    // Neither one that is not to be told, nor one of no trace where none of these is.
    ask(address, "GET", &path("ASK {}"), &[("traceparent", sampled.trim_end_matches('1'))], b"").is(200);
    ask(address, "GET", &path("ASK {}"), &[("traceparent", &sampled.replace("-01", "-00"))], b"").is(200);
    ask(address, "GET", "/none", &[("traceparent", &sampled), ("X-Request-Id", "mine-2")], b"").is(404);
    wait_for("the spans", || {
        spans(&got)
            .iter()
            .any(|span| span["name"] == "GET other" || span["attributes"].to_string().contains("mine-2"))
    });
    let spans = spans(&got);
    let servers: Vec<&Value> = spans.iter().filter(|span| span["kind"] == 2).collect();
    assert_eq!(servers.len(), 2, "{servers:#?}");
    let first = servers.iter().find(|span| span["attributes"].to_string().contains("mine-1")).unwrap();
    assert_eq!(
        (first["traceId"].as_str(), first["parentSpanId"].as_str(), first["name"].as_str()),
        (Some(TRACE), Some(PARENT), Some("GET /sparql"))
    );
    let nanos = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
    let own = first["spanId"].as_str().unwrap();
    let stages: Vec<&Value> = spans.iter().filter(|span| span["parentSpanId"] == own).collect();
    for name in ["plan", "execute"] {
        let stage =
            stages.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name}: {stages:#?}"));
        assert!(
            nanos(stage, "startTimeUnixNano") >= nanos(first, "startTimeUnixNano")
                && stage["traceId"] == TRACE
        );
        assert!(nanos(stage, "endTimeUnixNano") > nanos(stage, "startTimeUnixNano"));
    }
    let asked = asked.lock().unwrap();
    assert!(asked[0].0.contains(&format!("\r\ntraceparent: 00-{TRACE}-{own}-01\r\n")), "{}", asked[0].0);
    let line = std::fs::read_to_string(log).unwrap();
    let line = line.lines().find(|line| line.contains("mine-1")).unwrap();
    assert!(line.contains(&format!("\"trace\":\"{TRACE}\"")), "{line}");
}

#[test]
fn a_collector_that_is_down_holds_nobody_up() {
    let logs = Logs { traces: Some(Traces::start("http://127.0.0.1:1", 1.0).unwrap()), ..Logs::default() };
    let address =
        serve_database(Database::in_memory().unwrap(), ServerOptions { logs, ..ServerOptions::default() });
    (0..50).for_each(|_| drop(ask(address, "GET", "/sparql?query=ASK%7B%7D", &[], b"").is(200)));
    assert!(Traces::start("collector:4318", 1.0).is_err());
}
