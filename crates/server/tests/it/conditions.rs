//! Validators and conditions, methods, and what the server tells of itself.

use crate::client::{Answer, ask, serve_data};
use lode_server::ServerOptions;
use std::net::SocketAddr;

const TURTLE: (&str, &str) = ("Content-Type", "text/turtle");
const QUERY: &str = "/sparql?query=SELECT*{?s?p?o}";

fn get(address: SocketAddr, path: &str, fields: &[(&str, &str)]) -> Answer {
    ask(address, "GET", path, fields, b"")
}

fn tag(answer: &Answer) -> String {
    answer.field("etag").unwrap().to_owned()
}

#[test]
fn an_answer_is_the_same_until_something_changes() {
    let address = serve_data("INSERT DATA { <http://e/a> <http://e/p> 1 }", ServerOptions::default());
    for (number, path) in
        [QUERY, "/data", "/data?default", "/sparql", "/.well-known/void"].into_iter().enumerate()
    {
        let first = tag(&get(address, path, &[]).is(200));
        for method in ["GET", "HEAD"] {
            let known = ask(address, method, path, &[("If-None-Match", &first)], b"").is(304);
            assert_eq!((tag(&known), known.body.len()), (first.clone(), 0), "{path}");
        }
        assert_eq!(tag(&ask(address, "HEAD", path, &[], b"").is(200)), first, "{path}");
        let other =
            get(address, path, &[("Accept", "application/trig, text/csv"), ("If-None-Match", &first)])
                .is(200);
        assert_ne!(tag(&other), first, "{path}");
        get(address, path, &[("If-None-Match", "\"other\"")]).is(200);
        ask(
            address,
            "POST",
            "/data?default",
            &[TURTLE],
            format!("<http://e/a> <http://e/p> {} .", number + 2).as_bytes(),
        )
        .is(200);
        get(address, path, &[("If-None-Match", &first)]).is(200);
    }
    // What has another answer each time has no tag.
    for query in ["SELECT(NOW()AS?n){}", "SELECT(RAND()AS?n){}"] {
        assert_eq!(get(address, &format!("/sparql?query={query}"), &[]).is(200).field("etag"), None);
    }
    assert_eq!(get(address, &format!("{QUERY}&explain=1"), &[]).is(200).field("etag"), None);
}

#[test]
fn writes_may_depend_on_what_was_read() {
    let address = serve_data(
        "INSERT DATA { GRAPH <http://e/g> { <http://e/a> <http://e/p> 1 } }",
        ServerOptions::default(),
    );
    let (graph, none) = ("/data?graph=http://e/g", "/data?graph=http://e/none");
    let put = |path: &str, name: &str, value: &str| {
        ask(address, "PUT", path, &[TURTLE, (name, value)], b"<http://e/a> <http://e/p> 2 .")
    };
    let first = tag(&get(address, graph, &[("Accept-Encoding", "gzip")]).is(200));
    put(graph, "If-Match", &first).is(200);
    let lost = put(graph, "If-Match", &first).is(412);
    assert!(
        lost.text().contains("changed since") && lost.text().contains("nothing was changed"),
        "{}",
        lost.text()
    );
    for bad in ["\"other\"", "W/\"weak\"", "1"] {
        put(graph, "If-Match", bad).is(412);
    }
    put(graph, "If-Match", "*").is(200);
    put(none, "If-Match", "*").is(412);
    put(graph, "If-None-Match", "*").is(412);
    put(none, "If-None-Match", "*").is(201);
    let now = tag(&get(address, graph, &[]).is(200));
    let two = [TURTLE, ("If-Match", now.as_str()), ("If-None-Match", "*")];
    ask(address, "PUT", graph, &two, b"").is(400);
    let post = |tag: &str| {
        ask(address, "POST", graph, &[TURTLE, ("If-Match", tag)], b"<http://e/b> <http://e/p> 3 .")
    };
    post(&now).is(200);
    post(&now).is(412);
    ask(address, "DELETE", graph, &[("If-Match", &now)], b"").is(412);
    let now = tag(&ask(address, "HEAD", graph, &[], b"").is(200));
    ask(address, "DELETE", graph, &[("If-Match", &now)], b"").is(200);
    get(address, graph, &[]).is(404);
}

#[test]
fn of_many_that_saw_the_same_one_writes() {
    let address = serve_data("INSERT DATA { <http://e/a> <http://e/p> 1 }", ServerOptions::default());
    let tag = tag(&get(address, "/data?default", &[]).is(200));
    // None of them has what is there already, which would change nothing, and leave the version as it is.
    let clients: Vec<_> = (100..116)
        .map(|number| {
            let tag = tag.clone();
            std::thread::spawn(move || {
                let text = format!("<http://e/a> <http://e/p> {number} .");
                ask(address, "PUT", "/data?default", &[TURTLE, ("If-Match", &tag)], text.as_bytes()).status
            })
        })
        .collect();
    let statuses: Vec<u16> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 15, "{statuses:?}");
}

#[test]
fn an_upload_with_a_condition_is_one_transaction() {
    let options = ServerOptions { transaction_quads_max: 10, ..ServerOptions::default() };
    let address = serve_data("CLEAR ALL", options);
    let text: String = (0..11).map(|i| format!("<http://e/{i}> <http://e/p> {i} .\n")).collect();
    let refused = ask(address, "PUT", "/data?default", &[TURTLE, ("If-Match", "*")], text.as_bytes()).is(413);
    assert!(refused.text().contains("10 quads"), "{}", refused.text());
    ask(address, "PUT", "/data?default", &[TURTLE], text.as_bytes()).is(200);
}

#[test]
fn every_address_says_what_it_takes_and_nothing_is_empty() {
    let address = serve_data("CLEAR ALL", ServerOptions::default());
    for (path, methods) in [
        ("/sparql", "GET, HEAD, POST, OPTIONS"),
        ("/update", "POST, OPTIONS"),
        ("/data/x", "GET, HEAD, PUT, POST, DELETE, OPTIONS"),
        ("/admin/queries/7", "GET, HEAD, DELETE, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
    ] {
        let options = ask(address, "OPTIONS", path, &[], b"").is(204);
        assert_eq!(options.field("allow"), Some(methods), "{path}");
        let other = ask(address, "PATCH", path, &[], b"").is(405);
        assert_eq!(other.field("allow"), Some(methods), "{path}");
        assert!(!other.body.is_empty());
    }
    for (method, path) in [
        ("OPTIONS", "/nothing"),
        ("GET", "/nothing"),
        ("GET", "/data?graph=http://e/none"),
        ("DELETE", "/data?graph=http://e/none"),
        ("GET", "/data/%ff"),
        ("GET", "/data/none"),
        ("GET", "//"),
        ("GET", "/data/../x"),
        ("DELETE", "/admin/queries/9"),
        ("DELETE", "/admin/queries/x"),
        ("DELETE", "/admin/queries/%ff"),
    ] {
        let answer = ask(address, method, path, &[], b"");
        assert!((400..500).contains(&answer.status) && answer.body.len() > 10, "{path} {answer:?}");
        assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"), "{path}");
    }
}

#[test]
fn what_the_server_tells_of_itself_is_so() {
    let data = "PREFIX : <http://e/> INSERT DATA { :a a :C . GRAPH :g { :a :p 1, 2 } }";
    let address = serve_data(data, ServerOptions::default());
    for (accept, media_type) in [
        ("", "text/turtle; charset=utf-8"),
        ("application/n-triples", "application/n-triples"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("application/ld+json", "application/ld+json"),
    ] {
        for path in ["/sparql", "/query", "/.well-known/void"] {
            let answer = get(address, path, &[("Accept", accept)]).is(200);
            assert_eq!(answer.field("content-type"), Some(media_type));
        }
    }
    get(address, "/sparql", &[("Accept", "image/png")]).is(406);
    let lines = get(address, "/sparql", &[("Accept", "application/n-triples")]).is(200).text();
    let says =
        |name: &str, value: &str| lines.lines().any(|line| line.contains(name) && line.contains(value));
    assert!(says("#endpoint>", "<http://localhost/sparql>"), "{lines}");
    assert!(says("#supportedLanguage>", "SPARQL11Update") && says("#name>", "<http://e/g>"), "{lines}");
    // One triple there, two here, three in all.
    for count in ["\"1\"", "\"2\"", "\"3\""] {
        assert!(says("void#triples>", count), "{lines}");
    }
    // Neither federation nor the union is on.
    assert!(!says("#feature>", ""), "{lines}");
    let void = get(address, "/.well-known/void", &[("Accept", "application/n-triples")]).is(200).text();
    assert!(
        void.contains("DatasetDescription") && void.contains("<http://localhost/.well-known/void>"),
        "{void}"
    );
    ask(address, "POST", "/update", &[("Content-Type", "application/sparql-update")], b"CLEAR ALL").is(200);
    let lines = get(address, "/sparql", &[("Accept", "application/n-triples")]).is(200).text();
    assert!(!lines.contains("<http://e/g>"), "{lines}");
}
