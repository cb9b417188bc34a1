//! The ways of sending a query or an update, and how they go wrong.

use super::{Asked, QueryRequest, UpdateRequest, parse};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};

fn post(content_type: &'static str, uri: &str, body: &str) -> Result<Asked, StatusCode> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    parse(&Method::POST, Some(uri), &headers, body.into()).map_err(|error| error.status)
}

fn get(uri: &str) -> Result<Asked, StatusCode> {
    parse(&Method::GET, Some(uri), &HeaderMap::new(), Vec::new()).map_err(|error| error.status)
}

fn query(asked: Result<Asked, StatusCode>) -> QueryRequest {
    let Ok(Asked::Query(request)) = asked else { panic!("{asked:?}") };
    request
}

fn update(asked: Result<Asked, StatusCode>) -> UpdateRequest {
    let Ok(Asked::Update(request)) = asked else { panic!("{asked:?}") };
    request
}

#[test]
fn get_with_graphs() {
    let request = query(get(
        "query=ASK%7B%7D&default-graph-uri=http%3A%2F%2Fa&default-graph-uri=http://b&named-graph-uri=http://c",
    ));
    assert_eq!(request.query, "ASK{}");
    assert_eq!(request.default_graphs, ["http://a", "http://b"]);
    assert_eq!(request.named_graphs, ["http://c"]);
}

#[test]
fn queries_by_form_and_direct() {
    let form = query(post("application/x-www-form-urlencoded; charset=utf-8", "", "query=ASK+%7B%7D"));
    assert_eq!(form.query, "ASK {}");
    let direct = query(post("application/sparql-query", "named-graph-uri=http://c", "ASK {}"));
    assert_eq!(
        (direct.query.as_str(), direct.named_graphs.as_slice()),
        ("ASK {}", &["http://c".to_owned()][..])
    );
}

#[test]
fn rules_for_what_follows() {
    let rules = |uri: &str| query(get(uri)).reason.map(|rules| rules.to_string());
    assert_eq!(rules("query=ASK%7B%7D"), None);
    assert_eq!(rules("query=ASK%7B%7D&reason=rdfs").as_deref(), Some("rdfs"));
    assert_eq!(rules("query=ASK%7B%7D&reason=range,subclass&infer=false").as_deref(), Some("subclass,range"));
    assert_eq!(rules("query=ASK%7B%7D&infer=false").as_deref(), Some("none"), "RDF4J's clients say so");
    assert_eq!(rules("query=ASK%7B%7D&infer=true&includeInferred=true"), None);
    assert_eq!(get("query=ASK%7B%7D&reason=owl").unwrap_err(), StatusCode::BAD_REQUEST);
}

#[test]
fn snapshots_are_for_queries() {
    assert_eq!(query(get("query=ASK%7B%7D&at=yesterday")).at.as_deref(), Some("yesterday"));
    let form = "application/x-www-form-urlencoded";
    assert_eq!(query(post(form, "", "query=ASK+%7B%7D&at=a")).at.as_deref(), Some("a"));
    assert_eq!(query(post("application/sparql-query", "at=a", "ASK {}")).at.as_deref(), Some("a"));
    assert_eq!(get("query=ASK%7B%7D&at=a&at=b"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(post(form, "", "update=CLEAR+ALL&at=a"), Err(StatusCode::BAD_REQUEST));
}

#[test]
fn updates_by_form_and_direct() {
    let form = "update=CLEAR+ALL&using-graph-uri=http://a&using-named-graph-uri=http://b&timeout=2";
    let form = update(post("application/x-www-form-urlencoded", "", form));
    assert_eq!((form.update.as_str(), form.using.len(), form.using_named.len()), ("CLEAR ALL", 1, 1));
    assert_eq!(form.timeout.unwrap().as_secs(), 2);
    let direct =
        update(post("application/sparql-update; charset=UTF-8", "using-graph-uri=http://c", "CLEAR ALL"));
    assert_eq!(
        (direct.update.as_str(), direct.using.as_slice()),
        ("CLEAR ALL", &["http://c".to_owned()][..])
    );
}

#[test]
fn bad_requests() {
    assert_eq!(get("query=a&query=b"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(get(""), Ok(Asked::Description));
    for parameters in [
        "query=a&timeout=soon",
        "format=json",
        "qurey=ASK%7B%7D",
        "graph=http://a",
        "query=a&graph=http://a",
        "default",
    ] {
        assert_eq!(get(parameters), Err(StatusCode::BAD_REQUEST), "{parameters}");
    }
    assert_eq!(get("update=CLEAR+ALL"), Err(StatusCode::METHOD_NOT_ALLOWED));
    let form = "application/x-www-form-urlencoded";
    for body in ["x=1", "update=a&update=b", "query=a&update=b"] {
        assert_eq!(post(form, "", body), Err(StatusCode::BAD_REQUEST), "{body}");
    }
    assert_eq!(post("application/sparql-query", "query=a", "b"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(post("application/sparql-update", "query=a", "b"), Err(StatusCode::BAD_REQUEST));
    for media_type in ["text/plain", "application/sparql-update; charset=utf-16"] {
        assert_eq!(post(media_type, "", "ASK {}"), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE), "{media_type}");
    }
}

#[test]
fn parameters_that_are_not_known_are_refused() {
    let told = |parameters: &str| {
        parse(&Method::GET, Some(parameters), &HeaderMap::new(), Vec::new()).unwrap_err().message
    };
    for (parameters, name) in [
        ("query=ASK%7B%7D&inferred=true", "'inferred'"),
        ("query=ASK%7B%7D&grahp=http://a", "'grahp'"),
        ("qurey=ASK%7B%7D", "'qurey'"),
        ("query=ASK%7B%7D&defaultgraph-uri=http://a", "'defaultgraph-uri'"),
        ("query=ASK%7B%7D&%0A=1", "'\\n'"),
    ] {
        let message = told(parameters);
        assert!(
            message.contains(name) && message.contains("known are query, default-graph-uri"),
            "{message}"
        );
        assert_eq!(get(parameters), Err(StatusCode::BAD_REQUEST));
    }
    let message = told("query=ASK%7B%7D&using-graph-uri=http://a");
    assert!(message.contains("using-graph-uri") && message.contains("for updates"), "{message}");
    let form = "application/x-www-form-urlencoded";
    for body in ["update=CLEAR+ALL&default-graph-uri=http://a", "update=CLEAR+ALL&format=csv&infering=1"] {
        assert_eq!(post(form, "", body), Err(StatusCode::BAD_REQUEST), "{body}");
    }
}

#[test]
fn formats_and_extensions_of_other_stores_are_passed_over() {
    let request = query(get("query=ASK%7B%7D&format=application/x-other&infer=true"));
    assert_eq!((request.query.as_str(), request.format), ("ASK{}", None));
    assert!(query(get("query=ASK%7B%7D&format=csv")).format.is_some());
    let bare = query(get("query=ASK%7B%7D"));
    for name in super::PASSED_OVER {
        assert_eq!(query(get(&format!("query=ASK%7B%7D&{name}=1&{name}="))), bare, "{name}");
    }
    let form = "application/x-www-form-urlencoded";
    let body = "update=CLEAR+ALL&infer=1&format=json&output=json&results=json&default-graph-uri=";
    assert_eq!(update(post(form, "", body)).update, "CLEAR ALL");
}

#[test]
fn the_format_has_three_names() {
    let csv = query(get("query=ASK%7B%7D&format=csv")).format;
    for parameters in [
        "output=csv",
        "results=csv",
        "format=csv&output=csv&results=csv",
        "format=&output=csv",
        "output=csv&format=x",
    ] {
        assert_eq!(query(get(&format!("query=ASK%7B%7D&{parameters}"))).format, csv, "{parameters}");
    }
}

#[test]
fn graphs_without_names_are_none() {
    let request = query(get("query=ASK%7B%7D&default-graph-uri=&named-graph-uri="));
    assert!(request.default_graphs.is_empty() && request.named_graphs.is_empty());
    let request = query(get("query=ASK%7B%7D&default-graph-uri=&default-graph-uri=http://a"));
    assert_eq!(request.default_graphs, ["http://a"]);
}
