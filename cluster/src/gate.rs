//! Who is let in at a worker: those who know the token; and once it is about to end, nobody who asks whether it is there.

use crate::call::Calls;
use crate::token::Token;
use futures_util::future::{Either, Ready, ready};
use http::{Request, Response};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tonic::Status;
use tonic::body::Body;
use tonic::server::NamedService;
use tower::Service;

/// The end of the path by which heads ask.
const ASKS: &str = "/GetWorkerInfo";
/// The same by which they send a task, and stay until the query is over.
const CALLS: &str = "/CoordinatorChannel";

/// Whether a worker is about to end, and when a head has last asked.
#[derive(Debug, Default)]
pub struct Notice {
    ends: AtomicBool,
    asked: Mutex<Option<Instant>>,
}

impl Notice {
    /// From now on heads are told that it ends. What they send all the same is still run.
    pub fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
    }

    /// Whether a head asked not longer ago than this.
    pub fn has_heads(&self, within: Duration) -> bool {
        let asked = *self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.is_some_and(|at| at.elapsed() <= within)
    }

    fn ask(&self) -> Result<(), Status> {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        match self.ends.load(Ordering::Relaxed) {
            true => Err(Status::unavailable("this worker is about to end")),
            false => Ok(()),
        }
    }
}

/// The service, and who stands before it.
#[derive(Debug, Clone)]
pub struct Gate<S> {
    pub inner: S,
    pub token: Token,
    pub notice: Arc<Notice>,
    pub calls: Arc<Calls>,
}

impl<S> Gate<S> {
    fn let_in(&self, request: &Request<Body>) -> Result<(), Status> {
        if !self.token.is_in(request.headers()) {
            return Err(Status::unauthenticated("workers take plans with the token only (--token-file)"));
        }
        match request.uri().path().ends_with(ASKS) {
            true => self.notice.ask(),
            false => Ok(()),
        }
    }
}

impl<S: NamedService> NamedService for Gate<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Gate<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<Ready<Result<Response<Body>, Infallible>>, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match self.let_in(&request) {
            Ok(()) if request.uri().path().ends_with(CALLS) => {
                let (mut parts, body) = request.into_parts();
                let body = self.calls.begin(&mut parts.headers, body);
                Either::Right(self.inner.call(Request::from_parts(parts, body)))
            }
            Ok(()) => Either::Right(self.inner.call(request)),
            Err(refused) => Either::Left(ready(Ok(refused.into_http()))),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Who is let in, and when.
    use super::*;

    #[derive(Debug, Clone)]
    struct Open;

    fn request(path: &str, token: &str) -> Request<Body> {
        Request::builder()
            .uri(format!("http://localhost{path}"))
            .header("authorization", format!("Bearer {token}"))
            .body(Body::empty())
            .unwrap()
    }

    #[test]
    fn who_asks_is_told_of_the_end_and_plans_are_taken_still() {
        let text = "0123456789abcdef";
        let gate = Gate {
            inner: Open,
            token: Token::new(text).unwrap(),
            notice: Arc::default(),
            calls: Arc::default(),
        };
        let (ask, plan) =
            (request("/w.Service/GetWorkerInfo", text), request("/w.Service/ExecuteTask", text));
        assert!(!gate.notice.has_heads(Duration::from_secs(60)));
        assert!(gate.let_in(&ask).is_ok() && gate.let_in(&plan).is_ok());
        assert!(gate.notice.has_heads(Duration::from_secs(60)));
        gate.notice.end();
        assert_eq!(gate.let_in(&ask).unwrap_err().code(), tonic::Code::Unavailable);
        assert!(gate.let_in(&plan).is_ok());
        for path in ["/w.Service/GetWorkerInfo", "/w.Service/ExecuteTask"] {
            let refused = gate.let_in(&request(path, "another secret, as long")).unwrap_err();
            assert_eq!(refused.code(), tonic::Code::Unauthenticated);
        }
    }
}
