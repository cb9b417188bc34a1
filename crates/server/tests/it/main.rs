//! A server in this process, with options that the command line does not offer, under more clients than it takes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod client;
mod codings;
mod conditions;
mod graphs;
mod kept;
mod limits;
mod logs;
mod metrics;
#[cfg(feature = "tls")]
mod oidc;
mod problems;
mod shacl;
mod traces;
mod transports;
mod unread;

use lode_engine::{Database, UpdateOptions};
use lode_server::{Bind, Server, ServerError, ServerOptions};
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
    serve_database(database, options)
}

fn serve_database(database: Database, options: ServerOptions) -> SocketAddr {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    match serve_on(database, any.into(), options).unwrap() {
        Bind::Tcp(address) => address,
        other @ Bind::Unix(_) => panic!("{other}"),
    }
}

fn serve_on(database: Database, bind: Bind, options: ServerOptions) -> Result<Bind, ServerError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = runtime.block_on(Server::bind(Arc::new(database), bind, options))?;
    let bound = server.bound()?;
    thread::spawn(move || runtime.block_on(server.serve(std::future::pending())));
    Ok(bound)
}

/// Status, head and body.
fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String, String) {
    send_as("application/sparql-query", address, method, path, body)
}

fn send_as(kind: &str, address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAccept: text/csv, */*\r\n"
    );
    stream
        .write_all(format!("{head}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes())
        .unwrap();
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

/// After how many seconds a refused client may come again.
fn retry_after(head: &str) -> u32 {
    let value = head.lines().find_map(|line| line.strip_prefix("retry-after: "));
    value.unwrap_or_else(|| panic!("{head}")).parse().unwrap()
}

/// Stops everything that runs or waits.
fn cancel_all(address: SocketAddr) {
    for state in ["waiting", "running", "planning"] {
        for id in requests(address, state) {
            send(address, "DELETE", &format!("/admin/queries/{id}"), "");
        }
    }
}

/// One of many clients.
fn small_thread<T: Send + 'static>(client: impl FnOnce() -> T + Send + 'static) -> thread::JoinHandle<T> {
    thread::Builder::new().stack_size(256 << 10).spawn(client).unwrap()
}

/// A query as a parameter.
fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn five_hundred_at_once_run_or_wait_or_are_told_to_come_again() {
    const RUNNING: usize = 2;
    const WAITING: usize = 100;
    const CLIENTS: usize = 512;
    let options = ServerOptions {
        running_max: RUNNING,
        waiting_max: WAITING,
        timeout: LONG * 1000,
        ..ServerOptions::default()
    };
    let address = serve(options);
    let refused = Arc::new(AtomicUsize::new(0));
    let client = |_| {
        let refused = Arc::clone(&refused);
        small_thread(move || {
            let (status, head, body) = send(address, "POST", "/query", SLOW);
            match status {
                503 if body.starts_with("cancelled by the administration") => {
                    assert!(!head.contains("retry-after"), "{head}");
                }
                503 => {
                    assert!(retry_after(&head) >= 1, "{head}");
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                _ => panic!("{status} {body}"),
            }
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    wait_for("so many run, so many wait and all others are refused", || {
        refused.load(Ordering::Relaxed) == CLIENTS - WAITING - RUNNING
            && requests(address, "running").len() == RUNNING
            && requests(address, "waiting").len() == WAITING
    });
    // Short ones pass them all.
    assert_eq!(send(address, "POST", "/query", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }").2, "n\r\n2000\r\n");
    cancel_all(address);
    clients.into_iter().for_each(|client| client.join().unwrap());
    assert_eq!(refused.load(Ordering::Relaxed), CLIENTS - WAITING - RUNNING);
    wait_for("nothing is left", || send(address, "GET", "/admin/queries", "").2 == "[]\n");
}

#[test]
fn short_queries_pass_two_hundred_long_ones() {
    const CLIENTS: usize = 200;
    let options = ServerOptions { timeout: LONG * 1000, ..ServerOptions::default() };
    let running = options.running_max;
    let address = serve(options);
    let clients: Vec<_> =
        (0..CLIENTS).map(|_| small_thread(move || send(address, "POST", "/query", SLOW))).collect();
    let stand = || (requests(address, "running").len(), requests(address, "waiting").len());
    wait_for("some run, the others wait", || stand() == (running, CLIENTS - running));
    // Look-ups whose like were never seen before, and then others like them.
    for i in 0..30 {
        for (query, expected) in [
            (format!("SELECT ?o {{ <http://e/s{i}> <http://e/p> ?o }}"), format!("o\r\n{i}\r\n")),
            (format!("SELECT ?s {{ ?s ?p {i} }}"), format!("s\r\nhttp://e/s{i}\r\n")),
            (format!("SELECT (COUNT(*) AS ?n{i}) {{ ?s ?p ?o }}"), format!("n{i}\r\n2000\r\n")),
        ] {
            assert_eq!(send(address, "POST", "/query", &query).2, expected);
        }
    }
    // Who has an answer may be on the list a moment longer.
    wait_for("they were passed, not ended", || stand() == (running, CLIENTS - running));
    cancel_all(address);
    assert!(clients.into_iter().all(|client| was_cancelled(&client.join().unwrap())));
}

#[test]
fn what_turns_out_to_be_long_begins_anew_once_there_is_a_place() {
    let address = serve(ServerOptions { running_max: 1, timeout: LONG * 1000, ..ServerOptions::default() });
    let slow = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("the slow one runs", || requests(address, "running") == [1]);
    // Of this one the planner does not expect that its answer is too long to be kept until it is whole.
    let query = "SELECT ?a ?b ?c ?d { ?a ?p ?b . ?c ?p ?d FILTER(?b < 20) }";
    let long = thread::spawn(move || send(address, "POST", "/query", query));
    wait_for("it has been stopped and waits", || requests(address, "waiting") == [2]);
    assert_eq!(send(address, "DELETE", "/admin/queries/1", "").0, 200);
    assert!(was_cancelled(&slow.join().unwrap()));
    let (status, _, body) = long.join().unwrap();
    assert_eq!(status, 200);
    assert_eq!(body.matches("http://e/s19,19,").count(), 2000);
    assert_eq!(body.matches("a,b,c,d\r\n").count(), 1, "it was answered once");
}

#[test]
fn an_upload_that_is_longer_than_all_bodies_may_be_is_streamed() {
    let address = serve(ServerOptions { bodies_bytes_max: 1 << 20, ..ServerOptions::default() });
    let lines: String = (0..30_000).map(|i| format!("<http://e/u{i}> <http://e/upload> {i} .\n")).collect();
    assert!(lines.len() > (1 << 20) + (1 << 16));
    let (status, _, body) = send_as("text/turtle", address, "POST", "/data?default", &lines);
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("\"inserted\":30000"), "{body}");
}

#[test]
fn waiting_counts() {
    let address = serve(ServerOptions { running_max: 1, timeout: LONG * 1000, ..ServerOptions::default() });
    let first = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("the first runs", || requests(address, "running") == [1]);
    let late = format!("/query?query={}&timeout=0.5", encoded(SLOW));
    let (status, head, body) = send(address, "GET", &late, "");
    assert_eq!(status, 503, "{body}");
    assert!(retry_after(&head) >= 1 && body.contains("timeout=SECONDS"), "{head} {body}");
    assert_eq!(send(address, "DELETE", "/admin/queries/1", "").0, 200);
    assert!(was_cancelled(&first.join().unwrap()));
}

#[test]
fn who_waits_can_be_cancelled() {
    let options = ServerOptions { running_max: 1, timeout: LONG * 1000, ..ServerOptions::default() };
    let address = serve(options);
    let first = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("the first runs", || requests(address, "running") == [1]);
    let second = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("the second waits", || requests(address, "waiting") == [2]);
    for (id, client) in [(2, second), (1, first)] {
        assert_eq!(send(address, "DELETE", &format!("/admin/queries/{id}"), "").0, 200);
        let (status, _, body) = client.join().unwrap();
        assert_eq!(status, 503, "{body}");
        assert!(body.starts_with("cancelled by the administration (lode cancel"), "{body}");
    }
    assert_eq!(send(address, "DELETE", "/admin/queries/2", "").0, 404);
    assert_eq!(send(address, "DELETE", "/admin/queries/x", "").0, 400);
}

/// Asks for more rows than anybody has, and takes none.
/// Whether a request was ended by `lode cancel`, and not refused for want of a place.
fn was_cancelled((status, _, body): &(u16, String, String)) -> bool {
    *status == 503 && body.starts_with("cancelled by the administration")
}

fn ask_and_take_nothing(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let query = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }";
    let head = "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length:";
    stream.write_all(format!("{head} {}\r\n\r\n{query}", query.len()).as_bytes()).unwrap();
    stream
}

#[test]
fn a_client_that_takes_nothing_keeps_nobody_waiting() {
    let address = serve(ServerOptions {
        running_max: 1,
        timeout: LONG * 1000,
        stall_max: LONG * 1000,
        ..ServerOptions::default()
    });
    let mut stream = ask_and_take_nothing(address);
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
    let next = thread::spawn(move || send(address, "POST", "/query", SLOW));
    wait_for("another waits", || requests(address, "waiting") == [2]);
    assert_eq!(send(address, "DELETE", "/admin/queries/1", "").0, 200);
    wait_for("the other runs", || requests(address, "running") == [2]);
    cancel_all(address);
    assert!(was_cancelled(&next.join().unwrap()));
    // The answer has no proper end.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.starts_with(b"HTTP/1.1 200") && !rest.ends_with(b"\r\n0\r\n\r\n"));
}

#[test]
fn a_client_that_takes_nothing_is_given_up() {
    let options = ServerOptions {
        timeout: LONG * 1000,
        stall_max: Duration::from_millis(500),
        downloads_max: 1,
        ..ServerOptions::default()
    };
    let database = Database::in_memory().unwrap();
    // More than the system and the server keep for any client: 300 MB, since each line has the name.
    let (name, objects) = ("x".repeat(2 << 10), (0..150_000).map(|i| format!("{i}")).collect::<Vec<_>>());
    let data = format!("<http://e/{name}> <http://e/p> {}", objects.join(", "));
    database.update(&format!("INSERT DATA {{ {data} }}"), &UpdateOptions::default()).unwrap();
    let address = serve_database(database, options);
    let query = ask_and_take_nothing(address);
    wait_for("it runs", || !requests(address, "running").is_empty());
    wait_for("it is given up", || requests(address, "running").is_empty());
    drop(query);
    let mut download = TcpStream::connect(address).unwrap();
    let head =
        format!("GET /data?default HTTP/1.1\r\nHost: {address}\r\nAccept: application/n-triples\r\n\r\n");
    download.write_all(head.as_bytes()).unwrap();
    let mut start = [0; 12];
    download.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    // The only place for downloads is free again, though the client is still there.
    assert_eq!(send(address, "GET", "/data?graph=http://e/none", "").0, 404);
    let mut rest = Vec::new();
    let _ = download.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "it looks complete");
}

#[test]
fn a_download_has_an_end() {
    let options = ServerOptions { download_timeout: Duration::ZERO, ..ServerOptions::default() };
    let address = serve(options);
    let (status, _, body) = send(address, "GET", "/data?default", "");
    assert!([503, 504].contains(&status), "{status} {body}");
}

/// Sends the head of a query and the beginning of its text, which has so many bytes.
fn begin_to_send(address: SocketAddr, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /query HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/sparql-query\r\nContent-Length: {bytes}\r\n\r\nASK"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn bodies_of_all_requests_together_have_room() {
    let options =
        ServerOptions { bodies_bytes_max: 64 << 10, stall_max: LONG * 1000, ..ServerOptions::default() };
    let address = serve(options);
    let large = format!("ASK {{}} #{}", "x".repeat(40 << 10));
    assert_eq!(send(address, "POST", "/query", &large).0, 200);
    let first = begin_to_send(address, 40 << 10);
    // Until its head has been read.
    thread::sleep(Duration::from_millis(300));
    let text = large.clone();
    let second = thread::spawn(move || send(address, "POST", "/query", &text).0);
    thread::sleep(Duration::from_millis(300));
    // What is small finds room at any time, also behind what is large and waits for some.
    assert_eq!(send(address, "POST", "/query", "ASK {}").0, 200);
    assert!(!second.is_finished(), "there is no room for both");
    drop(first);
    assert_eq!(second.join().unwrap(), 200);
    assert_eq!(send(address, "POST", "/query", &"x".repeat(65 << 10)).0, 413);
}

#[test]
fn bodies_that_do_not_come_are_given_up() {
    let options = ServerOptions {
        bodies_bytes_max: 64 << 10,
        stall_max: Duration::from_millis(300),
        ..ServerOptions::default()
    };
    let address = serve(options);
    let mut slow: Vec<TcpStream> = (0..3).map(|_| begin_to_send(address, 60 << 10)).collect();
    // Only the first has room; the others are given up while they wait for it, or once they have it.
    for stream in &mut slow {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = &answer[9..12];
        assert!(status == "408" || status == "503", "{answer}");
    }
    assert_eq!(send(address, "POST", "/query", "ASK {}").0, 200);
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

/// The head's field of warnings, in lower case.
fn warnings(head: &str) -> Option<&str> {
    head.lines().find_map(|line| line.strip_prefix("lode-warning: "))
}

#[test]
fn warnings_are_in_the_head_of_an_answer() {
    let address = serve(ServerOptions::default());
    let query = "SELECT ?o { <http://e/s1> <http://e/p> ?o FILTER(!BOUND(?x) || <http://e/\u{fc}>(?o)) }";
    // The first is planned, others have its plan, and are answered in place; of a kept plan the warnings are the same.
    for number in 0..8 {
        let query = query.replace("s1", &format!("s{number}"));
        let (status, head, body) = send(address, "POST", "/query", &query);
        assert_eq!((status, body), (200, format!("o\r\n{number}\r\n")));
        let text = warnings(&head).unwrap_or_else(|| panic!("{head}"));
        assert!(
            text.starts_with("\"no function <http://e/%c3%bc> is known; ") && text.ends_with('"'),
            "{text}"
        );
    }
    for plan in ["explain", "profile"] {
        let (_, head, body) = send(address, "POST", &format!("/query?{plan}=1"), query);
        let report: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert!(warnings(&head).is_some(), "{head}");
        assert!(
            report["warnings"][0].as_str().unwrap().starts_with("no function <http://e/\u{fc}>"),
            "{body}"
        );
    }
    let update = "INSERT { ?s <http://e/q> ?y } WHERE { ?s <http://e/p> 1 BIND(<http://e/f>(?s) AS ?y) }";
    let (status, head, body) = send_as("application/sparql-update", address, "POST", "/update", update);
    assert_eq!(status, 200, "{body}");
    assert!(warnings(&head).is_some_and(|text| text.starts_with("\"no function <http://e/f>")), "{head}");
    let (_, head, _) =
        send(address, "POST", "/query", "SELECT ?o { <http://e/s1> <http://e/p> ?o FILTER(STR(?o) = '1') }");
    assert_eq!(warnings(&head), None);
    let (_, _, script) = send(address, "GET", "/page/api.js", "");
    assert!(script.contains("response.headers.get('Lode-Warning')"));
}

#[test]
fn what_is_no_regular_expression_is_in_the_head_of_an_answer() {
    let address = serve(ServerOptions::default());
    let filter = "FILTER(REGEX(?x, \"(\"))";
    let warning = "\"\\\"(\\\" is no regular expression: at character 1, a `(` without a `)`";
    // Of a plan that is made and of those that are kept, of queries and of updates.
    for number in 0..8 {
        let query = format!("SELECT ?x {{ <http://e/s{number}> <http://e/p> ?x {filter} }}");
        let (status, head, body) = send(address, "POST", "/query", &query);
        assert_eq!((status, body), (200, "x\r\n".to_owned()));
        assert!(warnings(&head).is_some_and(|text| text.starts_with(warning)), "{head}");
    }
    let update = format!("DELETE {{ ?s <http://e/p> ?x }} WHERE {{ ?s <http://e/p> ?x {filter} }}");
    let (status, head, body) = send_as("application/sparql-update", address, "POST", "/update", &update);
    assert_eq!(status, 200, "{body}");
    assert!(warnings(&head).is_some_and(|text| text.starts_with(warning)), "{head}");
    let query = "SELECT ?x { <http://e/s1> <http://e/p> ?x FILTER(REGEX(?x, \"[(]\")) }";
    let (status, head, _) = send(address, "POST", "/query", query);
    assert_eq!((status, warnings(&head)), (200, None));
}
