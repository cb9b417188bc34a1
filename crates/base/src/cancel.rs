//! Cooperative cancellation with an optional deadline: one cheap check an operator makes per batch.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// Why work was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Cancelled {
    /// Somebody asked for it through [`CancelToken::cancel`].
    #[error("cancelled")]
    ByRequest,
    /// The deadline given at creation has passed.
    #[error("time-out")]
    Timeout,
}

#[derive(Debug)]
struct State {
    flag: AtomicU8,
    deadline: Option<Instant>,
}

/// A shared flag that all threads of one piece of work look at. Clones share the flag.
#[derive(Debug, Clone)]
pub struct CancelToken(Arc<State>);

impl Default for CancelToken {
    fn default() -> Self {
        Self::new(None)
    }
}

impl CancelToken {
    /// A token that reports [`Cancelled::Timeout`] once `timeout` has passed (never, without one).
    pub fn new(timeout: Option<Duration>) -> Self {
        let deadline = timeout.and_then(|t| Instant::now().checked_add(t));
        Self(Arc::new(State { flag: AtomicU8::new(0), deadline }))
    }

    /// Asks all holders of this token to stop.
    pub fn cancel(&self) {
        self.0.flag.store(1, Ordering::Relaxed);
    }

    /// Says that the deadline will pass before what has to be done next is done, so that nobody begins it.
    pub fn run_out(&self) {
        // Who asked for an end before is heard first.
        let _ = self.0.flag.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The time left until the deadline, where there is one: for work that waits without looking at the token.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// `Err` once the work should stop. Costs a load and, with a deadline, a clock read: call it per batch, not per row.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] once someone asked for it, or the deadline has passed.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.0.flag.load(Ordering::Relaxed) {
            0 => {}
            2 => return Err(Cancelled::Timeout),
            _ => return Err(Cancelled::ByRequest),
        }
        match self.0.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Cancelled::Timeout),
            _ => Ok(()),
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// Does work whose waits below, where no token is handed to, may be called off by one: they ask for [`current`].
pub fn with_current<T>(token: Option<&CancelToken>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<CancelToken>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Restore(CURRENT.replace(token.cloned()));
    work()
}

/// Who may call off what this thread does now.
pub fn current() -> Option<CancelToken> {
    CURRENT.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_not_be_done_in_time_is_a_time_out() {
        let token = CancelToken::new(Some(Duration::from_secs(1000)));
        token.run_out();
        assert_eq!(token.check(), Err(Cancelled::Timeout));
        let asked = CancelToken::default();
        asked.cancel();
        asked.run_out();
        assert_eq!(asked.check(), Err(Cancelled::ByRequest));
    }

    #[test]
    fn the_current_token_is_that_of_the_innermost_work() {
        let (a, b) = (CancelToken::default(), CancelToken::default());
        a.cancel();
        assert!(current().is_none());
        with_current(Some(&a), || {
            assert!(current().is_some_and(|token| token.check().is_err()));
            with_current(Some(&b), || assert!(current().is_some_and(|token| token.check().is_ok())));
            with_current(None, || assert!(current().is_none()));
            assert!(current().is_some_and(|token| token.check().is_err()));
        });
        assert!(current().is_none());
    }
}
