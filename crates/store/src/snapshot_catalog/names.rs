//! Names of snapshots.

use crate::error::{SnapshotProblem, StoreError};

/// The longest name.
const NAME_BYTES_MAX: usize = 64;

/// A name is that of a folder, and never leads anywhere else.
pub(crate) fn check_name(name: &str) -> Result<(), StoreError> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.bytes().all(is_fit)
        && name.bytes().any(|c| c != b'.');
    if fits { Ok(()) } else { Err(problem(name, SnapshotProblem::Name)) }
}

pub(crate) fn problem(name: &str, what: SnapshotProblem) -> StoreError {
    StoreError::Snapshot { name: name.to_owned(), what }
}
