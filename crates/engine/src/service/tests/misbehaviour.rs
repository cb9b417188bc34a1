//! Endpoints that are slow, silent, broken or hostile.

use super::endpoint::{After, begin, chunk, row};
use super::*;
use crate::Cancelled;
use lode_exec::ExecError;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Runs a query that is stopped once the endpoint has its request, and waits until nothing is left of it.
fn stopped(endpoint: &Endpoint, arrived: Receiver<()>) {
    let service = service(|_| {});
    let options = options(&service);
    let cancel = options.cancel.clone();
    let query = format!("SELECT * {{ SERVICE SILENT <{}> {{ ?s :p ?o }} }}", endpoint.url);
    let result = std::thread::scope(|scope| {
        scope.spawn(move || {
            arrived.recv().unwrap();
            cancel.cancel();
        });
        rows(&database(""), &query, &options)
    });
    assert!(matches!(result, Err(EngineError::Cancelled(Cancelled::ByRequest))), "{result:?}");
    ends(&service);
}

/// Waits until no thread talks to an endpoint any more.
fn ends(service: &HttpService) {
    while service.threads.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn until_left(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}

fn told(sender: &Sender<()>) {
    let _ = sender.send(());
}

#[test]
fn a_silent_endpoint_can_be_left() {
    let (sender, arrived) = channel();
    let endpoint = Endpoint::start(move |_, stream| {
        told(&sender);
        until_left(stream);
        After::Close
    });
    stopped(&endpoint, arrived);
}

#[test]
fn a_dripping_endpoint_can_be_left() {
    let (sender, arrived) = channel();
    let endpoint = Endpoint::start(move |_, stream| {
        begin(stream);
        let mut drops = 0;
        while chunk(stream, " ") {
            drops += 1;
            if drops == 10 {
                told(&sender);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        After::Close
    });
    stopped(&endpoint, arrived);
}

#[test]
fn an_endpoint_that_takes_no_connection_can_be_left() {
    // Nobody accepts: once the queue of connections is full, they are neither made nor refused.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let waiting: Vec<_> = (0..200)
        .map_while(|_| TcpStream::connect_timeout(&address, Duration::from_millis(50)).ok())
        .collect();
    let query = format!("SELECT * {{ SERVICE <http://{address}/> {{ ?s :p ?o }} }}");
    let cancel = CancelToken::new(Some(Duration::from_millis(100)));
    let options = QueryOptions { cancel, ..options(&service(|_| {})) };
    let result = rows(&database(""), &query, &options);
    assert!(matches!(result, Err(EngineError::Cancelled(Cancelled::Timeout))), "{result:?}");
    drop(waiting);
}

#[test]
fn time_outs_hold_while_waiting() {
    let endpoint = Endpoint::start(|_, stream| {
        until_left(stream);
        After::Close
    });
    let query = format!("SELECT * {{ SERVICE SILENT <{}> {{ ?s :p ?o }} }}", endpoint.url);
    let cancel = CancelToken::new(Some(Duration::from_millis(50)));
    let options = QueryOptions { cancel, ..options(&service(|_| {})) };
    let result = rows(&database(""), &query, &options);
    assert!(matches!(result, Err(EngineError::Cancelled(Cancelled::Timeout))), "{result:?}");
    // How long an endpoint may be silent is another limit, whose end is an error of the endpoint.
    let message = error(&endpoint, |options| options.timeout = Duration::from_millis(200));
    assert!(message.contains("silent for 0.2 seconds") && message.contains(&endpoint.url), "{message}");
}

#[test]
fn rows_go_on_before_the_answer_ends() {
    let (sender, left) = channel();
    let endpoint = Endpoint::start(move |_, stream| {
        begin(stream);
        let mut sent = 1;
        if chunk(stream, &row(0)) {
            while chunk(stream, &format!(",{}", row(sent))) {
                sent += 1;
            }
        }
        told(&sender);
        After::Close
    });
    let query = format!("SELECT * {{ SERVICE <{}> {{ :s :p ?o }} }} LIMIT 5000", endpoint.url);
    let service = service(|_| {});
    let memory = crate::MemoryBudget::new(8 << 20);
    let options = QueryOptions { memory: Some(memory.clone()), ..options(&service) };
    assert_eq!(rows(&database(""), &query, &options).unwrap().len(), 5000);
    left.recv().unwrap();
    ends(&service);
    assert_eq!(memory.used(), 0);
}

#[test]
fn answers_and_rows_have_limits() {
    let endpoint = Endpoint::start(|_, stream| {
        begin(stream);
        let long = "x".repeat(1 << 16);
        let mut more = chunk(stream, r#"{"o":{"type":"literal","value":""#);
        while more {
            more = chunk(stream, &long);
        }
        After::Close
    });
    let message = error(&endpoint, |_| {});
    assert!(message.contains("bytes that are not yet a row"), "{message}");
    let message = error(&endpoint, |options| options.answer_bytes_max = 1 << 20);
    assert!(message.contains("answered with more than 1048576 bytes"), "{message}");
    let query = format!("SELECT * {{ SERVICE <{}> {{ ?s :p ?o }} }}", endpoint.url);
    let options = QueryOptions { memory_bytes: 1 << 20, ..options(&service(|_| {})) };
    let result = rows(&database(""), &query, &options);
    assert!(
        matches!(result, Err(EngineError::Execution(ExecError::OutOfMemory(_)))),
        "what a row takes is reserved: {result:?}"
    );
}

#[test]
fn what_is_small_there_may_not_be_large_here() {
    let columns: Vec<String> = (0..100_000).map(|i| format!("\"v{i}\"")).collect();
    let wide =
        format!(r#"{{"head":{{"vars":[{}]}},"results":{{"bindings":[{{}},{{}}]}}}}"#, columns.join(","));
    let rows_first = format!(
        r#"{{"results":{{"bindings":[{}{{}}]}},"head":{{"vars":["s","o"]}}}}"#,
        "{},".repeat(1 << 20)
    );
    for (body, expected) in [(wide, "more than 4096 columns"), (rows_first, "memory budget")] {
        let endpoint = Endpoint::start(move |_, stream| send(stream, "200 OK", JSON, &body));
        let query = format!("SELECT * {{ SERVICE <{}> {{ OPTIONAL {{ ?s :p ?o }} }} }}", endpoint.url);
        let options = QueryOptions { memory_bytes: 64 << 20, ..options(&service(|_| {})) };
        let error = rows(&database(""), &query, &options).expect_err("an error").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn terms_nest_no_deeper_than_ours() {
    let json = |depth: usize| {
        let level = r#"{"type":"triple","value":{"subject":{"type":"uri","value":"a:a"},"predicate":{"type":"uri","value":"a:a"},"object":"#;
        let leaf = r#"{"type":"uri","value":"a:a"}"#;
        let term = format!("{}{leaf}{}", level.repeat(depth), "}}".repeat(depth));
        format!(
            r#"{{"head":{{"vars":["s","p","o"]}},"results":{{"bindings":[{{"s":{leaf},"p":{leaf},"o":{term}}}]}}}}"#
        )
    };
    let xml = |depth: usize| {
        let uri = "<uri>a:a</uri>";
        let level = format!("<triple><subject>{uri}</subject><predicate>{uri}</predicate><object>");
        let term = format!("{}{uri}{}", level.repeat(depth), "</object></triple>".repeat(depth));
        format!(
            "<sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head><variable name=\"s\"/><variable name=\"o\"/></head>\
             <results><result><binding name=\"s\">{uri}</binding><binding name=\"o\">{term}</binding></result></results></sparql>"
        )
    };
    let tsv = |depth: usize| {
        format!("?s\t?o\n<a:a>\t{}<a:a>{}\n", "<<( <a:a> <a:a> ".repeat(depth), " )>>".repeat(depth))
    };
    for depth in [60, 100, 1500, 60_000] {
        for (media_type, body) in [
            ("application/sparql-results+json", json(depth)),
            ("application/sparql-results+xml", xml(depth)),
            ("text/tab-separated-values", tsv(depth)),
        ] {
            let head = format!("Content-Type: {media_type}\r\n");
            let endpoint = Endpoint::start(move |_, stream| send(stream, "200 OK", &head, &body));
            let query = format!("SELECT * {{ SERVICE <{}> {{ ?s :p ?o }} }}", endpoint.url);
            let result = rows(&database(""), &query, &options(&service(|_| {})));
            match result {
                Ok(rows) => assert!(depth == 60 && rows.len() == 1, "{media_type} {depth}"),
                Err(EngineError::Execution(ExecError::Service { .. })) => {
                    assert_ne!(depth, 60, "{media_type}")
                }
                Err(error) => panic!("{media_type} {depth}: {error}"),
            }
        }
    }
}

#[test]
fn answers_that_break_off_are_errors() {
    let part = r#"{"head":{"vars":["o"]},"results":{"bindings":[{"o":{"type":"literal","value":"1"}}"#;
    for head in ["Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n", ""] {
        let endpoint = Endpoint::start(move |_, stream| {
            let mut text = format!("HTTP/1.1 200 OK\r\n{JSON}{head}\r\n");
            if head.contains("chunked") {
                text.push_str(&format!("{:x}\r\n{part}\r\n", part.len()));
            } else {
                text.push_str(part);
            }
            let _ = stream.write_all(text.as_bytes());
            let _ = stream.shutdown(std::net::Shutdown::Both);
            After::Close
        });
        let message = error(&endpoint, |_| {});
        assert!(message.contains(&endpoint.url), "{head}: {message}");
        // Rows that came before count for nothing where the failure is passed over.
        let local = database(":a :q 1 , 2 .");
        for (query, expected) in [
            ("?s :q ?n SERVICE SILENT <E> { ?s :p ?o }", 2),
            ("?s :q ?n OPTIONAL { SERVICE SILENT <E> { ?s :p ?o } }", 2),
            ("?s :q ?n OPTIONAL { SERVICE SILENT <E> { ?s :p ?o } FILTER(BOUND(?o)) }", 2),
            ("?s :q ?n FILTER NOT EXISTS { SERVICE SILENT <E> { ?s :p ?o } }", 0),
            ("SERVICE SILENT <E> { ?s :p ?o }", 1),
        ] {
            let query = format!("SELECT * {{ {} }}", query.replace("<E>", &format!("<{}>", endpoint.url)));
            let found = rows(&local, &query, &options(&service(|_| {}))).unwrap();
            assert_eq!(found.len(), expected, "{head} {query}: {found:?}");
            assert!(
                found.iter().all(|line| !line.contains("\"1\" ") || line.contains("integer")),
                "{found:?}"
            );
        }
    }
}

#[test]
fn errors_say_who_and_what() {
    let html = "<!DOCTYPE html>\n<html><head><title>Out of order</title></head>";
    let long = "x".repeat(100_000);
    let cases: [(&str, &str, &str, &str); 10] = [
        (
            "500 Internal Server Error",
            "",
            "\n  it broke \nat line 1",
            "answered 500 Internal Server Error: it broke",
        ),
        (
            "503 Service Unavailable",
            "Content-Type: text/html\r\n",
            html,
            "503 Service Unavailable: Out of order",
        ),
        ("400 Bad Request", "", "", "answered 400 Bad Request"),
        ("429 Too Many Requests", "", &long, "xxx..."),
        ("200 OK", "Content-Type: text/html\r\n", html, "content type text/html instead of rows"),
        ("200 OK", "Content-Type: text/csv\r\n", "s,o\n", "content type text/csv instead of rows"),
        ("200 OK", "", "", "content type (none) instead of rows"),
        ("200 OK", JSON, "\u{1}garbage", "something that is no result"),
        ("200 OK", JSON, r#"{"head":{},"boolean":true}"#, "yes or no instead of rows"),
        (
            "200 OK",
            JSON,
            r#"{"head":{"vars":["s"]},"results":{"bindings":[{}]}}"#,
            "a row that lacks a variable",
        ),
    ];
    for (status, head, body, expected) in cases {
        let (status, head, body) = (status.to_owned(), head.to_owned(), body.to_owned());
        let endpoint = Endpoint::start(move |_, stream| send(stream, &status, &head, &body));
        let message = error(&endpoint, |_| {});
        assert!(message.contains(expected) && message.contains(&endpoint.url), "{message}");
        assert!(message.len() < 600 && !message.contains('\n'), "{message}");
    }
}

#[test]
fn endpoints_send_us_only_where_we_may_go() {
    let answer = r#"{"head":{"vars":["o"]},"results":{"bindings":[]}}"#;
    let endpoint = Endpoint::start(move |request, stream| {
        let to = |status: &str, place: &str, stream: &mut TcpStream| {
            send(stream, status, &format!("Location: {place}\r\n"), "elsewhere")
        };
        let path = request.line.split(' ').nth(1).unwrap();
        match path {
            "/a/query" => to("307 Temporary Redirect", "/b/query", stream),
            "/b/query" => to("308 Permanent Redirect", "here?x", stream),
            "/b/here?x" => to("303 See Other", "/b/answer", stream),
            "/b/answer" if request.line.starts_with("GET ") => send(stream, "200 OK", JSON, answer),
            "/loop" => to("302 Found", "/loop", stream),
            "/out" => to("302 Found", "http://127.0.0.1:9/secret", stream),
            "/odd" => to("302 Found", "/a/../secret", stream),
            _ => send(stream, "404 Not Found", "", "no such place"),
        }
    });
    let base = endpoint.url.strip_suffix("/sparql").unwrap();
    let service = service(|options| options.allowed = vec![format!("{base}/*")]);
    let ask = |path: &str| {
        let query = format!("SELECT * {{ SERVICE <{base}{path}> {{ ?s :p ?o }} }}");
        rows(&database(""), &query, &options(&service)).map_err(|error| error.to_string())
    };
    assert_eq!(ask("/a/query"), Ok(Vec::new()));
    let asked = endpoint.queries.lock().unwrap().clone();
    assert!(asked[..3].iter().all(|query| query.starts_with("SELECT")) && asked[3].is_empty(), "{asked:?}");
    let refused = |path: &str| ask(path).expect_err("an error");
    assert!(refused("/loop").contains("more than 5 times"));
    let message = refused("/out");
    assert!(message.contains("--allow-service 'http://127.0.0.1:9/secret'"), "{message}");
    assert!(refused("/odd").contains("may not be asked"));
}

#[test]
fn refusals_name_the_option() {
    let endpoint = Endpoint::start(|_, _| After::Close);
    let message = error(&endpoint, |options| options.allowed = vec!["http://other/*".to_owned()]);
    assert!(message.contains(&format!("--allow-service '{}'", endpoint.url)), "{message}");
    assert_eq!(endpoint.connections.load(Ordering::SeqCst), 0);
    let query = format!("SELECT * {{ SERVICE <{}> {{ ?s :p ?o }} }}", endpoint.url);
    let message = rows(&database(""), &query, &QueryOptions::default()).expect_err("an error").to_string();
    assert!(message.contains(&format!("--allow-service '{}'", endpoint.url)), "{message}");
}

#[test]
fn connections_that_were_closed_meanwhile_are_made_again() {
    let answer = r#"{"head":{"vars":["o"]},"results":{"bindings":[]}}"#;
    let endpoint = Endpoint::start(move |_, stream| {
        // It says that it keeps the connection, and closes it.
        send(stream, "200 OK", JSON, answer);
        After::Close
    });
    let (service, query) =
        (service(|_| {}), format!("SELECT * {{ SERVICE <{}> {{ ?s :p ?o }} }}", endpoint.url));
    for _ in 0..5 {
        assert_eq!(rows(&database(""), &query, &options(&service)).unwrap().len(), 0);
    }
}
