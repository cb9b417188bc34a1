//! The query operation: parsed, planned and run on a blocking thread, streamed while it runs, or at once where it is short; or its
//! plan, with what became of it.

use crate::asker::{Asker, Head, format_of, options};
use crate::error::HttpError;
use crate::in_place::{self, InPlace};
use crate::listener::Peer;
use crate::observe::{Record, WorkKind};
use crate::request::{PlanWish, QueryRequest, time_limit};
use crate::running::{RequestKind, Ticket, cancelled_error};
use crate::seat::Seat;
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::stream::{ChunkWriter, answered};
use crate::update::json;
use crate::validator::Tag;
use crate::written::write_results;
use crate::{min_version, warnings};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::report::PlanReport;
use lode_engine::{
    CancelToken, EngineError, ExecError, OutputFormat, PreparedQuery, QueryResults, is_repeatable,
};
use serde::Serialize;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Who runs longer needs a place among the long queries.
const SHORT_MAX: Duration = Duration::from_millis(100);
/// So does, where others wait for a place among the short ones, who has not ended by then, however little it could compute.
const SHORT_WALL_MAX: Duration = Duration::from_secs(1);

/// Answers the query: at once where it is short, else once there is a place for it.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: QueryRequest,
    asker: Asker,
) -> Result<Response, HttpError> {
    if request.plan.is_some() && !asker.graphs.reads_all() {
        // Plans are made of figures of the whole database.
        let message = "you may not: plans and profiles tell of all graphs, and you may read some only";
        return Err(HttpError::new(StatusCode::FORBIDDEN, message));
    }
    let granted = asker.granted;
    let limit = granted.time(time_limit(request.timeout, state.limits.get().timeout));
    granted.check_text(&request.query)?;
    let client = asker.record.as_ref().map_or(Peer::Unix, |record| record.client());
    asker.note(|record| record.note_work(WorkKind::Query, &request.query));
    let ticket = state.running.enter(RequestKind::Query, &request.query, client, limit);
    if let InPlace::Answered(answer) = in_place::answer(&state, &request, &asker) {
        return answer.map(|(head, bytes)| respond(&head, bytes.into()));
    }
    let asked = Asked { state, request: request.into(), asker: asker.into(), ticket: ticket.into() };
    if let Some(place) = asked.state.queries.try_enter() {
        return asked.job(Seat::long(place, &asked.state.queries)).answer().await;
    }
    // How long a profile takes does not tell how long the query does.
    if asked.request.plan != Some(PlanWish::Profile)
        && let Some(answer) = asked.attempt().await?
    {
        return Ok(answer);
    }
    let place = tokio::select! {
        place = asked.state.queries.enter(asked.ticket.deadline()) => place?,
        () = asked.ticket.cancelled() => return Err(asked.cancelled()),
    };
    asked.job(Seat::long(place, &asked.state.queries)).answer().await
}

/// What tells a client that the answer that it has is still the same; none where nobody can say so.
pub(crate) fn tag(state: &AppState, request: &QueryRequest, accept: &str, base: Option<&str>) -> Option<Tag> {
    let is_plain = request.plan.is_none() && request.at.is_none();
    (is_plain && is_repeatable(&request.query)).then(|| {
        // Of the version of now or one before: an answer that is newer than its tag is asked for once more than it must be.
        let version = state.database.snapshot().state_number();
        state.validators.of_query(version, request, accept, base)
    })
}

/// A query on its way.
struct Asked {
    state: Arc<AppState>,
    request: Arc<QueryRequest>,
    asker: Arc<Asker>,
    ticket: Arc<Ticket>,
}

impl Asked {
    fn cancelled(&self) -> HttpError {
        self.asker.note(Record::note_cancelled);
        cancelled_error()
    }

    fn job(&self, seat: Arc<Seat>) -> Job {
        Job {
            state: Arc::clone(&self.state),
            request: Arc::clone(&self.request),
            asker: Arc::clone(&self.asker),
            ticket: Arc::clone(&self.ticket),
            cancel: self.ticket.begin(),
            seat,
        }
    }

    /// The answer, if the query is short. One that is not goes on where there is a place among the long ones by then; else it is stopped,
    /// before anything of its answer was sent.
    async fn attempt(&self) -> Result<Option<Response>, HttpError> {
        let permit = tokio::select! {
            permit = self.state.short_queries.enter(self.ticket.deadline()) => permit?,
            () = self.ticket.cancelled() => return Err(self.cancelled()),
        };
        let seat = Seat::short(permit, &self.state.queries);
        let job = self.job(Arc::clone(&seat));
        let (cancel, started) = (job.cancel.clone(), Instant::now());
        let mut answer = pin!(job.answer());
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                () = tokio::time::sleep(SHORT_MAX) => {}
            }
            let is_in_the_way =
                started.elapsed() >= SHORT_WALL_MAX && self.state.short_queries.is_waited_for();
            let is_long = self.ticket.computed() >= SHORT_MAX || is_in_the_way;
            if is_long && !seat.go_on_long() {
                cancel.cancel();
                break answer.await;
            }
        };
        if answer.is_err() && seat.is_moving() {
            self.ticket.wait();
            return Ok(None);
        }
        answer.map(Some)
    }
}

fn respond(head: &Head, body: Body) -> Response {
    let fields = [(header::CONTENT_TYPE, head.format.media_type()), (header::VARY, "Accept")];
    let mut response = (fields, body).into_response();
    warnings::tell(&head.warnings, &mut response);
    min_version::tell(head.version, &mut response);
    response
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
    request: Arc<QueryRequest>,
    asker: Arc<Asker>,
    ticket: Arc<Ticket>,
    cancel: CancelToken,
    seat: Arc<Seat>,
}

impl Job {
    async fn answer(self) -> Result<Response, HttpError> {
        match self.request.plan {
            None => {
                let memory = self.state.memory().cloned();
                let (head, body) = answered(self.cancel.clone(), memory, self, Self::run).await?;
                Ok(respond(&head, body))
            }
            Some(wish) => {
                let _left = CancelOnDrop(self.cancel.clone());
                blocking(move || self.plan(wish)).await
            }
        }
    }

    fn run(&self, writer: &mut ChunkWriter<Head>) -> Result<(), HttpError> {
        self.asker.note(Record::note_begun);
        let prepared =
            self.prepare().and_then(|query| Ok((format_of(&self.request, &self.asker, &query)?, query)));
        let (format, query) = prepared.map_err(|error| self.explain(error))?;
        if query.is_long() && !self.seat.go_on_long() {
            return Err(HttpError::busy("it is long, and all places for long queries are taken"));
        }
        writer.announce(Head::new(format, &query, &self.asker.graphs));
        let seat = Arc::clone(&self.seat);
        writer.stream_if(move || seat.go_on_long());
        let started = Instant::now();
        writer.limit_bytes(self.asker.granted.limits.bytes);
        let result = query.run().and_then(|results| self.write(results, format, writer));
        // Neither others nor a client that takes its time make a query long.
        query.ran(started.elapsed().min(query.computed()));
        self.note(&query, started.elapsed());
        if let Err(EngineError::Execution(ExecError::OutOfMemory(_))) = &result {
            // Others may have the memory; among the long ones it has a second chance.
            self.seat.stop_short();
        }
        result.map_err(|error| match writer.is_too_long() {
            true => self.asker.granted.too_many_bytes(),
            false => self.explain(self.asker.granted.told(error)),
        })?;
        Ok(())
    }

    fn write(
        &self,
        results: QueryResults,
        format: OutputFormat,
        out: &mut dyn Write,
    ) -> Result<u64, EngineError> {
        let asked = (&*self.state.database, &self.asker.graphs);
        write_results(results, &self.request.query, Some(asked), format, out)
    }

    /// The error to tell.
    fn explain(&self, error: HttpError) -> HttpError {
        let limit = self.state.limits.get().timeout;
        let error = self.asker.granted.timed(self.ticket.explain(error), self.request.timeout, limit);
        if self.ticket.is_cancelled() && error.status == StatusCode::SERVICE_UNAVAILABLE {
            self.asker.note(Record::note_cancelled);
        }
        error
    }

    /// Notes a run for those who watch.
    fn note(&self, query: &PreparedQuery, took: Duration) {
        self.asker.note(|record| {
            let run = query.run_report();
            let (rows, spilled) = run.map_or((0, 0), |run| (run.rows, run.total.spilled_bytes));
            record.note_ran(took, rows, spilled);
            if record.is_slow() {
                serde_json::to_string(&query.report())
                    .into_iter()
                    .for_each(|report| record.note_report(report));
            }
        });
    }

    /// The plan, of a profile with what each operator did; also where it was cancelled.
    fn plan(self, wish: PlanWish) -> Result<Response, HttpError> {
        self.asker.note(Record::note_begun);
        let query = self.prepare().map_err(|error| self.explain(error))?;
        let (started, mut status, mut error, mut sink) = (Instant::now(), StatusCode::OK, None, ByteCount(0));
        if wish == PlanWish::Profile {
            let kind = query.kind();
            let format = self
                .request
                .format
                .map_or_else(|| OutputFormat::default_for(kind), |format| format.of_kind(kind));
            let result = query.run().and_then(|results| self.write(results, format, &mut sink));
            if let Err(failed) = result {
                let failed = self.explain(self.asker.granted.told(failed));
                (status, error) = (failed.status, Some(failed.message));
            }
            self.note(&query, started.elapsed());
        }
        let answer_bytes = (wish == PlanWish::Profile).then_some(sink.0);
        let text = serde_json::to_string(&PlanAnswer { error, answer_bytes, report: query.report() });
        let text =
            text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        let mut response = (status, json(&(text + "\n"))).into_response();
        warnings::tell(query.warnings(), &mut response);
        Ok(response)
    }

    fn prepare(&self) -> Result<Arc<PreparedQuery>, HttpError> {
        let started = Instant::now();
        let options = options(&self.state, &self.request, &self.asker, self.cancel.clone())?;
        let database = &self.state.database;
        let text = &self.request.query;
        let query = match (&self.asker.within, self.request.at.as_deref()) {
            (Some(snapshot), _) => database.prepare_at(snapshot.clone(), text, &options),
            // Plans are kept of queries of the current version only.
            (None, None) => database.prepare(text, &options),
            (None, at) => database.prepare_at(database.snapshot_at(at)?, text, &options),
        };
        let query = Arc::new(query.map_err(|error| self.asker.granted.told(error))?);
        if self.request.plan != Some(PlanWish::Explain) {
            self.asker.check_reads(&query)?;
        }
        self.asker.note(|record| record.note_planned(started.elapsed()));
        self.ticket.run(&query);
        Ok(query)
    }
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
