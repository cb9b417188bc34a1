//! Requests of the crate `object_store` over this program's own client: the certificates, proxies and time-outs of all other requests, and waits that end once
//! nobody wants the answer.

use crate::web::interruptible;
use bytes::Bytes;
use http_body::Body;
use lode_engine::web::client;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use std::future::{Future, ready};
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use ureq::Agent;
use ureq::http::{Method, header};

/// So many connections are kept for further requests.
const CONNECTIONS_MAX: usize = 64;
/// Lists, answers to writes, and errors are shorter.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Sends requests, each on the thread that waits for it.
#[derive(Debug, Clone)]
pub struct Transport(Agent);

impl Transport {
    /// One that gives a server up that is silent for so long.
    pub fn new(silence_max: Duration) -> Result<Self, String> {
        // Whether an address needs TLS is known when it is asked for.
        client("http://", silence_max, CONNECTIONS_MAX).map(Self)
    }

    fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, body) = request.into_parts();
        let body = whole(body)?;
        // Whoever sends more than was asked for is not listened to.
        let range = parts.headers.get(header::RANGE).and_then(|range| length(range.to_str().ok()?));
        let bytes_max = range.map_or(ANSWER_BYTES_MAX, |bytes| bytes.saturating_add(1));
        let has_body = matches!(parts.method, Method::PUT | Method::POST | Method::PATCH);
        let response = match has_body {
            true => self.0.run(ureq::http::Request::from_parts(parts, &*body)),
            false => self.0.run(ureq::http::Request::from_parts(parts, ())),
        };
        let (parts, body) = response.map_err(|error| failed(&error))?.into_parts();
        let limit = if parts.status.is_success() { bytes_max } else { ANSWER_BYTES_MAX };
        let mut bytes = Vec::new();
        let read = body.into_reader().take(limit).read_to_end(&mut bytes);
        read.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error))?;
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
    }
}

/// All bytes of a body, which are here already.
fn whole(mut body: HttpRequestBody) -> Result<Bytes, HttpError> {
    if let Some(bytes) = body.as_bytes() {
        return Ok(bytes.clone());
    }
    let mut context = Context::from_waker(Waker::noop());
    let mut all: Vec<Bytes> = Vec::new();
    while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(&mut context) {
        all.extend(frame?.into_data().ok());
    }
    match all.as_slice() {
        [one] => Ok(one.clone()),
        several => Ok(several.concat().into()),
    }
}

/// Bytes of a range as it is asked for.
fn length(range: &str) -> Option<u64> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    last.parse::<u64>().ok()?.checked_sub(first.parse().ok()?)?.checked_add(1)
}

fn failed(error: &ureq::Error) -> HttpError {
    let kind = match error {
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, io::Error::other(error.to_string()))
}

impl HttpService for Transport {
    fn call<'a, 'b>(
        &'a self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(ready(interruptible(|| Ok(self.send(request))).unwrap_or_else(|error| {
            Err(HttpError::new(HttpErrorKind::Unknown, io::Error::other(error.to_string())))
        })))
    }
}

impl HttpConnector for Transport {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}
