//! Requests with bodies that nobody reads, on connections that are used again.

use crate::{LONG, serve};
use lode_server::ServerOptions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// Requests that are answered from their heads.
const HEADS: [&str; 5] = [
    "POST /nothing HTTP/1.1\r\n",
    "POST /health/live HTTP/1.1\r\n",
    "POST /sparql?unknown=1 HTTP/1.1\r\nContent-Type: application/sparql-query\r\n",
    "POST /sparql HTTP/1.1\r\nContent-Type: text/nothing\r\n",
    "PUT /data?graph=none HTTP/1.1\r\nContent-Type: text/turtle\r\n",
];

fn connect() -> TcpStream {
    let stream = TcpStream::connect(serve(ServerOptions::default())).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

#[test]
fn a_connection_goes_on_behind_a_short_body_that_comes_after_its_head() {
    for head in HEADS {
        let mut stream = connect();
        stream.write_all(format!("{head}Host: localhost\r\nContent-Length: 9\r\n\r\n").as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(20));
        stream.write_all(b"ASK {} #1").unwrap();
        stream
            .write_all(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        assert!(answers.starts_with("HTTP/1.1 4"), "{head}{answers}");
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{head}{answers}");
    }
}

#[test]
fn after_a_body_that_does_not_come_an_answer_says_that_the_connection_ends() {
    let mut stream = connect();
    stream
        .write_all(b"POST /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\nshort")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
    assert!(head.starts_with("http/1.1 405") && head.contains("connection: close"), "{answer}");
}
