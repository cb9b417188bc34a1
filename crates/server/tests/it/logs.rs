//! Numbers of requests, and the logs: each request has its line, each slow one its plan, each change its trace, and nothing that a client
//! sends becomes a line of its own or a secret that is told.

use crate::client::{ask, serve_data};
use crate::{SLOW, encoded, send, wait_for};
use lode_server::{LogFile, LogFormat, Logs, ServerOptions, SlowMin};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

const DATA: &str = "INSERT DATA { <http://e/a> <http://e/p> 1, 2 }";
const UPDATE: (&str, &str) = ("Content-Type", "application/sparql-update");
const TOKEN: &str = "a-token-that-nobody-sees";

fn serve(folder: &Path, access_format: LogFormat) -> SocketAddr {
    let log = |name: &str| Some(LogFile::open(&folder.join(name)).unwrap());
    let logs = Logs {
        access: log("access"),
        access_format,
        slow: log("slow"),
        slow_min: SlowMin::new(Duration::from_millis(300)),
        audit: log("audit"),
        ..Logs::default()
    };
    let admin_token = Some(TOKEN.to_owned());
    let data: String = (0..3000).map(|i| format!("<http://e/s{i}> <http://e/q> {i} . ")).collect();
    let address = serve_data(DATA, ServerOptions { logs, admin_token, ..ServerOptions::default() });
    ask(address, "POST", "/update", &[UPDATE], format!("INSERT DATA {{ {data} }}").as_bytes()).is(200);
    address
}

/// The lines of a log, once there are so many with their ends: who reads while a long one is written can see a part of it.
fn lines(folder: &Path, name: &str, count: usize) -> Vec<String> {
    let read = || std::fs::read(folder.join(name)).unwrap();
    wait_for("all lines", || read().iter().filter(|byte| **byte == b'\n').count() >= count);
    let text = String::from_utf8(read()).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn json(folder: &Path, name: &str, count: usize) -> Vec<Value> {
    lines(folder, name, count).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn numbers_are_in_answers_and_errors() {
    let address = serve_data(DATA, ServerOptions::default());
    let made = ask(address, "GET", "/sparql?query=ASK{}", &[], b"").is(200);
    assert_eq!(made.field("x-request-id").unwrap().len(), 16);
    let own = ask(address, "GET", "/sparql?query=ASK", &[("X-Request-Id", "mine-7")], b"").is(400);
    assert_eq!(own.field("x-request-id"), Some("mine-7"));
    assert!(own.text().ends_with(" [request mine-7]\n"), "{}", own.text());
    assert_eq!(own.text().lines().filter(|line| line.contains("[request")).count(), 1);
    for hostile in ["a b", "\u{1b}[2J", "<script>", "\"", &"x".repeat(65)] {
        let answer = ask(address, "GET", "/none", &[("X-Request-Id", hostile)], b"");
        let id = answer.field("x-request-id");
        assert!(id.is_none_or(|id| id != hostile), "{hostile}");
    }
    for path in ["/none", "/sparql?query=ASK{}&x=1", "/data?graph=x%20y", "/admin/queries/1"] {
        let answer = ask(address, "GET", path, &[], b"");
        let id = answer.field("x-request-id").unwrap().to_owned();
        assert!(answer.text().ends_with(&format!(" [request {id}]\n")), "{}", answer.text());
    }
}

#[test]
fn each_request_has_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(folder.path(), LogFormat::Json);
    let fields = [("X-Request-Id", "r-1"), ("User-Agent", "curl \u{9b}1m")];
    ask(
        address,
        "GET",
        &format!("/sparql?query={}", encoded("SELECT * { <http://e/a> ?p ?o }")),
        &fields,
        b"",
    )
    .is(200);
    ask(address, "GET", "/none?a=%0Ax", &[("X-Request-Id", "r-2")], b"").is(404);
    let all = json(folder.path(), "access", 3);
    let of = |id: &str| all.iter().find(|line| line["request"] == id).unwrap();
    let first = of("r-1");
    assert_eq!(
        (first["status"].as_u64(), first["rows"].as_u64(), first["whole"].as_bool()),
        (Some(200), Some(2), Some(true))
    );
    assert_eq!((first["method"].as_str(), first["role"].as_str()), (Some("GET"), Some("update")));
    assert!(first["bytes"].as_u64() > Some(10) && first["execute_seconds"].as_f64() > Some(0.0), "{first}");
    assert!(first["client"].as_str().unwrap().starts_with("127.0.0.1:"));
    let second = of("r-2");
    assert!(second["error"].as_str().unwrap().starts_with("there is nothing at /none"), "{second}");
    assert_eq!(second["target"].as_str(), Some("/none?a=%0Ax"));
    for line in lines(folder.path(), "access", 3) {
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

#[test]
fn lines_of_text_have_the_same_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(folder.path(), LogFormat::Text);
    let token = format!("Bearer {TOKEN}");
    let fields = [("X-Request-Id", "r-1"), ("User-Agent", "a\"b"), ("Authorization", &*token)];
    ask(address, "GET", "/admin/queries", &fields, b"").is(200);
    let all = lines(folder.path(), "access", 2);
    let line = all.iter().find(|line| line.contains(" r-1 ")).unwrap();
    assert!(line.starts_with("127.0.0.1 - (admin token) ["), "{line}");
    assert!(
        line.contains("] \"GET /admin/queries HTTP/1.1\" 200 3 0.") && line.ends_with(" r-1 \"a\\\"b\""),
        "{line}"
    );
    assert!(!all.iter().any(|line| line.contains(TOKEN)));
}

#[test]
fn slow_ones_are_told_with_their_plans() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(folder.path(), LogFormat::Json);
    ask(address, "GET", "/sparql?query=ASK{}", &[], b"").is(200);
    assert_eq!(send(address, "POST", "/query?timeout=0.6", SLOW).0, 504);
    let all = json(folder.path(), "slow", 1);
    let [slow] = &all[..] else { panic!("{all:#?}") };
    assert_eq!((slow["kind"].as_str(), slow["result"].as_str()), (Some("query"), Some("timeout")));
    assert_eq!(slow["text"].as_str(), Some(SLOW));
    assert!(
        slow["seconds"].as_f64() >= Some(0.5) && slow["execute_seconds"].as_f64() > Some(0.3),
        "{slow:#}"
    );
    assert!(
        slow["plan"]["plan"]["operator"].is_string() && slow["plan"]["run"]["seconds"].is_number(),
        "{slow:#}"
    );
    assert!(
        slow["plan"]["plan"]["inputs"][0]["measured"].is_object()
            || slow["plan"]["plan"]["measured"].is_object(),
        "{slow:#}"
    );
    assert!(slow["error"].as_str().unwrap().starts_with("time-out"));
}

#[test]
fn changes_and_the_administration_leave_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(folder.path(), LogFormat::Json);
    let token = format!("Bearer {TOKEN}");
    let admin = ("Authorization", &*token);
    ask(
        address,
        "POST",
        "/sparql",
        &[UPDATE, ("X-Request-Id", "u-1")],
        b"DELETE DATA { <http://e/a> <http://e/p> 1 }\n#\x1b[2J",
    )
    .is(200);
    ask(address, "POST", "/update", &[UPDATE, ("X-Request-Id", "u-2")], b"INSERT {").is(400);
    let turtle = [("Content-Type", "text/turtle"), ("X-Request-Id", "p-1")];
    ask(address, "PUT", "/data?graph=http://e/g", &turtle, b"<http://e/c> <http://e/p> 5 .").is(201);
    ask(address, "DELETE", "/data?graph=http://e/g", &[("X-Request-Id", "d-1")], b"").is(200);
    ask(address, "POST", "/admin/compact", &[admin, ("X-Request-Id", "c-1")], b"").is(200);
    ask(address, "DELETE", "/admin/queries/99", &[admin, ("X-Request-Id", "c-2")], b"").is(404);
    let wrong = ("Authorization", "Bearer wrong-secret-of-somebody");
    ask(address, "GET", "/admin/stats", &[wrong, ("X-Request-Id", "l-1")], b"").is(401);
    // These change nothing.
    ask(address, "GET", "/sparql?query=ASK{}", &[], b"").is(200);
    ask(address, "GET", "/admin/stats", &[admin], b"").is(200);
    ask(address, "GET", "/data?default", &[], b"").is(200);
    let all = json(folder.path(), "audit", 8);
    let of =
        |id: &str| all.iter().find(|line| line["request"] == id).unwrap_or_else(|| panic!("{id}: {all:#?}"));
    assert_eq!((of("u-1")["deleted"].as_u64(), of("u-1")["result"].as_str()), (Some(1), Some("ok")));
    assert_eq!(of("u-1")["text"].as_str(), Some("DELETE DATA { <http://e/a> <http://e/p> 1 }\n#\u{1b}[2J"));
    assert_eq!((of("u-2")["result"].as_str(), of("u-2")["status"].as_u64()), (Some("invalid"), Some(400)));
    assert_eq!(
        (of("p-1")["inserted"].as_u64(), of("p-1")["target"].as_str()),
        (Some(1), Some("/data?graph=http://e/g"))
    );
    assert!(of("p-1")["version"].as_u64() > of("u-1")["version"].as_u64());
    assert_eq!((of("d-1")["deleted"].as_u64(), of("d-1")["method"].as_str()), (Some(1), Some("DELETE")));
    assert_eq!(
        (of("c-1")["user"].as_str(), of("c-1")["action"].as_str()),
        (Some("(admin token)"), Some("/admin/compact"))
    );
    assert_eq!(of("c-2")["status"].as_u64(), Some(404));
    assert_eq!((of("l-1")["action"].as_str(), of("l-1")["result"].as_str()), (Some("login"), Some("denied")));
    assert_eq!(all.len(), 8, "{all:#?}");
    for name in ["access", "audit", "slow"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(!text.contains(TOKEN) && !text.contains("wrong-secret"), "{name}");
        assert!(text.lines().all(|line| !line.chars().any(char::is_control)), "{name}");
    }
}

/// Sends bytes as they are, and takes the answer's status.
fn raw(address: SocketAddr, text: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

#[test]
fn a_request_names_its_host() {
    let address = serve_data(DATA, ServerOptions::default());
    assert_eq!(raw(address, "GET /sparql?query=ASK{} HTTP/1.1\r\nConnection: close\r\n\r\n"), 400);
    assert_eq!(raw(address, "GET /sparql?query=ASK{} HTTP/1.0\r\n\r\n"), 200);
}
