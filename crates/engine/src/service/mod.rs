//! SERVICE over HTTP ([why so](../../../../docs/design/031-service.md)).
//!
//! Each request has a thread that talks to the endpoint (`exchange.rs`) and hands over the bytes of the answer as they come (`pipe.rs`);
//! the query's own thread parses them (`answer.rs`), so that parsing is the query's work and waiting is not, and can leave at any time.

mod allow;
mod answer;
mod exchange;
mod pipe;
#[cfg(test)]
mod tests;

use crate::interrupt::Interruptible;
use crate::tls;
use allow::AllowList;
use answer::HttpAnswer;
use exchange::Exchange;
use lode_exec::service::{ReadyAnswer, ServiceAnswer, ServiceError, ServiceHandler, ServiceRequest};
use pipe::Pipe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};

/// Requests of all queries at once: queries are limited themselves, so this is only reached when something is wrong.
const THREADS_MAX: usize = 512;
/// Parsing and TLS need no more.
const STACK_BYTES: usize = 512 << 10;
/// Connections that are kept for the next request, of an endpoint and in all.
const IDLE_PER_HOST_MAX: usize = 8;
const IDLE_MAX: usize = 32;
/// What a connection reads and writes at once.
const BUFFER_BYTES: usize = 32 << 10;
/// The longest that making a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How endpoints are asked.
#[derive(Debug, Clone)]
pub struct HttpServiceOptions {
    /// Endpoints that may be asked: an IRI, or what it starts with, ending in `*` (scheme, host and port count wholly).
    pub allowed: Vec<String>,
    /// How long an endpoint may be silent.
    pub timeout: Duration,
    /// Requests of a query that are on their way at once.
    pub requests_max: usize,
    /// The longest answer.
    pub answer_bytes_max: u64,
    /// A file of certificates (PEM) that are believed instead of those built in (default: what `SSL_CERT_FILE` names).
    pub certificates: Option<PathBuf>,
}

impl Default for HttpServiceOptions {
    fn default() -> Self {
        let (timeout, requests_max, answer_bytes_max) = (Duration::from_secs(60), 4, 1 << 30);
        let certificates = tls::certificates_named();
        Self { allowed: Vec::new(), timeout, requests_max, answer_bytes_max, certificates }
    }
}

/// Federation through the SPARQL 1.1 Protocol (query via POST with form parameters). Only endpoints on a list are asked, also when one sends
/// us to another. The environment's proxies are used.
#[derive(Debug, Clone)]
pub struct HttpService {
    allowed: Arc<AllowList>,
    agent: ureq::Agent,
    options: HttpServiceOptions,
    threads: Arc<AtomicUsize>,
    /// The trace that requests belong to.
    traceparent: Option<Arc<str>>,
}

impl HttpService {
    /// A service without connections yet.
    ///
    /// # Errors
    /// Where the certificates that the environment names cannot be read.
    pub fn new(options: HttpServiceOptions) -> Result<Self, String> {
        let config = tls::configured(ureq::Agent::config_builder(), options.certificates.as_deref())?
            .timeout_resolve(Some(CONNECT_TIMEOUT.min(options.timeout)))
            .timeout_connect(Some(CONNECT_TIMEOUT.min(options.timeout)))
            .timeout_send_request(Some(options.timeout))
            .timeout_send_body(Some(options.timeout))
            .timeout_per_read(Some(options.timeout))
            .max_redirects(0)
            .http_status_as_error(false)
            .input_buffer_size(BUFFER_BYTES)
            .output_buffer_size(BUFFER_BYTES)
            .max_idle_connections_per_host(IDLE_PER_HOST_MAX)
            .max_idle_connections(IDLE_MAX)
            .build();
        let connector = DefaultConnector::new().chain(Interruptible);
        let agent = ureq::Agent::with_parts(config, connector, DefaultResolver::default());
        let allowed = Arc::new(AllowList::new(options.allowed.clone()));
        Ok(Self { allowed, agent, options, threads: Arc::default(), traceparent: None })
    }

    fn start(&self, request: ServiceRequest) -> Result<HttpAnswer, ServiceError> {
        let failed = ServiceError::Failed;
        if !self.allowed.allows(&request.endpoint) {
            return Err(failed(refusal(&request.endpoint)));
        }
        if !tls::IS_BUILT_IN && request.endpoint.get(..6).is_some_and(|s| s.eq_ignore_ascii_case("https:")) {
            return Err(failed(tls::MISSING.to_owned()));
        }
        request.cancel.check()?;
        let reserved = pipe::HELD_BYTES + 2 * BUFFER_BYTES + 4 * request.query.len();
        let reservation = request.budget.reserve(reserved)?;
        let more = |running: usize| (running < THREADS_MAX).then_some(running + 1);
        if self.threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return Err(failed(format!("{THREADS_MAX} other requests are on their way")));
        }
        let thread = Running(Arc::clone(&self.threads));
        let pipe = Arc::new(Pipe::default());
        let exchange = Exchange {
            agent: self.agent.clone(),
            allowed: Arc::clone(&self.allowed),
            timeout: self.options.timeout,
            endpoint: request.endpoint,
            query: request.query,
            traceparent: self.traceparent.clone(),
            pipe: Arc::clone(&pipe),
        };
        let talk = move || {
            exchange.run();
            drop(thread);
        };
        let started =
            std::thread::Builder::new().name("service".to_owned()).stack_size(STACK_BYTES).spawn(talk);
        started.map_err(|error| failed(format!("no thread for the request: {error}")))?;
        Ok(HttpAnswer::new(pipe, request.cancel, reservation, self.options.answer_bytes_max))
    }
}

impl ServiceHandler for HttpService {
    fn ask(&self, request: ServiceRequest) -> Box<dyn ServiceAnswer> {
        match self.start(request) {
            Ok(answer) => Box::new(answer),
            Err(error) => Box::new(ReadyAnswer::new(Err(error))),
        }
    }

    fn requests_max(&self) -> usize {
        self.options.requests_max
    }

    fn traced(&self, traceparent: &str) -> Option<Arc<dyn ServiceHandler>> {
        Some(Arc::new(Self { traceparent: Some(traceparent.into()), ..self.clone() }))
    }
}

/// What is said of an endpoint that is not on the list.
fn refusal(endpoint: &str) -> String {
    format!("this endpoint may not be asked (--allow-service '{endpoint}' allows it)")
}

/// A thread that talks to an endpoint.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
