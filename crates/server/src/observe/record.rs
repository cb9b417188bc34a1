//! A request, from its head to the end of its answer: what those who answer it note, and what becomes of that at its end.

use super::counters::{Counted, CountedWork, Counters};
use super::lines::{AccessLine, AuditLine, SlowLine};
use super::request_id;
use super::route::{OF_ONE, Route};
use super::stages::{Change, Stages, WorkKind};
use super::trace_context::TraceContext;
use super::traces::Traced;
use super::watch::Watch;
use crate::listener::Peer;
use crate::negotiate::wants_problem;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, Version, header};
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Of an address so many bytes are kept for the logs, of a client's name for itself so many, and of a query or an update so many.
const TARGET_BYTES_MAX: usize = 1 << 10;
const AGENT_BYTES_MAX: usize = 200;
const TEXT_BYTES_MAX: usize = 8 << 10;
/// A plan of more bytes is left out of the slow-query log.
const PLAN_BYTES_MAX: usize = 256 << 10;
/// What is counted where the client has left before there was an answer: no answer has this status.
const LEFT: u16 = 499;

tokio::task_local! {
    static CURRENT: Arc<Record>;
}

/// Who asks, for the logs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Who {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) role: Option<&'static str>,
}

/// A request that comes.
pub(crate) struct Begun<'a> {
    pub(crate) client: Peer,
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) version: Version,
    pub(crate) headers: &'a HeaderMap,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Record {
    watch: Arc<Watch>,
    id: String,
    client: Peer,
    started: Instant,
    arrived: SystemTime,
    method: Method,
    version: Version,
    route: Route,
    /// What only logs tell.
    target: String,
    agent: String,
    /// Its error, if it has one, is to be `application/problem+json`.
    wants_problem: bool,
    /// The trace that it is of, if any.
    trace: Option<TraceContext>,
    bytes_in: AtomicU64,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    who: Who,
    error: Option<String>,
    /// The status that an error would have had which came behind the head of the answer.
    late: Option<StatusCode>,
    was_cancelled: bool,
    login_failed: bool,
    changed: Option<Change>,
    work: Option<Work>,
    held: Held,
    database: Option<OfDatabase>,
}

/// Which database it is of.
#[derive(Debug)]
struct OfDatabase {
    counters: Arc<Counters>,
    route: Route,
}

/// What is given back at the end.
#[derive(Default)]
struct Held(Vec<Box<dyn Send>>);

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} held", self.0.len())
    }
}

#[derive(Debug, Default)]
struct Work {
    kind: WorkKind,
    text: String,
    wait: Duration,
    plan: Duration,
    execute: Duration,
    /// What its writer waited for the client.
    blocked: Duration,
    /// When it had written all.
    written: Option<Instant>,
    rows: u64,
    spilled_bytes: u64,
    report: Option<String>,
}

/// The beginning of a text, of so many bytes at most.
fn cut(text: &str, bytes_max: usize) -> String {
    text[..text.floor_char_boundary(bytes_max)].to_owned()
}

impl Record {
    /// A request that has come.
    pub(crate) fn begin(watch: &Arc<Watch>, begun: Begun<'_>) -> Arc<Self> {
        watch.counters.in_flight(1);
        Arc::new(Self::new(Arc::clone(watch), begun))
    }

    fn new(watch: Arc<Watch>, begun: Begun<'_>) -> Self {
        let Begun { client, method, uri, version, headers } = begun;
        let logs = &watch.logs;
        let is_told = logs.access.is_some() || logs.audit.is_some();
        let target = uri.path_and_query().map_or_else(|| uri.path(), |path| path.as_str());
        let agent = headers.get(header::USER_AGENT).map(HeaderValue::as_bytes).unwrap_or_default();
        Self {
            id: request_id::of(headers),
            client,
            started: Instant::now(),
            arrived: SystemTime::now(),
            method: method.clone(),
            version,
            route: Route::of(uri.path()),
            target: if is_told { cut(target, TARGET_BYTES_MAX) } else { String::new() },
            agent: if logs.access.is_some() {
                cut(&String::from_utf8_lossy(&agent[..agent.len().min(AGENT_BYTES_MAX)]), AGENT_BYTES_MAX)
            } else {
                String::new()
            },
            wants_problem: wants_problem(headers),
            trace: TraceContext::of(headers, || logs.traces.as_ref().map(|traces| traces.is_chosen())),
            bytes_in: AtomicU64::new(0),
            noted: Mutex::default(),
            watch,
        }
    }

    /// Answers it: whoever does finds it by [`Self::current`].
    pub(crate) async fn scope<F: Future>(self: Arc<Self>, answering: F) -> F::Output {
        CURRENT.scope(self, answering).await
    }

    /// The request that is being answered here.
    pub(crate) fn current() -> Option<Arc<Self>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        // What is guarded here is whole at any time.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, note: impl FnOnce(&mut Work)) {
        if let Some(work) = &mut self.noted().work {
            note(work);
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The same as a field of the answer.
    pub(crate) fn field(&self) -> Option<HeaderValue> {
        request_id::field(&self.id)
    }

    /// Whether its error is to be `application/problem+json`.
    pub(crate) fn wants_problem(&self) -> bool {
        self.wants_problem
    }

    /// The trace that it is of, if any.
    pub(crate) fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    fn trace_id(&self) -> Option<&str> {
        self.trace.as_ref().map(|context| context.trace.as_str())
    }

    pub(crate) fn client(&self) -> Peer {
        self.client
    }

    /// Who asks.
    pub(crate) fn note_who(&self, who: Who) {
        self.noted().who = who;
    }

    /// It is of a database, and this is its address there: counted is it with the others of that.
    pub(crate) fn note_database(&self, counters: &Arc<Counters>, path: &str, is_one_of_several: bool) {
        self.counters().in_flight(-1);
        counters.in_flight(1);
        let route = Route::within(path, is_one_of_several);
        self.noted().database = Some(OfDatabase { counters: Arc::clone(counters), route });
    }

    fn counters(&self) -> Arc<Counters> {
        let noted = self.noted();
        Arc::clone(noted.database.as_ref().map_or(&self.watch.counters, |database| &database.counters))
    }

    /// Keeps something until its answer was sent, or given up.
    pub(crate) fn hold(&self, what: impl Send + 'static) {
        self.noted().held.0.push(Box::new(what));
    }

    /// Bytes of the body have come.
    pub(crate) fn note_bytes_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// What is told to the client as an error.
    pub(crate) fn note_error(&self, message: &str) {
        self.noted().error = Some(cut(message, TARGET_BYTES_MAX));
    }

    /// An error behind the head of the answer.
    pub(crate) fn note_late(&self, status: StatusCode, message: &str) {
        let mut noted = self.noted();
        noted.late = Some(status);
        noted.error = Some(cut(message, TARGET_BYTES_MAX));
    }

    /// Somebody has stopped it.
    pub(crate) fn note_cancelled(&self) {
        self.noted().was_cancelled = true;
    }

    /// A name, a password or a token was refused.
    pub(crate) fn note_failed_login(&self) {
        self.counters().failed_login();
        self.noted().login_failed = true;
    }

    /// It is a query, an update or what is timed like these.
    pub(crate) fn note_work(&self, kind: WorkKind, text: &str) {
        let text = if self.watch.logs.keeps_texts() { cut(text, TEXT_BYTES_MAX) } else { String::new() };
        self.noted().work = Some(Work { kind, text, ..Work::default() });
    }

    /// It begins; where it began before, that was in vain.
    pub(crate) fn note_begun(&self) {
        let wait = self.started.elapsed();
        self.work(|work| work.wait = wait);
    }

    /// It took so long to parse and to plan.
    pub(crate) fn note_planned(&self, took: Duration) {
        self.work(|work| work.plan = took);
    }

    /// It ran for so long, the wait for its client included, with these results.
    pub(crate) fn note_ran(&self, took: Duration, rows: u64, spilled_bytes: u64) {
        self.work(|work| {
            work.execute = took;
            work.rows = rows;
            work.spilled_bytes = spilled_bytes;
        });
    }

    /// All was written; its writer has waited so long for the client.
    pub(crate) fn note_written(&self, blocked: Duration) {
        self.work(|work| {
            work.blocked = blocked;
            work.written = Some(Instant::now());
        });
    }

    /// Whether it is slow already, so that its plan is to be told.
    pub(crate) fn is_slow(&self) -> bool {
        let logs = &self.watch.logs;
        logs.slow.is_some() && self.started.elapsed() >= logs.slow_min()
    }

    /// Its plan, with what became of it.
    pub(crate) fn note_report(&self, report: String) {
        if report.len() <= PLAN_BYTES_MAX {
            self.work(|work| work.report = Some(report));
        }
    }

    /// What it has changed.
    pub(crate) fn note_change(&self, change: Change) {
        self.noted().changed = Some(change);
    }

    /// The end: counts it, and writes its lines.
    fn end(&self, status: u16, bytes_out: u64, is_whole: bool) {
        let took = self.started.elapsed();
        let noted = std::mem::take(&mut *self.noted());
        let counters = noted.database.as_ref().map_or(&self.watch.counters, |database| &database.counters);
        let (route, logs) = (self.route(&noted), &self.watch.logs);
        let status_to_tell = noted.late.map_or(status, |late| late.as_u16());
        counters.count(&Counted {
            route: route.0,
            status,
            role: noted.who.role.unwrap_or("none"),
            took,
            bytes_in: self.bytes_in.load(Ordering::Relaxed),
            bytes_out,
        });
        counters.in_flight(-1);
        let result = result(status_to_tell, is_whole, noted.was_cancelled);
        let work = noted.work.as_ref().map(|work| (work, self.stages(work)));
        if let Some((work, stages)) = work {
            let (kind, rows, spilled_bytes) = (work.kind, work.rows, work.spilled_bytes);
            counters.count_work(&CountedWork { kind, result, stages, rows, spilled_bytes });
        }
        if let (Some(traces), Some(context)) =
            (&logs.traces, self.trace.as_ref().filter(|trace| trace.is_sampled))
        {
            traces.tell(self.traced(&noted, context, work.map(|(_, stages)| stages), status_to_tell, took));
        }
        if let Some(log) = &logs.access {
            log.write(
                self.access_line(&noted, work, status, bytes_out, took, is_whole).written(logs.access_format),
            );
        }
        if let (Some(log), Some((work, stages))) = (&logs.slow, work)
            && took >= logs.slow_min()
        {
            counters.slow();
            let line = SlowLine {
                at: self.arrived,
                request: &self.id,
                trace: self.trace_id(),
                client: self.client,
                user: noted.who.name.as_deref(),
                kind: work.kind.name(),
                result,
                error: noted.error.as_deref(),
                seconds: took.as_secs_f64(),
                stages,
                rows: work.rows,
                spilled_bytes: work.spilled_bytes,
                bytes: bytes_out,
                text: &work.text,
            };
            log.write(line.written(work.report.as_deref()));
        }
        if let Some(log) = logs.audit.as_ref().filter(|_| self.is_audited(&noted)) {
            log.write(self.audit_line(&noted, status_to_tell, result).written());
        }
    }

    /// What is told of it to who follows traces.
    fn traced(
        &self,
        noted: &Noted,
        context: &TraceContext,
        stages: Option<Stages>,
        status: u16,
        took: Duration,
    ) -> Traced {
        let route = self.route(noted).0;
        let mut attributes = vec![
            ("http.request.method", self.method.as_str().into()),
            ("http.route", route.into()),
            ("http.response.status_code", status.into()),
            ("lode.request", self.id.as_str().into()),
        ];
        attributes.extend(noted.who.name.as_deref().map(|name| ("user.name", name.into())));
        attributes.extend(noted.work.as_ref().map(|work| ("lode.kind", work.kind.name().into())));
        attributes.extend(noted.work.as_ref().map(|work| ("lode.rows", work.rows.into())));
        Traced {
            context: context.clone(),
            arrived: self.arrived,
            took,
            name: format!("{} {route}", self.method),
            status,
            error: noted.error.clone(),
            stages,
            attributes,
        }
    }

    /// The address: within its database, where it is of one.
    fn route(&self, noted: &Noted) -> Route {
        noted.database.as_ref().map_or(self.route, |database| database.route)
    }

    fn stages(&self, work: &Work) -> Stages {
        let deliver = work.written.map_or(Duration::ZERO, |written| written.elapsed()) + work.blocked;
        Stages {
            wait: work.wait,
            plan: work.plan,
            execute: work.execute.saturating_sub(work.blocked),
            deliver,
        }
    }

    fn access_line<'a>(
        &'a self,
        noted: &'a Noted,
        work: Option<(&'a Work, Stages)>,
        status: u16,
        bytes_out: u64,
        took: Duration,
        is_whole: bool,
    ) -> AccessLine<'a> {
        AccessLine {
            at: self.arrived,
            request: &self.id,
            trace: self.trace_id(),
            client: self.client,
            user: noted.who.name.as_deref(),
            role: noted.who.role,
            method: self.method.as_str(),
            target: &self.target,
            version: self.version,
            status,
            bytes_in: self.bytes_in.load(Ordering::Relaxed),
            bytes: bytes_out,
            seconds: took.as_secs_f64(),
            is_whole,
            rows: work.map(|(work, _)| work.rows),
            stages: work.map(|(_, stages)| stages),
            error: noted.error.as_deref(),
            agent: &self.agent,
        }
    }

    /// Whether the audit log tells of it: what changes something, or would have, and logins that failed.
    fn is_audited(&self, noted: &Noted) -> bool {
        let reads = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&self.method);
        let changes = [WorkKind::Update, WorkKind::Upload];
        let is_change = noted.work.as_ref().is_some_and(|work| changes.contains(&work.kind));
        let would_change = match self.route(noted).0 {
            // By POST these are asked, too.
            OF_ONE | "/queries" => [Method::PUT, Method::DELETE, Method::PATCH].contains(&self.method),
            "/data" | "/update" => !reads,
            other => other.starts_with("/admin") && !reads,
        };
        noted.login_failed || is_change || noted.changed.is_some() || would_change
    }

    fn audit_line<'a>(&'a self, noted: &'a Noted, status: u16, result: &'static str) -> AuditLine<'a> {
        AuditLine {
            at: self.arrived,
            request: &self.id,
            trace: self.trace_id(),
            client: self.client,
            user: noted.who.name.as_deref(),
            role: noted.who.role,
            action: if noted.login_failed { "login" } else { self.route(noted).0 },
            method: self.method.as_str(),
            target: &self.target,
            status,
            result,
            error: noted.error.as_deref(),
            changed: noted.changed,
            text: noted.work.as_ref().map_or("", |work| &work.text),
        }
    }
}

/// What became of it, in a word.
fn result(status: u16, is_whole: bool, was_cancelled: bool) -> &'static str {
    if was_cancelled {
        return "cancelled";
    }
    if status == LEFT || status < 400 && !is_whole {
        return "client_left";
    }
    match status {
        _ if status < 400 => "ok",
        401 | 403 => "denied",
        413 => "too_large",
        429 | 503 => "refused",
        504 => "timeout",
        507 => "disk_full",
        _ if status < 500 => "invalid",
        _ => "failed",
    }
}

/// The end of a request, whatever becomes of it: when this is dropped.
#[derive(Debug)]
pub(crate) struct Ended {
    record: Arc<Record>,
    status: u16,
    pub(crate) bytes_out: u64,
    pub(crate) is_whole: bool,
}

impl Ended {
    pub(crate) fn new(record: Arc<Record>) -> Self {
        Self { record, status: LEFT, bytes_out: 0, is_whole: false }
    }

    /// There is an answer. What has no body is whole.
    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.status = status.as_u16();
        let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&status);
        self.is_whole = bodiless || self.record.method == Method::HEAD;
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.record.end(self.status, self.bytes_out, self.is_whole);
    }
}
