//! `/metrics`, `/health` and `/admin/stats`: what is counted is what happened, and nobody makes it grow.

use crate::client::{Answer, ask, serve_data};
use crate::{SLOW, cancel_all, encoded, requests, send, serve, wait_for};
use lode_server::ServerOptions;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

const DATA: &str =
    "INSERT DATA { <http://e/a> <http://e/p> 1, 2 . GRAPH <http://e/g> { <http://e/a> <http://e/p> 3 } }";
const UPDATE: (&str, &str) = ("Content-Type", "application/sparql-update");

/// All metrics, by name with labels.
pub fn metrics(address: SocketAddr) -> BTreeMap<String, f64> {
    parsed(&ask(address, "GET", "/metrics", &[], b"").is(200))
}

fn parsed(answer: &Answer) -> BTreeMap<String, f64> {
    let media_type = answer.field("content-type").unwrap();
    assert_eq!(media_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = String::from_utf8(answer.plain()).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let values = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
        (name.to_owned(), value.parse::<f64>().unwrap_or_else(|_| panic!("{line}")))
    });
    let all: BTreeMap<String, f64> = values.collect();
    let count = text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(all.len(), count, "nothing is told twice");
    for name in all.keys() {
        let bare = name.split('{').next().unwrap();
        let family = ["_total", "_bucket", "_count", "_sum"].iter().find_map(|end| bare.strip_suffix(end));
        let is_described = |name: &str| text.contains(&format!("# TYPE {name} "));
        assert!(is_described(bare) || family.is_some_and(is_described), "{name}");
    }
    all
}

fn value(all: &BTreeMap<String, f64>, name: &str) -> f64 {
    *all.get(name).unwrap_or_else(|| panic!("{name} is none of {:#?}", all.keys()))
}

#[test]
fn what_happened_is_counted() {
    let address = serve_data(DATA, ServerOptions::default());
    let query = |text: &str| ask(address, "GET", &format!("/sparql?query={}", encoded(text)), &[], b"");
    (0..5).for_each(|_| drop(query("SELECT * { ?s ?p ?o }").is(200)));
    query("SELECT * {").is(400);
    ask(address, "POST", "/update", &[UPDATE], b"INSERT DATA { <http://e/b> <http://e/p> 4 }").is(200);
    ask(address, "GET", "/data?default", &[], b"").is(200);
    ask(
        address,
        "PUT",
        "/data?default",
        &[("Content-Type", "text/turtle")],
        b"<http://e/c> <http://e/p> 5 .",
    )
    .is(200);
    let all = metrics(address);
    let is =
        |name: &str, expected: f64| assert!((value(&all, name) - expected).abs() < 1e-9, "{name}: {all:#?}");
    is("lode_http_requests_total{route=\"/sparql\",status=\"200\",role=\"update\"}", 5.0);
    is("lode_http_requests_total{route=\"/sparql\",status=\"400\",role=\"update\"}", 1.0);
    is("lode_http_requests_total{route=\"/data\",status=\"200\",role=\"update\"}", 2.0);
    is("lode_http_request_duration_seconds_count{route=\"/sparql\"}", 6.0);
    is("lode_work_total{kind=\"query\",result=\"ok\"}", 5.0);
    is("lode_work_total{kind=\"query\",result=\"invalid\"}", 1.0);
    is("lode_work_total{kind=\"update\",result=\"ok\"}", 1.0);
    is("lode_work_total{kind=\"upload\",result=\"ok\"}", 1.0);
    is("lode_work_total{kind=\"download\",result=\"ok\"}", 1.0);
    is("lode_query_rows_total", 10.0);
    for stage in ["wait", "plan", "execute", "deliver"] {
        is(&format!("lode_work_stage_seconds_count{{kind=\"query\",stage=\"{stage}\"}}"), 6.0);
    }
    is("lode_quads", 2.0);
    is("lode_writable", 1.0);
    is("lode_ready", 1.0);
    is("lode_http_requests_in_flight", 1.0);
    assert!(value(&all, "lode_commits_total") >= 2.0);
    assert!(value(&all, "lode_http_request_bytes_total") > 60.0);
    assert!(value(&all, "lode_http_response_bytes_total") > 500.0);
    assert!(value(&all, "process_resident_memory_bytes") > 1e6);
    assert!(value(&all, "process_open_fds") > 3.0 && value(&all, "process_max_fds") > 3.0);
    assert!(value(&all, "process_start_time_seconds") > 1.7e9);
    assert!(all.keys().any(|name| name.starts_with("lode_build_info{version=\"")));
    assert!(
        all.contains_key("lode_index_bytes{index=\"spog\"}")
            && all.contains_key("lode_memory_bytes{of=\"cache\"}")
    );
}

#[test]
fn nobody_makes_it_grow() {
    let address = serve_data(DATA, ServerOptions::default());
    let attack = |from: usize| {
        for i in from..from + 100 {
            ask(address, "GET", &format!("/{i}?x={i}"), &[("X-Request-Id", &i.to_string())], b"").is(404);
            ask(
                address,
                &format!("M{i}"),
                &format!("/data/{i}"),
                &[("Origin", &format!("http://h{i}"))],
                b"",
            )
            .is(403);
            ask(address, "POST", &format!("/admin/queries/{i}"), &[("Host-x", "y")], b"").is(405);
        }
    };
    attack(0);
    // This address has its place from now on.
    metrics(address);
    let before = metrics(address).len();
    attack(100);
    assert_eq!(metrics(address).len(), before);
}

#[test]
fn what_ends_otherwise_is_counted_as_that() {
    let options = ServerOptions {
        running_max: 1,
        waiting_max: 0,
        timeout: Duration::from_secs(3600),
        ..ServerOptions::default()
    };
    let address = serve(options);
    let slow = std::thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("it runs", || requests(address, "running").len() == 1);
    let now = metrics(address);
    assert!((value(&now, "lode_work_now{state=\"running\"}") - 1.0).abs() < 1e-9);
    assert!(value(&now, "lode_http_connections") >= 2.0);
    // There is no place for a second long one.
    assert_eq!(send(address, "POST", "/query", SLOW).0, 503);
    cancel_all(address);
    assert_eq!(slow.join().unwrap().0, 503);
    let timed_out = send(address, "POST", "/query?timeout=0.2", SLOW);
    assert_eq!(timed_out.0, 504, "{timed_out:?}");
    // This client leaves, once it has a part of its answer: when the place of the one before is free again.
    let path = format!("/sparql?query={}", encoded("SELECT * { ?a ?b ?c . ?d ?e ?f }"));
    wait_for("a place", || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let mut begun = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut begun).unwrap();
        begun == *b"HTTP/1.1 200"
    });
    let count = |result: &str| {
        metrics(address).get(&format!("lode_work_total{{kind=\"query\",result=\"{result}\"}}")).copied()
    };
    wait_for("all have ended", || {
        ["cancelled", "timeout", "client_left"].iter().all(|result| count(result) == Some(1.0))
    });
    assert!(count("refused") >= Some(1.0));
    assert!(value(&metrics(address), "lode_work_stage_seconds_sum{kind=\"query\",stage=\"execute\"}") > 0.0);
}

#[test]
fn who_may_read_it() {
    let options = ServerOptions { admin_token: Some("sesame".to_owned()), ..ServerOptions::default() };
    let address = serve_data(DATA, options);
    ask(address, "GET", "/metrics", &[], b"").is(401);
    ask(address, "GET", "/metrics", &[("Authorization", "Bearer wrong")], b"").is(401);
    let all = parsed(&ask(address, "GET", "/metrics", &[("Authorization", "Bearer sesame")], b"").is(200));
    assert!((value(&all, "lode_failed_logins_total") - 1.0).abs() < 1e-9);
    // Whether it is well, everybody may ask: it tells nothing of the data.
    for (path, told) in [("/health/live", "live"), ("/health/ready", "ready"), ("/$/ping", "live")] {
        let answer = ask(address, "GET", path, &[], b"").is(200);
        assert_eq!((answer.text().trim(), answer.field("cache-control")), (told, Some("no-store")));
        ask(address, "HEAD", path, &[], b"").is(200);
        ask(address, "POST", path, &[], b"").is(405);
    }
    let open = serve_data(DATA, ServerOptions::default());
    ask(open, "GET", "/metrics", &[("Origin", "http://page")], b"").is(403);
    ask(open, "POST", "/metrics", &[], b"").is(405);
    ask(open, "POST", "/health/live", &[], b"").is(405);
}

#[test]
fn figures_are_complete() {
    let address = serve_data(DATA, ServerOptions::default());
    let stats: serde_json::Value =
        serde_json::from_str(&ask(address, "GET", "/admin/stats", &[], b"").is(200).text()).unwrap();
    for pointer in [
        "/quads",
        "/version",
        "/log/syncs",
        "/flush/percent_full",
        "/cache/bytes_max",
        "/memory/resident_bytes",
        "/memory/query_bytes",
        "/disk/indexes/spog",
        "/disk/dictionary_bytes",
        "/requests/running",
        "/requests/connections",
        "/server/uptime_seconds",
        "/server/version",
        "/server/ready",
    ] {
        assert!(stats.pointer(pointer).is_some_and(|value| !value.is_null()), "{pointer}: {stats:#}");
    }
}

/// The documentation's files.
fn operations(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn dashboard_and_alerts_name_what_there_is() {
    let address = serve_data(DATA, ServerOptions::default());
    // Counters with labels are there from the first event on.
    ask(address, "GET", "/sparql?query=ASK{}", &[], b"").is(200);
    let text = ask(address, "GET", "/metrics", &[], b"").is(200).text();
    let described: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let dashboard = operations("grafana.json");
    serde_json::from_str::<serde_json::Value>(&dashboard).unwrap();
    let mut count = 0;
    for file in [dashboard, operations("alerts.yml"), operations("../guide/src/operations.md")] {
        let words = file.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words.filter(|word| word.starts_with("lode_") || word.starts_with("process_")) {
            let family =
                ["_total", "_bucket", "_count", "_sum"].iter().find_map(|end| word.strip_suffix(end));
            assert!(described.contains(&family.unwrap_or(word)), "{word}");
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}
