//! What was in memory when a server ended is read when the next one starts, and by `lode warm`.

use crate::endpoint::Endpoint;
use crate::lode::Lode;

fn data() -> String {
    (0..3000).map(|i| format!("<http://e/s{i}> <http://e/p> {i} , \"text {i}\" . ")).collect()
}

const QUERY: &str = "SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s <http://e/p> ?o FILTER(STRLEN(STR(?o)) > 3) }";

#[test]
fn a_server_notes_what_it_has_in_memory_and_the_next_one_reads_it() {
    let lode = Lode::with_turtle(&data());
    let list = lode.path("db/hot-blocks");
    // Whoever does not want it has none.
    let endpoint = Endpoint::start(&lode, &["--no-warm"]);
    endpoint.query(QUERY, "text/csv").is(200);
    endpoint.stop();
    assert!(!list.exists());
    let none = lode.run(&["warm", "db"]);
    assert!(none.code == 1 && none.err.contains("--orders"), "{none:?}");
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.query(QUERY, "text/csv").is(200);
    endpoint.stop();
    let first = std::fs::read(&list).unwrap();
    assert!(first.starts_with(b"LODEHOT1"));
    let read = lode.run(&["warm", "db"]);
    assert!(read.err.contains("read ") && !read.err.contains("passed over"), "{read:?}");
    read.ok();
    // Read again, it is as it was; one that is damaged counts as none.
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.query("ASK {}", "text/csv").is(200);
    let said = endpoint.stop();
    assert!(!said.contains("warning"), "{said}");
    std::fs::write(&list, b"LODEHOT1 and what is none").unwrap();
    let endpoint = Endpoint::start(&lode, &[]);
    endpoint.query(QUERY, "text/csv").is(200);
    endpoint.stop();
    assert_eq!(std::fs::read(&list).unwrap(), first);
    // One that only reads leaves all as it is.
    let endpoint = Endpoint::start(&lode, &["--read-only"]);
    endpoint.query("SELECT * { ?s ?p 5 }", "text/csv").is(200);
    endpoint.stop();
    assert_eq!(std::fs::read(&list).unwrap(), first);
    lode.run(&["check", "db"]).ok();
}

#[test]
fn orders_are_read_wholly() {
    let lode = Lode::with_turtle(&data());
    for orders in ["all", "spog", "posg,terms"] {
        let read = lode.run(&["warm", "db", "--orders", orders]);
        assert!(read.err.contains("read "), "{read:?}");
        read.ok();
    }
    assert!(!lode.path("db/hot-blocks").exists());
    let wrong = lode.run(&["warm", "db", "--orders", "pots"]);
    assert!(wrong.code == 2 && wrong.err.contains("posg"), "{wrong:?}");
    assert_eq!(lode.run(&["warm", "nothing-here"]).code, 1);
}
