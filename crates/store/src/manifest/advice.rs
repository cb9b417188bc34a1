//! What can be done about damage, told with the error.

use super::file_names::BACKUP;
use crate::error::{BACKUP_ADVICE, StoreError};
use lode_base::vfs::Vfs;
use std::path::Path;

/// What can be done about a lost or damaged manifest.
pub const MANIFEST_ADVICE: &str = "`lode check --salvage` makes the manifest again";
/// What can be done about a damaged log.
pub const LOG_ADVICE: &str = "`lode check --salvage` makes a database of what is before the damage";

/// The error about a damaged file in `folder`, with what can be done about it in a database.
pub fn advised(error: StoreError, vfs: &dyn Vfs, folder: &Path, advice: &str) -> StoreError {
    match error {
        StoreError::Corruption { file, offset, what } => {
            let advice = if vfs.exists(&folder.join(BACKUP)) { BACKUP_ADVICE } else { advice };
            StoreError::Corruption { file, offset, what: format!("{what}; {advice}") }
        }
        other => other,
    }
}
