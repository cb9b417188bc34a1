//! What is sent: no leaf claims more than it knows, and no worker runs what no head sends.

use crate::support::{head, here, people, prepared, urls};

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
    // What each of them did, by stages: the leaves are one, what puts groups together another.
    let done = report["fragments"][0]["done"].as_array().unwrap();
    let sum = |name: &str| done.iter().map(|one| one[name].as_f64().unwrap()).sum::<f64>();
    let stages: std::collections::BTreeSet<u64> =
        done.iter().map(|one| one["stage"].as_u64().unwrap()).collect();
    assert_eq!((stages.len(), sum("tasks")), (2, 6.0), "{report}");
    assert!(sum("rows") >= rows as f64 && sum("bytes") > 0.0 && sum("processor_seconds") > 0.0, "{report}");
    assert!(sum("bytes_received") > 0.0, "{report}");
    let told = query.explain();
    assert!(told.contains("s of processors in fragments"), "{told}");
    let status = head.status().unwrap();
    let of_head: f64 =
        status["workers"].as_array().unwrap().iter().map(|one| one["rows"].as_f64().unwrap()).sum();
    assert_eq!(of_head, sum("rows"), "{status}");
}
