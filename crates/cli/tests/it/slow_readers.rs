//! Many clients that take long answers slowly: what their queries leave behind stays within `--memory`. With so much memory as here the
//! system gives huge pages, of which every thread keeps some.

use crate::endpoint::Endpoint;
use crate::lode::Lode;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const QUADS: usize = 60_000;
const READERS: usize = 400;
const QUERY: &str = "SELECT * { ?s ?p ?o }";

/// A client that has asked for all, and takes nothing.
fn reader(address: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n";
    write!(stream, "{head}Content-Length: {}\r\n\r\n{QUERY}", QUERY.len()).unwrap();
    stream
}

#[test]
fn answers_that_wait_for_their_clients_stay_within_the_memory() {
    let lode = Lode::new();
    let mut text = String::new();
    for number in 0..QUADS {
        let long = "a text that is not short ".repeat(10);
        writeln!(text, "<http://e/{}> <http://e/p> \"{number} {long}\" .", number / 10).unwrap();
    }
    lode.write("data.nt", &text);
    lode.run(&["load", "db", "data.nt"]).ok();
    let endpoint = Endpoint::start(&lode, &["--memory", "512MiB"]);
    let mut readers: Vec<_> =
        (0..READERS).map(|_| reader(endpoint.base().trim_start_matches("http://"))).collect();
    // All have had their turn: some are answered, the others wait for a place, or were told to come again.
    let until = Instant::now() + Duration::from_secs(6);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
        let light = endpoint.send("GET", "/sparql?query=ASK%20%7B%7D", &[], &[]).is(200);
        assert!(light.body.contains("true"), "{light:#?}");
    }
    // Which of them have a place is chance.
    let is_answered = |stream: &mut TcpStream| {
        let mut begin = [0; 12];
        stream.set_nonblocking(true).unwrap();
        stream.read_exact(&mut begin).is_ok() && begin == *b"HTTP/1.1 200"
    };
    assert!(readers.iter_mut().any(is_answered));
    let peak = endpoint.peak_bytes();
    assert!(peak.is_none_or(|peak| peak < 400 << 20), "{peak:?} bytes");
}
