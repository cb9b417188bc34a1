//! Queries and updates that try to break the promise of `--memory`: with more computed terms, and more rows to sort, than it has room for.

use crate::endpoint::Endpoint;
use crate::lode::{Lode, Outcome};
use std::fmt::Write;
use std::process::Stdio;
use std::time::Duration;

/// The least that may be given.
const LEAST: &str = "64MiB";
const LEAST_BYTES: u64 = 64 << 20;
const ROWS: usize = 400_000;

/// A number that no other one gives, and no order.
fn mixed(n: usize) -> u32 {
    (n as u32).wrapping_mul(0x9E37_79B9)
}

/// The text of a row's object, which says its place among all.
fn object(n: usize) -> String {
    format!("the object {:010}", mixed(n))
}

/// A database of rows with different objects of a type that nobody knows.
fn database(rows: usize) -> Lode {
    let lode = Lode::new();
    let mut text = String::new();
    for n in 0..rows {
        writeln!(text, "<http://e/s{n}> <http://e/p> \"{}\"^^<http://e/type> .", object(n)).unwrap();
    }
    lode.write("data.nt", text);
    lode.run(&["load", "db", "data.nt", "--quiet"]).ok();
    lode
}

/// A field of `/proc/PID/status` in bytes.
fn status(pid: u32, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Runs a command, and tells the most memory that it had resident, where that can be told.
fn watched(lode: &Lode, args: &[&str]) -> (Outcome, u64) {
    let [out, err] = ["out", "err"].map(|name| lode.path(name));
    let file = |path| Stdio::from(std::fs::File::create(path).unwrap());
    let mut child = lode.command(args).stdout(file(&out)).stderr(file(&err)).spawn().unwrap();
    let mut peak = 0;
    let code = loop {
        peak = peak.max(status(child.id(), "VmHWM").unwrap_or(0));
        match child.try_wait().unwrap() {
            Some(status) => break status.code().unwrap_or(-1),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let text = |path| std::fs::read_to_string(path).unwrap();
    (Outcome { code, out: text(out), err: text(err) }, peak)
}

/// What a release takes for a query that needs nothing.
const RELEASE_BYTES: u64 = 18 << 20;

/// What a program built for tests takes more than a release: its code, mostly.
fn test_build_bytes(lode: &Lode) -> u64 {
    let (outcome, bytes) = watched(lode, &["query", "db", "ASK {}", "--memory", LEAST]);
    outcome.ok();
    bytes.saturating_sub(RELEASE_BYTES)
}

/// The process has kept to its memory, and 15 % more.
#[track_caller]
fn assert_kept(peak: u64, memory: u64, test_build: u64) {
    let limit = memory / 100 * 115 + test_build;
    assert!(
        peak <= limit,
        "{} of {} MiB, and {} of the test build",
        peak >> 20,
        memory >> 20,
        test_build >> 20
    );
}

#[test]
fn any_number_of_rows_is_sorted_within_the_least_memory() {
    let lode = database(ROWS);
    let test_build = test_build_bytes(&lode);
    let mut expected: Vec<String> = (0..ROWS).map(object).collect();
    expected.sort_unstable();
    let plain: String = expected.iter().map(|object| format!("{object}\n")).collect();
    for query in [
        "SELECT ?o { ?s <http://e/p> ?o } ORDER BY ?o",
        // Terms that the query makes.
        "SELECT ?o { ?s <http://e/p> ?o } ORDER BY CONCAT(STR(?o), \"!\") ?s",
        "SELECT (SUBSTR(?x, 2) AS ?o) { { SELECT DISTINCT (CONCAT(\"_\", STR(?y)) AS ?x) { ?s <http://e/p> ?y } } } ORDER BY ?x",
    ] {
        let args = ["query", "db", query, "--memory", LEAST, "--threads", "2", "--format", "csv"];
        let (outcome, peak) = watched(&lode, &args);
        let found = outcome.ok().replace('\r', "");
        assert!(found.split_once('\n').is_some_and(|(_, rows)| rows == plain), "{query}");
        assert_kept(peak, LEAST_BYTES, test_build);
    }
}

/// The help of a command, as one line.
fn help(lode: &Lode, command: &str) -> String {
    lode.run(&[command, "--help"]).ok().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn less_than_the_least_memory_is_refused() {
    let lode = database(1);
    let ask = "ASK {}";
    for (args, code) in [
        (&["query", "db", ask][..], 2),
        (&["update", "db", "INSERT DATA { <http://e/a> <http://e/b> 1 }"], 2),
        (&["serve", "db", "--bind", "127.0.0.1:0"], 2),
    ] {
        let error = lode.run(&[args, &["--memory", "63MiB"]].concat()).fails(code);
        assert!(error.contains("--memory") && error.contains("64 MiB"), "{error}");
        assert!(help(&lode, args[0]).contains("at least 64MiB"));
    }
    let error = lode.run(&["load", "db", "data.nt", "--memory", "47MiB"]).fails(2);
    assert!(error.contains("--memory") && error.contains("48 MiB"), "{error}");
    assert!(help(&lode, "load").contains("at least 48MiB"));
    lode.run(&["load", "db", "data.nt", "--memory", "48MiB"]).ok();
    lode.run(&["query", "db", ask, "--memory", LEAST]).ok();
    lode.run(&["update", "db", "INSERT DATA { <http://e/a> <http://e/b> 1 }", "--memory", LEAST]).ok();
}

/// Updates whose computed terms have some hundred megabytes.
fn large_updates() -> [String; 3] {
    let long = "x".repeat(10_000);
    let terms = format!("?s <http://e/p> ?o . BIND(CONCAT(STR(?o), \"{long}\") AS ?x)");
    [
        format!("INSERT {{ ?s <http://e/t> ?x }} WHERE {{ {terms} }}"),
        format!("DELETE {{ ?s <http://e/p> ?o }} INSERT {{ ?s <http://e/t> ?x }} WHERE {{ {terms} }}"),
        format!(
            "INSERT {{ GRAPH <http://e/g> {{ ?s <http://e/t> <<( ?s <http://e/q> ?x )>> }} }} WHERE {{ {terms} }}"
        ),
    ]
}

#[test]
fn computed_terms_of_updates_count() {
    const MEMORY: u64 = 128 << 20;
    let lode = database(40_000);
    let test_build = test_build_bytes(&lode);
    let endpoint = Endpoint::start(&lode, &["--memory", "128MiB"]);
    for update in large_updates() {
        let refused = endpoint.update(&update).is(413);
        assert!(refused.body.contains("--memory"), "{}", refused.body);
        // The budget has it again, and so has the system: others go on, with as much.
        let resident = || status(endpoint.pid(), "VmRSS").unwrap_or(0);
        let most = MEMORY / 2 + test_build;
        let is_given_back = (0..100).any(|_| {
            resident() <= most || {
                std::thread::sleep(Duration::from_millis(20));
                false
            }
        });
        assert!(is_given_back, "{} MiB stay", resident() >> 20);
        endpoint.update("INSERT DATA { <http://e/a> <http://e/b> 1 }").is(200);
        let fewer = update.replace("?s <http://e/p> ?o .", "{ SELECT * { ?s <http://e/p> ?o } LIMIT 500 }");
        endpoint.update(&fewer).is(200);
        assert_kept(endpoint.peak_bytes().unwrap_or(0), MEMORY, test_build);
    }
    assert!(endpoint.quads() >= 40_001);
    drop(endpoint);
    let (outcome, peak) = watched(&lode, &["update", "db", &large_updates()[0], "--memory", "128MiB"]);
    assert!(outcome.fails(1).contains("--memory"));
    assert_kept(peak, MEMORY, test_build);
}

#[test]
fn what_is_too_large_for_all_memory_is_no_fault_of_others() {
    let lode = database(1);
    let endpoint = Endpoint::start(&lode, &["--memory", LEAST]);
    // Nearly all of it: the cache keeps a little.
    let query = format!("SELECT * {{ VALUES ?x {{ {} }} }}", "1 ".repeat(53_000));
    let refused = endpoint.query(&query, "text/csv").is(413);
    assert!(refused.body.contains("lode serve --memory"), "{}", refused.body);
}
