//! Databases of this machine whose files are spread over several folders.

use crate::EngineError;
use crate::database::files_of;
use lode_base::real_vfs::RealVfs;
use lode_store::StoreError;
use std::path::{Path, PathBuf};

/// Has the files of a database that are written from now on spread over folders; see [`lode_store::stripe()`].
///
/// # Errors
/// Like [`lode_store::stripe()`].
pub fn stripe_database(folder: &Path, stripes: &[PathBuf]) -> Result<(), EngineError> {
    Ok(lode_store::stripe(&RealVfs, folder, stripes)?)
}

/// The folders that the files of a database are spread over, as they were named; none where they are in its own.
///
/// # Errors
/// Where the list of them cannot be read or is damaged.
pub fn stripe_folders(folder: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let found = lode_store::stripe_folders(&RealVfs, folder)?;
    Ok(found.map(|found| found.folders).unwrap_or_default())
}

/// A folder that the files of a database are spread over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeState {
    /// As it was named.
    pub folder: PathBuf,
    /// Why the database cannot be opened with it.
    pub problem: Option<String>,
}

/// The same, and whether each is there.
///
/// # Errors
/// Like [`stripe_folders()`].
pub fn stripe_states(folder: &Path) -> Result<Vec<StripeState>, EngineError> {
    let Some(found) = lode_store::stripe_folders(&RealVfs, folder)? else { return Ok(Vec::new()) };
    let state = |(number, folder): (usize, &PathBuf)| {
        let problem = found.verify(&RealVfs, number).err().map(|error| error.to_string());
        StripeState { folder: folder.clone(), problem }
    };
    Ok(found.folders.iter().enumerate().map(state).collect())
}

/// Says that a stripe folder of a database is in another place now; see [`lode_store::move_stripe()`].
///
/// # Errors
/// Like [`lode_store::move_stripe()`].
pub fn move_stripe(folder: &Path, old: &Path, new: &Path) -> Result<(), EngineError> {
    Ok(lode_store::move_stripe(&RealVfs, folder, old, new)?)
}

/// Removes what a restore has left that did not end; see [`lode_store::clear_unfinished_restore()`].
///
/// # Errors
/// Like [`lode_store::clear_unfinished_restore()`].
pub fn clear_unfinished_restore(folder: &Path) -> Result<bool, EngineError> {
    Ok(lode_store::clear_unfinished_restore(&RealVfs::shared(), folder)?)
}

/// Removes a database that nobody has open, and what it has in stripe folders.
///
/// # Errors
/// Where the file system refuses: some of it may be left.
pub fn remove_database(folder: &Path) -> Result<(), EngineError> {
    let vfs = files_of(folder).unwrap_or_else(|_| RealVfs::shared());
    Ok(vfs.remove_dir_all(folder).map_err(StoreError::io(folder))?)
}
