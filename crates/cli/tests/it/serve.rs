//! `lode serve`, spoken to over loopback.

use crate::lode::Lode;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

const TURTLE: &str = "@prefix : <http://e/> . :a :p 1, 2 . :b :p 3 ; :q :a .";

/// A running endpoint, stopped when dropped.
struct Endpoint {
    child: Child,
    url: String,
    agent: ureq::Agent,
}

impl Endpoint {
    fn start(lode: &Lode, extra: &[&str]) -> Self {
        let args = [&["serve", "db", "--bind", "127.0.0.1:0"], extra].concat();
        let mut child = lode.command(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_whitespace().last().unwrap().to_owned();
        assert!(url.ends_with("/sparql"), "{line}");
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { child, url, agent }
    }

    /// Status, content type and body of a GET.
    fn get(&self, query: &str, accept: &str) -> (u16, String, String) {
        let response =
            self.agent.get(&self.url).query("query", query).header("Accept", accept).call().unwrap();
        answer(response)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(mut response: ureq::http::Response<ureq::Body>) -> (u16, String, String) {
    let media_type =
        response.headers().get("content-type").map_or("", |value| value.to_str().unwrap()).to_owned();
    (response.status().as_u16(), media_type, response.body_mut().read_to_string().unwrap())
}

#[test]
fn the_query_operation_in_all_its_ways() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &[]);
    let query = "SELECT ?o { <http://e/b> <http://e/p> ?o }";
    let (status, media_type, body) = endpoint.get(query, "text/csv");
    assert_eq!((status, media_type.as_str(), body.as_str()), (200, "text/csv; charset=utf-8", "o\r\n3\r\n"));
    let form = endpoint.agent.post(&endpoint.url).header("Accept", "text/csv").send_form([("query", query)]);
    assert_eq!(answer(form.unwrap()).2, "o\r\n3\r\n");
    let direct = endpoint.agent.post(&endpoint.url).header("Accept", "text/csv");
    let direct = direct.header("Content-Type", "application/sparql-query").send(query);
    assert_eq!(answer(direct.unwrap()).2, "o\r\n3\r\n");
    let (_, media_type, body) = endpoint.get("ASK {}", "*/*");
    assert_eq!(media_type, "application/sparql-results+json");
    assert!(body.contains("true"));
    let (_, media_type, body) =
        endpoint.get("CONSTRUCT WHERE { ?s <http://e/q> ?o }", "application/n-triples");
    assert_eq!(
        (media_type.as_str(), body.as_str()),
        ("application/n-triples", "<http://e/b> <http://e/q> <http://e/a> .\n")
    );
}

#[test]
fn errors_are_text_with_a_status() {
    let lode = Lode::with_turtle(TURTLE);
    let endpoint = Endpoint::start(&lode, &["--timeout", "0.3"]);
    let (status, media_type, body) = endpoint.get("SELECT nonsense", "*/*");
    assert_eq!((status, media_type.as_str()), (400, "text/plain; charset=utf-8"));
    assert!(!body.is_empty());
    assert_eq!(endpoint.get("ASK {}", "image/png").0, 406);
    assert_eq!(endpoint.get("SELECT * { ?s ?p ?o }", "text/turtle").0, 406);
    let cross = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o . ?p ?q ?r . ?s ?t ?u . ?v ?w ?x . ?y ?z ?a1 . ?b1 ?c1 ?d1 . ?e1 ?f1 ?g1 . ?h1 ?i1 ?j1";
    let slow =
        format!("SELECT (COUNT(*) AS ?total) {{ {cross} FILTER(?c != ?j1 || ?f != ?g1 || ?a != ?h1) }}");
    assert_eq!(endpoint.get(&slow, "*/*").0, 504);
    let put = endpoint.agent.put(&endpoint.url).send("x").unwrap();
    assert_eq!(put.status().as_u16(), 405);
    let update = endpoint
        .agent
        .post(&endpoint.url)
        .header("Content-Type", "application/sparql-update")
        .send("CLEAR ALL");
    assert_eq!(update.unwrap().status().as_u16(), 415);
}

#[test]
fn graphs_of_the_protocol_override_the_query() {
    let lode = Lode::new();
    lode.write(
        "g.nq",
        "<http://e/a> <http://e/p> \"1\" <http://e/g> .\n<http://e/a> <http://e/p> \"2\" <http://e/h> .\n",
    );
    lode.run(&["load", "db", "g.nq"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    let request = endpoint
        .agent
        .get(&endpoint.url)
        .query("query", "SELECT ?o { ?s ?p ?o }")
        .header("Accept", "text/csv");
    let response = request.query("default-graph-uri", "http://e/g").call().unwrap();
    assert_eq!(answer(response).2, "o\r\n1\r\n");
    let description = endpoint.agent.get(&endpoint.url).call().unwrap();
    assert!(answer(description).2.contains("sd:Service"));
    let page = endpoint.agent.get(endpoint.url.trim_end_matches("sparql")).call().unwrap();
    assert!(answer(page).2.contains("<textarea"));
}

#[test]
fn long_answers_stream_whole() {
    let lode = Lode::new();
    let lines = (0..20_000).map(|i| format!("<http://e/{i}> <http://e/p> \"{i}\" .\n")).collect::<String>();
    lode.write("many.nt", lines);
    lode.run(&["load", "db", "many.nt"]).ok();
    let endpoint = Endpoint::start(&lode, &[]);
    let (status, _, body) = endpoint.get("SELECT * { ?s ?p ?o }", "text/csv");
    assert_eq!((status, body.lines().count()), (200, 20_001));
}
