//! A database of a published version, in a folder of this machine.

use crate::error::RemoteError;
use crate::published::Published;
use lode_base::cancel::CancelToken;
use lode_store::{BackupOptions, BackupProgress, BackupReport};
use std::path::Path;

/// Makes a database of a published version in a new or empty folder. It is the same database, but another copy of it: publishing from there has
/// to take over.
///
/// # Errors
/// Where an object is missing or damaged, the folder is not empty, a file cannot be written, or the work was cancelled. Then nothing is left.
pub fn restore(
    published: &Published,
    database: &Path,
    options: &BackupOptions,
    cancel: &CancelToken,
    progress: &BackupProgress,
) -> Result<BackupReport, RemoteError> {
    let vfs = lode_store::striped(&published.files(), database)?;
    Ok(lode_store::restore(&vfs, published.root(), database, options, cancel, progress)?)
}
