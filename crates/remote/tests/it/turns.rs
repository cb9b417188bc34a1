//! What a query over a network waits for is how many requests follow each other: what does not depend on each other is asked for together.

use crate::cached::{cache, published};
use crate::web_server::WebServer;
use crate::*;

/// The rows of a query, sorted, over what was just opened, and how many requests for parts of files followed each other.
fn cold(target: &MemVfs, text: &str) -> (Vec<String>, u64) {
    let (server, folder) = (WebServer::start(target), tempfile::tempdir().unwrap());
    let published = read(Arc::new(server.store()), &cache(folder.path())).unwrap();
    let database = published.database(&OpenOptions::with_cache(8 << 20), OpenFiles::WhenRead).unwrap();
    let options = QueryOptions { threads: 1, ..QueryOptions::default() };
    let QueryResults::Solutions(mut solutions) = database.query(text, &options).unwrap() else {
        panic!("rows")
    };
    let mut rows: Vec<String> =
        solutions.collect_rows().unwrap().iter().map(|row| format!("{row:?}")).collect();
    rows.sort_unstable();
    (rows, database.store().read_counters().turns)
}

#[test]
fn queries_take_few_turns() {
    let (vfs, target, _) = published();
    let local = open(&shared(&vfs));
    let rows_of = |text: &str| {
        let results = local.query(text, &QueryOptions::default()).unwrap();
        let QueryResults::Solutions(mut solutions) = results else { panic!("rows") };
        let mut rows: Vec<String> =
            solutions.collect_rows().unwrap().iter().map(|row| format!("{row:?}")).collect();
        rows.sort_unstable();
        rows
    };
    // The id of the constant; its rows in two orders; all terms of the answer.
    let point = "SELECT ?p ?o { <http://e/s700> ?p ?o }";
    // Two subjects, and what they share: constants are looked up together, and so are the rows of both.
    let two = "SELECT ?p ?a ?b { <http://e/s700> ?p ?a . <http://e/s707> ?p ?b }";
    // Each branch gives a batch of its own, whose terms are asked for when it is there; and one more, since its constants lie far from each other.
    let alternatives = "SELECT * { { <http://e/s7> ?p ?o } UNION { <http://e/s7000> ?p ?o } UNION { <http://e/s17000> ?p ?o } }";
    let optional =
        "SELECT * { <http://e/s70> <http://e/p0> ?a OPTIONAL { <http://e/s9070> <http://e/p5> ?b } }";
    for (text, turns_max) in [(point, 3), (two, 3), (alternatives, 6), (optional, 3)] {
        let (rows, turns) = cold(&target, text);
        assert_eq!(rows, rows_of(text), "{text}");
        assert!(turns <= turns_max, "{text}: {turns}");
    }
}

/// Constants that are not there, and nothing at all, are as before.
#[test]
fn what_is_missing_is_asked_for_in_vain() {
    let (_, target, _) = published();
    for text in [
        "SELECT * { <http://e/none> ?p ?o }",
        "SELECT * { <http://e/s1> <http://e/none> ?o . ?o <http://e/p1> \"none\"@en }",
        "SELECT * { ?s ?p \"none\" }",
    ] {
        assert_eq!(cold(&target, text).0, Vec::<String>::new(), "{text}");
    }
}
