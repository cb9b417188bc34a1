//! The query operation: parsed, planned and run on a blocking thread, streamed while it runs, or at once where it is short; or its
//! plan, with what became of it.

use crate::error::HttpError;
use crate::in_place::{self, InPlace};
use crate::negotiate::{negotiate, offered};
use crate::request::{PlanWish, QueryRequest, time_limit};
use crate::running::{RequestKind, Ticket, cancelled_error};
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::stream::{ChunkWriter, answered};
use crate::update::json;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::report::PlanReport;
use lode_engine::{CancelToken, OutputFormat, PreparedQuery, QueryOptions, write_results};
use serde::Serialize;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;

/// Who asks, and how to answer.
pub(crate) struct Asker {
    pub(crate) client: SocketAddr,
    /// The formats accepted.
    pub(crate) accept: String,
    /// What relative IRIs are resolved against.
    pub(crate) base: Option<String>,
}

/// Answers the query, once there is a place for it.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: QueryRequest,
    asker: Asker,
) -> Result<Response, HttpError> {
    let ticket = state.running.enter(RequestKind::Query, &request.query, asker.client);
    let permit = match state.queries.try_enter() {
        Some(permit) => {
            if let InPlace::Answered(answer) = in_place::answer(&state, &request, &asker) {
                return answer.map(|(format, bytes)| respond(format, bytes.into()));
            }
            permit
        }
        None => tokio::select! {
            permit = state.queries.enter() => permit?,
            () = ticket.cancelled() => return Err(cancelled_error()),
        },
    };
    let cancel = ticket.begin(time_limit(request.timeout, state.options.timeout));
    let wish = request.plan;
    let job = Job { state, request, asker, cancel, ticket, _permit: permit };
    match wish {
        None => {
            let (format, body) = answered(job.cancel.clone(), job, Job::run).await?;
            Ok(respond(format, body))
        }
        Some(wish) => {
            let _left = CancelOnDrop(job.cancel.clone());
            blocking(move || job.plan(wish)).await
        }
    }
}

fn respond(format: OutputFormat, body: Body) -> Response {
    ([(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")], body).into_response()
}

/// A plan, and if it was run how that went.
#[derive(Serialize)]
struct PlanAnswer {
    /// Why the run ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Length of the answer, which was written to nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_bytes: Option<u64>,
    #[serde(flatten)]
    report: PlanReport,
}

/// One query, on its blocking thread.
struct Job {
    state: Arc<AppState>,
    request: QueryRequest,
    asker: Asker,
    cancel: CancelToken,
    ticket: Ticket,
    /// Its place among those that run.
    _permit: OwnedSemaphorePermit,
}

impl Job {
    fn run(&self, writer: &mut ChunkWriter<OutputFormat>) -> Result<(), HttpError> {
        let prepared =
            self.prepare().and_then(|query| Ok((format_of(&self.request, &self.asker, &query)?, query)));
        let (format, query) = prepared.map_err(|error| self.ticket.explain(error))?;
        writer.announce(format);
        let started = Instant::now();
        let result = query.run().and_then(|mut results| write_results(&mut results, format, writer));
        query.ran(started.elapsed());
        result.map_err(|error| self.ticket.explain(error.into()))?;
        Ok(())
    }

    /// The plan, of a profile with what each operator did; also where it was cancelled.
    fn plan(self, wish: PlanWish) -> Result<Response, HttpError> {
        let query = self.prepare().map_err(|error| self.ticket.explain(error))?;
        let (mut status, mut error, mut sink) = (StatusCode::OK, None, ByteCount(0));
        if wish == PlanWish::Profile {
            let format = self.request.format.unwrap_or_else(|| OutputFormat::default_for(query.kind()));
            let result = query.run().and_then(|mut results| write_results(&mut results, format, &mut sink));
            if let Err(failed) = result {
                let failed = self.ticket.explain(failed.into());
                (status, error) = (failed.status, Some(failed.message));
            }
        }
        let answer_bytes = (wish == PlanWish::Profile).then_some(sink.0);
        let text = serde_json::to_string(&PlanAnswer { error, answer_bytes, report: query.report() });
        let text =
            text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok((status, json(&(text + "\n"))).into_response())
    }

    fn prepare(&self) -> Result<Arc<PreparedQuery>, HttpError> {
        let options = options(&self.state, &self.request, &self.asker, self.cancel.clone())?;
        let database = &self.state.database;
        let text = &self.request.query;
        let query = match self.request.at.as_deref() {
            // Plans are kept of queries of the current version only.
            None => database.prepare(text, &options)?,
            at => database.prepare_at(database.snapshot_at(at)?, text, &options)?,
        };
        let query = Arc::new(query);
        self.ticket.run(&query);
        Ok(query)
    }
}

/// The options of a request's query.
pub(crate) fn options(
    state: &AppState,
    request: &QueryRequest,
    asker: &Asker,
    cancel: CancelToken,
) -> Result<QueryOptions, HttpError> {
    let mut options = state.options.query.clone();
    options.cancel = cancel;
    options.base_iri = options.base_iri.or_else(|| asker.base.clone());
    options.set_dataset(&request.default_graphs, &request.named_graphs)?;
    Ok(options)
}

/// The format of a query's answer: the one asked for, or the best of those accepted.
pub(crate) fn format_of(
    request: &QueryRequest,
    asker: &Asker,
    query: &PreparedQuery,
) -> Result<OutputFormat, HttpError> {
    let kind = query.kind();
    let format = request.format.or_else(|| negotiate(Some(&asker.accept), kind));
    format.ok_or_else(|| {
        let message = format!("none of the accepted media types fits: offered are {}", offered(kind));
        HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
    })
}

/// Counts the bytes of an answer that nobody gets.
struct ByteCount(u64);

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
