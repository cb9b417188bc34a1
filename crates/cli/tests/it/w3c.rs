//! The W3C's tests of the protocols (SPARQL 1.1 Protocol, Graph Store HTTP Protocol), run over HTTP as their manifests describe them: every
//! request with its method, headers and body, and what must come back.
//!
//! `LODE_SUITES` says where the suites are; without, these tests do nothing and say so.

use crate::endpoint::{Answer, Endpoint};
use crate::lode::{Lode, note};
use crate::rdf_graph::{Graph, isomorphic};
use lode_rdf::RdfFormat;
use std::collections::BTreeMap;
use std::path::PathBuf;

const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const HT: &str = "http://www.w3.org/2011/http#";
const CNT: &str = "http://www.w3.org/2011/content#";
const UT: &str = "http://www.w3.org/2009/sparql/tests/test-update#";
const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const COMMENT: &str = "http://www.w3.org/2000/01/rdf-schema#comment";
/// The host that the tests speak to.
const HOST: &str = "www.example";

/// Tests that are wrong, and why.
const WRONG: [(&str, &str); 5] = [
    ("delete__existing_graph", "the graph that it removes is in none of the tests before"),
    ("post__existing_graph", "its Turtle lacks the dot at the end"),
    ("get_of_post__existing_graph", "expects the name of another person, and not what was posted"),
    ("post__multipart_formdata", "its Turtle lacks the dots at the end"),
    ("get_of_post__multipart_formdata", "expects what the two before it could not add"),
];

/// A request and what is expected of its answer.
#[derive(Debug, Default)]
struct Step {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// Names and numbers of statuses, such as `StatusCode4xx`, `Created` or `201`; any of them will do.
    statuses: Vec<String>,
    boolean: Option<bool>,
    format: Option<String>,
    graph: Option<String>,
    location: Option<String>,
}

fn suites() -> Option<PathBuf> {
    let folder =
        std::env::var_os("LODE_SUITES").map(|path| PathBuf::from(path).join("w3c-rdf-tests/sparql/sparql11"));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        note(format_args!("skipped: LODE_SUITES does not name the W3C suites"));
    }
    found
}

/// Reads a manifest.
fn manifest(path: &std::path::Path) -> Graph {
    let base = format!("file://{}", path.display());
    Graph::parse(RdfFormat::Turtle, &std::fs::read(path).unwrap(), &base)
}

fn local(name: &str) -> &str {
    name.rsplit(['#', '/']).next().unwrap()
}

/// The steps of a test of a manifest that describes requests as resources.
fn steps(graph: &Graph, test: &str) -> Vec<Step> {
    let connection = graph.one(test, &format!("{MF}action")).unwrap();
    let requests = graph.one(&connection, &format!("{HT}requests")).unwrap();
    graph.list(&requests).iter().map(|request| step(graph, request)).collect()
}

fn step(graph: &Graph, request: &str) -> Step {
    let text = |of: &str, name: &str| graph.one(of, name);
    let body = text(request, &format!("{HT}body")).map(|body| content(graph, &body)).unwrap_or_default();
    let response = text(request, &format!("{HT}resp")).unwrap();
    Step {
        method: text(request, &format!("{HT}methodName")).unwrap(),
        path: text(request, &format!("{HT}absolutePath")).unwrap(),
        headers: headers(graph, request),
        body,
        statuses: graph
            .all(&response, &format!("{MF}expectedStatus"))
            .iter()
            .map(|s| local(s).to_owned())
            .collect(),
        boolean: text(&response, &format!("{MF}expectedBoolean")).map(|value| value == "true"),
        format: text(&response, &format!("{MF}expectedFormat")),
        graph: text(&response, &format!("{HT}body"))
            .map(|body| String::from_utf8(content(graph, &body)).unwrap()),
        location: text(&response, &format!("{MF}expectedLocation")),
    }
}

fn content(graph: &Graph, body: &str) -> Vec<u8> {
    let chars = graph.one(body, &format!("{CNT}chars")).unwrap();
    match graph.one(body, &format!("{CNT}characterEncoding")).as_deref() {
        Some("UTF-16") => chars.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => chars.into_bytes(),
    }
}

fn headers(graph: &Graph, of: &str) -> Vec<(String, String)> {
    let Some(list) = graph.one(of, &format!("{HT}headers")) else { return Vec::new() };
    let field = |header: &String, name: &str| graph.one(header, &format!("{HT}{name}")).unwrap();
    graph.list(&list).iter().map(|header| (field(header, "fieldName"), field(header, "fieldValue"))).collect()
}

/// Runs the steps of a test; what is wrong with the first that fails.
fn run(endpoint: &Endpoint, steps: &[Step], prefix: (&str, &str)) -> Result<(), String> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for (number, step) in (1..).zip(steps) {
        let ours = |text: &str| {
            let mut text = text.replace(HOST, endpoint.address());
            for (name, value) in &variables {
                text = text.replace(name, value);
            }
            text
        };
        let path = step.path.strip_prefix(prefix.0).map(|rest| format!("{}{rest}", prefix.1));
        let path = ours(&path.unwrap_or_else(|| step.path.clone()));
        let headers: Vec<(&str, &str)> =
            step.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let body = match std::str::from_utf8(&step.body) {
            Ok(text) => ours(text).into_bytes(),
            Err(_) => step.body.clone(),
        };
        let answer = endpoint.send(&step.method, &path, &headers, &body);
        check(step, &answer, step.graph.as_deref().map(ours).as_deref())
            .map_err(|what| format!("request {number}, {} {path}: {what}\n{answer:?}", step.method))?;
        if let Some(name) = &step.location {
            variables.insert(name.clone(), answer.location.ok_or("no Location")?);
        }
    }
    Ok(())
}

fn check(step: &Step, answer: &Answer, graph: Option<&str>) -> Result<(), String> {
    let fits = |name: &String| match name.as_str() {
        "StatusCode2xx" => answer.status / 100 == 2,
        "StatusCode3xx" => answer.status / 100 == 3,
        "StatusCode4xx" => answer.status / 100 == 4,
        "OK" => answer.status == 200,
        "Created" => answer.status == 201,
        "NoContent" => answer.status == 204,
        "NotFound" => answer.status == 404,
        number => number.parse() == Ok(answer.status),
    };
    if !step.statuses.iter().any(fits) {
        return Err(format!("the status is none of {:?}", step.statuses));
    }
    let tabular = ["application/sparql-results+json", "application/sparql-results+xml", "text/csv"];
    let media_type = answer.media_type.split(';').next().unwrap();
    let fits = match step.format.as_deref() {
        None => true,
        Some("boolean") => tabular[..2].contains(&media_type),
        Some("tabular") => tabular.contains(&media_type),
        Some("RDF") => RdfFormat::from_media_type(media_type).is_some(),
        Some(other) => return Err(format!("unknown format {other}")),
    };
    if !fits {
        return Err(format!("the answer is not {:?}", step.format));
    }
    if let Some(expected) = step.boolean
        && !answer.body.replace(' ', "").contains(&format!("\"boolean\":{expected}"))
    {
        return Err(format!("the answer is not {expected}"));
    }
    if let Some(expected) = graph {
        let format = RdfFormat::from_media_type(media_type).ok_or("no RDF")?;
        let found = Graph::parse(format, answer.body.as_bytes(), "http://base/");
        if !isomorphic(&found, &Graph::parse(RdfFormat::Turtle, expected.as_bytes(), "http://base/")) {
            return Err(format!("the graph is not\n{expected}"));
        }
    }
    Ok(())
}

/// Tells what passed; fails unless all did that are not known to be wrong.
fn conclude(suite: &str, results: &[(String, Result<(), String>)]) {
    let known = |name: &str| WRONG.iter().find(|(wrong, _)| *wrong == name);
    let mut failed = Vec::new();
    for (name, result) in results {
        match (result, known(name)) {
            (Err(what), None) => failed.push(format!("{name}: {what}")),
            (Err(_), Some((_, reason))) => note(format_args!("{suite}: {name} is wrong: {reason}")),
            (Ok(()), Some(_)) => failed.push(format!("{name} passes, but is listed as wrong")),
            (Ok(()), None) => {}
        }
    }
    let passed = results.iter().filter(|(_, result)| result.is_ok()).count();
    note(format_args!("{suite}: {passed} of {} tests passed", results.len()));
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn the_protocol() {
    let Some(folder) = suites() else { return };
    let folder = folder.join("protocol");
    let graph = manifest(&folder.join("manifest.ttl"));
    let mut results = Vec::new();
    for test in graph.entries(MF) {
        let lode = Lode::with_turtle("");
        let endpoint = Endpoint::start(&lode, &[]);
        for data in graph.all(&test, &format!("{UT}graphData")) {
            let file = graph.one(&data, &format!("{UT}graph")).unwrap();
            let text = std::fs::read(folder.join(local(&file))).unwrap();
            let path = format!("/data?graph={}", graph.one(&data, LABEL).unwrap());
            endpoint.send("PUT", &path, &[("Content-Type", "application/n-triples")], &text).is(201);
        }
        let result = run(&endpoint, &steps(&graph, &test), ("/sparql/", "/sparql"));
        results.push((local(&test).to_owned(), result));
    }
    conclude("sparql11/protocol", &results);
}

#[test]
fn the_graph_store_protocol() {
    let Some(folder) = suites() else { return };
    let mut results = Vec::new();
    for name in ["manifest-direct.ttl", "manifest-indirect.ttl"] {
        let graph = manifest(&folder.join("graph-store-protocol").join(name));
        // The list of the direct ones forgets one.
        let tests = graph.subjects_with(&format!("{MF}action"));
        assert!(graph.entries(MF).iter().all(|test| tests.contains(test)));
        for test in tests {
            let lode = Lode::with_turtle("");
            let endpoint = Endpoint::start(&lode, &[]);
            let result = run(&endpoint, &steps(&graph, &test), ("/gsp", "/data"));
            results.push((local(&test).to_owned(), result));
        }
    }
    conclude("sparql11/graph-store-protocol", &results);
}

/// The older tests are pictures of requests and answers, one after the other on the same server.
#[test]
fn the_graph_store_protocol_in_pictures() {
    let Some(folder) = suites() else { return };
    let graph = manifest(&folder.join("http-rdf-update/manifest.ttl"));
    let lode = Lode::with_turtle("");
    let endpoint = Endpoint::start(&lode, &[]);
    let (mut results, mut new_path) = (Vec::new(), String::new());
    for test in graph.entries(MF) {
        let comments = graph.all(&test, COMMENT);
        let picture = comments.iter().find(|text| text.contains("#### Request")).unwrap();
        let ours = |text: &str| {
            let text = text.replace("http://$HOST$/$GRAPHSTORE$", &format!("{}/data", endpoint.base));
            text.replace("$GRAPHSTORE$", "/data")
                .replace("$HOST$", endpoint.address())
                .replace("$NEWPATH$", &new_path)
        };
        let step = picture_step(picture, &ours);
        let headers: Vec<(&str, &str)> =
            step.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = endpoint.send(&step.method, &step.path, &headers, &step.body);
        if let Some(location) = &answer.location {
            new_path = location.strip_prefix(&endpoint.base).unwrap().to_owned();
        }
        let result = check(&step, &answer, step.graph.as_deref());
        let result = result.map_err(|what| format!("{} {}: {what}\n{answer:?}", step.method, step.path));
        results.push((local(&test).to_owned(), result));
    }
    conclude("sparql11/http-rdf-update", &results);
}

fn picture_step(picture: &str, ours: &dyn Fn(&str) -> String) -> Step {
    let (request, response) = picture.split_once("#### Response").unwrap();
    let request = request.split_once("#### Request").unwrap().1;
    let (first, headers, body) = message(&ours(request));
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    // The first request after PUT with 200 or 201 is loose about which, and 204 is as good.
    let (status, _, graph) = message(&ours(response));
    let status = status.split_whitespace().next().unwrap().to_owned();
    let mut statuses = vec![status];
    if matches!(&*statuses[0], "204") || path == "/data?default" {
        statuses.push("200".to_owned());
    }
    let body = if body.contains("form-data") { body.replace('\n', "\r\n") } else { body };
    let headers = headers.into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")).collect();
    let graph = (!graph.trim().is_empty()).then_some(graph);
    Step { method, path, headers, body: body.into_bytes(), statuses, graph, ..Step::default() }
}

/// First line, headers and body of an indented picture.
fn message(picture: &str) -> (String, Vec<(String, String)>, String) {
    let mut lines = picture
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .skip_while(|line| line.trim().is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    let head = lines.by_ref().take_while(|line| !line.trim().is_empty());
    let headers = head.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    (first, headers, lines.collect::<Vec<_>>().join("\n"))
}
