//! The memory of texts that expressions work on: those of computed values, and those that were read from the dictionary.
//!
//! A batch of rows can have much more text than ids: 4,096 texts of 100 KB are 400 MB. So whoever makes or reads texts reserves them, and
//! where there is no memory for those of all rows, half of the rows are evaluated first ([`super::eval`]). A single text has a greatest
//! length, since eight REPLACEs, one in the other, make of ten characters as many as any memory has.

use crate::context::EvalContext;
use crate::error::ExecError;
use lode_base::memory_budget::Reservation;
use std::cell::Cell;
use std::sync::Arc;

/// Bytes of texts that are not accounted, after which the budget is asked and the cancel token looked at.
const BYTES_FREE: usize = 256 << 10;
/// The greatest length of a text that an expression makes, in bytes,
const TEXT_BYTES_MAX: usize = 64 << 20;
/// and the least of these, however small the memory is.
const TEXT_BYTES_MIN: usize = 64 << 10;
/// The part of the memory that one text may be.
const TEXT_PART: usize = 16;

/// The memory of texts; given back with the last clone.
#[derive(Debug, Clone, Default)]
pub struct Texts(Vec<Arc<Reservation>>);

impl Texts {
    /// Both together.
    pub fn add(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Bytes that are reserved for them; 0 where they were too few for a reservation.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|reservation| reservation.bytes()).sum()
    }
}

/// Reserves texts one after the other.
pub struct TextCounter<'a> {
    cx: &'a EvalContext,
    bytes: usize,
    /// So many bytes need no look at the budget.
    granted: usize,
    reservation: Option<Reservation>,
}

impl<'a> TextCounter<'a> {
    /// None yet.
    pub fn new(cx: &'a EvalContext) -> Self {
        Self { cx, bytes: 0, granted: BYTES_FREE, reservation: None }
    }

    /// None yet, in the memory of those before, which are gone: their reservation is kept as long as what is made of it.
    pub fn again(cx: &'a EvalContext, mut before: Texts) -> Self {
        let reservation = before.0.pop().and_then(Arc::into_inner);
        let granted = reservation.as_ref().map_or(0, Reservation::bytes).max(BYTES_FREE);
        Self { cx, bytes: 0, granted, reservation }
    }

    /// One more of so many bytes.
    ///
    /// # Errors
    ///
    /// Where the query was cancelled, or the budget has no memory for so much text.
    #[inline]
    pub fn add(&mut self, bytes: usize) -> Result<(), ExecError> {
        self.bytes += bytes;
        if self.bytes > self.granted { self.reserve() } else { Ok(()) }
    }

    fn reserve(&mut self) -> Result<(), ExecError> {
        self.cx.cancel.check()?;
        let reservation = match &mut self.reservation {
            Some(reservation) => reservation,
            none => none.insert(self.cx.budget.reserve_empty()),
        };
        // Some more where that is to be had, for the next ones.
        if reservation.resize(self.bytes + self.bytes / 4).is_err() {
            reservation.resize(self.bytes)?;
        }
        self.granted = reservation.bytes();
        Ok(())
    }

    /// What they take from now on: as much as the most that were there at once.
    pub fn finish(self) -> Texts {
        Texts(self.reservation.map(Arc::new).into_iter().collect())
    }
}

/// The greatest length of texts that are made, and whether one would have been longer.
pub struct TextLimit {
    bytes_max: usize,
    is_exceeded: Cell<bool>,
}

impl TextLimit {
    /// That of a query.
    pub fn new(cx: &EvalContext) -> Self {
        let bytes_max = (cx.budget.limit() / TEXT_PART).clamp(TEXT_BYTES_MIN, TEXT_BYTES_MAX);
        Self { bytes_max, is_exceeded: Cell::new(false) }
    }

    /// A text of so many bytes is to be made; none if that is too long.
    #[inline]
    pub fn allow(&self, bytes: usize) -> Option<()> {
        if bytes <= self.bytes_max {
            return Some(());
        }
        self.is_exceeded.set(true);
        None
    }

    /// An error if any was too long.
    ///
    /// # Errors
    ///
    /// Where a text would have been too long.
    pub fn check(&self, function: &'static str) -> Result<(), ExecError> {
        if self.is_exceeded.get() {
            return Err(ExecError::TextTooLong { function, bytes_max: self.bytes_max });
        }
        Ok(())
    }
}
