//! What is sent: no leaf claims more than it knows, and no worker runs what no head sends.

use crate::support::{eager, head, here, people, prepared, sorted, urls};
use lode_cluster::{Head, HeadOptions};
use lode_engine::Elsewhere;
use std::sync::Arc;

#[test]
fn plans_tell_stages_tasks_and_exchanges() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(3, &place);
    let head = head(urls(&workers));
    let text = "SELECT ?a (COUNT(?b) AS ?c) { ?b <http://e/knows> ?a ; <http://e/n> ?n } GROUP BY ?a";
    let query = prepared(&database, text, Some(&head));
    let told = query.explain();
    assert!(told.contains("fragment 0: 3 tasks"), "{told}");
    assert!(told.contains("exchange: by hash between workers"), "{told}");
    for worker in urls(&workers) {
        assert!(told.contains(worker.as_str()), "{told}");
    }
    let mut rows = 0;
    let lode_engine::QueryResults::Solutions(mut solutions) = query.run().unwrap() else { panic!("rows") };
    rows += solutions.collect_rows().unwrap().len();
    let report = query.report().elsewhere.unwrap();
    // The first one's rows go to the workers that run the second one.
    assert_eq!(report["fragments"][1]["rows"].as_u64().unwrap(), rows as u64, "{report}");
    assert_eq!(report["fragments"][0]["tasks"], 3);
    assert_eq!(report["workers_lost"], 0);
    // What each of them did: the leaves, and what puts groups together.
    let sums = |fragment: usize, name: &str| {
        let done = report["fragments"][fragment]["done"].as_array().unwrap();
        done.iter().map(|one| one[name].as_f64().unwrap()).sum::<f64>()
    };
    for fragment in [0, 1] {
        let own = &report["fragments"][fragment];
        let stages = own["done"].as_array().unwrap().iter().map(|one| one["stage"].as_u64().unwrap());
        assert!(stages.into_iter().all(|stage| stage == fragment as u64 + 1), "{report}");
        assert_eq!(sums(fragment, "tasks"), own["tasks"].as_f64().unwrap(), "{report}");
        assert_eq!(sums(fragment, "rows"), own["rows"].as_f64().unwrap(), "{report}");
        assert!(sums(fragment, "bytes") > 0.0 && sums(fragment, "processor_seconds") > 0.0, "{report}");
    }
    assert!(sums(0, "rows") >= rows as f64, "{report}");
    // Who has no inputs takes nothing of others.
    assert_eq!(sums(0, "bytes_received"), 0.0, "{report}");
    assert!(sums(1, "bytes_received") > 0.0, "{report}");
    let told = query.explain();
    assert!(told.contains("s of processors in fragments"), "{told}");
    let status = head.status().unwrap();
    let of_head: f64 =
        status["workers"].as_array().unwrap().iter().map(|one| one["rows"].as_f64().unwrap()).sum();
    assert_eq!(of_head, sums(0, "rows") + sums(1, "rows"), "{status}");
}

/// Stages over stages: each fragment has its own figures.
#[test]
fn joins_of_exchanged_rows_tell_of_all_fragments() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let head = head(urls(&workers));
    let text = "SELECT ?k ?j (COUNT(*) AS ?x) { ?a <http://e/knows> ?b ; <http://e/n> ?n ; <http://e/kind> ?k . ?b <http://e/kind> ?j ; <http://e/m> ?m } GROUP BY ?k ?j";
    let native = sorted(prepared(&database, text, None).run().unwrap());
    // Twice: what was told of the first run is not told with the second.
    for _ in 0..2 {
        let query = prepared(&database, text, Some(&head));
        assert_eq!(sorted(query.run().unwrap()), native);
        let report = query.report().elsewhere.unwrap();
        let fragments = report["fragments"].as_array().unwrap();
        assert!(fragments.len() >= 3, "{report}");
        for fragment in fragments {
            let tasks: u64 =
                fragment["done"].as_array().unwrap().iter().map(|one| one["tasks"].as_u64().unwrap()).sum();
            assert_eq!(tasks, fragment["tasks"].as_u64().unwrap(), "{report}");
        }
    }
}

/// What is not run by workers is told, with the reason.
#[test]
fn what_stays_at_the_head_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let head = head(urls(&workers));
    let told = |text: &str| {
        let query = prepared(&database, text, Some(&head));
        (query.explain(), query.report().elsewhere.unwrap()["stays"].clone())
    };
    let (text, stays) = told(
        "SELECT ?k (GROUP_CONCAT(STR(?n)) AS ?x) { ?s <http://e/kind> ?k ; <http://e/n> ?n } GROUP BY ?k",
    );
    assert!(text.contains("Group stays at the head: values of GROUP_CONCAT"), "{text}");
    assert_eq!(stays[0]["operator"], "Group");
    let (text, _) =
        told("SELECT ?k (SAMPLE(?n) AS ?x) { ?s <http://e/kind> ?k ; <http://e/n> ?n } GROUP BY ?k");
    assert!(!text.contains("stays at the head"), "{text}");
}

/// What others would do for a query is less than what they exchange for it.
#[test]
fn what_is_not_worth_an_exchange_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = people(folder.path(), 2_000);
    let workers = here(2, &place);
    let by_hash = "SELECT ?a (COUNT(?b) AS ?c) { ?b <http://e/knows> ?a ; <http://e/n> ?n } GROUP BY ?a";
    let few =
        "SELECT ?k (COUNT(*) AS ?c) { ?s <http://e/kind> ?k ; <http://e/n> ?n FILTER (?n > 7) } GROUP BY ?k";
    for (exchange_cost, rows_min, texts) in
        [(0.0, 0.0, &[by_hash, few][..]), (1e6, 0.0, &[]), (1e6, 1e9, &[by_hash, few])]
    {
        let options = HeadOptions { exchange_cost, exchange_min: rows_min, ..eager(urls(&workers)) };
        let head: Arc<dyn Elsewhere> = Arc::new(Head::new(options).unwrap());
        for text in [by_hash, few] {
            let query = prepared(&database, text, Some(&head));
            let is_spread = query.report().elsewhere.is_some();
            assert_eq!(is_spread, texts.contains(&text), "{text}, {exchange_cost}, {rows_min}");
            let native = sorted(prepared(&database, text, None).run().unwrap());
            assert_eq!(sorted(query.run().unwrap()), native, "{text}");
        }
    }
}
