//! Numbers of requests, lines that stay lines, and logs that hold nobody up.

use super::lines::{AccessLine, AuditLine, SlowLine, time_of};
use super::route::Route;
use super::stages::{Change, Stages, WorkKind};
use super::{Begun, Ended, LogFile, LogFormat, Logs, Record, Watch, Who, request_id};
use crate::listener::Peer;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

const HOSTILE: &str = "a\nb\r\u{1b}[2J\u{9b}31m\u{7f}\"\\ \u{e4}";

fn access<'a>(target: &'a str, user: Option<&'a str>) -> AccessLine<'a> {
    AccessLine {
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_764_000_000_123),
        request: "r1",
        trace: None,
        client: Peer::Tcp("[::1]:80".parse().unwrap()),
        user,
        role: Some("read"),
        method: "GET",
        target,
        version: Version::HTTP_11,
        status: 200,
        bytes_in: 0,
        bytes: 12,
        seconds: 0.25,
        is_whole: true,
        rows: Some(3),
        stages: Some(Stages { plan: Duration::from_millis(2), ..Stages::default() }),
        error: None,
        agent: "curl/8 \"x\"",
    }
}

fn is_clean(line: &[u8]) -> String {
    let text = String::from_utf8(line.to_vec()).unwrap();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    text
}

#[test]
fn lines_of_text_stay_in_their_lines() {
    let line = is_clean(&access("/sparql?query=ASK%7B%7D", Some("ann")).written(LogFormat::Text));
    assert_eq!(
        line,
        "::1 - ann [2025-11-24T16:00:00.123Z] \"GET /sparql?query=ASK%7B%7D HTTP/1.1\" 200 12 0.250000 r1 \"curl/8 \\\"x\\\"\""
    );
    let line = is_clean(&access(HOSTILE, None).written(LogFormat::Text));
    assert!(line.contains("a\\u000ab\\u000d\\u001b[2J\\u009b31m\\u007f\\\"\\\\ \u{e4} HTTP/1.1\""), "{line}");
}

#[test]
fn lines_of_json_say_the_same() {
    let line: Value = serde_json::from_slice(&access(HOSTILE, Some("ann")).written(LogFormat::Json)).unwrap();
    is_clean(&access(HOSTILE, Some("ann")).written(LogFormat::Json));
    assert_eq!((line["target"].as_str(), line["user"].as_str()), (Some(HOSTILE), Some("ann")));
    assert_eq!((line["rows"].as_u64(), line["plan_seconds"].as_f64()), (Some(3), Some(0.002)));
}

#[test]
fn slow_ones_come_with_their_plans() {
    let slow = SlowLine {
        at: SystemTime::now(),
        request: "r1",
        trace: None,
        client: Peer::Unix,
        user: None,
        kind: "query",
        result: "timeout",
        error: Some(HOSTILE),
        seconds: 2.0,
        stages: Stages::default(),
        rows: 1,
        spilled_bytes: 0,
        bytes: 0,
        text: HOSTILE,
    };
    let line: Value = serde_json::from_str(&is_clean(&slow.written(Some("{\"form\":\"\u{9b}\"}")))).unwrap();
    assert_eq!((line["plan"]["form"].as_str(), line["text"].as_str()), (Some("\u{9b}"), Some(HOSTILE)));
    let line: Value = serde_json::from_str(&is_clean(&slow.written(None))).unwrap();
    assert_eq!((&line["plan"], line["result"].as_str()), (&Value::Null, Some("timeout")));
}

#[test]
fn the_audit_tells_what_has_changed() {
    let audit = AuditLine {
        at: SystemTime::now(),
        request: "r1",
        trace: None,
        client: Peer::Unix,
        user: Some("ann"),
        role: Some("update"),
        action: "/update",
        method: "POST",
        target: "/update",
        status: 200,
        result: "ok",
        error: None,
        changed: Some(Change { inserted: 2, deleted: 1, version: 7 }),
        text: HOSTILE,
    };
    let line: Value = serde_json::from_str(&is_clean(&audit.written())).unwrap();
    assert_eq!((line["inserted"].as_u64(), line["version"].as_u64()), (Some(2), Some(7)));
    assert_eq!(line["text"].as_str(), Some(HOSTILE));
}

#[test]
fn times_are_those_of_rfc_3339() {
    assert_eq!(time_of(SystemTime::UNIX_EPOCH), "1970-01-01T00:00:00Z");
    assert_eq!(time_of(SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_900)), "1970-01-01T00:00:01.5Z");
}

#[test]
fn numbers_of_clients_are_taken_if_they_are_harmless() {
    let of = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", HeaderValue::from_bytes(value.as_bytes()).unwrap());
        request_id::of(&headers)
    };
    for good in
        ["a", "6f2c-1:2/3", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", &"x".repeat(64)]
    {
        assert_eq!(of(good), good);
    }
    for bad in ["", " ", "a b", "a\"b", "\u{e4}", "$(id)", "a;b", "<a>", &"x".repeat(65)] {
        let made = of(bad);
        assert!(made.len() == 16 && made.bytes().all(|c| c.is_ascii_hexdigit()), "{bad}: {made}");
    }
    assert_ne!(request_id::of(&HeaderMap::new()), request_id::of(&HeaderMap::new()));
    let mut twice = HeaderMap::new();
    ["a", "b"].into_iter().for_each(|value| {
        assert!(twice.append("x-request-id", HeaderValue::from_static(value)) == (value == "b"))
    });
    assert!(!["a", "b"].contains(&&*request_id::of(&twice)));
}

#[test]
fn addresses_of_nobody_are_one() {
    for (path, route) in [
        ("/sparql", "/sparql"),
        ("/data/a/b", "/data"),
        ("/admin/queries/7", "/admin/queries"),
        ("/database", "other"),
        ("/sparql/", "other"),
        ("/\u{1b}", "other"),
        ("", "other"),
    ] {
        assert_eq!(Route::of(path).0, route, "{path}");
    }
}

#[test]
fn a_log_that_cannot_be_written_drops_lines_and_says_so_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    // A pipe that nobody reads takes some lines, and then none.
    make_fifo(&path);
    let log = {
        let path = path.clone();
        // To open a pipe for writing waits for its reader.
        let reader = std::thread::spawn(move || std::fs::File::open(path).unwrap());
        let log = LogFile::open(&folder.path().join("log")).unwrap();
        (log, reader.join().unwrap())
    };
    let (log, mut reader) = log;
    let line = vec![b'x'; 1 << 10];
    let started = std::time::Instant::now();
    for _ in 0..20_000 {
        log.write(line.clone());
    }
    assert!(started.elapsed() < Duration::from_secs(20), "nobody waits");
    assert!(log.dropped() > 5_000, "{}", log.dropped());
    // Now somebody reads: what waited comes, and the note of what is missing.
    let taken = std::thread::spawn(move || {
        let (mut text, mut piece) = (String::new(), [0; 1 << 16]);
        while !text.contains("dropped") {
            let count = std::io::Read::read(&mut reader, &mut piece).unwrap();
            text += std::str::from_utf8(&piece[..count]).unwrap();
        }
        text
    });
    while !taken.is_finished() {
        log.write(b"tick".to_vec());
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = taken.join().unwrap();
    assert!(text.contains("{\"dropped\":"), "{}", &text[text.len().saturating_sub(200)..]);
}

/// Makes a named pipe, without a library of system calls.
fn make_fifo(path: &std::path::Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn files_are_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("log"), folder.path().join("log.1"));
    let log = LogFile::open(&path).unwrap();
    log.write(b"one".to_vec());
    log.flush();
    std::fs::rename(&path, &old).unwrap();
    log.write(b"two".to_vec());
    log.reopen().unwrap();
    log.write(b"three".to_vec());
    log.flush();
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "one\ntwo\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "three\n");
    assert_eq!(log.dropped(), 0);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert!(log.reopen().is_err(), "a folder is no log");
    log.write(b"four".to_vec());
    log.flush();
    assert!(LogFile::open(&folder.path().join("none/log")).is_err());
}

/// What counting and logging cost a request, in nanoseconds; `docs/benchmarks.md` has the figures.
#[test]
#[ignore = "a measurement: cargo test -p lode-server what_a_record_costs -- --ignored --nocapture"]
fn what_a_record_costs() {
    const COUNT: u32 = 200_000;
    let uri = "/sparql?query=ASK%7B%7D".parse().unwrap();
    let mut headers = HeaderMap::new();
    for (name, value) in [("host", "localhost"), ("accept", "*/*"), ("user-agent", "a client/1.0")] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let access = || Some(LogFile::open(std::path::Path::new("/dev/null")).unwrap());
    let cases = [
        ("counters", Logs::default()),
        ("counters and an access log (text)", Logs { access: access(), ..Logs::default() }),
        (
            "counters and an access log (JSON)",
            Logs { access: access(), access_format: LogFormat::Json, ..Logs::default() },
        ),
    ];
    for (name, logs) in cases {
        let watch = Watch::new(logs);
        let started = Instant::now();
        for _ in 0..COUNT {
            let begun = Begun {
                client: Peer::Tcp("127.0.0.1:80".parse().unwrap()),
                method: &Method::GET,
                uri: &uri,
                version: Version::HTTP_11,
                headers: &headers,
            };
            let record = Record::begin(&watch, begun);
            let field = record.field();
            let mut ended = Ended::new(Arc::clone(&record));
            record.note_database(&watch.counters, "/sparql", false);
            record.note_who(Who { name: None, role: Some("read") });
            record.note_work(WorkKind::Query, "ASK {}");
            record.note_begun();
            record.note_planned(Duration::from_micros(20));
            record.note_ran(Duration::from_micros(30), 1, 0);
            record.note_written(Duration::ZERO);
            ended.answered(StatusCode::OK);
            ended.bytes_out = 50;
            drop((ended, field));
        }
        println!("{name}: {} ns a request", (started.elapsed() / COUNT).as_nanos());
    }
}
