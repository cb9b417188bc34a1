//! Backups of a database while it is in use, and databases made of them again.
//!
//! A backup is a folder like that of a database: the files of one version and the log up to some commit, with a mark
//! (`BACKUP`) that keeps it from being written to or taken for a database. Files of segments never change, so they are linked
//! where they can be, and those that are there already are kept: a backup into the same folder brings only what is new.

mod options;
mod original;
mod target;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::manifest::{LOCK, RESTORING};
use crate::store::{Store, create_folder, lock};
use crate::version::{OpenSegment, Version};
use lode_base::cancel::CancelToken;
use lode_base::stripes::STRIPES_FILE;
use lode_base::vfs::Vfs;
use lode_packed::BlockCache;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use target::Target;

pub use options::{BackupOptions, BackupProgress, BackupReport, KEPT_PREFIXES, KEPT_QUERIES};
pub use original::{Original, OriginalFile, OriginalLog, OriginalSegment};

/// A check reads past the cache.
const CACHE_BYTES: usize = 1 << 20;

impl Store {
    /// Makes `target` a backup of the database as it is when this begins: a new or empty folder, or one that holds an older backup
    /// of it. Everybody may go on writing.
    ///
    /// # Errors
    /// Where the target is neither new nor empty nor a backup of this database, a file cannot be read or written, or the work was cancelled.
    pub fn backup(
        &self,
        target: &Path,
        options: &BackupOptions,
        cancel: &CancelToken,
        progress: &BackupProgress,
    ) -> Result<BackupReport, StoreError> {
        let database = self.version().manifest.database;
        let target = Target::of_backup(&**self.vfs(), target, database, options, cancel, progress)?;
        // Now the target's errors are told, and nobody has waited for them.
        let original = Original::of_store(self, cancel)?;
        write_backup(&original, target, self.vfs())
    }
}

/// The same for a database that is not open here; another process may be writing to it.
///
/// # Errors
/// Like [`Store::backup`]; where there is no database.
pub fn backup(
    vfs: &Arc<dyn Vfs>,
    database: &Path,
    target: &Path,
    options: &BackupOptions,
    cancel: &CancelToken,
    progress: &BackupProgress,
) -> Result<BackupReport, StoreError> {
    let original = Original::of_folder(&**vfs, database, cancel)?;
    let id = original.manifest.database;
    write_backup(&original, Target::of_backup(&**vfs, target, id, options, cancel, progress)?, vfs)
}

fn write_backup(
    original: &Original,
    mut target: Target<'_>,
    vfs: &Arc<dyn Vfs>,
) -> Result<BackupReport, StoreError> {
    fill(original, &mut target, vfs)?;
    target.clean(&original.manifest)?;
    Ok(target.report)
}

/// Makes a database of a backup (or of another database, as it is now) in a new or empty folder.
///
/// # Errors
/// Where there is no whole backup, the folder of the database is neither new nor empty, a file cannot be read, is damaged or cannot be written,
/// or the work was cancelled.
pub fn restore(
    vfs: &Arc<dyn Vfs>,
    backup: &Path,
    database: &Path,
    options: &BackupOptions,
    cancel: &CancelToken,
    progress: &BackupProgress,
) -> Result<BackupReport, StoreError> {
    let original = Original::of_folder(&**vfs, backup, cancel).map_err(|error| match error {
        StoreError::Missing { path } | StoreError::NotADatabase { path } => {
            StoreError::NoBackup { path, found: String::new() }
        }
        other => other,
    })?;
    let is_new = is_new(&**vfs, database)?;
    // Nobody else makes a database here meanwhile.
    let locked = create_folder(&**vfs, database).and_then(|()| lock(&**vfs, database));
    let lock = locked.inspect_err(|error| {
        let is_empty = || vfs.list(database).is_ok_and(|names| refuse_full(database, &names).is_ok());
        if is_new && !matches!(error, StoreError::Locked { .. }) && is_empty() {
            let _ = vfs.remove_dir_all(database);
        }
    })?;
    refuse_full(database, &vfs.list(database).map_err(StoreError::io(database))?)?;
    let mut target = Target::empty(&**vfs, database, options, cancel, progress);
    let restored = mark(&**vfs, database).and_then(|()| fill(&original, &mut target, vfs));
    let result = match restored {
        Ok(()) => {
            // What cannot be removed now is removed when the database is next opened for writing.
            let _ = vfs.remove(&database.join(RESTORING));
            Ok(target.report)
        }
        // It may be there, and may stay.
        Err(error @ StoreError::InDoubt { .. }) => Err(error),
        Err(error) => {
            remove_all(&**vfs, database, is_new);
            Err(named_after(error, database, backup))
        }
    };
    drop(lock);
    result
}

/// Whether there is no folder yet; an error where there is something.
fn is_new(vfs: &dyn Vfs, folder: &Path) -> Result<bool, StoreError> {
    match vfs.list(folder) {
        Ok(names) => refuse_full(folder, &names).map(|()| false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(StoreError::NotEmpty { path: folder.to_owned() })
        }
        Err(error) => Err(StoreError::io(folder)(error)),
    }
}

fn refuse_full(folder: &Path, names: &[PathBuf]) -> Result<(), StoreError> {
    match names.iter().all(|name| [LOCK, STRIPES_FILE].map(Path::new).contains(&name.as_path())) {
        true => Ok(()),
        false => Err(StoreError::NotEmpty { path: folder.to_owned() }),
    }
}

/// From here on nobody takes what is there for a database that has lost its manifest.
fn mark(vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(RESTORING);
    drop(vfs.create(&path).map_err(StoreError::io(&path))?);
    vfs.sync_dir(folder).map_err(StoreError::io(folder))
}

/// Copies everything, verifies it, and puts the manifest in place.
fn fill(original: &Original, target: &mut Target<'_>, vfs: &Arc<dyn Vfs>) -> Result<(), StoreError> {
    let bytes = original.bytes();
    target.progress.total.store(bytes, Ordering::Relaxed);
    target.report.version = original.version;
    target.report.quads = original.quads;
    target.report.segments = original.segments.len() as u64;
    target.report.bytes = bytes;
    target.report.note.clone_from(&original.note);
    target.add_segments(original)?;
    target.add_kept(original)?;
    if target.options.check {
        verify(original, target, vfs)?;
    }
    target.switch(original)
}

/// Reads all segments. The log was read when it was opened.
fn verify(original: &Original, target: &Target<'_>, vfs: &Arc<dyn Vfs>) -> Result<(), StoreError> {
    let cache = Arc::new(BlockCache::new(CACHE_BYTES));
    let version = Version::open(vfs, target.folder, original.manifest.clone(), &cache, &[])?;
    let items = |open: &OpenSegment| {
        let rows: u64 = open.segment.meta().permutations.iter().map(|info| info.rows).sum();
        rows + open.entry.terms.iter().sum::<u64>()
    };
    let total = version.segments.iter().map(items).sum();
    target.progress.to_check.store(total, Ordering::Relaxed);
    let mut hear = |items| {
        target.progress.checked.fetch_add(items, Ordering::Relaxed);
    };
    for open in version.segments.iter() {
        open.segment.verify(target.cancel, &mut hear).map_err(|error| {
            let is_written = target.written.contains(&target.folder.join(open.entry.folder()));
            if is_written { error.into() } else { of_old_backup(error.into()) }
        })?;
    }
    Ok(())
}

/// Damage of a file that was there before.
fn of_old_backup(error: StoreError) -> StoreError {
    match error {
        StoreError::Corruption { file, offset, what } => {
            let what = format!("{what}; the backup was damaged before: make another in a new folder");
            StoreError::Corruption { file, offset, what }
        }
        other => other,
    }
}

/// Removes what a restore has written. What cannot be removed keeps the folder from being used, and is told then: the mark goes last.
fn remove_all(vfs: &dyn Vfs, folder: &Path, is_new: bool) {
    let remove = |name: &Path| {
        let path = folder.join(name);
        let _ = vfs.remove_dir_all(&path).or_else(|_| vfs.remove(&path));
    };
    let names = vfs.list(folder).unwrap_or_default();
    names
        .iter()
        .filter(|name| ![LOCK, RESTORING, STRIPES_FILE].map(Path::new).contains(&name.as_path()))
        .for_each(|name| remove(name));
    // Where this fails, a power cut may leave some of it: that is refused, too.
    let _ = vfs.sync_dir(folder);
    if is_new {
        let _ = vfs.remove_dir_all(folder);
    } else {
        [RESTORING, LOCK].map(Path::new).into_iter().for_each(remove);
    }
}

/// Damage of a copy is that of what was copied, and the copy is gone.
fn named_after(error: StoreError, copy: &Path, original: &Path) -> StoreError {
    match error {
        StoreError::Corruption { file, offset, what } => {
            let rest = Path::new(&file).strip_prefix(copy).map(|rest| original.join(rest));
            let file = rest.map_or(file, |path| path.display().to_string());
            StoreError::Corruption { file, offset, what }
        }
        other => other,
    }
}
