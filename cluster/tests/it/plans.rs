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
}
