//! Whether there is still time for an operation: who may call off what a thread does is asked while our own loops run, and before the library is called, which
//! cannot be stopped.

use crate::error::GeoError;
use lode_base::cancel::{CancelToken, current};
use std::time::Duration;

/// Steps of some ten nanoseconds between two looks.
const STEPS: u32 = 4096;
/// What the library takes for a point of geometries that are not degenerate: measured for relations, set operations and trees.
const POINT: Duration = Duration::from_nanos(1500);
/// What it takes for less is not looked at.
const POINTS_FREE: usize = 10_000;

/// Looks now and then.
#[derive(Debug)]
pub struct Watch {
    token: Option<CancelToken>,
    steps: u32,
}

impl Watch {
    /// For who may call off what this thread does.
    pub fn new() -> Self {
        Self { token: current(), steps: STEPS }
    }

    /// A step of a loop.
    ///
    /// # Errors
    ///
    /// Where nobody waits for the answer any more.
    pub fn check(&mut self) -> Result<(), GeoError> {
        self.check_after(1)
    }

    /// After so many steps.
    ///
    /// # Errors
    ///
    /// As [`Self::check`].
    pub fn check_after(&mut self, steps: usize) -> Result<(), GeoError> {
        self.steps = self.steps.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.steps > 0 {
            return Ok(());
        }
        self.steps = STEPS;
        match &self.token {
            Some(token) => token.check().map_err(|_| GeoError::Stopped),
            None => Ok(()),
        }
    }

    /// Before a call of the library with so many points.
    ///
    /// # Errors
    ///
    /// Where the time that is left is not enough, or nobody waits for the answer any more.
    pub fn before_work_on(&self, points: usize) -> Result<(), GeoError> {
        let Some(token) = self.token.as_ref().filter(|_| points > POINTS_FREE) else { return Ok(()) };
        let takes = POINT.saturating_mul(u32::try_from(points).unwrap_or(u32::MAX));
        if token.time_left().is_some_and(|left| left < takes) {
            token.run_out();
        }
        token.check().map_err(|_| GeoError::Stopped)
    }
}

/// Before a call of the library with so many points.
///
/// # Errors
///
/// Where the time that is left is not enough, or nobody waits for the answer any more.
pub fn before_work_on(points: usize) -> Result<(), GeoError> {
    if points <= POINTS_FREE { Ok(()) } else { Watch::new().before_work_on(points) }
}
