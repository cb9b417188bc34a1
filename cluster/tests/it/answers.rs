//! The same answers: queries of all kinds, golden queries and random ones, by workers here and in processes.

use crate::support::{Process, eager, head, here, in_sequence, people, prepared, processes, sorted, urls};
use lode_cluster::Head;
use lode_conformance::engine_subject::EngineSubject;
use lode_conformance::subject::Subject;
use lode_conformance::{differential, golden, suites};
use lode_engine::Elsewhere;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Random queries, or as many as the environment's `LODE_CLUSTER` says, from the one on that its `LODE_SEED` says: the same for all kinds of workers, and without
/// any.
const QUERIES: u64 = 300;

const TEXTS: [&str; 16] = [
    "SELECT (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n }",
    "SELECT ?k (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n FILTER (?n > 100) } GROUP BY ?k",
    "SELECT ?a (COUNT(?b) AS ?c) { ?b <http://e/knows> ?a } GROUP BY ?a",
    "SELECT ?s ?n { ?s <http://e/kind> <http://e/k3> ; <http://e/n> ?n }",
    "SELECT ?a ?c { ?a <http://e/knows> ?b . ?b <http://e/knows> ?c FILTER (?a != ?c) }",
    "SELECT DISTINCT ?k { ?s <http://e/kind> ?k ; <http://e/m> ?m }",
    "SELECT ?s { { ?s <http://e/kind> <http://e/k1> } UNION { ?s <http://e/kind> <http://e/k2> } }",
    "SELECT ?s ?m { ?s <http://e/kind> <http://e/k4> OPTIONAL { ?s <http://e/m> ?m FILTER (?m < 500) } }",
    "SELECT ?k (SUM(?n) AS ?x) (AVG(?m) AS ?y) { ?s <http://e/kind> ?k ; <http://e/n> ?n ; <http://e/m> ?m } GROUP BY ?k",
    // New terms: texts, and numbers that are wider than inline ids.
    "SELECT ?k (MIN(STR(?n)) AS ?x) (MAX(CONCAT('no term ', STR(?s))) AS ?y) { ?s <http://e/kind> ?k ; <http://e/n> ?n } GROUP BY ?k",
    "SELECT ?a (SUM(?n * 100000000000000000.5) AS ?x) (AVG(?n / 7) AS ?y) { ?b <http://e/knows> ?a ; <http://e/n> ?n } GROUP BY ?a",
    "SELECT ?k (COUNT(DISTINCT ?a) AS ?x) (SUM(DISTINCT ?n) AS ?y) { ?s <http://e/kind> ?k ; <http://e/knows> ?a ; <http://e/n> ?n } GROUP BY ?k",
    // Both sides of a join come in other orders.
    "SELECT ?k ?j (COUNT(*) AS ?x) (SUM(?n) AS ?y) { ?a <http://e/knows> ?b ; <http://e/n> ?n ; <http://e/kind> ?k . ?b <http://e/kind> ?j ; <http://e/m> ?m } GROUP BY ?k ?j",
    "SELECT DISTINCT ?k ?m { ?a <http://e/knows> ?b ; <http://e/kind> ?k OPTIONAL { ?b <http://e/kind> <http://e/k3> ; <http://e/m> ?m FILTER (?m > 100) } }",
    // Of a sample any value will do: here there is one.
    "SELECT ?k (SAMPLE(?k) AS ?x) (SAMPLE(DISTINCT STR(?k)) AS ?y) (COUNT(*) AS ?z) { ?s <http://e/kind> ?k ; <http://e/n> ?n } GROUP BY ?k",
    "SELECT ?a (SAMPLE(?n) AS ?x) (STRLEN(GROUP_CONCAT(STR(?b))) AS ?y) { ?a <http://e/n> ?n . ?b <http://e/knows> ?a } GROUP BY ?a",
];

#[test]
fn queries_of_many_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 5_000);
    for count in [1, 2, 3] {
        let workers = here(count, &place);
        let head = head(urls(&workers));
        let mut spread = 0;
        for text in TEXTS {
            let native = sorted(prepared(&database, text, None).run().unwrap());
            let query = prepared(&database, text, Some(&head));
            spread += usize::from(query.report().elsewhere.is_some());
            assert_eq!(sorted(query.run().unwrap()), native, "{text} on {count} workers");
            assert!(native.len() > 1 || text.contains("COUNT(*) AS ?c) { ?s"), "{text}");
            // A plan from the cache.
            let again = prepared(&database, text, Some(&head));
            assert_eq!(sorted(again.run().unwrap()), native, "{text} again");
        }
        assert!(spread >= 14, "{spread} queries had parts elsewhere");
    }
}

#[test]
fn order_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 20_000);
    let workers = here(3, &place);
    let head = head(urls(&workers));
    for text in [
        "SELECT ?n ?s { ?s <http://e/kind> <http://e/k3> ; <http://e/n> ?n } ORDER BY ?n LIMIT 40",
        "SELECT ?n ?s { ?s <http://e/kind> ?k ; <http://e/n> ?n } ORDER BY DESC(?n) ?s",
    ] {
        let native = in_sequence(prepared(&database, text, None).run().unwrap());
        assert_eq!(in_sequence(prepared(&database, text, Some(&head)).run().unwrap()), native, "{text}");
    }
}

#[test]
fn random_queries_with_workers_here() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("db");
    let workers = here(2, &place);
    random(EngineSubject::in_folder(place, head(urls(&workers))), "workers here");
}

#[test]
fn random_queries_without_workers() {
    random(EngineSubject::default(), "without workers");
}

#[test]
fn random_queries_with_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (place, head, _workers) = with_processes(folder.path());
    random(EngineSubject::in_folder(place, head), "processes");
}

/// Three of them, for databases in a folder.
fn with_processes(folder: &Path) -> (PathBuf, Arc<dyn Elsewhere>, Vec<Process>) {
    let place = folder.join("db");
    std::fs::create_dir(&place).unwrap();
    let workers = processes(3, &place, folder);
    let urls = workers.iter().map(|worker| worker.url.clone()).collect();
    (place, Arc::new(Head::new(eager(urls)).unwrap()), workers)
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|count| count.parse().ok())
}

fn random(mut subject: EngineSubject, name: &str) {
    let (queries, seed) = (setting("LODE_CLUSTER").unwrap_or(QUERIES), setting("LODE_SEED").unwrap_or(0));
    let tell = |so_far: &differential::Summary| {
        let (agreed, skipped) = (so_far.agreed, so_far.skipped);
        if (agreed + skipped) % 1_000 == 0 {
            println!("{name}: {agreed} agree, {skipped} skipped");
        }
    };
    let summary = differential::run(&mut subject, seed, queries, 3, &mut { tell });
    println!("{name}: {} agree, {} skipped, from seed {seed}", summary.agreed, summary.skipped);
    differential::verdict(&summary).unwrap();
}

/// Native answers and those of workers, without the oracle, in one process.
#[test]
fn random_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("db");
    let workers = here(2, &place);
    let mut spread = EngineSubject::in_folder(place, head(urls(&workers)));
    let (pairs, seed) = (setting("LODE_PAIRS").unwrap_or(QUERIES), setting("LODE_SEED").unwrap_or(0));
    let mut tell = |so_far: &differential::Summary| {
        let compared = so_far.agreed + so_far.skipped;
        if compared.is_multiple_of(1_000) || !so_far.failures.is_empty() {
            println!("{} agree, {} skipped, {:?}", so_far.agreed, so_far.skipped, so_far.failures);
        }
    };
    let subjects = (&mut EngineSubject::default() as &mut dyn Subject, &mut spread as &mut dyn Subject);
    let summary = differential::run_pairs(subjects, seed, pairs, 3, &mut tell);
    println!("pairs: {} agree, {} skipped, from seed {seed}", summary.agreed, summary.skipped);
    differential::verdict(&summary).unwrap();
}

#[test]
fn golden_queries_with_workers_here() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("db");
    let workers = here(2, &place);
    golden(&place, head(urls(&workers)));
}

#[test]
fn golden_queries_with_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (place, head, _workers) = with_processes(folder.path());
    golden(&place, head);
}

fn golden(place: &Path, head: Arc<dyn Elsewhere>) {
    let mut subject = EngineSubject::in_folder(place.to_owned(), head);
    let mut failures = Vec::new();
    for golden in &golden::load_all().unwrap() {
        if let Err(error) = golden.check(&mut subject) {
            failures.push(format!("{}: {error:#}", golden.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert_eq!(subject.name(), "engine");
}

#[test]
fn queries_of_the_w3c_with_workers_here() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("db");
    let workers = here(2, &place);
    w3c(&place, head(urls(&workers)));
}

#[test]
fn queries_of_the_w3c_with_processes() {
    let folder = tempfile::tempdir().unwrap();
    let (place, head, _workers) = with_processes(folder.path());
    w3c(&place, head);
}

/// Each test passes with workers if and only if it does without.
fn w3c(place: &Path, head: Arc<dyn Elsewhere>) {
    let mut native = EngineSubject::default();
    let mut subject = EngineSubject::in_folder(place.to_owned(), head);
    let suites = suites::suites_folder();
    let (count, different) = suites::query_differences(&mut native, &mut subject, &suites).unwrap();
    println!("{count} queries of the W3C");
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
