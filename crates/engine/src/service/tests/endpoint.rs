//! An endpoint on the loopback that answers, or misbehaves, as a test tells it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A request as it came.
pub(super) struct Request {
    pub(super) line: String,
    /// The text of the query, where it has one.
    pub(super) query: String,
}

/// What a connection is used for after an answer.
#[derive(PartialEq)]
pub(super) enum After {
    Keep,
    Close,
}

type Answer = dyn Fn(&Request, &mut TcpStream) -> After + Send + Sync;

/// The endpoint, as long as the test runs.
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) queries: Arc<Mutex<Vec<String>>>,
    pub(super) connections: Arc<AtomicUsize>,
}

impl Endpoint {
    pub(super) fn start(answer: impl Fn(&Request, &mut TcpStream) -> After + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/sparql", listener.local_addr().unwrap());
        let (queries, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<AtomicUsize>::default());
        let endpoint = Self { url, queries: Arc::clone(&queries), connections: Arc::clone(&connections) };
        let answer: Arc<Answer> = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::SeqCst);
                let (answer, queries) = (Arc::clone(&answer), Arc::clone(&queries));
                std::thread::spawn(move || serve(stream, &*answer, &queries));
            }
        });
        endpoint
    }

    pub(super) fn query_count(&self) -> usize {
        self.queries.lock().unwrap().len()
    }
}

fn serve(mut stream: TcpStream, answer: &Answer, queries: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read(&mut reader) {
        queries.lock().unwrap().push(request.query.clone());
        if answer(&request, &mut stream) == After::Close {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let (mut header, mut length) = (String::new(), 0);
    while reader.read_line(&mut header).ok()? > 2 {
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        header.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let query = body.strip_prefix(b"query=").map(decoded).unwrap_or_default();
    Some(Request { line, query })
}

/// A form's value without its escapes.
fn decoded(value: &[u8]) -> String {
    let (mut bytes, mut rest) = (Vec::new(), value.iter());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(*rest.next().unwrap()).to_digit(16).unwrap();
                u8::try_from(digit() * 16 + digit()).unwrap()
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// A whole answer.
pub(super) fn send(stream: &mut TcpStream, status: &str, head: &str, body: &str) -> After {
    let text = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
    // Whoever asked may have left.
    match stream.write_all(text.as_bytes()) {
        Ok(()) => After::Keep,
        Err(_) => After::Close,
    }
}

pub(super) const JSON: &str = "Content-Type: application/sparql-results+json\r\n";

/// The head of an answer in pieces, and the beginning of a result with `?o`.
pub(super) fn begin(stream: &mut TcpStream) {
    let head = format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    assert!(chunk(stream, r#"{"head":{"vars":["o"]},"results":{"bindings":["#));
}

/// A piece; whether it could be sent.
pub(super) fn chunk(stream: &mut TcpStream, text: &str) -> bool {
    stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).is_ok()
}

/// A row of it.
pub(super) fn row(value: usize) -> String {
    format!(r#"{{"o":{{"type":"literal","value":"{value}"}}}}"#)
}
