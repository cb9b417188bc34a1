//! Web pages of elsewhere, as a browser would send for them: none writes or reads, unless the one who runs the server says so.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::Lode;

const QUERY: (&str, &str) = ("Content-Type", "application/sparql-query");
const UPDATE: (&str, &str) = ("Content-Type", "application/sparql-update");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const TURTLE: (&str, &str) = ("Content-Type", "text/turtle");
const PAGE: (&str, &str) = ("Origin", "http://page.example");
const CROSS_SITE: (&str, &str) = ("Sec-Fetch-Site", "cross-site");

/// Whatever a page could send, by the header that tells of the page.
fn all_requests(endpoint: &Endpoint, page: (&str, &str)) -> Vec<Answer> {
    let insert = b"INSERT DATA { <http://e/x> <http://e/p> 9 }";
    vec![
        endpoint.send("POST", "/update", &[page, UPDATE], insert),
        endpoint.send("POST", "/sparql", &[page, FORM], b"update=CLEAR+ALL"),
        endpoint.send("POST", "/data?default", &[page, TURTLE], b"<http://e/x> <http://e/p> 9 ."),
        endpoint.send("PUT", "/data", &[page, ("Content-Type", "application/n-quads")], b""),
        endpoint.send("DELETE", "/data?default", &[page], b""),
        endpoint.send("POST", "/query", &[page, QUERY], b"ASK {}"),
        endpoint.send("GET", "/sparql?query=ASK%7B%7D", &[page], b""),
        endpoint.send("GET", "/data?default", &[page], b""),
        endpoint.send("OPTIONS", "/update", &[page, ("Access-Control-Request-Method", "POST")], b""),
        endpoint.send("POST", "/admin/compact", &[page], b""),
        endpoint.send("POST", "/admin/snapshots?name=a", &[page], b""),
        endpoint.send("DELETE", "/admin/snapshots?name=a", &[page], b""),
        endpoint.send("DELETE", "/admin/queries/1", &[page], b""),
        endpoint.send("GET", "/admin/stats", &[page], b""),
    ]
}

#[test]
fn no_page_of_elsewhere_writes_or_reads() {
    let lode = Lode::with_turtle("@prefix : <http://e/> . :a :p 1, 2 .");
    let endpoint = Endpoint::start(&lode, &[]);
    let elsewhere =
        [PAGE, ("Origin", "null"), ("Origin", "http://127.0.0.1:1"), CROSS_SITE, ("Host", "page.example")];
    for page in elsewhere {
        for answer in all_requests(&endpoint, page) {
            assert_eq!(answer.status, if page.0 == "Host" { 421 } else { 403 }, "{page:?} {answer:#?}");
            assert_eq!(answer.allowed_origin, None);
        }
    }
    assert_eq!(endpoint.quads(), 2);
    // Its own page may, and whoever is no browser.
    let own = ("Origin", endpoint.base.as_str());
    let insert = b"INSERT DATA { <http://e/x> <http://e/p> 9 }";
    endpoint.send("POST", "/update", &[own, UPDATE, ("Sec-Fetch-Site", "same-origin")], insert).is(200);
    endpoint.send("POST", "/admin/compact", &[own], b"").is(200);
    assert_eq!(endpoint.quads(), 3);
    let link = [CROSS_SITE, ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    endpoint.send("GET", "/sparql?query=ASK%7B%7D", &link, b"").is(200);
}

#[test]
fn pages_that_are_listed_read_and_write() {
    let lode = Lode::with_turtle("@prefix : <http://e/> . :a :p 1, 2 .");
    let endpoint = Endpoint::start(&lode, &["--cors", "http://page.example", "--host", "store.example"]);
    let answer = endpoint.send("OPTIONS", "/update", &[PAGE, CROSS_SITE], b"").is(204);
    assert_eq!(answer.allowed_origin.as_deref(), Some("http://page.example"));
    let insert = b"INSERT DATA { <http://e/x> <http://e/p> 9 }";
    let answer = endpoint.send("POST", "/update", &[PAGE, CROSS_SITE, UPDATE], insert).is(200);
    assert_eq!(answer.allowed_origin.as_deref(), Some("http://page.example"));
    // Errors can be read, too.
    let answer = endpoint.send("POST", "/update", &[PAGE, UPDATE], b"INSERT").is(400);
    assert!(answer.allowed_origin.is_some());
    // The administration asks for more than a page's name.
    endpoint.send("GET", "/admin/stats", &[PAGE], b"").is(403);
    endpoint.send("POST", "/update", &[("Origin", "http://other.example"), UPDATE], insert).is(403);
    // Names of graphs come from hosts that are known.
    let named = endpoint.send(
        "PUT",
        "/data/a",
        &[("Host", "store.example"), TURTLE],
        b"<http://e/s> <http://e/p> 1 .",
    );
    named.is(201);
    assert_eq!(endpoint.rows("SELECT ?g { GRAPH ?g {} }"), ["http://store.example/data/a"]);
    let error = lode.run(&["serve", "db", "--cors", "page.example"]).fails(2);
    assert!(error.contains("https://example.org"), "{error}");
}

#[test]
fn errors_tell_no_paths_of_this_machine() {
    // So many quads that no file is held in memory as a whole.
    let quad = |number: u32| format!(":s{number} :p {} .\n", number.wrapping_mul(0x9E37_79B9));
    let quads: String = (0..6000).map(quad).collect();
    let lode = Lode::with_turtle(&format!("@prefix : <http://e/> .\n{quads}"));
    let endpoint = Endpoint::start(&lode, &["--cache", "1"]);
    let segment = std::fs::read_dir(lode.path("db")).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.into_iter().find(|path| path.is_dir()).unwrap();
    for entry in std::fs::read_dir(segment).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, vec![0x55; bytes.len()]).unwrap();
    }
    let answer = endpoint.query("SELECT * { ?s ?p ?o }", "text/csv").is(500);
    assert!(answer.body.contains("damaged") && !answer.body.contains("segment-"), "{answer:?}");
    assert!(!answer.body.contains(&*lode.path("db").to_string_lossy()), "{answer:?}");
    assert!(endpoint.stop().contains("segment-"));
}
