//! The layer that compresses answers. A short one is compressed whole, a long one as it is made.

use crate::coding::Coding;
use crate::error::HttpError;
use crate::state::AppState;
use crate::validator;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::Body as _;
use std::sync::Arc;

/// Shorter answers are sent plain: a packet holds them either way.
const BYTES_MIN: u64 = 1 << 10;
/// Answers up to this length are compressed whole, if all of one is there.
const WHOLE_BYTES_MAX: u64 = 256 << 10;

/// The layer that compresses.
pub(crate) async fn compress(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let coding = Coding::accepted(request.headers());
    let mut response = next.run(request).await;
    if !state.compression.is_on() || !is_fit(&response) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let Some(coding) = coding else { return response };
    let length = response.body().size_hint().exact();
    if length.is_some_and(|bytes| bytes < BYTES_MIN) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let encoded = match state.compression.encode(coding, body) {
        Ok(encoded) => encoded,
        Err(body) => return Response::from_parts(head, body),
    };
    let body = match length.filter(|bytes| *bytes <= WHOLE_BYTES_MAX) {
        Some(_) => match encoded.whole().await {
            Ok(bytes) => bytes.into(),
            Err(error) => return failed(&error),
        },
        None => Body::new(encoded),
    };
    mark(&mut head.headers, coding);
    Response::from_parts(head, body)
}

/// Whether an answer has something to compress.
fn is_fit(response: &Response) -> bool {
    let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED, StatusCode::PARTIAL_CONTENT];
    !response.headers().contains_key(header::CONTENT_ENCODING) && !bodiless.contains(&response.status())
}

fn failed(error: &axum::Error) -> Response {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer could not be compressed: {error}"))
        .into_response()
}

fn mark(headers: &mut HeaderMap, coding: Coding) {
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    // Other bytes have another strong validator.
    if let Some(tag) = headers.get(header::ETAG).and_then(|tag| validator::of_coding(tag, coding.name())) {
        headers.insert(header::ETAG, tag);
    }
}
