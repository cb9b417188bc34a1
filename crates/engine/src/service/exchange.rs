//! A request and its answer, on a thread of its own: what is sent, where we let ourselves be sent to, and what is said of a failure.

use super::allow::AllowList;
use super::pipe::{Head, PIECE_BYTES, Pipe};
use crate::interrupt;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;
use ureq::http::{Response, StatusCode, Uri, header};
use ureq::{Body, Error, Timeout};

/// Media types asked for, best first.
const ACCEPT: &str =
    "application/sparql-results+json, application/sparql-results+xml;q=0.8, text/tab-separated-values;q=0.5";
/// How often an endpoint may send us elsewhere.
const REDIRECTS_MAX: usize = 5;
/// What is read of an answer that is an error.
const ERROR_BYTES_MAX: u64 = 8 << 10;
/// What is told of it.
const ERROR_CHARS_MAX: usize = 300;

/// A request.
pub(super) struct Exchange {
    pub(super) agent: ureq::Agent,
    pub(super) allowed: Arc<AllowList>,
    pub(super) timeout: Duration,
    pub(super) endpoint: String,
    pub(super) query: String,
    pub(super) traceparent: Option<Arc<str>>,
    pub(super) pipe: Arc<Pipe>,
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// With the query, as SPARQL 1.1 Protocol section 2.1.2 has it.
    Post,
    /// To where the answer is said to be.
    Get,
}

impl Exchange {
    /// Sends the request, and hands over what comes.
    pub(super) fn run(&self) {
        let pipe = Arc::clone(&self.pipe);
        let talk = || {
            interrupt::read_while(move || !pipe.is_closed());
            let result = self.talk();
            interrupt::read_all();
            result
        };
        // Whoever reads must hear of the end, whatever happens.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(talk));
        self.pipe.end(result.unwrap_or_else(|_| Err("the request failed by a mistake of ours".to_owned())));
    }

    fn talk(&self) -> Result<(), String> {
        let (mut address, mut method) = (self.endpoint.clone(), Method::Post);
        for _ in 0..=REDIRECTS_MAX {
            let response = self.send(&address, method)?;
            let status = response.status();
            if status.is_success() {
                return self.hand_over(response);
            }
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            match location.filter(|_| is_redirection(status)) {
                Some(location) => address = self.elsewhere(&address, location)?,
                None => return Err(error_of(response)),
            }
            if status == StatusCode::SEE_OTHER {
                method = Method::Get;
            }
        }
        Err(format!("sends us elsewhere more than {REDIRECTS_MAX} times, at last to {address}"))
    }

    fn send(&self, address: &str, method: Method) -> Result<Response<Body>, String> {
        let mut result = self.send_once(address, method);
        if result.as_ref().is_err_and(was_closed) && !self.pipe.is_closed() {
            // The endpoint may close a kept connection while we begin to use it. Queries may be sent twice.
            result = self.send_once(address, method);
        }
        result.map_err(|error| self.message(&error))
    }

    fn send_once(&self, address: &str, method: Method) -> Result<Response<Body>, Error> {
        match method {
            Method::Post => {
                let mut request = self.agent.post(address).header("Accept", ACCEPT);
                if let Some(trace) = &self.traceparent {
                    request = request.header("traceparent", &**trace);
                }
                request.send_form([("query", &*self.query)])
            }
            Method::Get => self.agent.get(address).header("Accept", ACCEPT).call(),
        }
    }

    /// Where we are sent, if we may go there.
    fn elsewhere(&self, from: &str, location: &str) -> Result<String, String> {
        let place = resolved(from, location)
            .ok_or_else(|| format!("sends us to {}, which is no address", shortened(location)))?;
        if self.allowed.allows(&place) {
            return Ok(place);
        }
        Err(format!(
            "sends us to {0}, which may not be asked (--allow-service '{0}' allows it)",
            shortened(&place)
        ))
    }

    fn hand_over(&self, response: Response<Body>) -> Result<(), String> {
        let media_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        self.pipe.begin(Head { media_type: media_type.map(str::to_owned) });
        let mut body = response.into_body().into_reader();
        loop {
            let mut piece = vec![0; PIECE_BYTES];
            match body.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) => {
                    // Of a dripping endpoint a piece may be a few bytes.
                    piece.truncate(length);
                    if length < PIECE_BYTES / 2 {
                        piece.shrink_to_fit();
                    }
                    if !self.pipe.push(piece) {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let error = Error::from(error);
                    return Err(format!("the answer broke off: {}", self.message(&error)));
                }
            }
        }
    }

    fn message(&self, error: &Error) -> String {
        match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => "no connection in time".to_owned(),
            Error::Timeout(_) => format!("silent for {} seconds", self.timeout.as_secs_f32()),
            error => shortened(&error.to_string()),
        }
    }
}

fn is_redirection(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Whether the other side ended the connection.
fn was_closed(error: &Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    match error {
        Error::Io(error) => {
            matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
        }
        _ => false,
    }
}

/// What a `Location` means: an address, or a path on the same server.
fn resolved(from: &str, location: &str) -> Option<String> {
    if location.contains("://") {
        return Some(location.to_owned());
    }
    let from: Uri = from.parse().ok()?;
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    match location {
        _ if location.starts_with("//") => Some(format!("{scheme}:{location}")),
        _ if location.starts_with('/') => Some(format!("{scheme}://{authority}{location}")),
        _ => {
            let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            Some(format!("{scheme}://{authority}{folder}/{location}"))
        }
    }
}

/// What is told of an answer that is an error: its status, and the first line of what it says.
fn error_of(response: Response<Body>) -> String {
    let status = response.status();
    let mut bytes = Vec::new();
    // What can be read of it is enough.
    let _ = response.into_body().into_reader().take(ERROR_BYTES_MAX).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let said = match text.split_once("<title>") {
        Some((_, title)) => title.split("</title>").next().unwrap_or_default(),
        None => text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(),
    };
    match said.trim() {
        "" => format!("answered {status}"),
        said => format!("answered {status}: {}", shortened(said)),
    }
}

/// The beginning of a text from elsewhere, on one line.
fn shortened(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(ERROR_CHARS_MAX).map(clean).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}
