//! The queries and updates that run or wait to run: who asked for what, how far they are, and how to stop one.

use crate::deadline::after;
use crate::error::HttpError;
use crate::listener::Peer;
use axum::http::StatusCode;
use lode_engine::report::{PlanReport, RunReport};
use lode_engine::{CancelToken, PreparedQuery};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// So many characters of a text are kept: the list of all requests stays small however long they are.
const TEXT_CHARS_MAX: usize = 1000;

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RequestKind {
    Query,
    Update,
}

/// All requests to a database that have a ticket.
#[derive(Default)]
pub(crate) struct Running {
    requests: Mutex<BTreeMap<u64, Arc<RunningRequest>>>,
    last_id: Arc<AtomicU64>,
}

/// A request on its way.
struct RunningRequest {
    kind: RequestKind,
    text: String,
    client: Peer,
    since: SystemTime,
    started: Instant,
    /// When it must have ended: the clock runs while it waits.
    deadline: Instant,
    stage: Mutex<Stage>,
    cancelled: watch::Sender<bool>,
}

/// How far a request is.
enum Stage {
    /// Others run, or it has to begin anew.
    Waiting,
    /// It has a place; a query is parsed and planned.
    Begun(CancelToken),
    /// A query runs.
    Running(CancelToken, Arc<PreparedQuery>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is guarded here is whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    /// Nothing yet; numbers come after `last_id`, which other databases share.
    pub(crate) fn new(last_id: &Arc<AtomicU64>) -> Self {
        Self { requests: Mutex::default(), last_id: Arc::clone(last_id) }
    }

    /// Enters a request that may take so long, and stays as long as the ticket is held.
    pub(crate) fn enter(
        self: &Arc<Self>,
        kind: RequestKind,
        text: &str,
        client: Peer,
        timeout: Duration,
    ) -> Ticket {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let request = Arc::new(RunningRequest {
            kind,
            text: text.chars().take(TEXT_CHARS_MAX).collect(),
            client,
            since: SystemTime::now(),
            started: Instant::now(),
            deadline: after(timeout),
            stage: Mutex::new(Stage::Waiting),
            cancelled: watch::Sender::new(false),
        });
        lock(&self.requests).insert(id, Arc::clone(&request));
        Ticket { all: Arc::clone(self), id, request }
    }

    /// All requests, oldest first.
    pub(crate) fn list(&self) -> Vec<RequestReport> {
        let requests: Vec<_> =
            lock(&self.requests).iter().map(|(id, request)| (*id, Arc::clone(request))).collect();
        requests.into_iter().map(|(id, request)| request.report(id)).collect()
    }

    /// The plan of a query that runs, with what each operator did so far; none of what has no plan, or is not there.
    pub(crate) fn plan(&self, id: u64) -> Option<PlanReport> {
        let request = lock(&self.requests).get(&id).map(Arc::clone)?;
        let stage = lock(&request.stage);
        let Stage::Running(_, query) = &*stage else { return None };
        let query = Arc::clone(query);
        drop(stage);
        Some(query.report())
    }

    /// How many run and wait, and what the running ones take.
    pub(crate) fn sums(&self) -> RunningSums {
        self.list().iter().fold(RunningSums::default(), |sums, request| {
            let waits = usize::from(request.state == "waiting");
            RunningSums {
                running: sums.running + 1 - waits,
                waiting: sums.waiting + waits,
                memory_bytes: sums.memory_bytes + request.run.as_ref().map_or(0, |run| run.memory_bytes),
                longest_seconds: sums.longest_seconds.max(request.seconds),
            }
        })
    }

    /// Stops a request; `false` where there is none of this number.
    pub(crate) fn cancel(&self, id: u64) -> bool {
        let request = lock(&self.requests).get(&id).map(Arc::clone);
        request.is_some_and(|request| {
            request.cancel();
            true
        })
    }
}

impl Running {
    /// Stops all requests there are, since the server ends.
    pub(crate) fn cancel_all(&self) {
        let requests: Vec<_> = lock(&self.requests).values().map(Arc::clone).collect();
        requests.iter().for_each(|request| request.cancel());
    }
}

impl RunningRequest {
    fn cancel(&self) {
        let stage = lock(&self.stage);
        self.cancelled.send_replace(true);
        if let Stage::Begun(token) | Stage::Running(token, _) = &*stage {
            token.cancel();
        }
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn report(&self, id: u64) -> RequestReport {
        let stage = lock(&self.stage);
        let (name, query) = match &*stage {
            Stage::Waiting => ("waiting", None),
            Stage::Begun(_) if self.kind == RequestKind::Query => ("planning", None),
            Stage::Begun(_) => ("running", None),
            Stage::Running(_, query) => ("running", Some(Arc::clone(query))),
        };
        let state = if *self.cancelled.borrow() { "cancelling" } else { name };
        drop(stage);
        RequestReport {
            id,
            kind: self.kind,
            text: self.text.clone(),
            client: self.client.to_string(),
            since: self.since.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
            seconds: self.started.elapsed().as_secs_f64(),
            state,
            seconds_left: self.time_left().as_secs_f64(),
            run: query.and_then(|query| query.run_report()),
        }
    }
}

/// All queries and updates together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct RunningSums {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
    #[serde(skip)]
    pub(crate) memory_bytes: usize,
    pub(crate) longest_seconds: f64,
}

/// A request as the administration sees it.
#[derive(Debug, Serialize)]
pub(crate) struct RequestReport {
    id: u64,
    kind: RequestKind,
    /// The beginning of the text.
    text: String,
    client: String,
    /// When it came: seconds since 1970.
    since: f64,
    /// How long it has been here.
    seconds: f64,
    /// `waiting`, `planning`, `running` or `cancelling`.
    state: &'static str,
    /// Until its time-out.
    seconds_left: f64,
    /// What a query has done so far.
    run: Option<RunReport>,
}

/// A request's place in the list, given back when dropped.
pub(crate) struct Ticket {
    all: Arc<Running>,
    id: u64,
    request: Arc<RunningRequest>,
}

impl Ticket {
    /// When the request must have ended.
    pub(crate) fn deadline(&self) -> Instant {
        self.request.deadline
    }

    /// The request begins, and may take what is left of its time.
    pub(crate) fn begin(&self) -> CancelToken {
        let token = CancelToken::new(Some(self.request.time_left()));
        let mut stage = lock(&self.request.stage);
        if *self.request.cancelled.borrow() {
            token.cancel();
        }
        *stage = Stage::Begun(token.clone());
        token
    }

    /// The query is planned and runs.
    pub(crate) fn run(&self, query: &Arc<PreparedQuery>) {
        let mut stage = lock(&self.request.stage);
        if let Stage::Begun(token) = &*stage {
            let token = token.clone();
            *stage = Stage::Running(token, Arc::clone(query));
        }
    }

    /// The request has stopped, and waits to begin anew.
    pub(crate) fn wait(&self) {
        *lock(&self.request.stage) = Stage::Waiting;
    }

    /// For how long the query has computed.
    pub(crate) fn computed(&self) -> Duration {
        let stage = lock(&self.request.stage);
        let Stage::Running(_, query) = &*stage else { return Duration::ZERO };
        let query = Arc::clone(query);
        drop(stage);
        query.computed()
    }

    /// Ready once somebody has cancelled the request.
    pub(crate) async fn cancelled(&self) {
        let mut cancelled = self.request.cancelled.subscribe();
        // The sender lives as long as the ticket.
        let _ = cancelled.wait_for(|cancelled| *cancelled).await;
    }

    /// Whether somebody has cancelled the request.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.request.cancelled.borrow()
    }

    /// The error to tell: where the request was stopped since the administration has cancelled it, that. Other errors tell what
    /// happened, also if they came after the wish.
    pub(crate) fn explain(&self, error: HttpError) -> HttpError {
        let stopped = error.status == StatusCode::SERVICE_UNAVAILABLE;
        if stopped && self.is_cancelled() { cancelled_error() } else { error }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        lock(&self.all.requests).remove(&self.id);
    }
}

/// Of what the administration, or the end of the server, has stopped. 503, since nothing is wrong with the request nor with the server;
/// without `Retry-After`, since nobody wants it to be tried again at once.
pub(crate) fn cancelled_error() -> HttpError {
    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, CANCELLED)
}

const CANCELLED: &str = "cancelled by the administration (lode cancel, or the server's end): there is no answer, and nothing was changed";

#[cfg(test)]
mod tests {
    //! Requests come, are seen, stopped, and go.
    use super::{RequestKind, Running};
    use crate::listener::Peer;
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};
    use std::time::Duration;

    #[test]
    fn requests_are_listed_and_stopped() {
        let all = Arc::new(Running::default());
        let client = Peer::Tcp("127.0.0.1:4711".parse().unwrap());
        let minute = Duration::from_secs(60);
        let first = all.enter(RequestKind::Query, &"a".repeat(5000), client, minute);
        let second = all.enter(RequestKind::Update, "CLEAR ALL", client, Duration::MAX);
        let states = || all.list().iter().map(|request| (request.id, request.state)).collect::<Vec<_>>();
        assert_eq!(states(), [(1, "waiting"), (2, "waiting")]);
        assert_eq!(all.list()[0].text.len(), 1000);
        assert!(all.list()[0].seconds_left <= 60.0, "the clock runs while it waits");
        let (token, other) = (first.begin(), second.begin());
        assert_eq!(states(), [(1, "planning"), (2, "running")]);
        assert!(all.list()[1].seconds_left > 60.0);
        assert!(!all.cancel(3) && all.cancel(1));
        assert!(token.check().is_err() && other.check().is_ok());
        assert_eq!(states(), [(1, "cancelling"), (2, "running")]);
        // What begins anew is cancelled all the same.
        first.wait();
        assert!(first.begin().check().is_err());
        drop(first);
        assert!(!all.cancel(1));
        assert_eq!(states(), [(2, "running")]);
    }

    #[test]
    fn who_waits_hears_of_it_and_never_begins() {
        let all = Arc::new(Running::default());
        let ticket = all.enter(RequestKind::Query, "ASK {}", Peer::Unix, Duration::MAX);
        let mut cx = Context::from_waker(Waker::noop());
        let mut cancelled = pin!(ticket.cancelled());
        assert!(cancelled.as_mut().poll(&mut cx).is_pending());
        all.cancel(1);
        assert!(cancelled.as_mut().poll(&mut cx).is_ready());
        assert!(ticket.begin().check().is_err());
    }
}
