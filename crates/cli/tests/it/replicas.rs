//! A server that publishes, servers that follow it, and what happens where one of them fails.

use crate::endpoint::{Endpoint, wait_for};
use crate::lode::{Lode, note};
use crate::publish::web_server;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ALL: &str = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }";

fn url(lode: &Lode) -> String {
    format!("file://{}", lode.path("store").display())
}

fn insert(server: &Endpoint, number: u32) -> u64 {
    let answer =
        server.update(&format!("INSERT DATA {{ <http://e/s{number}> <http://e/p> {number} }}")).is(200);
    let version = answer.version.unwrap();
    assert_eq!(version, answer.number("version"));
    version
}

/// Asks for a version or a later one.
fn ask_for(server: &Endpoint, version: &str, more: &str) -> crate::endpoint::Answer {
    let query = "SELECT%20%2A%20%7B%20%3Fs%20%3Fp%20%3Fo%20%7D";
    server.send("GET", &format!("/sparql?query={query}&format=csv&min-version={version}{more}"), &[], b"")
}

fn metric(server: &Endpoint, name: &str) -> Option<f64> {
    let text = server.send("GET", "/metrics", &[], b"").is(200).body;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

fn ready(server: &Endpoint) -> (u16, String) {
    let answer = server.send("GET", "/health/ready", &[], b"");
    (answer.status, answer.body)
}

/// The newest manifest in the folder.
fn newest(lode: &Lode) -> PathBuf {
    let names = std::fs::read_dir(lode.path("store/manifest")).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| !path.ends_with("latest")).max().unwrap()
}

#[test]
fn replicas_follow_their_writer_and_are_asked_for_versions() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    let writer = Endpoint::start(&lode, &["--publish", &url(&lode), "--publish-every", "0.1"]);
    let web = format!("lode+{}", web_server(&lode.path("store"), Duration::ZERO));
    let cache = lode.path("cache").display().to_string();
    let replicas = [
        Endpoint::serve(&lode, &url(&lode), &["--follow"]),
        Endpoint::serve(&lode, &web, &["--follow=0.2", "--cache-dir", &cache]),
    ];
    let mut lags = Vec::new();
    for round in 0..10 {
        let version = insert(&writer, round);
        let written = Instant::now();
        for replica in &replicas {
            let answer = ask_for(replica, &version.to_string(), "").is(200);
            assert_eq!(answer.version, Some(version));
            assert_eq!(answer.body.lines().count() as u32, 1 + 2 + round + 1);
            lags.push(written.elapsed());
        }
        assert_eq!(ask_for(&writer, &version.to_string(), "").is(200).version, Some(version));
    }
    note(format_args!("replicas were behind by at most {:?}", lags.iter().max().unwrap()));
    // What does not come, and what makes no sense.
    let now = ask_for(&writer, "0", "").is(200).version.unwrap();
    let later = (now + 1_000).to_string();
    let told = ask_for(&replicas[0], &later, "&timeout=0.2").is(409).body;
    assert!(told.contains(&format!("this is version {now} still")) && told.contains("0.2 seconds"), "{told}");
    let told = ask_for(&writer, &later, "").is(409).body;
    assert!(told.contains("only come here when somebody writes here"), "{told}");
    ask_for(&writer, "soon", "").is(400);
    // Who has an answer of now is told so at once.
    assert!(replicas[0].query("ASK {}", "text/csv").is(200).version.is_some());
    assert!(ready(&replicas[0]).1.trim() == "ready" && ready(&writer).1.trim() == "ready");
    for server in [&writer, &replicas[0], &replicas[1]] {
        assert_eq!(metric(server, "lode_published_version"), Some(now as f64));
        assert_eq!(metric(server, "lode_published_failing"), Some(0.0));
    }
    replicas[0].update("CLEAR ALL").is(403);
}

#[test]
fn a_damaged_version_is_not_served_and_that_is_told() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    lode.run(&["publish", "db", &url(&lode)]).ok();
    let replica = Endpoint::serve(&lode, &url(&lode), &["--follow=0.1"]);
    assert_eq!(replica.rows(ALL), ["2"]);
    lode.run(&["update", "db", "INSERT DATA { <http://e/b> <http://e/p> 3 }"]).ok();
    // Nobody sees it before it is damaged.
    let aside = lode.path("aside");
    std::fs::rename(lode.path("store"), &aside).unwrap();
    wait_for("the store is gone", || ready(&replica).1.contains("ready, but"));
    let there = format!("file://{}", aside.display());
    lode.run(&["publish", "db", &there]).ok();
    let manifest = aside.join("manifest").join(format!("{:020}", 2));
    let whole = std::fs::read(&manifest).unwrap();
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&manifest, &bytes).unwrap();
    std::fs::write(aside.join("manifest/latest"), &bytes).unwrap();
    std::fs::rename(&aside, lode.path("store")).unwrap();
    wait_for("the damage is told", || ready(&replica).1.contains("damaged"));
    let (status, told) = ready(&replica);
    assert!(status == 200 && told.contains("still serving version 1"), "{told}");
    assert_eq!(replica.rows(ALL), ["2"]);
    assert_eq!(metric(&replica, "lode_published_failing"), Some(1.0));
    assert!(metric(&replica, "lode_published_failures_total").unwrap() >= 1.0);
    let stats = replica.send("GET", "/admin/stats", &[], b"").is(200).body;
    assert!(stats.contains("\"role\":\"follows\"") && stats.contains("\"failing\":true"), "{stats}");
    // Once it is whole again, it is served.
    std::fs::write(newest(&lode), &whole).unwrap();
    std::fs::write(lode.path("store/manifest/latest"), &whole).unwrap();
    wait_for("the new version is served", || replica.rows(ALL) == ["3"]);
    assert_eq!(ready(&replica).1.trim(), "ready");
    let log = replica.stop();
    assert!(log.contains("still serving version 1") && log.contains("serving version 2"), "{log}");
}

#[test]
fn a_writer_that_is_replaced_writes_no_more() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 1, 2 .");
    let first = Endpoint::start(&lode, &["--publish", &url(&lode), "--publish-every", "0.1"]);
    let replica = Endpoint::serve(&lode, &url(&lode), &["--follow=0.1"]);
    let version = insert(&first, 1);
    ask_for(&replica, &version.to_string(), "").is(200);
    // Nobody else may publish there, unless the first is given up.
    lode.run(&["restore", &url(&lode), "new"]).ok();
    let refused = lode.run(&["serve", "new", "--bind", "127.0.0.1:0", "--publish", &url(&lode)]).fails(1);
    assert!(refused.contains("--take-over"), "{refused}");
    lode.run(&["publish", "new", &url(&lode), "--take-over"]).ok();
    wait_for("the first writer has noticed", || ready(&first).0 == 503);
    let told = first.update("INSERT DATA { <http://e/lost> <http://e/p> 1 }").is(503).body;
    assert!(told.contains("taken over") && told.contains("nothing may be written"), "{told}");
    assert_eq!(first.rows(ALL), ["3"]);
    assert_eq!(metric(&first, "lode_published_fenced"), Some(1.0));
    let second = Endpoint::serve(&lode, "new", &["--publish", &url(&lode), "--publish-every", "0.1"]);
    let version = insert(&second, 2);
    let answer = ask_for(&replica, &version.to_string(), "").is(200);
    assert!(answer.body.contains("http://e/s2") && !answer.body.contains("lost"));
    assert_eq!(metric(&replica, "lode_published_epoch"), Some(2.0));
    // Started again, the first one is refused at once.
    drop(first);
    let refused = lode.run(&["serve", "db", "--bind", "127.0.0.1:0", "--publish", &url(&lode)]).fails(1);
    assert!(refused.contains("another copy of this database"), "{refused}");
    assert_eq!(replica.rows(ALL), ["4"]);
}

/// Of a writer that is killed, readers see what it had published; started again it goes on, and nothing that it confirmed is lost.
#[test]
fn a_writer_may_be_killed_at_any_time() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 0 .");
    let replica = {
        lode.run(&["publish", "db", &url(&lode)]).ok();
        Endpoint::serve(&lode, &url(&lode), &["--follow=0.05"])
    };
    let mut number = 0;
    for round in 0..8_u32 {
        let writer = Endpoint::start(&lode, &["--publish", &url(&lode), "--publish-every", "0.05"]);
        for _ in 0..3 + round {
            number += 1;
            insert(&writer, number);
        }
        std::thread::sleep(Duration::from_millis(u64::from(round * 13)));
        // Killed when dropped.
        drop(writer);
        // A row more for each number: whatever is seen has no gaps.
        let rows = replica.rows("SELECT ?o { ?s <http://e/p> ?o } ORDER BY ?o");
        let wanted: Vec<String> = (0..rows.len()).map(|number| number.to_string()).collect();
        assert_eq!(rows, wanted);
    }
    let writer = Endpoint::start(&lode, &["--publish", &url(&lode)]);
    wait_for("all is there", || replica.rows(ALL) == [(number + 1).to_string()]);
    assert_eq!(writer.rows(ALL), [(number + 1).to_string()]);
    assert!(newest(&lode).exists());
}

/// What was confirmed last is published when a server is stopped.
#[test]
fn a_writer_that_is_stopped_publishes_first() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 0 .");
    let writer = Endpoint::start(&lode, &["--publish", &url(&lode), "--publish-every", "3600"]);
    insert(&writer, 1);
    writer.stop();
    assert_eq!(lode.run(&["query", &url(&lode), ALL, "--format", "csv"]).ok().lines().last(), Some("2"));
}

#[test]
fn what_does_not_go_together_is_told() {
    let lode = Lode::with_turtle("<http://e/a> <http://e/p> 0 .");
    for (args, what) in [
        (&["serve", "db", "--follow"] as &[&str], "--follow is for the address of a published database"),
        (&["serve", "file:///x", "--publish", "file:///y"], "--publish is for the folder of a database"),
        (&["serve", "db", "--publish", "here"], "is published to an address"),
        (&["serve", "db", "--publish", "https://127.0.0.1:1/x"], "can only be read"),
        (&["serve", "db", "--publish", "file:///y", "--read-only"], "--read-only"),
        (&["serve", "db", "--follow=0"], "at least 0.05 seconds"),
    ] {
        let told = lode.run(args).fails(2);
        assert!(told.contains(what), "{args:?}: {told}");
    }
}
