//! Accept headers, as clients send them.

use super::{negotiate, negotiate_rdf, wants_problem};
use axum::http::{HeaderMap, header};
use lode_engine::{OutputFormat, ResultKind};
use lode_rdf::RdfFormat;

fn solutions(accept: &str) -> Option<&'static str> {
    negotiate(Some(accept), ResultKind::Solutions).map(OutputFormat::media_type)
}

#[test]
fn nothing_said_is_json_and_turtle() {
    assert_eq!(
        negotiate(None, ResultKind::Solutions),
        Some(OutputFormat::default_for(ResultKind::Solutions))
    );
    assert_eq!(negotiate(Some(" "), ResultKind::Graph).map(OutputFormat::media_type), Some("text/turtle"));
}

#[test]
fn quality_then_order_then_precision() {
    assert_eq!(
        solutions("text/csv;q=0.4, application/sparql-results+xml"),
        Some("application/sparql-results+xml")
    );
    assert_eq!(solutions("*/*, text/csv"), Some("text/csv; charset=utf-8"));
    assert_eq!(solutions("text/html, text/csv;q=0"), None);
    assert_eq!(solutions("application/json"), Some("application/sparql-results+json"));
    assert_eq!(
        solutions("text/html,application/xhtml+xml,*/*;q=0.8"),
        Some("application/sparql-results+json")
    );
}

#[test]
fn unknown_types_are_refused() {
    assert_eq!(solutions("image/png"), None);
    assert_eq!(negotiate(Some("text/csv"), ResultKind::Graph), None);
}

#[test]
fn graphs_and_datasets() {
    assert_eq!(negotiate_rdf("", false), Some(RdfFormat::Turtle));
    assert_eq!(negotiate_rdf("text/html, */*;q=0.1", true), Some(RdfFormat::NQuads));
    assert_eq!(
        negotiate_rdf("application/rdf+xml;q=0.5, text/turtle; charset=utf-8", false),
        Some(RdfFormat::Turtle)
    );
    assert_eq!(negotiate_rdf("text/turtle, application/trig", true), Some(RdfFormat::TriG));
    assert_eq!(negotiate_rdf("text/turtle", true), None);
}

#[test]
fn errors_are_json_only_where_that_is_named() {
    let wants = |accept: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        wants_problem(&headers)
    };
    for accept in [
        "application/problem+json",
        "application/sparql-results+json, application/problem+json;q=0.1",
        "Application/Problem+JSON, text/plain",
    ] {
        assert!(wants(accept), "{accept}");
    }
    for accept in [
        "",
        "*/*",
        "application/*",
        "application/json, application/sparql-results+json",
        "application/problem+json;q=0",
        "text/plain, application/problem+json;q=0.5",
    ] {
        assert!(!wants(accept), "{accept}");
    }
    // It says nothing of answers.
    assert_eq!(solutions("application/problem+json"), Some("application/sparql-results+json"));
    assert_eq!(solutions("application/problem+json, text/csv"), Some("text/csv; charset=utf-8"));
    assert_eq!(solutions("application/problem+json, image/png"), None);
}
