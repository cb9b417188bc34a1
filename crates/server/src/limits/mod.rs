//! Limits that may change while the server runs: those of all requests, and those of each role.

mod granted;
mod quota;
mod roles;

pub(crate) use granted::Granted;
pub(crate) use quota::{Place, Quotas, Who};
pub use roles::{LimitsOfRoles, RoleLimits};

use std::sync::{PoisonError, RwLock};
use std::time::Duration;

/// Those of time and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest a query may take,
    pub timeout: Duration,
    /// an update,
    pub update_timeout: Duration,
    /// and a download.
    pub download_timeout: Duration,
    /// The longest text of an update, in bytes.
    pub update_bytes_max: usize,
    /// Uploads of more quads become a segment of their own at once.
    pub transaction_quads_max: u64,
    /// What each role may take.
    pub roles: LimitsOfRoles,
}

/// Those of now.
#[derive(Debug)]
pub(crate) struct LimitsNow(RwLock<Limits>);

impl LimitsNow {
    pub(crate) fn new(limits: Limits) -> Self {
        Self(RwLock::new(limits))
    }

    pub(crate) fn get(&self) -> Limits {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, limits: Limits) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }
}
