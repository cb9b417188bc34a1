//! A server in this process, with options that the command line does not offer, under more clients than it takes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use lode_engine::{Database, UpdateOptions};
use lode_server::{Server, ServerOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// More than any machine needs for what a test waits for.
const LONG: Duration = Duration::from_secs(60);
/// Runs for ages.
const SLOW: &str = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p FILTER(?c != ?p || ?f != ?i) }";

/// Serves 2,000 triples until the process ends.
fn serve(options: ServerOptions) -> SocketAddr {
    let database = Database::in_memory().unwrap();
    let data: String = (0..2000).map(|i| format!("<http://e/s{i}> <http://e/p> {i} . ")).collect();
    database.update(&format!("INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let bind = Server::bind(Arc::new(database), "127.0.0.1:0".parse().unwrap(), options);
    let server = runtime.block_on(bind).unwrap();
    let address = server.address().unwrap();
    thread::spawn(move || runtime.block_on(server.serve(std::future::pending())));
    address
}

/// Status, head and body.
fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: text/csv, */*\r\n"
    );
    let kind = "Content-Type: application/sparql-query";
    stream.write_all(format!("{head}{kind}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

/// The numbers of the requests in a state.
fn requests(address: SocketAddr, state: &str) -> Vec<u64> {
    let (status, _, list) = send(address, "GET", "/admin/queries", "");
    assert_eq!(status, 200, "{list}");
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let all = list.as_array().unwrap().iter().filter(|request| request["state"] == state);
    all.map(|request| request["id"].as_u64().unwrap()).collect()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn five_hundred_at_once_are_answered_or_told_to_come_again() {
    const RUNNING: usize = 2;
    const WAITING: usize = 100;
    const CLIENTS: usize = 512;
    let options = ServerOptions {
        running_max: RUNNING,
        waiting_max: WAITING,
        timeout: LONG * 10,
        ..ServerOptions::default()
    };
    let address = serve(options);
    let slow: Vec<_> =
        (0..RUNNING).map(|_| thread::spawn(move || send(address, "POST", "/query", SLOW).0)).collect();
    wait_for("the slow ones run", || requests(address, "running").len() == RUNNING);
    let refused = Arc::new(AtomicUsize::new(0));
    let client = |_| {
        let refused = Arc::clone(&refused);
        let ask = move || {
            let (status, head, body) =
                send(address, "POST", "/query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }");
            match status {
                200 => assert!(body.contains("n\r\n2000\r\n"), "{body}"),
                503 => {
                    assert!(head.contains("\r\nretry-after: 1"), "{head}");
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                _ => panic!("{status} {body}"),
            }
        };
        thread::Builder::new().stack_size(256 << 10).spawn(ask).unwrap()
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    wait_for("so many wait and all others are refused", || {
        refused.load(Ordering::Relaxed) == CLIENTS - WAITING && requests(address, "waiting").len() == WAITING
    });
    for id in requests(address, "running") {
        assert_eq!(send(address, "DELETE", &format!("/admin/queries/{id}"), "").0, 200);
    }
    assert!(slow.into_iter().all(|client| client.join().unwrap() == 500));
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(refused.load(Ordering::Relaxed), CLIENTS - WAITING);
    wait_for("nothing is left", || send(address, "GET", "/admin/queries", "").2 == "[]\n");
}

#[test]
fn who_waits_can_be_cancelled() {
    let options = ServerOptions { running_max: 1, timeout: LONG * 10, ..ServerOptions::default() };
    let address = serve(options);
    let first = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("the first runs", || requests(address, "running") == [1]);
    let second = thread::spawn(move || send(address, "POST", "/query", "ASK {}"));
    wait_for("the second waits", || requests(address, "waiting") == [2]);
    for (id, client) in [(2, second), (1, first)] {
        assert_eq!(send(address, "DELETE", &format!("/admin/queries/{id}"), "").0, 200);
        let (status, _, body) = client.join().unwrap();
        assert_eq!((status, body.as_str()), (500, "cancelled by the administration\n"));
    }
    assert_eq!(send(address, "DELETE", "/admin/queries/2", "").0, 404);
    assert_eq!(send(address, "DELETE", "/admin/queries/x", "").0, 400);
}

#[test]
fn a_client_that_takes_nothing_keeps_nobody_waiting() {
    let address = serve(ServerOptions { running_max: 1, timeout: LONG * 10, ..ServerOptions::default() });
    let mut stream = TcpStream::connect(address).unwrap();
    let query = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }";
    let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length:";
    stream.write_all(format!("{head} {}\r\n\r\n{query}", query.len()).as_bytes()).unwrap();
    wait_for("it runs", || requests(address, "running") == [1]);
    // What the system takes for the client is full some time: then no more rows are made.
    let rows = || {
        let list: serde_json::Value =
            serde_json::from_str(&send(address, "GET", "/admin/queries", "").2).unwrap();
        list[0]["run"]["rows"].as_u64()
    };
    wait_for("it stands still", || {
        let before = rows();
        thread::sleep(Duration::from_millis(300));
        before.is_some_and(|rows| rows > 0) && rows() == before
    });
    let next = thread::spawn(move || send(address, "POST", "/query", "ASK {}"));
    wait_for("another waits", || requests(address, "waiting") == [2]);
    assert_eq!(send(address, "DELETE", "/admin/queries/1", "").0, 200);
    assert_eq!(next.join().unwrap().0, 200);
    // The answer has no proper end.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.starts_with(b"HTTP/1.1 200") && !rest.ends_with(b"\r\n0\r\n\r\n"));
}

#[test]
fn short_answers_have_a_length_and_long_ones_are_streamed() {
    let address = serve(ServerOptions::default());
    let (status, head, body) =
        send(address, "POST", "/query", "SELECT ?o { ?s ?p ?o } ORDER BY DESC(?o) LIMIT 1");
    assert_eq!((status, body.as_str()), (200, "o\r\n1999\r\n"));
    assert!(head.contains("content-length: 9"), "{head}");
    let query = "SELECT ?a ?b ?c ?d { ?a ?p ?b . ?c ?p ?d FILTER(?b < 20) }";
    let (status, head, body) = send(address, "POST", "/query", query);
    assert_eq!(status, 200);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(body.matches("http://e/s19,19,").count(), 2000);
    assert!(body.ends_with("\r\n0\r\n\r\n"), "the end is missing");
}

#[test]
fn an_answer_that_breaks_off_does_not_look_complete() {
    let address = serve(ServerOptions { timeout: Duration::from_secs(1), ..ServerOptions::default() });
    let query = "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f }";
    let (status, head, body) = send(address, "POST", "/query", query);
    assert_eq!(status, 200);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert!(!body.ends_with("0\r\n\r\n"), "it looks complete");
    // Before the first chunk there is a status for it.
    let (status, head, _) = send(address, "POST", "/query", SLOW);
    assert_eq!(status, 504, "{head}");
}

#[test]
fn half_sent_heads_shut_nobody_out() {
    let address = serve(ServerOptions { connections_max: 8, ..ServerOptions::default() });
    let half = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /sparql HTTP/1.1\r\nHost:").unwrap();
        stream
    };
    let halves: Vec<TcpStream> = (0..50).map(half).collect();
    for _ in 0..5 {
        assert_eq!(send(address, "POST", "/query", "ASK {}").0, 200);
    }
    drop(halves);
    // Nor do those that have asked once, and nothing since.
    let idle: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            let request = format!("GET /query?query=ASK%7B%7D HTTP/1.1\r\nHost: {address}\r\n\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).unwrap();
            assert_eq!(&start, b"HTTP/1.1 200");
            stream
        })
        .collect();
    assert_eq!(send(address, "POST", "/query", "ASK {}").0, 200);
    drop(idle);
}

#[test]
fn where_all_connections_are_answering_one_more_is_closed() {
    let options =
        ServerOptions { connections_max: 2, running_max: 8, timeout: LONG * 10, ..ServerOptions::default() };
    let address = serve(options);
    let head = format!(
        "POST /query HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/sparql-query\r\nExpect: 100-continue\r\n"
    );
    let answering = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", SLOW.len()).as_bytes()).unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 100");
        stream.write_all(SLOW.as_bytes()).unwrap();
        stream
    };
    let busy: Vec<TcpStream> = (0..2).map(answering).collect();
    wait_for("a third is closed", || {
        let Ok(mut stream) = TcpStream::connect(address) else { return false };
        let _ = stream
            .write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes());
        let mut text = Vec::new();
        stream.read_to_end(&mut text).is_err() || text.is_empty()
    });
    // Those who leave make room.
    drop(busy);
    wait_for("there is room again", || {
        let Ok(mut stream) = TcpStream::connect(address) else { return false };
        let _ = stream
            .write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").as_bytes());
        let mut text = Vec::new();
        stream.read_to_end(&mut text).is_ok() && !text.is_empty()
    });
}
