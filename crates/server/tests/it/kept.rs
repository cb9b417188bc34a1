//! Kept queries: what is put, what is run with which values, and what is refused.

use crate::{encoded, send, send_as, serve, serve_database};
use lode_engine::{Database, UpdateOptions};
use lode_server::{Anonymous, LimitsOfRoles, ServerOptions};
use std::net::SocketAddr;

const KIND: &str = "application/sparql-query";
const FORM: &str = "application/x-www-form-urlencoded";

fn put(address: SocketAddr, path: &str, text: &str) -> (u16, String, String) {
    send_as(KIND, address, "PUT", path, text)
}

fn run(address: SocketAddr, path: &str) -> String {
    let (status, _, body) = send(address, "GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    body
}

fn refused(answer: &(u16, String, String), status: u16, told: &str) {
    assert!(answer.0 == status && answer.2.contains(told), "{status} {told}: {answer:?}");
}

/// People with names, ages and friends.
fn people() -> SocketAddr {
    let database = Database::in_memory().unwrap();
    let data = "INSERT DATA { <http://e/a> <http://e/name> 'Ann', 'Anna'@en ; <http://e/age> 30 ; <http://e/knows> <http://e/b> . \
                <http://e/b> <http://e/name> \"} UNION { ?s ?p ?o\" ; <http://e/age> 40 . <http://e/c> <http://e/age> 40 . \
                GRAPH <http://e/g> { <http://e/a> <http://e/age> 31 } }";
    database.update(data, &UpdateOptions::default()).unwrap();
    serve_database(database, ServerOptions::default())
}

#[test]
fn queries_are_kept_run_listed_shown_and_removed() {
    let address = people();
    let text = "SELECT ?s { ?s <http://e/age> ?age FILTER(?age >= ?least) } ORDER BY ?s";
    let path = "/queries/of-age?parameter=least:integer=35&description=Who+is+old+enough&limits=rows=2";
    assert_eq!(put(address, path, text).0, 201);
    assert_eq!(put(address, path, text).0, 200);
    assert_eq!(run(address, "/queries/of-age"), "s\r\nhttp://e/b\r\nhttp://e/c\r\n");
    assert_eq!(run(address, "/queries/of-age?least=41"), "s\r\n");
    assert_eq!(send_as(FORM, address, "POST", "/queries/of-age", "least=40").2.lines().count(), 3);
    refused(
        &send(address, "GET", "/queries/of-age?least=1", ""),
        413,
        "the limit of this query is 2 rows (rows of its own limits)",
    );
    refused(
        &send(address, "GET", "/queries/of-age?least=x", ""),
        400,
        "least: 'x': expected a value of xsd:integer",
    );
    refused(&send(address, "GET", "/queries/of-age?leest=1", ""), 400, "there is no parameter 'leest'");
    let listed = "[{\"id\":\"of-age\",\"description\":\"Who is old enough\",\"role\":\"read\",\"limits\":\"rows=2\",\
                  \"parameters\":[{\"name\":\"least\",\"type\":\"integer\",\"default\":\"35\"}]}]\n";
    assert_eq!(run(address, "/queries"), listed);
    assert_eq!(run(address, "/queries/of-age/text"), text);
    assert_eq!(send(address, "DELETE", "/queries/of-age", "").0, 200);
    refused(&send(address, "DELETE", "/queries/of-age", ""), 404, "there is no query 'of-age'");
    refused(&send(address, "GET", "/queries/of-age", ""), 404, "there is no query 'of-age'");
    assert_eq!(run(address, "/queries"), "[]\n");
    let (status, head, _) = send(address, "OPTIONS", "/queries/of-age", "");
    assert!(status == 204 && head.contains("allow: get, head, post, put, delete, options"), "{head}");
}

#[test]
fn values_are_values_wherever_a_parameter_stands() {
    let address = people();
    let all = |id: &str, parameters: &str, text: &str, asked: &str| {
        assert_eq!(put(address, &format!("/queries/{id}?{parameters}"), text).0, 201, "{text}");
        run(address, &format!("/queries/{id}?{asked}")).replace("\r\n", "|")
    };
    let name = encoded("} UNION { ?s ?p ?o");
    for (number, (parameters, text, asked, expected)) in [
        ("parameter=n:string", "SELECT ?s { ?s <http://e/name> ?n }", format!("n={name}"), "s|http://e/b|"),
        (
            "parameter=n:string",
            "SELECT ?n ?s { ?s <http://e/name> ?n }",
            "n=Ann".to_owned(),
            "n,s|Ann,http://e/a|",
        ),
        (
            "parameter=n:string@en",
            "SELECT ?s { ?s <http://e/name> ?n }",
            "n=Anna".to_owned(),
            "s|http://e/a|",
        ),
        (
            "parameter=s:iri",
            "SELECT ?s (COUNT(*) AS ?k) { ?s <http://e/age> ?a } GROUP BY ?s",
            "s=http://e/a".to_owned(),
            "s,k|http://e/a,1|",
        ),
        // A group by a parameter of no rows is none, as by a variable.
        (
            "parameter=s:iri",
            "SELECT ?s (COUNT(*) AS ?k) { ?s <http://e/age> ?a } GROUP BY ?s",
            "s=http://e/z".to_owned(),
            "s,k|",
        ),
        (
            "parameter=s:iri",
            "SELECT (COUNT(*) AS ?k) { ?s <http://e/age> ?a }",
            "s=http://e/z".to_owned(),
            "k|0|",
        ),
        (
            "parameter=g:iri",
            "SELECT ?a { GRAPH ?g { ?s <http://e/age> ?a } }",
            "g=http://e/g".to_owned(),
            "a|31|",
        ),
        (
            "parameter=p:iri",
            "SELECT ?o { <http://e/a> ?p ?o }",
            "p=http://e/knows".to_owned(),
            "o|http://e/b|",
        ),
        ("parameter=s:string", "SELECT ?o { ?s <http://e/age> ?o }", "s=a".to_owned(), "o|"),
        ("parameter=x:integer", "SELECT ?x (?x + 1 AS ?y) {}", "x=4".to_owned(), "x,y|4,5|"),
        (
            "parameter=x:integer",
            "SELECT ?s ?x { ?s <http://e/age> 40 BIND(40 AS ?x) } ORDER BY ?s",
            "x=40".to_owned(),
            "s,x|http://e/b,40|http://e/c,40|",
        ),
        ("parameter=x:integer", "SELECT ?s { ?s <http://e/age> 40 BIND(40 AS ?x) }", "x=41".to_owned(), "s|"),
        // Also in a sub-select that does not hand it on.
        (
            "parameter=x:integer",
            "SELECT ?s { { SELECT ?s { ?s <http://e/age> ?x } } } ORDER BY ?s",
            "x=30".to_owned(),
            "s|http://e/a|",
        ),
        (
            "parameter=x:integer",
            "SELECT ?s { ?s <http://e/age> ?a FILTER EXISTS { ?s <http://e/age> ?x } }",
            "x=30".to_owned(),
            "s|http://e/a|",
        ),
        (
            "parameter=x:integer",
            "SELECT ?s { ?s <http://e/age> ?a MINUS { ?s <http://e/age> ?x } }",
            "x=40".to_owned(),
            "s|http://e/a|",
        ),
        (
            "parameter=s:iri",
            "SELECT ?n { { SELECT ?s (COUNT(*) AS ?n) { ?s <http://e/knows>* ?o } GROUP BY ?s } }",
            "s=http://e/a".to_owned(),
            "n|2|",
        ),
        (
            "parameter=o:term",
            "SELECT ?s { VALUES (?s ?o) { (<http://e/a> 1) (<http://e/b> 2) } }",
            format!("o={}", encoded("\"2\"^^<http://www.w3.org/2001/XMLSchema#integer>")),
            "s|http://e/b|",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(all(&format!("q{number}"), parameters, text, &asked), expected, "{text}");
        // With the plan of the first run.
        assert_eq!(run(address, &format!("/queries/q{number}?{asked}")).replace("\r\n", "|"), expected);
    }
    assert_eq!(
        put(
            address,
            "/queries/c?parameter=s:iri",
            "CONSTRUCT { ?s <http://e/is> ?a } { ?s <http://e/age> ?a }"
        )
        .0,
        201
    );
    let (_, _, graph) = send(address, "GET", "/queries/c?s=http://e/b&format=nt", "");
    assert_eq!(graph.lines().count(), 1, "{graph}");
    assert!(graph.starts_with("<http://e/b> <http://e/is> "), "{graph}");
}

#[test]
fn what_cannot_be_kept_is_told() {
    let address = people();
    for (path, text, status, told) in [
        ("/queries/x", "SELECT nonsense", 400, "line 1, column 8"),
        ("/queries/x", "SELECT * { ?s ?p }\nnonsense", 400, "line 1, column"),
        ("/queries/x", "INSERT DATA { <a:a> <a:b> 1 }", 400, "line 1, column 1"),
        (
            "/queries/x?parameter=y:iri",
            "SELECT * { ?s ?p ?o }",
            400,
            "the parameter y is no variable of the query, which has ?o, ?p, ?s",
        ),
        (
            "/queries/x?parameter=s:irl",
            "SELECT * { ?s ?p ?o }",
            400,
            "'irl' is no type: known are iri, string",
        ),
        ("/queries/x?parameter=s", "SELECT * { ?s ?p ?o }", 400, "expected NAME:TYPE"),
        ("/queries/x?parameter=o:integer=x", "SELECT * { ?s ?p ?o }", 400, "expected a value of xsd:integer"),
        ("/queries/x?parameter=format:iri", "SELECT * { ?s ?p ?format }", 400, "choose another name"),
        ("/queries/x?parameter=s:iri&parameter=s:iri", "SELECT * { ?s ?p ?o }", 400, "declared twice"),
        ("/queries/x?role=reed", "ASK {}", 400, "expected anybody, read, update or admin"),
        ("/queries/x?limits=row=1", "ASK {}", 400, "there is no limit 'row'"),
        ("/queries/x?limits=requests=1", "ASK {}", 400, "limits of roles"),
        ("/queries/x?parametre=s:iri", "ASK {}", 400, "there is no parameter 'parametre'"),
        ("/queries/.x", "ASK {}", 400, "the name of a query has"),
        ("/queries/a%2Fb", "ASK {}", 400, "the name of a query has"),
    ] {
        refused(&put(address, path, text), status, told);
    }
    refused(&send_as("text/plain", address, "PUT", "/queries/x", "ASK {}"), 415, KIND);
    refused(&put(address, "/queries/x", &format!("ASK {{}} #{}", "x".repeat(256 << 10))), 413, "more than");
    assert_eq!(run(address, "/queries"), "[]\n");
}

#[test]
fn answers_are_cached_by_version_and_values() {
    let address = people();
    assert_eq!(put(address, "/queries/n?parameter=s:iri", "SELECT ?n { ?s <http://e/name> ?n }").0, 201);
    let tag = |path: &str| {
        let (_, head, _) = send(address, "GET", path, "");
        head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap_or_default().to_owned()
    };
    let (a, b) = (tag("/queries/n?s=http://e/a"), tag("/queries/n?s=http://e/b"));
    assert!(!a.is_empty() && a != b && a == tag("/queries/n?s=http://e/a"));
    assert_eq!(
        send_as("application/sparql-update", address, "POST", "/update", "INSERT DATA { <a:a> <a:b> 1 }").0,
        200
    );
    assert_ne!(tag("/queries/n?s=http://e/a"), a);
    let before = tag("/queries/n?s=http://e/a");
    assert_eq!(put(address, "/queries/n?parameter=s:iri", "SELECT ?m { ?s <http://e/name> ?m }").0, 200);
    assert_ne!(tag("/queries/n?s=http://e/a"), before, "another text");
}

#[test]
fn a_server_may_offer_some_queries_and_nothing_else() {
    let options = ServerOptions {
        anonymous: Some(Anonymous(None)),
        admin_token: Some("sesame".to_owned()),
        roles: LimitsOfRoles {
            anonymous: "reads=1,query-bytes=9,requests-a-minute=9".parse().unwrap(),
            ..LimitsOfRoles::default()
        },
        ..ServerOptions::default()
    };
    let address = serve(options);
    let admin = |method: &str, path: &str, text: &str| {
        let fields = [("Authorization", "Bearer sesame"), ("Content-Type", KIND)];
        crate::client::ask(address, method, path, &fields, text.as_bytes()).status
    };
    assert_eq!(
        admin("PUT", "/queries/open?role=anybody&limits=reads=5000", "SELECT * { ?s ?p ?o } LIMIT 3"),
        201
    );
    assert_eq!(admin("PUT", "/queries/close?role=anybody", "SELECT * { ?s ?p ?o }"), 201);
    assert_eq!(admin("PUT", "/queries/own", "SELECT * { ?s ?p ?o } LIMIT 3"), 201);
    assert_eq!(run(address, "/queries/open").lines().count(), 4);
    // The limits of who asks are there where the query has none.
    refused(&send(address, "GET", "/queries/close", ""), 403, "(reads of limits.anonymous)");
    for path in ["/queries/own", "/queries/none", "/queries", "/query?query=ASK%7B%7D", "/data"] {
        assert_eq!(send(address, "GET", path, "").0, 401, "{path}");
    }
    let told = |path: &str| send(address, "GET", path, "").2.split('[').next().unwrap().to_owned();
    assert_eq!(told("/queries/own"), told("/queries/none"), "which there are is not told");
    for (method, path) in
        [("PUT", "/queries/open"), ("DELETE", "/queries/open"), ("GET", "/queries/open/text")]
    {
        assert_eq!(send_as(KIND, address, method, path, "ASK {}").0, 401, "{method} {path}");
    }
    // Runs count.
    (0..7).for_each(|_| assert!([200, 429].contains(&send(address, "GET", "/queries/open", "").0)));
    refused(&send(address, "GET", "/queries/open", ""), 429, "requests-a-minute");
}
