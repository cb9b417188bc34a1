//! For whom blocks are read.

use crate::cancel::{CancelToken, Cancelled, with_current};
use std::io;

/// What goes first where several wait for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// A query needs it now.
    #[default]
    Query,
    /// A query is likely to need it soon.
    ReadAhead,
    /// Work in the background.
    Compaction,
}

impl Priority {
    pub(super) const COUNT: usize = 3;
}

/// How urgent a reader is, and who may call it off.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// How urgent its reads are.
    pub priority: Priority,
    /// Who may call it off. Looked at before each read of a device, and while it waits for one.
    pub cancel: Option<CancelToken>,
}

impl Reading {
    /// For a query, which may be cancelled.
    pub fn of_query(cancel: &CancelToken) -> Self {
        Self { cancel: Some(cancel.clone()), ..Self::IN_FRONT }
    }

    /// For whoever waits.
    pub const IN_FRONT: Self = Self { priority: Priority::Query, cancel: None };

    /// For work in the background.
    pub const BEHIND: Self = Self { priority: Priority::Compaction, cancel: None };

    /// How urgent it is what it will need soon.
    pub fn ahead(&self) -> Priority {
        self.priority.max(Priority::ReadAhead)
    }

    /// Does work that nobody hands a token: the one that is here goes before one that is in force.
    pub(super) fn current<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.cancel {
            Some(_) => with_current(self.cancel.as_ref(), work),
            None => work(),
        }
    }

    pub(super) fn check(&self) -> Result<(), Cancelled> {
        self.cancel.as_ref().map_or(Ok(()), CancelToken::check)
    }
}

/// Why a block was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The device or the file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Nobody wants it any more.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// An error of a read that tells where it was; of the same kind as the one that it was made of.
pub(super) fn located(error: &io::Error, offset: u64, bytes: usize) -> io::Error {
    io::Error::new(error.kind(), format!("{error} (reading {bytes} bytes at byte {offset})"))
}
