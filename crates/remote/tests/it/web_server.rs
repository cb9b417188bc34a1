//! A web server of files in memory that serves ranges, counts what it is asked for, and misbehaves when it is told to.

use crate::STORE;
use lode_base::mem_vfs::MemVfs;
use lode_remote::{WebOptions, WebStore};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What it does instead of what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trick {
    /// It answers with all of the object.
    IgnoresRanges,
    /// It ends the answer in the middle.
    EndsEarly,
    /// The answer is whole, but says that it is longer.
    Lies,
    /// It sends other bytes.
    Flips,
    /// It answers with another range.
    OtherRange,
    /// It sends more than it was asked for.
    TooMuch,
    /// It answers with a status.
    Status(u16),
    /// It sends us to itself, with another path.
    Redirects,
    /// It sends us to the same path again.
    RedirectsForEver,
    /// It waits before it answers.
    Waits(Duration),
    /// It sends the head and no more, for so long.
    StopsInTheMiddle(Duration),
    /// It closes the connection instead of answering.
    Closes,
}

#[derive(Debug)]
struct Rule {
    /// Of paths that hold this.
    part: String,
    trick: Trick,
    /// So often.
    times: usize,
}

#[derive(Debug, Default)]
struct Shared {
    rules: Mutex<Vec<Rule>>,
    requests: Mutex<Vec<String>>,
}

/// The server; it runs until the process ends.
pub struct WebServer {
    pub url: String,
    shared: Arc<Shared>,
}

impl WebServer {
    pub fn start(files: &MemVfs) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data", listener.local_addr().unwrap());
        let shared = Arc::new(Shared::default());
        let (files, own) = (files.clone(), Arc::clone(&shared));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (files, shared) = (files.clone(), Arc::clone(&own));
                std::thread::spawn(move || serve(&stream.unwrap(), &files, &shared));
            }
        });
        Self { url, shared }
    }

    pub fn store(&self) -> WebStore {
        let options = WebOptions { silence_max: Duration::from_secs(2) };
        WebStore::new(&self.url, options).unwrap()
    }

    /// From now on it does this for paths that hold `part`, so often.
    pub fn play(&self, part: &str, trick: Trick, times: usize) {
        self.shared.rules.lock().unwrap().push(Rule { part: part.to_owned(), trick, times });
    }

    pub fn behave(&self) {
        self.shared.rules.lock().unwrap().clear();
    }

    /// What was asked for since this was asked last.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap())
    }
}

impl Shared {
    fn trick(&self, path: &str) -> Option<Trick> {
        let mut rules = self.rules.lock().unwrap();
        let rule = rules.iter_mut().find(|rule| rule.times > 0 && path.contains(&rule.part))?;
        rule.times -= 1;
        Some(rule.trick)
    }
}

fn serve(stream: &TcpStream, files: &MemVfs, shared: &Shared) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line == "\r\n" => break,
                Ok(_) => lines.push(line.trim_end().to_owned()),
            }
        }
        let path = lines[0].split(' ').nth(1).unwrap().to_owned();
        let range = lines
            .iter()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        shared.requests.lock().unwrap().push(format!("{path} {}", range.as_deref().unwrap_or("")));
        if answer(stream, files, &path, range.as_deref(), shared.trick(&path)).is_none() {
            return;
        }
    }
}

/// None where the connection is to be closed.
fn answer(
    mut stream: &TcpStream,
    files: &MemVfs,
    path: &str,
    range: Option<&str>,
    trick: Option<Trick>,
) -> Option<()> {
    let mut reply = |status: &str, headers: &str, length: usize, body: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n");
        stream.write_all(&[head.as_bytes(), body].concat()).ok()
    };
    match trick {
        Some(Trick::Waits(time)) => std::thread::sleep(time),
        Some(Trick::Closes) => return None,
        Some(Trick::Status(status)) => return reply(&format!("{status} Status"), "", 5, b"sorry"),
        Some(Trick::Redirects) => {
            let elsewhere = path.replacen("/data/", "/data/elsewhere/", 1);
            return reply("302 Found", &format!("Location: {elsewhere}\r\n"), 0, b"");
        }
        Some(Trick::RedirectsForEver) => return reply("302 Found", &format!("Location: {path}\r\n"), 0, b""),
        _ => {}
    }
    let key = path.strip_prefix("/data/").unwrap().trim_start_matches("elsewhere/");
    let Ok(mut bytes) = files.read(&Path::new(STORE).join(key)) else {
        return reply("404 Not Found", "", 4, b"none");
    };
    let total = bytes.len();
    let (mut status, mut headers) = ("200 OK", String::new());
    if let Some((first, last)) =
        range.filter(|_| trick != Some(Trick::IgnoresRanges)).and_then(|range| range.split_once('-'))
    {
        let (first, last): (usize, usize) = (first.parse().unwrap(), last.parse().unwrap());
        if last >= total {
            return reply("416 Range Not Satisfiable", "", 0, b"");
        }
        bytes = bytes[first..=last].to_vec();
        let told = if trick == Some(Trick::OtherRange) { first + 1 } else { first };
        (status, headers) =
            ("206 Partial Content", format!("Content-Range: bytes {told}-{last}/{total}\r\n"));
    }
    let length = bytes.len();
    match trick {
        Some(Trick::EndsEarly) => {
            reply(status, &headers, length, &bytes[..length / 2])?;
            None
        }
        Some(Trick::Lies) => {
            reply(status, &headers, length + 10, &bytes)?;
            None
        }
        Some(Trick::StopsInTheMiddle(time)) => {
            reply(status, &headers, length, &bytes[..length / 2])?;
            std::thread::sleep(time);
            None
        }
        Some(Trick::Flips) => {
            bytes[length / 2] ^= 4;
            reply(status, &headers, length, &bytes)
        }
        Some(Trick::TooMuch) => {
            bytes.extend_from_slice(b"more");
            reply(status, &headers, length + 4, &bytes)
        }
        _ => reply(status, &headers, length, &bytes),
    }
}
