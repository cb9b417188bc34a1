//! How many requests of a kind run and wait at once: beyond it a client is told to come back, instead of everybody slowing down.

use crate::error::HttpError;
use axum::http::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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

    /// A place to run in, if one is free at once.
    pub(crate) fn try_enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.running).try_acquire_owned().ok()
    }

    /// A place to run in, after waiting for one if need be; 503 where too many wait already.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        let _waiting = Waiting::new(&self.waiting, self.waiting_max)?;
        let permit = Arc::clone(&self.running).acquire_owned().await;
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

    #[test]
    fn some_run_some_wait_and_the_rest_is_refused() {
        let admission = Admission::new(1, 2);
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(running)) = pin!(admission.enter()).poll(&mut cx) else { panic!("no place") };
        let mut second = pin!(admission.enter());
        let mut third = Box::pin(admission.enter());
        assert!(second.as_mut().poll(&mut cx).is_pending() && third.as_mut().poll(&mut cx).is_pending());
        let Poll::Ready(Err(refused)) = pin!(admission.enter()).poll(&mut cx) else { panic!("not refused") };
        assert_eq!(refused.status.as_u16(), 503);
        assert!(admission.try_enter().is_none(), "nobody overtakes those that wait");
        // Who leaves makes room for another to wait.
        drop(third);
        assert!(pin!(admission.enter()).poll(&mut cx).is_pending());
        drop(running);
        assert!(second.as_mut().poll(&mut cx).is_ready());
    }
}
