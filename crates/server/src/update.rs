//! The update operation: one transaction on a blocking thread, rolled back when its client leaves before the commit.

use crate::access::{graph_rules, with_version};
use crate::error::HttpError;
use crate::limits::Granted;
use crate::observe::{Change, Record, WorkKind};
use crate::request::{UpdateRequest, time_limit};
use crate::running::{RequestKind, cancelled_error};
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::{min_version, warnings};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{INFERENCES_STALE, UpdateOptions};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the update, whose text has `request_bytes` reserved; once its answer is there it is durable.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: UpdateRequest,
    record: &Arc<Record>,
    base: Option<String>,
    request_bytes: usize,
    granted: Granted,
) -> Result<Response, HttpError> {
    record.note_work(WorkKind::Update, &request.update);
    state.check_writable()?;
    granted.check_text(&request.update)?;
    let time_max = state.limits.get().update_timeout;
    let limit = granted.time(time_limit(request.timeout, time_max));
    let ticket = state.running.enter(RequestKind::Update, &request.update, record.client(), limit);
    let permit = tokio::select! {
        permit = state.updates.enter(ticket.deadline()) => permit?,
        () = ticket.cancelled() => {
            record.note_cancelled();
            return Err(cancelled_error());
        }
    };
    record.note_begun();
    let cancel = ticket.begin();
    let _left = CancelOnDrop(cancel.clone());
    let at = Arc::clone(record);
    let rules = graph_rules();
    let reads_all = rules.reads_all();
    let report = blocking(move || {
        let mut evaluation = state.query_options(&rules);
        evaluation.cancel = cancel;
        granted.apply(&mut evaluation);
        evaluation.request_bytes = request_bytes;
        evaluation.base_iri = evaluation.base_iri.or(base);
        evaluation.set_dataset(&request.using, &request.using_named)?;
        let (load, statement_limit) = (state.options.load.clone(), state.options.statement_limit);
        let unpacked_max = Some(state.options.decoded_bytes_max);
        let options = UpdateOptions { evaluation, load, statement_limit, unpacked_max, progress: None };
        let started = Instant::now();
        let report = state.database.update(&request.update, &options);
        at.note_ran(started.elapsed(), 0, 0);
        let report = report.map_err(|error| {
            if ticket.is_cancelled() {
                at.note_cancelled();
            }
            granted.timed(ticket.explain(granted.told(error)), request.timeout, time_max)
        })?;
        drop(permit);
        Ok(report)
    })
    .await?;
    let (inserted, deleted, version) = (report.inserted, report.deleted, report.version);
    record.note_change(Change { inserted, deleted, version });
    record.note_written(Duration::ZERO);
    // Of changes to graphs that one may not read, too.
    let is_stale = report.inferences_stale && reads_all;
    if report.inferences_stale {
        tracing::warn!("{INFERENCES_STALE}");
    }
    let mut response = json(&format!(
        "{{\"operations\":{},\"inserted\":{inserted},\"deleted\":{deleted}{}{},\"seconds\":{:.6}}}\n",
        report.operations,
        with_version(version),
        if is_stale { ",\"inferences_stale\":true" } else { "" },
        report.seconds
    ));
    let mut told: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    told.extend(is_stale.then(|| INFERENCES_STALE.to_owned()));
    warnings::tell(&told, &mut response);
    min_version::tell(reads_all.then_some(version), &mut response);
    Ok(response)
}

/// An answer in JSON.
pub(crate) fn json(text: &str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response()
}

/// The same of something that has a form in it.
pub(crate) fn json_of(what: &impl Serialize) -> Result<Response, HttpError> {
    let text = serde_json::to_string(what);
    let text = text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(json(&(text + "\n")))
}
