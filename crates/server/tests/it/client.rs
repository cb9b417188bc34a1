//! Requests with whatever heads, by hand, and what comes back, byte for byte.

use crate::{LONG, serve_database};
use lode_engine::{Database, UpdateOptions};
use lode_server::ServerOptions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// A field of the head.
    pub fn field(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        let fields = self.head.lines().skip(1);
        fields
            .filter_map(|line| {
                line.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(&prefix)).map(|_| line)
            })
            .find_map(|line| line.get(prefix.len()..))
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{} {}", self.head, String::from_utf8_lossy(&self.body));
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// The body without its coding.
    pub fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        match self.field("content-encoding") {
            Some("gzip") => flate2::read::GzDecoder::new(&*self.body).read_to_end(&mut plain).unwrap(),
            Some("zstd") => zstd::Decoder::new(&*self.body).unwrap().read_to_end(&mut plain).unwrap(),
            Some("br") => brotli::Decompressor::new(&*self.body, 4096).read_to_end(&mut plain).unwrap(),
            Some(other) => panic!("{other}"),
            None => return self.body.clone(),
        };
        plain
    }
}

/// Serves what an update makes.
pub fn serve_data(update: &str, options: ServerOptions) -> SocketAddr {
    let database = Database::in_memory().unwrap();
    database.update(update, &UpdateOptions::default()).unwrap();
    serve_database(database, options)
}

/// Sends a request and takes the answer.
pub fn ask(address: SocketAddr, method: &str, path: &str, fields: &[(&str, &str)], body: &[u8]) -> Answer {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    ask_on(stream, method, path, fields, body)
}

/// The same on a connection.
pub fn ask_on(
    mut stream: impl Read + Write,
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in fields {
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() || ["POST", "PUT"].contains(&method) {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    // Whoever refuses a body may close before all of it has come.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    parsed(&bytes)
}

fn parsed(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &bytes[end + 4..];
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunked(rest) } else { rest.to_vec() };
    Answer { status, head, body }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|window| window == b"\r\n").unwrap();
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        rest = &rest[end + 2..];
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
}
