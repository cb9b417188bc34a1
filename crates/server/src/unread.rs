//! What of a request's body nobody has read when its answer is there.
//!
//! A connection of HTTP/1.1 whose request was not read to its end cannot be used again and is closed, and a client that sends its next request
//! just then gets neither an answer nor an error that says why. So a short rest is taken before the answer goes out; after a longer one the answer says
//! that the connection ends (RFC 9112 section 9.3).

use axum::http::{HeaderMap, HeaderValue, Version, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// So much of a rest is taken,
const BYTES_MAX: usize = 64 << 10;
/// for so long.
const PATIENCE: Duration = Duration::from_millis(500);

/// A body that is handed on, and comes back when it is dropped before its end.
pub(crate) struct Lent {
    body: Option<Incoming>,
    owner: Arc<Mutex<Option<Incoming>>>,
}

/// Where it comes back to.
pub(crate) struct Owner {
    rest: Arc<Mutex<Option<Incoming>>>,
    /// Who asks whether to send has sent nothing, and will not after an answer.
    is_asked: bool,
}

/// Lends the body of an HTTP/1.1 request; of HTTP/2 each request has a stream to itself.
pub(crate) fn lend(body: Incoming, version: Version, headers: &HeaderMap) -> (Lent, Option<Owner>) {
    let rest = Arc::default();
    let is_asked = headers.contains_key(header::EXPECT);
    let owner = Owner { rest: Arc::clone(&rest), is_asked };
    let comes_back = version != Version::HTTP_2 && !body.is_end_stream();
    (Lent { body: Some(body), owner: rest }, comes_back.then_some(owner))
}

impl Owner {
    /// Takes what is left of the body, or tells in the head of the answer that the connection ends.
    pub(crate) async fn take_rest(self, answer: &mut HeaderMap) {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut rest) = rest else { return };
        let taken = !self.is_asked && tokio::time::timeout(PATIENCE, skip(&mut rest)).await.unwrap_or(false);
        if !taken {
            answer.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

/// Reads a body to its end; false where it is too long, or broken.
async fn skip(body: &mut Incoming) -> bool {
    let mut bytes = 0;
    while bytes <= BYTES_MAX {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
            Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) => return false,
            None => return true,
        }
    }
    false
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            *self.owner.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Incoming::size_hint)
    }
}
