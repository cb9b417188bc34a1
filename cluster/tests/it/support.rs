//! Workers, in this process and in others, and heads for them.

use lode_cluster::{Databases, Head, HeadOptions, Site, Tls, Token, Worker, WorkerOptions};
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::{
    Database, Elsewhere, MemoryBudget, OpenOptions, PreparedQuery, QueryOptions, QueryResults,
};
use lode_rdf::RdfFormat;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

pub const TOKEN: &str = "a token of some length";

pub fn token() -> Token {
    Token::new(TOKEN).unwrap()
}

/// A file with the token.
pub fn token_file(folder: &Path) -> PathBuf {
    let file = folder.join("token");
    std::fs::write(&file, TOKEN).unwrap();
    file
}

/// Waits until this holds, for no shorter than a minute; how long that took.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(90), "not within 90 seconds: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
    started.elapsed()
}

/// Workers in this process, over the database at a place.
pub fn here(count: usize, place: &Path) -> Vec<Worker> {
    (0..count).map(|_| started(place, "127.0.0.1:0", None)).collect()
}

/// One that shows a certificate.
pub fn with_certificate(place: &Path, tls: Tls) -> Worker {
    started(place, "127.0.0.1:0", Some(tls))
}

/// One over what is published at an address, with the databases that it has open.
pub fn over(address: &str) -> (Worker, Arc<Databases>) {
    let places = [address.to_owned()];
    let databases = Databases::new(&places, None, OpenOptions::with_cache(32 << 20)).unwrap();
    let databases = Arc::new(databases);
    (with_databases(Arc::clone(&databases), "127.0.0.1:0", None), databases)
}

fn started(place: &Path, listen: &str, tls: Option<Tls>) -> Worker {
    let places = [place.display().to_string()];
    let databases = Databases::new(&places, None, OpenOptions::with_cache(32 << 20)).unwrap();
    with_databases(Arc::new(databases), listen, tls)
}

fn with_databases(databases: Arc<Databases>, listen: &str, tls: Option<Tls>) -> Worker {
    let site = Site {
        databases,
        memory: MemoryBudget::new(256 << 20),
        spill_dir: std::env::temp_dir(),
        time_max: Duration::from_secs(60),
        work: Arc::default(),
    };
    let listen = listen.parse().unwrap();
    Worker::start(WorkerOptions { listen, token: token(), tls, authority: None, site, metrics: None })
        .unwrap()
}

pub fn urls(workers: &[Worker]) -> Vec<Url> {
    workers.iter().map(|worker| Url::parse(&format!("http://{}", worker.address)).unwrap()).collect()
}

/// A head that spreads all that it can.
pub fn head(workers: Vec<Url>) -> Arc<dyn Elsewhere> {
    Arc::new(Head::new(eager(workers)).unwrap())
}

pub fn eager(workers: Vec<Url>) -> HeadOptions {
    HeadOptions {
        cost_min: Duration::ZERO,
        part_min: Duration::ZERO,
        exchange_min: 0.0,
        exchange_cost: 0.0,
        ..HeadOptions::new(workers, token())
    }
}

/// A worker as a process of its own.
pub struct Process {
    child: Child,
    pub url: Url,
    metrics: SocketAddr,
}

impl Process {
    pub fn start(place: &Path, folder: &Path) -> Self {
        Self::over(&place.display().to_string(), folder)
    }

    /// Over a folder, or what is published at an address.
    pub fn over(place: &str, folder: &Path) -> Self {
        Self::with(place, folder, &["--memory", "256MiB"])
    }

    /// The same with other options.
    pub fn with(place: &str, folder: &Path, options: &[&str]) -> Self {
        let file = token_file(folder);
        let mut command = Command::new(env!("CARGO_BIN_EXE_lode"));
        let any = "127.0.0.1:0";
        command.arg("worker").arg(place).args(["--listen", any, "--metrics", any]).args(options);
        let mut child = command.arg("--token-file").arg(&file).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut line = |mark: &str| loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, rest)) = line.split_once(mark) {
                break rest.to_owned();
            }
        };
        let metrics = line("metrics at http://").split('/').next().unwrap().parse().unwrap();
        let address = line("worker at ");
        // What it says later has nobody else to take it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: Url::parse(&format!("http://{address}")).unwrap(), metrics }
    }

    /// What it tells of itself under this name.
    pub fn told(&self, name: &str) -> Option<f64> {
        let mut stream = TcpStream::connect(self.metrics).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("lode_worker_{name} ")))?;
        line.parse().ok()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Whether it ended by itself, without failure; waits for the end.
    pub fn ended_well(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn processes(count: usize, place: &Path, folder: &Path) -> Vec<Process> {
    (0..count).map(|_| Process::start(place, folder)).collect()
}

/// So many subjects, each with two numbers, a kind and two others that it knows, in a folder.
pub fn people(folder: &Path, count: u64) -> (Database, PathBuf) {
    let mut text = String::new();
    for i in 0..count {
        let (a, b, kind) = (i * 7919 % count, i * 104_729 % count, i % 11);
        text += &format!(
            "<http://e/s{i}> <http://e/knows> <http://e/s{a}>, <http://e/s{b}> ; <http://e/kind> <http://e/k{kind}> ; <http://e/n> {i} ; <http://e/m> {b} .\n"
        );
    }
    let place = folder.join("db");
    let database = Database::create_or_open(&place, &OpenOptions::default()).unwrap();
    let source = Source::bytes("people", text.into_bytes()).with_format(RdfFormat::Turtle);
    load(database.store(), vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    (database, place)
}

pub fn options(elsewhere: Option<&Arc<dyn Elsewhere>>) -> QueryOptions {
    QueryOptions { elsewhere: elsewhere.cloned(), ..QueryOptions::default() }
}

pub fn prepared(database: &Database, text: &str, elsewhere: Option<&Arc<dyn Elsewhere>>) -> PreparedQuery {
    database.prepare(text, &options(elsewhere)).unwrap()
}

/// The rows, sorted.
pub fn sorted(results: QueryResults) -> Vec<String> {
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    let rows = solutions.collect_rows().unwrap();
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    rows
}

/// The rows in their order.
pub fn in_sequence(results: QueryResults) -> Vec<String> {
    let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
    solutions.collect_rows().unwrap().iter().map(|row| format!("{row:?}")).collect()
}
