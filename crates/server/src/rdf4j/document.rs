//! Documents of statements as they are sent.

use super::binary::as_nquads;
use crate::body::{Incoming, Whole};
use crate::body_memory::Room;
use crate::deadline::after;
use crate::error::HttpError;
use crate::protocol::body_coding;
use crate::request::content_type;
use crate::state::AppState;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use lode_engine::{Document, DocumentBody};
use lode_rdf::RdfFormat;
use std::sync::Arc;

/// The media type of RDF4J's own syntax.
const BINARY: &str = "application/x-binary-rdf";

/// Whether a body is in RDF4J's own syntax, which no load knows.
pub(super) fn is_binary(headers: &HeaderMap) -> bool {
    content_type(headers).as_deref() == Some(BINARY)
}

/// Reads a document, with the room that it takes.
pub(super) async fn read(
    state: &Arc<AppState>,
    parts: &Parts,
    body: Incoming,
) -> Result<(Document, Room), HttpError> {
    let is_binary = is_binary(&parts.headers);
    let format = match content_type(&parts.headers).as_deref().and_then(RdfFormat::from_media_type) {
        _ if is_binary => RdfFormat::NQuads,
        Some(format) => format,
        None => {
            let error = HttpError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "statements are sent as text/turtle, application/trig, application/n-triples, application/n-quads, application/rdf+xml, \
                 application/ld+json or application/x-binary-rdf",
            );
            return body.refuse(&parts.headers, error).await;
        }
    };
    let body = body.decoded(body_coding(&parts.headers)?);
    let bytes_max = state.limits.get().update_bytes_max;
    let Whole { mut bytes, mut room } = body.collect(bytes_max).await?;
    if is_binary {
        let deadline = after(2 * state.options.stall_max);
        let more = bytes_max.min(bytes.len().saturating_mul(TIMES_LONGER));
        state.bodies.make_room(&mut room, bytes.len() + more, deadline).await?;
        bytes = as_nquads(&bytes, more).map_err(|what| HttpError::bad_request(format!("body: {what}")))?;
    }
    let (name, body) = ("body".to_owned(), DocumentBody::Bytes(Arc::from(bytes)));
    let unpacked_max = Some(state.options.decoded_bytes_max);
    Ok((Document { name, format, body, unpacked_max }, room))
}

/// N-Quads may be longer than the binary syntax, in which terms are written once, by this much.
const TIMES_LONGER: usize = 64;
