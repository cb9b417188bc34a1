//! Which format to answer in: the `Accept` header (RFC 9110 section 12.5.1) against the formats of the query's kind.

use crate::problem;
use crate::written::is_offered;
use axum::http::{HeaderMap, header};
use lode_engine::{OutputFormat, ResultKind};
use lode_rdf::RdfFormat;

/// One entry of an `Accept` header.
#[derive(Debug, PartialEq)]
struct Range<'a> {
    media_type: &'a str,
    quality: f32,
}

/// The best acceptable format; `None` where nothing fits. A header that is missing, or names
/// nothing but the form of errors, accepts everything.
pub(crate) fn negotiate(accept: Option<&str>, kind: ResultKind) -> Option<OutputFormat> {
    let Some(accept) = accept.filter(|value| value.split(',').filter_map(parse_range).any(is_of_answers))
    else {
        return Some(OutputFormat::default_for(kind));
    };
    acceptable(accept).find_map(|media_type| matching(media_type, kind))
}

/// The best acceptable syntax for a graph, or for a whole dataset.
pub(crate) fn negotiate_rdf(accept: &str, dataset: bool) -> Option<RdfFormat> {
    let default = if dataset { RdfFormat::NQuads } else { RdfFormat::Turtle };
    if accept.trim().is_empty() {
        return Some(default);
    }
    acceptable(accept).find_map(|media_type| match media_type {
        "*/*" | "application/*" => Some(default),
        "text/*" => (!dataset).then_some(RdfFormat::Turtle),
        other => RdfFormat::from_media_type(other).filter(|format| !dataset || format.supports_datasets()),
    })
}

/// The acceptable media types, best first.
fn acceptable(accept: &str) -> impl Iterator<Item = &str> {
    let mut ranges: Vec<Range<'_>> = accept.split(',').filter_map(parse_range).collect();
    // Stable: among equals the client's order counts, but a precise type before a wildcard.
    ranges.sort_by(|a, b| b.quality.total_cmp(&a.quality).then(wildness(a).cmp(&wildness(b))));
    ranges.into_iter().filter(|range| range.quality > 0.0).map(|range| range.media_type)
}

/// Whether an error is to be `application/problem+json`: only where that is named, and plain text not preferred. Who accepts anything, or the JSON of
/// results, gets the text that errors always were.
pub(crate) fn wants_problem(headers: &HeaderMap) -> bool {
    let accept = accept(headers);
    let quality = |wanted: &str| {
        let ranges = accept.split(',').filter_map(parse_range);
        ranges
            .filter(|range| range.media_type.eq_ignore_ascii_case(wanted))
            .map(|range| range.quality)
            .reduce(f32::max)
    };
    let problem = quality(problem::MEDIA_TYPE).unwrap_or(0.0);
    problem > 0.0 && problem >= quality("text/plain").unwrap_or(0.0)
}

/// Whether it says something of answers.
fn is_of_answers(range: Range<'_>) -> bool {
    !range.media_type.eq_ignore_ascii_case(problem::MEDIA_TYPE)
}

/// The media types that could be answered with, for a 406.
pub(crate) fn offered(kind: ResultKind) -> &'static str {
    match kind {
        ResultKind::Graph => {
            "text/turtle, application/n-triples, application/n-quads, application/trig, application/rdf+xml, application/ld+json"
        }
        ResultKind::Boolean | ResultKind::Solutions => {
            "application/sparql-results+json, application/sparql-results+xml, application/x-ndjson, text/csv, text/tab-separated-values"
        }
    }
}

fn parse_range(entry: &str) -> Option<Range<'_>> {
    let mut parts = entry.split(';').map(str::trim);
    let media_type = parts.next().filter(|name| !name.is_empty())?;
    let quality = parts
        .find_map(|parameter| parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")))
        .map_or(1.0, |value| value.trim().parse().unwrap_or(0.0));
    Some(Range { media_type, quality })
}

fn wildness(range: &Range<'_>) -> u8 {
    match range.media_type {
        "*/*" => 2,
        other if other.ends_with("/*") => 1,
        _ => 0,
    }
}

fn matching(media_type: &str, kind: ResultKind) -> Option<OutputFormat> {
    match (media_type, kind) {
        ("*/*" | "application/*", _) => Some(OutputFormat::default_for(kind)),
        ("text/*", ResultKind::Graph) => OutputFormat::from_name("ttl"),
        ("text/*", _) => OutputFormat::from_name("csv"),
        // Browsers and hand-made clients: what they show best.
        ("text/plain", ResultKind::Graph) => OutputFormat::from_name("nt"),
        _ => OutputFormat::from_media_type(media_type, kind).filter(|format| is_offered(*format)),
    }
}

/// The `Accept` headers as one.
pub(crate) fn accept(headers: &HeaderMap) -> String {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
