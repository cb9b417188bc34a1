//! What one call at a time may use, and what may be gone: taken out while it is used, so that no call waits for another with the
//! interpreter's lock held.

use crate::failure;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

enum State<T> {
    Here(T),
    InUse,
    Gone,
}

/// A value that is here, in use, or gone.
pub struct Held<T> {
    state: Mutex<State<T>>,
    /// For messages: what it is.
    what: &'static str,
}

impl<T> Held<T> {
    /// One that is here.
    pub fn new(value: T, what: &'static str) -> Self {
        Self { state: Mutex::new(State::Here(value)), what }
    }

    fn replace(&self, next: State<T>) -> State<T> {
        // What is guarded here is whole at any time.
        std::mem::replace(&mut *self.state.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    /// Takes it, until it is put back.
    ///
    /// # Errors
    /// `Closed` where it is gone, `Error` where another thread uses it.
    pub fn take(&self, py: Python<'_>) -> PyResult<T> {
        match self.replace(State::InUse) {
            State::Here(value) => Ok(value),
            State::InUse => {
                Err(failure::new(py, "Error", &format!("{} is in use by another thread", self.what)))
            }
            State::Gone => {
                self.replace(State::Gone);
                Err(failure::new(py, "Closed", &format!("{} has ended", self.what)))
            }
        }
    }

    /// Takes it for good; nothing where it is gone already.
    ///
    /// # Errors
    /// `Error` where another thread uses it.
    pub fn end(&self, py: Python<'_>) -> PyResult<Option<T>> {
        match self.replace(State::Gone) {
            State::Here(value) => Ok(Some(value)),
            State::Gone => Ok(None),
            State::InUse => {
                self.replace(State::InUse);
                Err(failure::new(py, "Error", &format!("{} is in use by another thread", self.what)))
            }
        }
    }

    /// Whether it is gone.
    pub fn has_ended(&self) -> bool {
        matches!(*self.state.lock().unwrap_or_else(PoisonError::into_inner), State::Gone)
    }

    /// Puts it back.
    pub fn put(&self, value: T) {
        self.replace(State::Here(value));
    }

    /// After it was taken: it is gone.
    pub fn is_gone(&self) {
        self.replace(State::Gone);
    }
}
