//! The statements of a pattern.

use crate::access::graph_rules;
use crate::deadline::after;
use crate::error::HttpError;
use crate::negotiate::{accept, negotiate_rdf};
use crate::state::AppState;
use crate::stream::answered;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::store::Snapshot;
use lode_engine::{CancelToken, EngineError, QuadPattern};
use lode_rdf::serialize::QuadWriter;
use std::sync::Arc;

/// The statements of a pattern, in the syntax that is asked for.
pub(super) async fn answer(
    state: Arc<AppState>,
    snapshot: Snapshot,
    pattern: QuadPattern,
    parts: &Parts,
) -> Result<Response, HttpError> {
    let accepted = accept(&parts.headers);
    let format = negotiate_rdf(&accepted, true).or_else(|| negotiate_rdf(&accepted, false));
    let format = format.ok_or_else(|| {
        let message = "none of the accepted media types fits: offered are application/n-quads, application/trig, application/ld+json, text/turtle, \
                       application/n-triples, application/rdf+xml";
        HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
    })?;
    let limits = state.limits.get();
    let limit = limits.download_timeout;
    let cancel = CancelToken::new(Some(limit));
    let permit = state.downloads.enter(after(limit.min(limits.timeout))).await?;
    let rules = graph_rules();
    let ((), body) = answered(cancel.clone(), permit, move |_, writer| {
        writer.announce(());
        let failed = |error: std::io::Error| {
            HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("writing the answer: {error}"))
        };
        let mut document = QuadWriter::start(format, writer).map_err(failed)?;
        let mut wrong = None;
        let visited = pattern.for_each(&snapshot, &rules, &cancel, |quad| {
            let graph_name =
                if format.supports_datasets() { quad.graph_name.as_ref() } else { Default::default() };
            document.write(lode_rdf::QuadRef { graph_name, ..quad.as_ref() }).map_err(|error| {
                wrong = Some(error);
                EngineError::Update("the answer cannot be written".to_owned())
            })
        });
        match wrong {
            Some(error) => return Err(failed(error)),
            None => visited?,
        }
        document.finish().map_err(failed)?;
        Ok(())
    })
    .await?;
    let fields = [(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")];
    Ok((fields, body).into_response())
}
