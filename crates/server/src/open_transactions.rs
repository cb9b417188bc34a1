//! Transactions over several requests: each has the write lock of its database until it ends, or until nobody has asked for it for long.

use crate::error::HttpError;
use axum::http::StatusCode;
use lode_engine::{CancelToken, OpenTransaction};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The random bytes of a number, which nobody guesses.
const NUMBER_BYTES: usize = 16;

/// Those of a database.
#[derive(Default)]
pub(crate) struct Transactions {
    held: Mutex<HashMap<String, Arc<Held>>>,
    /// Stops those that wait to begin.
    waiting: Mutex<Vec<CancelToken>>,
}

/// One of them.
pub(crate) struct Held {
    /// None once it has ended. One request after the other.
    pub(crate) open: Arc<tokio::sync::Mutex<Option<OpenTransaction>>>,
    begun: Instant,
    asked: Mutex<Instant>,
    cancel: CancelToken,
}

impl Held {
    /// How long nobody has asked for it.
    pub(crate) fn idle(&self) -> Duration {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// How long it has been open.
    fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Somebody has just asked for it.
    pub(crate) fn touch(&self) {
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Transactions {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Held>>> {
        // What is guarded here is whole at any time.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<CancelToken>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One waits to begin, and is stopped by `cancel`.
    pub(crate) fn wait(&self, cancel: &CancelToken) {
        let mut waiting = self.waiting();
        waiting.retain(|cancel| cancel.check().is_ok());
        waiting.push(cancel.clone());
    }

    /// Ends all, those that wait to begin included.
    pub(crate) fn end_all(&self) {
        self.waiting().drain(..).for_each(|cancel| cancel.cancel());
        let ended = std::mem::take(&mut *self.lock());
        drop(ended);
    }

    /// Keeps a transaction that has begun, and which `cancel` ends; its number.
    pub(crate) fn keep(&self, open: OpenTransaction, cancel: CancelToken) -> Result<String, HttpError> {
        let mut random = [0; NUMBER_BYTES];
        let failed = |error: getrandom::Error| {
            HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("no randomness: {error}"))
        };
        getrandom::fill(&mut random).map_err(failed)?;
        let number: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (open, asked) = (Arc::new(tokio::sync::Mutex::new(Some(open))), Mutex::new(Instant::now()));
        let begun = Instant::now();
        self.lock().insert(number.clone(), Arc::new(Held { open, begun, asked, cancel }));
        Ok(number)
    }

    /// A transaction that has not ended.
    pub(crate) fn get(&self, number: &str) -> Result<Arc<Held>, HttpError> {
        let found = self.lock().get(number).map(Arc::clone);
        let held = found.ok_or_else(|| {
            let message = "there is no transaction of this number: it has ended, or was rolled back, since nobody had asked for it for \
                           long (lode serve --transaction-idle) or it was too old (--transaction-age)";
            HttpError::new(StatusCode::NOT_FOUND, message)
        })?;
        held.touch();
        Ok(held)
    }

    /// How long nobody has asked for one, and how old it is, if it is there.
    pub(crate) fn idle_and_age(&self, number: &str) -> Option<(Duration, Duration)> {
        self.lock().get(number).map(|held| (held.idle(), held.age()))
    }

    /// Ends one; who has it still may end what it does.
    pub(crate) fn remove(&self, number: &str) -> Option<Arc<Held>> {
        self.lock().remove(number)
    }
}
