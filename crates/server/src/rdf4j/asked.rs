//! Requests whose parameters have been read.

use super::parameters::Parameters;
use crate::access::graph_rules;
use crate::asker::Asker;
use crate::body::{Incoming, Whole};
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::accept;
use crate::observe::Record;
use crate::protocol::body_coding;
use crate::state::AppState;
use axum::extract::Request;
use axum::http::request::Parts;
use lode_engine::store::Snapshot;
use lode_rdf::NamedNode;
use std::sync::Arc;

/// A request whose parameters and text have been read.
pub(super) struct Asked {
    pub(super) parts: Parts,
    pub(super) parameters: Parameters,
    pub(super) text: Whole,
}

/// Reads the body of a request that is no document.
pub(super) async fn read(state: &Arc<AppState>, request: Request) -> Result<Asked, HttpError> {
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, state.shared()).decoded(body_coding(&parts.headers)?);
    let text = body.collect(state.limits.get().update_bytes_max).await?;
    let parameters = Parameters::read(parts.uri.query(), &parts.headers, &text.bytes)?;
    Ok(Asked { parts, parameters, text })
}

/// Who asks, and what relative IRIs are resolved against.
pub(super) fn asker(state: &AppState, parts: &Parts, text: Whole, within: Option<Snapshot>) -> Asker {
    Asker {
        record: Record::current(),
        accept: accept(&parts.headers),
        base: state.own_iri(&parts.uri, &parts.headers).map(NamedNode::into_string),
        room: text.room,
        graphs: graph_rules(),
        within,
        granted: Granted::of(parts),
    }
}
