//! Accept headers, as clients send them.

use super::negotiate;
use lode_engine::{OutputFormat, ResultKind};

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
