//! A running `lode serve`, and requests to it.

use crate::lode::Lode;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// A running endpoint, killed when dropped.
pub struct Endpoint {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// `http://127.0.0.1:PORT`
    pub base: String,
    /// What it said before it said where it is.
    pub greeting: String,
    agent: ureq::Agent,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub media_type: String,
    pub location: Option<String>,
    /// The origin that may read it, besides the server's own.
    pub allowed_origin: Option<String>,
    /// The version of the database that it is of, if it says so.
    pub version: Option<u64>,
    pub body: String,
}

impl Answer {
    /// The answer, which must have this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        assert!(!self.body.contains("panicked"), "{self:#?}");
        self
    }

    /// A number of the JSON that an update or an upload is answered with.
    #[track_caller]
    pub fn number(&self, name: &str) -> u64 {
        let json: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        json[name].as_u64().unwrap()
    }
}

/// The most memory that a running process has had resident, where that can be told.
pub fn peak_bytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

impl Endpoint {
    /// Serves `db` on a free port.
    pub fn start(lode: &Lode, extra: &[&str]) -> Self {
        Self::serve(lode, "db", extra)
    }

    /// Serves a database on a free port.
    pub fn serve(lode: &Lode, database: &str, extra: &[&str]) -> Self {
        Self::at(lode, database, "127.0.0.1:0", extra)
    }

    /// Serves a database at an address.
    pub fn at(lode: &Lode, database: &str, bind: &str, extra: &[&str]) -> Self {
        Self::at_config(lode, &[&[database, "--bind", bind], extra].concat())
    }

    /// Serves a place, which takes one word or more, at a free port.
    pub fn serve_with(lode: &Lode, place: &[&str], extra: &[&str]) -> Self {
        Self::at_config(lode, &[place, &["--bind", "127.0.0.1:0"], extra].concat())
    }

    /// Serves with these options.
    pub fn at_config(lode: &Lode, options: &[&str]) -> Self {
        Self::in_environment(lode, options, &[])
    }

    /// The same with more in its environment.
    pub fn in_environment(lode: &Lode, options: &[&str], environment: &[(&str, &str)]) -> Self {
        let args = [&["serve"], options].concat();
        let mut command = lode.command(&args);
        command.envs(environment.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut greeting = String::new();
        let base = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it has ended: {greeting}");
            // Of several databases the list is told last but one.
            let end = if line.starts_with("Databases") { "/" } else { "/sparql" };
            // Also in a line of JSON.
            let mut words = line.split(|c: char| c.is_whitespace() || c == '"');
            if let Some(url) = words.find_map(|word| word.strip_suffix(end)) {
                break url.to_owned();
            }
            greeting += &line;
        };
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { child, stderr, base, greeting, agent }
    }

    /// The address without a path.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// A request to a path below the base, which must be answered.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let answer = self.try_to_send(method, path, headers, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// A request to a server that may not live to answer it.
    pub fn try_to_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let with_body = matches!(method, "PUT" | "POST");
        let response = if with_body {
            self.agent.run(request.body(body.to_vec()).unwrap())
        } else {
            self.agent.run(request.body(()).unwrap())
        };
        let mut response = response?;
        let header =
            |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        Ok(Answer {
            status: response.status().as_u16(),
            media_type: header("content-type").unwrap_or_default(),
            location: header("location"),
            allowed_origin: header("access-control-allow-origin"),
            version: header("x-lode-version").map(|version| version.parse().unwrap()),
            body: response.body_mut().read_to_string()?,
        })
    }

    /// An update by direct POST.
    pub fn update(&self, text: &str) -> Answer {
        self.send("POST", "/update", &[("Content-Type", "application/sparql-update")], text.as_bytes())
    }

    /// A query by direct POST.
    pub fn query(&self, text: &str, accept: &str) -> Answer {
        let headers = [("Content-Type", "application/sparql-query"), ("Accept", accept)];
        self.send("POST", "/query", &headers, text.as_bytes())
    }

    /// The rows of a query that must go well, as CSV without its first line.
    #[track_caller]
    pub fn rows(&self, text: &str) -> Vec<String> {
        let answer = self.query(text, "text/csv").is(200);
        answer.body.lines().skip(1).map(str::to_owned).collect()
    }

    /// How many quads there are in all graphs.
    #[track_caller]
    pub fn quads(&self) -> u64 {
        let rows = self.rows("SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }");
        rows[0].parse().unwrap()
    }

    /// The host and port, for connections of one's own.
    pub fn address(&self) -> &str {
        self.base.split_once("://").unwrap().1
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Has it read its settings again.
    pub fn hang_up(&self) {
        let status = Command::new("kill").args(["-HUP", &self.pid().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// The most memory that it has had resident, where that can be told.
    pub fn peak_bytes(&self) -> Option<u64> {
        peak_bytes(self.child.id())
    }

    /// Ends it without any warning, whoever speaks to it.
    pub fn kill(&self) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-KILL", &id]).status().unwrap().success());
    }

    /// Asks it to end, as Ctrl+C does; what it said since its first line.
    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let mut text = String::new();
        self.stderr.read_to_string(&mut text).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text}");
        text
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so.
pub fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
