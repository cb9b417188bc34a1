//! What queries take with workers and without: programs that print figures. Run with `--release`, `--ignored` and `--nocapture`.

#![expect(clippy::unwrap_used, reason = "a program that cannot go on has failed")]

#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../it/support.rs"]
mod support;

use crate::support::{Process, eager, options, people, prepared, sorted, token};
use lode_base::host;
use lode_cluster::{Head, HeadOptions};
use lode_engine::store::OpenFiles;
use lode_engine::{Database, Elsewhere, OpenOptions, QueryOptions};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of the program's environment, or else this.
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The least, the median, and what 95 of 100 are below, in milliseconds.
fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    format!("least {:.3} ms, median {:.3} ms, 95 % {:.3} ms", at(0.0), at(0.5), at(0.95))
}

/// Each of these in turns, so often; how long each took.
fn in_turns<const N: usize>(runs: usize, works: [&dyn Fn(); N]) -> [Vec<Duration>; N] {
    let mut times = [(); N].map(|()| Vec::new());
    for _ in 0..runs {
        for (work, times) in works.iter().zip(&mut times) {
            let started = Instant::now();
            work();
            times.push(started.elapsed());
        }
    }
    times
}

/// A query of four stages over little data, and short queries that stay at a head which has workers.
#[test]
#[ignore = "tells times"]
fn what_stages_and_routing_take() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers: Vec<_> = (0..2).map(|_| Process::start(&place, folder.path())).collect();
    let urls: Vec<_> = workers.iter().map(|worker| worker.url.clone()).collect();
    let runs = setting("LODE_RUNS", 300);
    let spread: Arc<dyn Elsewhere> = Arc::new(Head::new(eager(urls.clone())).unwrap());
    let text = "SELECT ?k ?j (COUNT(*) AS ?x) (SUM(?n) AS ?y) { ?a <http://e/knows> ?b ; <http://e/n> ?n ; <http://e/kind> ?k . ?b <http://e/kind> ?j ; <http://e/m> ?m } GROUP BY ?k ?j";
    let ask = |head: Option<&Arc<dyn Elsewhere>>, text: &str| {
        let rows = sorted(prepared(&database, text, head).run().unwrap());
        assert!(!rows.is_empty());
    };
    let query = prepared(&database, text, Some(&spread));
    let stages = query.report().elsewhere.unwrap()["fragments"].as_array().unwrap().len();
    assert_eq!(sorted(query.run().unwrap()), sorted(prepared(&database, text, None).run().unwrap()));
    (0..20).for_each(|_| ask(Some(&spread), text));
    let [native, workers] = in_turns(runs, [&|| ask(None, text), &|| ask(Some(&spread), text)]);
    println!("{stages} stages, native: {}", told(native));
    println!("{stages} stages, two worker processes: {}", told(workers));

    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(HeadOptions::new(urls, token())).unwrap());
    for (name, text) in [
        ("one subject", "SELECT ?n ?k { <http://e/s5> <http://e/n> ?n ; <http://e/kind> ?k }"),
        (
            "2,000 rows in groups",
            "SELECT ?k (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n } GROUP BY ?k",
        ),
    ] {
        assert!(prepared(&database, text, Some(&head)).report().elsewhere.is_none());
        (0..100).for_each(|_| ask(None, text));
        let [without, with] = in_turns(10 * runs, [&|| ask(None, text), &|| ask(Some(&head), text)]);
        println!("{name}, without workers: {}", told(without));
        println!("{name}, stays at a head with workers: {}", told(with));
    }
}

const PREFIXES: &str = "PREFIX bsbm: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/> PREFIX rev: <http://purl.org/stuff/rev#> PREFIX dc: <http://purl.org/dc/elements/1.1/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>";

const QUERIES: [(&str, &str); 13] = [
    (
        "star of three",
        "SELECT (COUNT(*) AS ?n) { ?r bsbm:reviewFor ?p ; rev:reviewer ?w ; bsbm:reviewDate ?d }",
    ),
    (
        "star of nine",
        "SELECT (COUNT(*) AS ?n) { ?o bsbm:product ?p ; bsbm:vendor ?v ; bsbm:price ?a ; bsbm:validFrom ?b ; bsbm:validTo ?c ; bsbm:deliveryDays ?d ; bsbm:offerWebpage ?e ; dc:publisher ?f ; dc:date ?g }",
    ),
    (
        "star, ten groups",
        "SELECT ?a (COUNT(*) AS ?n) { ?r bsbm:rating1 ?a ; bsbm:reviewFor ?p ; rev:reviewer ?w } GROUP BY ?a ORDER BY ?a",
    ),
    (
        "star, ten groups with sums",
        "SELECT ?a (SUM(?b) AS ?s) (AVG(?b) AS ?m) (MIN(?d) AS ?f) (MAX(?d) AS ?l) { ?r bsbm:rating1 ?a ; bsbm:rating2 ?b ; bsbm:reviewDate ?d } GROUP BY ?a ORDER BY ?a",
    ),
    (
        "star with a filter of texts",
        "SELECT (COUNT(*) AS ?n) { ?r rev:text ?t ; bsbm:reviewFor ?p ; bsbm:reviewDate ?d FILTER (STRLEN(?t) > 900) }",
    ),
    (
        "subject-object join of many rows",
        "SELECT ?x (COUNT(*) AS ?n) (SUM(?w) AS ?s) { ?o bsbm:product ?p ; bsbm:price ?w . ?p bsbm:producer ?x ; bsbm:productFeature ?f } GROUP BY ?x ORDER BY ?x LIMIT 10",
    ),
    ("subject-object join", "SELECT (COUNT(*) AS ?n) { ?o bsbm:product ?p . ?p bsbm:producer ?x }"),
    (
        "many groups by hash",
        "SELECT ?w (COUNT(*) AS ?n) { ?o bsbm:price ?w ; bsbm:product ?p } GROUP BY ?w ORDER BY DESC(?n) ?w LIMIT 10",
    ),
    (
        "star of nine, groups by hash",
        "SELECT ?p ?v (COUNT(*) AS ?n) { ?o bsbm:product ?p ; bsbm:vendor ?v ; bsbm:price ?a ; bsbm:validFrom ?b ; bsbm:validTo ?c ; bsbm:deliveryDays ?d ; bsbm:offerWebpage ?e ; dc:publisher ?f ; dc:date ?g } GROUP BY ?p ?v ORDER BY DESC(?n) ?p ?v LIMIT 10",
    ),
    (
        "groups with means",
        "SELECT ?p (AVG(?w) AS ?n) (MAX(?v) AS ?m) { ?o bsbm:price ?w ; bsbm:product ?p ; bsbm:vendor ?v } GROUP BY ?p ORDER BY DESC(?n) ?p LIMIT 10",
    ),
    (
        "distinct rows",
        "SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?p ?v { ?o bsbm:product ?p ; bsbm:vendor ?v ; bsbm:price ?w } }",
    ),
    (
        "two large sides by hash",
        "SELECT ?c (COUNT(*) AS ?n) { ?o bsbm:product ?p ; bsbm:price ?w ; bsbm:vendor ?v . ?r bsbm:reviewFor ?p ; rev:reviewer ?x . ?p bsbm:producer ?c } GROUP BY ?c ORDER BY DESC(?n) ?c LIMIT 10",
    ),
    (
        "reviewers of countries by hash",
        "SELECT ?c (COUNT(*) AS ?n) (AVG(?a) AS ?m) { ?r rev:reviewer ?x ; bsbm:rating1 ?a ; bsbm:reviewDate ?d . ?x bsbm:country ?c ; foaf:name ?na } GROUP BY ?c ORDER BY ?c",
    ),
];

/// Processor seconds of queries over a database of BSBM (the environment's `LODE_DATABASE`): with one thread here, and by two workers. All have read before
/// what they read.
#[test]
#[ignore = "tells times"]
fn what_workers_take() {
    let Some(place) = std::env::var_os("LODE_DATABASE").map(PathBuf::from) else {
        println!("LODE_DATABASE says over which database");
        return;
    };
    let only = std::env::var("LODE_ONLY").unwrap_or_default();
    let folder = tempfile::tempdir().unwrap();
    let database =
        Database::open_for_reading(&place, &OpenOptions::with_cache(1 << 30), OpenFiles::Now).unwrap();
    let memory = &["--memory", "2GiB"];
    let workers: Vec<_> =
        (0..2).map(|_| Process::with(&place.display().to_string(), folder.path(), memory)).collect();
    let urls = workers.iter().map(|worker| worker.url.clone()).collect();
    // Sooner than usual: of queries that take shorter the head runs all.
    let mut head = HeadOptions { cost_min: Duration::from_millis(1), ..HeadOptions::new(urls, token()) };
    if let Some(cost) = std::env::var("LODE_EXCHANGE_COST").ok().and_then(|text| text.parse().ok()) {
        head.exchange_cost = cost;
    }
    let head: Arc<dyn Elsewhere> = Arc::new(Head::new(head).unwrap());
    let runs = setting("LODE_RUNS", 5);
    let of_workers = || [0, 1].map(|worker: usize| workers[worker].told("processor_seconds_total").unwrap());
    println!("| query | native | workers | together / native | larger / native | head | exchanged |");
    for (name, text) in QUERIES.iter().filter(|(name, _)| name.contains(&only)) {
        let text = format!("{PREFIXES} {text}");
        let native = || sorted(database.prepare(&text, &one_thread()).unwrap().run().unwrap());
        let expected = native();
        let before = host::processor_seconds().unwrap();
        (0..runs).for_each(|_| assert_eq!(native(), expected));
        let native = (host::processor_seconds().unwrap() - before) / runs as f64;
        let ask = || {
            let query = database.prepare(&text, &options(Some(&head))).unwrap();
            assert_eq!(sorted(query.run().unwrap()), expected, "{name}");
            query
        };
        let query = ask();
        let report = query.report().elsewhere.expect("parts elsewhere");
        let fragments = report["fragments"].as_array().unwrap();
        let exchanged: u64 = (fragments.iter())
            .filter(|fragment| fragment["exchange"] == "by hash between workers")
            .map(|fragment| fragment["rows"].as_u64().unwrap())
            .sum();
        // Worker threads that have just ended are counted by the system some time later.
        let (before, of_head) = (of_workers(), host::processor_seconds().unwrap());
        (0..runs).for_each(|_| drop(ask()));
        let of_head = (host::processor_seconds().unwrap() - of_head) / runs as f64;
        std::thread::sleep(Duration::from_millis(300));
        let after = of_workers();
        let own = [0, 1].map(|worker: usize| (after[worker] - before[worker]) / runs as f64);
        println!(
            "| {name} | {native:.3} | {:.3} + {:.3} | {:.2} | {:.2} | {of_head:.3} | {exchanged} |",
            own[0],
            own[1],
            (own[0] + own[1]) / native,
            own[0].max(own[1]) / native,
        );
    }
}

fn one_thread() -> QueryOptions {
    QueryOptions { threads: 1, ..options(None) }
}
