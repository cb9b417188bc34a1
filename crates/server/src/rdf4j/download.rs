//! The statements of a pattern.

use crate::access::graph_rules;
use crate::deadline::after;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::{accept, negotiate_rdf};
use crate::state::AppState;
use crate::stream::{ChunkWriter, answered};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::store::Snapshot;
use lode_engine::{CancelToken, EngineError, GraphRules, QuadPattern};
use lode_rdf::RdfFormat;
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
    let granted = Granted::of(parts);
    let limit = granted.time(limits.download_timeout);
    let cancel = CancelToken::new(Some(limit));
    let permit = state.downloads.enter(after(limit.min(limits.timeout))).await?;
    let rules = graph_rules();
    let ((), body) = answered(cancel.clone(), state.memory().cloned(), permit, move |_, writer| {
        writer.announce(());
        writer.limit_bytes(granted.limits.bytes);
        let found = Found { snapshot, pattern, rules, rows_max: granted.limits.rows };
        found.write(format, &cancel, writer).map_err(|error| match writer.is_too_long() {
            true => granted.too_many_bytes(),
            false => granted.timed(granted.told(error), None, limits.download_timeout),
        })
    })
    .await?;
    let fields = [(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")];
    Ok((fields, body).into_response())
}

/// The statements of a pattern in a version.
struct Found {
    snapshot: Snapshot,
    pattern: QuadPattern,
    rules: GraphRules,
    rows_max: Option<u64>,
}

impl Found {
    fn write(
        &self,
        format: RdfFormat,
        cancel: &CancelToken,
        writer: &mut ChunkWriter<()>,
    ) -> Result<(), EngineError> {
        let mut document = QuadWriter::start(format, writer)?;
        let mut rows = 0;
        self.pattern.for_each(&self.snapshot, &self.rules, cancel, |quad| {
            rows += 1;
            if let Some(max) = self.rows_max.filter(|max| rows > *max) {
                return Err(EngineError::TooManyRows(max));
            }
            let graph_name =
                if format.supports_datasets() { quad.graph_name.as_ref() } else { Default::default() };
            Ok(document.write(lode_rdf::QuadRef { graph_name, ..quad.as_ref() })?)
        })?;
        document.finish()?;
        Ok(())
    }
}
