//! The update operation: one transaction on a blocking thread, rolled back when its client leaves before the commit.

use crate::error::HttpError;
use crate::request::UpdateRequest;
use crate::state::{AppState, CancelOnDrop, blocking};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use lode_engine::{CancelToken, UpdateOptions};
use std::sync::Arc;

/// Runs the update; once its answer is there it is durable.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: UpdateRequest,
    base: Option<String>,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let permit = state.updates.enter().await?;
    let limit = state.options.update_timeout;
    let cancel = CancelToken::new(Some(request.timeout.map_or(limit, |asked| asked.min(limit))));
    let _left = CancelOnDrop(cancel.clone());
    let report = blocking(move || {
        let mut evaluation = state.options.query.clone();
        evaluation.cancel = cancel;
        evaluation.base_iri = evaluation.base_iri.or(base);
        evaluation.set_dataset(&request.using, &request.using_named)?;
        let options = UpdateOptions { evaluation, load: state.options.load.clone(), progress: None };
        let report = state.database.update(&request.update, &options)?;
        drop(permit);
        Ok(report)
    })
    .await?;
    Ok(json(&format!(
        "{{\"operations\":{},\"inserted\":{},\"deleted\":{},\"version\":{},\"seconds\":{:.6}}}\n",
        report.operations, report.inserted, report.deleted, report.version, report.seconds
    )))
}

/// An answer in JSON.
pub(crate) fn json(text: &str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response()
}
