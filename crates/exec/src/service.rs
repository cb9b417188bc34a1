//! What SERVICE needs of whoever can talk to other endpoints: requests go out without waiting, answers come in parts.

use lode_base::cancel::{CancelToken, Cancelled};
use lode_base::memory_budget::{MemoryBudget, OutOfBudget};
use lode_rdf::Term;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests of a query that are on their way at once, unless the handler says otherwise.
const REQUESTS_MAX: usize = 4;

/// Runs federated queries (SERVICE).
pub trait ServiceHandler: Send + Sync {
    /// Sends a query to an endpoint, and does not wait for the answer: what fails is told by the answer.
    fn ask(&self, request: ServiceRequest) -> Box<dyn ServiceAnswer>;

    /// How many requests of a query may be on their way at once.
    fn requests_max(&self) -> usize {
        REQUESTS_MAX
    }

    /// The same for requests that belong to a trace (the field `traceparent`); none where that is told to nobody.
    fn traced(&self, _traceparent: &str) -> Option<Arc<dyn ServiceHandler>> {
        None
    }
}

/// A query for an endpoint.
#[derive(Debug, Clone)]
pub struct ServiceRequest {
    /// The endpoint's IRI.
    pub endpoint: String,
    /// The query's text.
    pub query: String,
    /// Stops the request.
    pub cancel: CancelToken,
    /// Whose memory it takes.
    pub budget: MemoryBudget,
}

/// The answer to a request. Dropped before its end, it ends the request.
pub trait ServiceAnswer: Send {
    /// The next rows, for which it waits; none at the end. After an error it is not asked again.
    ///
    /// # Errors
    /// Where the endpoint cannot be asked, does not answer in time or not with rows; where the query was stopped, or has no memory left.
    fn next(&mut self) -> Result<Option<ServiceRows>, ServiceError>;

    /// Bytes that have come so far.
    fn bytes_received(&self) -> u64;
}

/// Rows of an answer: a part that fits in memory.
#[derive(Debug, Clone, Default)]
pub struct ServiceRows {
    /// Names of the columns, without `?`.
    pub variables: Arc<[String]>,
    /// The rows, each as long as there are columns.
    pub rows: Vec<Vec<Option<Term>>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The request failed, which SILENT passes over.
    #[error("{0}")]
    Failed(String),
    /// The query was stopped.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The query has no memory left.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfBudget),
}

/// An answer that is known already.
pub struct ReadyAnswer(Option<Result<ServiceRows, ServiceError>>);

impl ReadyAnswer {
    /// An answer of these rows, or an error.
    pub fn new(answer: Result<ServiceRows, ServiceError>) -> Self {
        Self(Some(answer))
    }
}

impl ServiceAnswer for ReadyAnswer {
    fn next(&mut self) -> Result<Option<ServiceRows>, ServiceError> {
        self.0.take().transpose()
    }

    fn bytes_received(&self) -> u64 {
        0
    }
}

/// The requests of one query; clones are the same query.
#[derive(Clone)]
pub struct Federation {
    handler: Arc<dyn ServiceHandler>,
    running: Arc<AtomicUsize>,
}

impl fmt::Debug for Federation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Federation").field("running", &self.running).finish_non_exhaustive()
    }
}

impl Federation {
    /// A query without requests yet.
    pub fn new(handler: Arc<dyn ServiceHandler>) -> Self {
        Self { handler, running: Arc::default() }
    }

    /// A place for one more request. `is_first`: of an operator that can do nothing before it has an answer: such a one always gets a place,
    /// because those who have the others may wait for it.
    pub(crate) fn place(&self, is_first: bool) -> Option<Place> {
        let max = if is_first { usize::MAX } else { self.handler.requests_max() };
        let more = |running: usize| (running < max).then_some(running + 1);
        let taken = self.running.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| Place(Arc::clone(&self.running)))
    }

    /// What is said where no endpoint may be asked.
    pub(crate) fn refusal(endpoint: &str) -> String {
        format!("no endpoint may be asked here (--allow-service '{endpoint}' allows this one)")
    }

    pub(crate) fn ask(&self, request: ServiceRequest) -> Box<dyn ServiceAnswer> {
        self.handler.ask(request)
    }
}

/// A request's place among those of its query, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
