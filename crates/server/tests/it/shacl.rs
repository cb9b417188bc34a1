//! Shapes sent to the server: reports in several formats, graphs, rights, limits.

use crate::{send, send_as, serve_database};
use lode_engine::{Database, UpdateOptions};
use lode_server::ServerOptions;
use std::net::SocketAddr;

const SHAPES: &str = "@prefix sh: <http://www.w3.org/ns/shacl#> . <http://e/S> sh:targetClass <http://e/C> ; \
    sh:property [ sh:path <http://e/p> ; sh:minCount 1 ; sh:maxInclusive 10 ] .";

fn serve() -> SocketAddr {
    let database = Database::in_memory().unwrap();
    let request =
        "PREFIX : <http://e/> INSERT DATA { :a a :C ; :p 5 . GRAPH :g { :b a :C ; :p 50 . :c a :C } }";
    database.update(request, &UpdateOptions::default()).unwrap();
    serve_database(database, ServerOptions::default())
}

fn ask(address: SocketAddr, parameters: &str, body: &str) -> (u16, String, String) {
    send_as("text/turtle", address, "POST", &format!("/shacl{parameters}"), body)
}

#[test]
fn reports_are_answered() {
    let address = serve();
    let (status, head, body) = ask(address, "", SHAPES);
    assert!(
        status == 200 && head.contains("text/turtle") && head.contains("lode-conforms: true"),
        "{head}{body}"
    );
    assert!(body.contains("sh:conforms true"), "{body}");
    let (status, head, body) = ask(address, "?graph=union&format=nt", SHAPES);
    assert!(status == 200 && head.contains("lode-conforms: false"), "{head}{body}");
    assert_eq!(body.matches("#ValidationResult>").count(), 2, "{body}");
    let (_, _, body) = ask(address, "?graph=http://e/g&format=json&limit=1", SHAPES);
    let report: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (report["count"].as_u64(), report["results"].as_array().unwrap().len()),
        (Some(2), 1),
        "{body}"
    );
    let (_, head, body) = ask(address, "?graph=http://e/nothing&limit=0&format=table", SHAPES);
    assert!(head.contains("lode-conforms: true") && body.is_empty(), "{head}{body}");
    let (_, head, _) = ask(address, "?graph=union&limit=0&format=table", SHAPES);
    assert!(head.contains("lode-conforms: false"), "{head}");
}

#[test]
fn what_is_wrong_is_told() {
    let address = serve();
    for (parameters, body, status, told) in [
        ("?graf=union", SHAPES, 400, "no parameter of /shacl"),
        ("?graph=a&graph=b", SHAPES, 400, "name it once"),
        ("?graph=no%20iri", SHAPES, 400, "is not an IRI"),
        ("?limit=x", SHAPES, 400, "expected a number of results"),
        ("?format=xlsx", SHAPES, 400, "expected ttl"),
        ("?timeout=0.000001", SHAPES, 504, ""),
        ("", "no turtle", 400, "the shapes"),
        (
            "",
            "@prefix sh: <http://www.w3.org/ns/shacl#> . <e:s> sh:targetClass <e:C> ; sh:minCount 1 .",
            400,
            "sh:property [",
        ),
    ] {
        let (got, _, text) = ask(address, parameters, body);
        assert!(got == status && text.contains(told), "{parameters} {body}\n{got} {text}");
    }
    let (status, _, body) = send(address, "POST", "/shacl", SHAPES);
    assert!(status == 415, "{status} {body}");
    assert_eq!(send(address, "GET", "/shacl", "").0, 405);
}

#[test]
fn changes_that_violate_are_refused_with_a_report() {
    let database = Database::in_memory().unwrap();
    let mut graph = lode_shacl::ShapesGraph::default();
    let options = lode_rdf::parse::ParseOptions::default();
    graph.add_document("shapes", lode_rdf::RdfFormat::Turtle, SHAPES.as_bytes(), &options).unwrap();
    let shapes = lode_shacl::Shapes::read(graph).unwrap();
    let check = lode_shacl::guard(shapes.into(), lode_shacl::ValidateOptions::default());
    database.store().check_commits(check).unwrap();
    let address = serve_database(database, ServerOptions::default());
    let update = |text: &str| send_as("application/sparql-update", address, "POST", "/update", text);
    let (status, _, body) = update("INSERT DATA { <http://e/a> a <http://e/C> }");
    assert!(status == 409 && body.contains("1 violation; nothing was changed"), "{status} {body}");
    assert!(body.contains("sh:focusNode <http://e/a>"), "{body}");
    let put = |text: &str| send_as("text/turtle", address, "PUT", "/data?default", text);
    assert_eq!(put("<http://e/a> a <http://e/C> ; <http://e/p> 11 .").0, 409);
    assert_eq!(put("<http://e/a> a <http://e/C> ; <http://e/p> 10 .").0 / 100, 2);
    assert_eq!(update("DELETE WHERE { ?s <http://e/p> ?o }").0, 409);
    assert_eq!(send(address, "DELETE", "/data?default", "").0 / 100, 2);
}

#[test]
fn what_shapes_do_not_mean_is_warned_of() {
    let address = serve();
    let shapes = format!("{SHAPES} <http://e/S> sh:minCounts 1 .");
    let (status, head, _) = ask(address, "", &shapes);
    assert!(
        status == 200 && head.contains("lode-warning: ") && head.contains("did you mean sh:mincount?"),
        "{head}"
    );
    let (_, head, _) = ask(address, "", SHAPES);
    assert!(!head.contains("lode-warning"), "{head}");
    let nobody = format!("{SHAPES} <http://e/N> sh:targetClass <http://e/Nobody> .");
    let (status, head, _) = ask(address, "", &nobody);
    assert!(status == 200 && head.contains("<http://e/n> is about no node of the data"), "{head}");
}
