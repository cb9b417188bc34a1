//! How many requests of a kind run and wait at once: beyond it a client is told to come back, instead of everybody slowing down.

use crate::error::HttpError;
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout_at;

/// Running and waiting requests of a kind.
#[derive(Debug)]
pub(crate) struct Admission {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    waiting_max: usize,
}

impl Admission {
    pub(crate) fn new(running_max: usize, waiting_max: usize) -> Self {
        Self { running: Arc::new(Semaphore::new(running_max)), waiting: AtomicUsize::new(0), waiting_max }
    }

    /// Whether somebody waits for a place.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// A place to run in, after waiting for one if need be, until `deadline` at most; 503 where there was none by then, or too many wait
    /// already.
    pub(crate) async fn enter(&self, deadline: Instant) -> Result<OwnedSemaphorePermit, HttpError> {
        let _waiting = Waiting::new(&self.waiting, self.waiting_max)?;
        let permit = timeout_at(deadline.into(), Arc::clone(&self.running).acquire_owned()).await;
        let permit = permit.map_err(|_| {
            HttpError::busy("no place was free in the time that the request had: try again later")
        })?;
        permit.map_err(|_| HttpError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping"))
    }
}

/// Counts one waiting request as long as it lives, also when its client leaves meanwhile.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize, max: usize) -> Result<Self, HttpError> {
        let waiting = Self(count);
        if count.fetch_add(1, Ordering::Relaxed) < max {
            return Ok(waiting);
        }
        Err(HttpError::busy("too many requests are waiting: try again later"))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    //! Places, and who waits for them.
    use super::Admission;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::{Duration, Instant};

    #[test]
    fn some_run_some_wait_and_the_rest_is_refused() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let admission = Admission::new(1, 2);
        let late = Instant::now() + Duration::from_secs(3600);
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(running)) = pin!(admission.enter(late)).poll(&mut cx) else { panic!("no place") };
        let mut second = pin!(admission.enter(late));
        let mut third = Box::pin(admission.enter(late));
        assert!(second.as_mut().poll(&mut cx).is_pending() && third.as_mut().poll(&mut cx).is_pending());
        let Poll::Ready(Err(refused)) = pin!(admission.enter(late)).poll(&mut cx) else {
            panic!("not refused")
        };
        assert_eq!(refused.status.as_u16(), 503);
        // Who leaves makes room for another to wait.
        drop(third);
        assert!(pin!(admission.enter(late)).poll(&mut cx).is_pending());
        assert!(admission.is_waited_for());
        let missed = runtime.block_on(admission.enter(Instant::now()));
        assert_eq!(missed.unwrap_err().status.as_u16(), 503, "waiting counts");
        drop(running);
        assert!(second.as_mut().poll(&mut cx).is_ready());
    }
}
