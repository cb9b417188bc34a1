//! The three ways of sending a query, and how they go wrong.

use super::{QueryRequest, parse};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};

fn post(content_type: &'static str, uri: &str, body: &str) -> Result<Option<QueryRequest>, StatusCode> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    parse(&Method::POST, Some(uri), &headers, body.as_bytes()).map_err(|error| error.status)
}

fn get(uri: &str) -> Result<Option<QueryRequest>, StatusCode> {
    parse(&Method::GET, Some(uri), &HeaderMap::new(), b"").map_err(|error| error.status)
}

#[test]
fn get_with_graphs() {
    let request = get(
        "query=ASK%7B%7D&default-graph-uri=http%3A%2F%2Fa&default-graph-uri=http://b&named-graph-uri=http://c",
    );
    let request = request.unwrap().unwrap();
    assert_eq!(request.query, "ASK{}");
    assert_eq!(request.default_graphs, ["http://a", "http://b"]);
    assert_eq!(request.named_graphs, ["http://c"]);
}

#[test]
fn post_form_and_direct() {
    let form =
        post("application/x-www-form-urlencoded; charset=utf-8", "", "query=ASK+%7B%7D").unwrap().unwrap();
    assert_eq!(form.query, "ASK {}");
    let direct = post("application/sparql-query", "named-graph-uri=http://c", "ASK {}").unwrap().unwrap();
    assert_eq!(
        (direct.query.as_str(), direct.named_graphs.as_slice()),
        ("ASK {}", &["http://c".to_owned()][..])
    );
}

#[test]
fn bad_requests() {
    assert_eq!(get("query=a&query=b"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(get(""), Ok(None));
    assert_eq!(get("query=a&timeout=soon"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(post("application/x-www-form-urlencoded", "", "x=1"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(post("application/sparql-query", "query=a", "b"), Err(StatusCode::BAD_REQUEST));
    assert_eq!(post("text/plain", "", "ASK {}"), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    assert_eq!(post("application/sparql-update", "", "CLEAR ALL"), Err(StatusCode::UNSUPPORTED_MEDIA_TYPE));
}
