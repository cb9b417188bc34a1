//! What is asked, and what is made of the answers: the same as if all data were here.

use super::*;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex};

/// Things with numbers, of which some have a name there: a few several, a few none.
fn here_and_there(count: usize) -> (String, String) {
    let (mut here, mut there) = (String::new(), String::new());
    for i in 0..count {
        let _ = write!(here, ":s{i} :number {i} . ");
        for name in 0..[1, 1, 2, 0][i % 4] {
            let _ = write!(there, ":s{i} :name \"n{i} {name}\" . ");
        }
    }
    here.push_str(":lang :number \"a\\\"b\\n\"@en-GB . _:blank :number -1 . << :a :b :c >> :number -2 . ");
    there.push_str(":lang :name \"n\" . _:other :name \"blank\" . :unnumbered :name \"u\" . ");
    (here, there)
}

/// The same query with SERVICE and without, over all data.
#[track_caller]
fn same(here: &str, there: &str, query: &str) -> usize {
    let endpoint = endpoint_of(there);
    let asked = query.replace("SERVICE", &format!("SERVICE <{}>", endpoint.url));
    let (local, all) = (database(here), database(&format!("{here} {there}")));
    let found = rows(&local, &asked, &options(&service(|_| {}))).unwrap();
    let expected = rows(&all, &query.replace("SERVICE", ""), &options(&service(|_| {}))).unwrap();
    assert_eq!(found.len(), expected.len(), "{query}");
    let is_named = |line: &&String| !line.contains("_:");
    assert!(found.iter().filter(is_named).eq(expected.iter().filter(is_named)), "{query}: {found:?}");
    endpoint.query_count()
}

#[test]
fn bindings_go_in_blocks() {
    let (here, there) = here_and_there(700);
    let requests = same(&here, &there, "SELECT * { ?s :number ?n SERVICE { ?s :name ?name } }");
    // 64, 128, 256 and the other bindings; blank nodes match nothing there.
    assert_eq!(requests, 4);
    let few = "SELECT * { VALUES ?n { 3 4 5 } ?s :number ?n SERVICE { ?s :name ?name } }";
    assert_eq!(same(&here, &there, few), 1);
}

#[test]
fn joins_are_those_of_local_patterns() {
    let (here, there) = here_and_there(100);
    for query in [
        "SELECT * { ?s :number ?n OPTIONAL { SERVICE { ?s :name ?name } } }",
        "SELECT * { ?s :number ?n OPTIONAL { SERVICE { ?s :name ?name } FILTER(?n > 50 && ?name != \"n52 0\") } }",
        "SELECT * { ?s :number ?n OPTIONAL { SERVICE { ?s :name ?name } FILTER(?name > \"n5\") } }",
        "SELECT * { ?s :number ?n OPTIONAL { SERVICE { ?s :name ?x } BIND(STRLEN(?x) AS ?l) } }",
        "SELECT * { ?s :number ?n OPTIONAL { { SERVICE { ?s :name ?x } } UNION { SERVICE { ?s :name ?y } } } }",
        "SELECT * { ?s :number ?n OPTIONAL { SERVICE { ?s :name ?x } ?s :number ?m FILTER(?m < 50) } }",
        "SELECT * { ?s :number ?n FILTER EXISTS { SERVICE { ?s :name ?name } } }",
        "SELECT * { ?s :number ?n FILTER NOT EXISTS { SERVICE { ?s :name ?name } } }",
        "SELECT * { ?s :number ?n MINUS { SERVICE { ?s :name ?name } } }",
        "SELECT * { ?s :number ?n SERVICE { { ?s :name ?name } UNION { ?x :name \"n\" } } }",
        "SELECT * { ?s :number ?n SERVICE { OPTIONAL { ?s :name ?name } } }",
        "SELECT * { ?s :number ?n SERVICE { ?s :name ?name FILTER(STRLEN(?name) > 4) } }",
        "SELECT * { ?s :number ?n SERVICE { ?s :name ?x BIND(STRLEN(?x) AS ?n) } }",
        "SELECT * { ?s :number ?n SERVICE { SELECT ?s (COUNT(*) AS ?names) { ?s :name ?name } GROUP BY ?s } }",
        "SELECT * { ?s :number ?n OPTIONAL { ?s :none ?name } SERVICE { ?s :name ?name } }",
        "SELECT * { VALUES (?s ?name) { (:s1 UNDEF) (UNDEF \"n2 0\") (:s3 \"x\") (UNDEF UNDEF) } SERVICE { ?s :name ?name } }",
        "SELECT (COUNT(*) AS ?all) { ?s :number ?n SERVICE { ?x :name ?name } }",
        "SELECT ?n { { SELECT * { ?s :number ?n } ORDER BY ?n LIMIT 7 } SERVICE { ?s :name ?name } }",
        "SELECT * { SERVICE { ?s :name \"n8 0\" } ?s :number ?n }",
        "SELECT * { SERVICE { <http://e/s1> :name \"n1 0\" } ?s :number 5 }",
    ] {
        same(&here, &there, query);
    }
}

#[test]
fn endpoints_can_be_bound() {
    let (first, second) = (endpoint_of(":a :p 1 . :b :p 2 ."), endpoint_of(":a :p 10 . :c :p 3 ."));
    let local = database(&format!(
        ":a :at <{0}> , <{1}> . :b :at <{0}> . :c :at <{1}> , <http://127.0.0.1:1/none> .",
        first.url, second.url
    ));
    let query = "SELECT ?x ?v { ?x :at ?e SERVICE SILENT ?e { ?x :p ?v } }";
    let found = rows(&local, query, &options(&service(|_| {}))).unwrap();
    let integer = "\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    let row = |x: &str, v: &str| format!("<http://e/{x}> \"{v}{integer}");
    assert_eq!(found, [row("a", "1"), row("a", "10"), row("b", "2"), row("c", "3"), "<http://e/c> -".into()]);
    assert_eq!((first.query_count(), second.query_count()), (1, 1));
    assert!(first.queries.lock().unwrap()[0].contains("VALUES"), "{:?}", first.queries);
}

#[test]
fn some_requests_are_on_their_way_at_once() {
    let (arrived, most) = (Arc::new((Mutex::new(0), Condvar::new())), 4);
    let endpoint = Endpoint::start(move |_, stream| {
        let mut count = arrived.0.lock().unwrap();
        *count += 1;
        arrived.1.notify_all();
        // Nobody is answered before all that may come at once are here.
        drop(arrived.1.wait_while(count, |count| *count < most).unwrap());
        send(stream, "200 OK", JSON, r#"{"head":{"vars":["s"]},"results":{"bindings":[]}}"#)
    });
    let (here, _) = here_and_there(3000);
    let query = format!("SELECT * {{ ?s :number ?n SERVICE <{}> {{ ?s :name ?name }} }}", endpoint.url);
    let service = service(|options| options.requests_max = most);
    assert!(rows(&database(&here), &query, &options(&service)).unwrap().is_empty());
    assert!(endpoint.query_count() >= 8);
    assert_eq!(endpoint.connections.load(Ordering::SeqCst), most, "connections are kept");
}

#[test]
fn results_may_come_in_other_formats() {
    let xml = "<?xml version=\"1.0\"?><sparql xmlns=\"http://www.w3.org/2005/sparql-results#\"><head>\
        <variable name=\"o\"/></head><results><result><binding name=\"o\"><uri>http://e/x</uri></binding></result>\
        <result></result></results></sparql>";
    let tsv = "?o\n<http://e/x>\n\n";
    for (media_type, body) in
        [("application/sparql-results+xml", xml), ("text/tab-separated-values; charset=utf-8", tsv)]
    {
        let endpoint = Endpoint::start(move |_, stream| {
            send(stream, "200 OK", &format!("Content-Type: {media_type}\r\n"), body)
        });
        let query = format!("SELECT ?o {{ SERVICE <{}> {{ OPTIONAL {{ ?s ?p ?o }} }} }}", endpoint.url);
        let found = rows(&database(""), &query, &options(&service(|_| {}))).unwrap();
        assert_eq!(found, ["-", "<http://e/x>"], "{media_type}");
        let asked = endpoint.queries.lock().unwrap().clone();
        assert_eq!(
            asked,
            ["SELECT ?o WHERE { OPTIONAL { ?s ?p ?o . } }"],
            "what is not wanted is not asked for"
        );
    }
}

#[test]
fn profiles_tell_of_requests() {
    let endpoint = endpoint_of(":a :p 1 .");
    let text = format!("SELECT * {{ SERVICE <{}> {{ ?s ?p ?o }} }}", endpoint.url);
    let database = database("");
    let prepared = database.prepare(&text, &options(&service(|_| {}))).unwrap();
    let QueryResults::Solutions(mut solutions) = prepared.run().unwrap() else { panic!("no rows") };
    assert_eq!(solutions.collect_rows().unwrap().len(), 1);
    let report = prepared.report();
    let work = report.run.unwrap().total;
    let asked = endpoint.queries.lock().unwrap()[0].len();
    assert_eq!((work.requests, work.bytes_sent), (1, asked as u64));
    assert!(work.bytes_received > 100, "{work:?}");
}
