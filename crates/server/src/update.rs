//! The update operation: one transaction on a blocking thread, rolled back when its client leaves before the commit.

use crate::error::HttpError;
use crate::listener::Peer;
use crate::request::{UpdateRequest, time_limit};
use crate::running::{RequestKind, cancelled_error};
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::warnings;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lode_engine::UpdateOptions;
use std::sync::Arc;

/// Runs the update, whose text has `request_bytes` reserved; once its answer is there it is durable.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: UpdateRequest,
    client: Peer,
    base: Option<String>,
    request_bytes: usize,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let limit = time_limit(request.timeout, state.options.update_timeout);
    let ticket = state.running.enter(RequestKind::Update, &request.update, client, limit);
    let permit = tokio::select! {
        permit = state.updates.enter(ticket.deadline()) => permit?,
        () = ticket.cancelled() => return Err(cancelled_error()),
    };
    let cancel = ticket.begin();
    let _left = CancelOnDrop(cancel.clone());
    let report = blocking(move || {
        let mut evaluation = state.options.query.clone();
        evaluation.cancel = cancel;
        evaluation.request_bytes = request_bytes;
        evaluation.base_iri = evaluation.base_iri.or(base);
        evaluation.set_dataset(&request.using, &request.using_named)?;
        let (load, statement_limit) = (state.options.load.clone(), state.options.statement_limit);
        let options = UpdateOptions { evaluation, load, statement_limit, progress: None };
        let report = state.database.update(&request.update, &options);
        let report = report.map_err(|error| ticket.explain(error.into()))?;
        drop(permit);
        Ok(report)
    })
    .await?;
    let mut response = json(&format!(
        "{{\"operations\":{},\"inserted\":{},\"deleted\":{},\"version\":{},\"seconds\":{:.6}}}\n",
        report.operations, report.inserted, report.deleted, report.version, report.seconds
    ));
    warnings::tell(&report.warnings, &mut response);
    Ok(response)
}

/// An answer in JSON.
pub(crate) fn json(text: &str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response()
}
