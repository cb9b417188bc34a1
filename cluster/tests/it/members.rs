//! Workers that come and go, and versions that are not the newest any more.

use crate::support::{
    Process, eager, here, options, over, people, prepared, processes, sorted, token_file, until, urls,
};
use lode_cluster::{Address, Head, HeadError, HeadOptions};
use lode_engine::store::OpenFiles;
use lode_engine::{CancelToken, Elsewhere, OpenOptions, QueryOptions, UpdateOptions};
use lode_remote::{Address as PublishedAddress, Published, ReadOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use url::Url;

const TEXT: &str = "SELECT ?a (COUNT(*) AS ?c) { ?a <http://e/knows> ?b . ?b <http://e/knows> ?d . ?d <http://e/knows> ?e } GROUP BY ?a";

/// So much is done elsewhere that nobody waits for its end.
const LONG: &str = "SELECT (COUNT(*) AS ?c) { ?a <http://e/kind> ?k . ?b <http://e/kind> ?k . ?c <http://e/kind> ?k FILTER (?a < ?b && ?b < ?c) }";

/// The same with an exchange between workers.
const LONG_GROUPS: &str = "SELECT ?a ?b (COUNT(*) AS ?c) { ?a <http://e/kind> ?k . ?b <http://e/kind> ?k . ?c <http://e/kind> ?k } GROUP BY ?a ?b";

fn there(head: &Arc<dyn Elsewhere>) -> Vec<String> {
    let status = head.status().unwrap();
    let workers = status["workers"].as_array().unwrap().iter().filter(|worker| worker["state"] == "there");
    workers.map(|worker| worker["url"].as_str().unwrap().to_owned()).collect()
}

fn with_file(file: &Path) -> HeadOptions {
    HeadOptions { workers_file: Some(file.to_owned()), ..eager(Vec::new()) }
}

#[test]
fn workers_of_a_file_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let native = sorted(prepared(&database, TEXT, None).run().unwrap());
    let workers = here(2, &place);
    let urls: Vec<String> = urls(&workers).iter().map(Url::to_string).collect();
    let file = folder.path().join("workers");
    std::fs::write(&file, format!("# one\n{}\n", urls[0])).unwrap();
    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(with_file(&file)).unwrap());
    let asked = || {
        let query = prepared(&database, TEXT, Some(&head));
        let told = query.report().elsewhere;
        assert_eq!(sorted(query.run().unwrap()), native);
        told.map(|told| told["fragments"][0]["workers"].to_string())
    };
    assert!(asked().unwrap().contains(&urls[0]));
    std::fs::write(&file, format!("{}\n", urls[1])).unwrap();
    until("the other one is there", || there(&head) == urls[1..]);
    let told = asked().unwrap();
    assert!(told.contains(&urls[1]) && !told.contains(&urls[0]), "{told}");
    // A list that is wrong changes nothing, and is told.
    std::fs::write(&file, "http://10.0.0.1:1").unwrap();
    until("the mistake is told", || {
        head.status().unwrap()["trouble"].as_str().is_some_and(|t| t.contains("line 1"))
    });
    assert!(asked().is_some());
    std::fs::write(&file, "").unwrap();
    until("nobody is there", || there(&head).is_empty());
    assert_eq!(asked(), None, "without workers the head does it");
    std::fs::write(&file, urls.join("\n")).unwrap();
    until("both are there", || there(&head).len() == 2);
    assert!(asked().is_some());
}

#[test]
fn a_name_is_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let native = sorted(prepared(&database, TEXT, None).run().unwrap());
    let workers = here(1, &place);
    let name = Address::of(&format!("dns:localhost:{}", workers[0].address.port())).unwrap();
    let options = HeadOptions { workers: vec![name], ..eager(Vec::new()) };
    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(options).unwrap());
    let query = prepared(&database, TEXT, Some(&head));
    assert!(query.report().elsewhere.unwrap()["fragments"][0]["workers"].to_string().contains("127.0.0.1"));
    assert_eq!(sorted(query.run().unwrap()), native);
    let nobody = Address::of("dns:nobody.invalid:7979").unwrap();
    let options = HeadOptions { workers: vec![nobody], ..eager(Vec::new()) };
    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(options).unwrap());
    assert!(prepared(&database, TEXT, Some(&head)).report().elsewhere.is_none());
}

#[test]
fn a_list_that_is_none_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("workers");
    assert!(matches!(Head::new(with_file(&file)), Err(HeadError::Members(_))));
}

/// A worker that ends tells so first: no query fails, and none is begun again.
#[test]
fn workers_that_end_are_not_missed() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 5_000);
    let native = sorted(prepared(&database, TEXT, None).run().unwrap());
    let mut workers = processes(3, &place, folder.path());
    let head: Arc<dyn Elsewhere> =
        Arc::new(Head::new(eager(workers.iter().map(|worker| worker.url.clone()).collect())).unwrap());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            let mut answers = 0;
            while !is_over.load(Ordering::Relaxed) {
                let query = prepared(&database, TEXT, Some(&head));
                assert_eq!(sorted(query.run().unwrap()), native);
                assert_eq!(query.report().elsewhere.unwrap()["workers_lost"], 0);
                answers += 1;
            }
            answers
        });
        let mut ending = workers.remove(0);
        std::thread::sleep(Duration::from_millis(500));
        ending.signal("TERM");
        until("it ends", || ending.has_ended());
        assert!(ending.ended_well());
        is_over.store(true, Ordering::Relaxed);
        println!("{} answers meanwhile", asker.join().unwrap());
    });
    assert_eq!(there(&head).len(), 2);
}

/// Workers have nothing to do any more when who asked is gone.
#[test]
fn a_head_that_is_killed_leaves_workers_idle() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 20_000);
    drop(database);
    let workers = processes(2, &place, folder.path());
    let list = workers.iter().map(|worker| worker.url.to_string()).collect::<Vec<_>>().join(",");
    for text in [LONG, LONG_GROUPS] {
        let mut head = Command::new(env!("CARGO_BIN_EXE_lode"))
            .arg("query")
            .arg(&place)
            .args(["--workers", &list, "--workers-from", "0", text, "--workers-token-file"])
            .arg(token_file(folder.path()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let busy = |worker: &Process| worker.told("parts_running").is_some_and(|parts| parts > 0.0);
        until("both have something to do", || workers.iter().all(busy));
        std::thread::sleep(Duration::from_millis(300));
        head.kill().unwrap();
        let took =
            until("nobody has", || workers.iter().all(|worker| worker.told("parts_running") == Some(0.0)));
        head.wait().unwrap();
        println!("workers idle {took:?} after the head was killed");
    }
}

#[test]
fn a_query_that_is_called_off_ends_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 20_000);
    let workers = processes(2, &place, folder.path());
    let head: Arc<dyn Elsewhere> =
        Arc::new(Head::new(eager(workers.iter().map(|worker| worker.url.clone()).collect())).unwrap());
    let busy = |worker: &Process| worker.told("parts_running").is_some_and(|parts| parts > 0.0);
    for text in [LONG, LONG_GROUPS] {
        let cancel = CancelToken::new(None);
        let options = QueryOptions { cancel: cancel.clone(), ..options(Some(&head)) };
        let query = database.prepare(text, &options).unwrap();
        std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                query.run().and_then(|results| match results {
                    lode_engine::QueryResults::Solutions(mut solutions) => solutions.collect_rows(),
                    _ => panic!("rows"),
                })
            });
            until("both have something to do", || workers.iter().all(busy));
            cancel.cancel();
            let ended = until("the query ends", || run.is_finished());
            let idle = until("nobody works", || {
                workers.iter().all(|worker| worker.told("parts_running") == Some(0.0))
            });
            println!("called off: head {ended:?}, workers {:?}", ended + idle);
            assert!(run.join().unwrap().is_err());
        });
    }
}

/// A server over a database, until it is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(place: &Path, args: &[&str], token: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lode"))
            .arg("serve")
            .arg(place)
            .args(["--bind", "127.0.0.1:0", "--workers-from", "0", "--workers-token-file"])
            .arg(token)
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, rest)) = line.split_once("SPARQL endpoint  ") {
                break rest.trim_end_matches("/sparql").to_owned();
            }
        };
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url }
    }

    fn lode(&self, args: &[&str]) -> String {
        let done = Command::new(env!("CARGO_BIN_EXE_lode")).args(args).arg(&self.url).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn get(&self, path: &str) -> String {
        let at = self.url.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(at).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_tells_of_its_workers() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    drop(database);
    let workers = processes(2, &place, folder.path());
    let gone = "http://127.0.0.1:9/";
    let list = format!("{},{},{gone}", workers[0].url, workers[1].url);
    let server = Server::start(&place, &["--workers", &list], &token_file(folder.path()));
    let text = "SELECT (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n }";
    let asked = server.get(&format!("/query?profile=1&query={}", encoded(text)));
    assert!(asked.contains("\"elsewhere\"") && asked.contains("processor_seconds"), "{asked}");
    let told = server.get("/admin/workers");
    for worker in [workers[0].url.as_str(), workers[1].url.as_str(), gone] {
        assert!(told.contains(worker), "{told}");
    }
    assert_eq!(told.matches("\"there\"").count(), 2, "{told}");
    let top = server.lode(&["top", "--once"]);
    assert_eq!(top.matches("\nworker http://127.0.0.1:").count(), 3, "{top}");
    assert!(top.contains("  away: ") && top.contains(" tasks, "), "{top}");
    let status = server.lode(&["status"]);
    assert!(status.contains("Workers    2 of 3 there"), "{status}");
    let metrics = server.get("/metrics");
    assert!(
        metrics.contains("lode_workers{state=\"there\"} 2") && metrics.contains("lode_workers_tasks_total"),
        "{metrics}"
    );
    // What is asked over and over is answered over and over.
    for _ in 0..20 {
        let answer = server.get(&format!("/query?query={}", encoded(text)));
        assert!(answer.contains("2000"), "{answer}");
    }
}

/// As a part of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn publish(place: &Path, address: &str) {
    let done = Command::new(env!("CARGO_BIN_EXE_lode"))
        .arg("publish")
        .arg(place)
        .args([address, "--quiet"])
        .status();
    assert!(done.unwrap().success());
}

/// A head that holds an earlier version has its workers still, and what nobody asks for is closed.
#[test]
fn published_versions_before_the_newest_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    drop(database);
    let address = format!("file://{}", folder.path().join("published").display());
    let mut heads = Vec::new();
    for round in 0..3 {
        let database = lode_engine::Database::create_or_open(&place, &OpenOptions::default()).unwrap();
        let update = format!("INSERT DATA {{ <http://e/s{round}> <http://e/knows> <http://e/s7{round}> }}");
        database.update(&update, &UpdateOptions::default()).unwrap();
        drop(database);
        publish(&place, &address);
        let at = PublishedAddress::of_database(&address).unwrap().unwrap();
        let published = Published::open(&at, &ReadOptions::default()).unwrap();
        heads.push(published.database(&OpenOptions::default(), OpenFiles::WhenRead).unwrap());
    }
    let (one, databases) = over(&address);
    let (two, _) = over(&address);
    let workers = [one, two];
    let head = crate::support::head(urls(&workers));
    // In both directions, so that those that are open already are found as well.
    let mut answers = Vec::new();
    for database in heads.iter().chain(heads.iter().rev()) {
        let native = sorted(prepared(database, TEXT, None).run().unwrap());
        let query = prepared(database, TEXT, Some(&head));
        let told = query.report().elsewhere.unwrap();
        assert_eq!(told["workers_lost"], 0);
        assert_eq!(sorted(query.run().unwrap()), native);
        answers.push(native);
    }
    assert!(answers[0] != answers[1] && answers[1] != answers[2] && answers[0] == answers[5]);
    assert_eq!(databases.count(), 3);
    databases.close_idle(Duration::from_secs(3600));
    assert_eq!(databases.count(), 3);
    databases.close_idle(Duration::ZERO);
    assert_eq!(databases.count(), 1, "but for the last one");
}
