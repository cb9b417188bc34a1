//! Indexes that a database keeps beside its segments: whether it keeps those of a kind, and making those that are missing.

use crate::error::StoreError;
use crate::index_files::IndexKind;
use crate::store::Store;
use crate::version::OpenSegment;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use std::path::{Path, PathBuf};

/// Whether the database has indexes of a kind.
pub fn keeps(store: &Store, kind: &IndexKind) -> bool {
    store.vfs().exists(&store.folder().join(kind.kept_file))
}

/// From now on it has.
pub fn keep(store: &Store, kind: &IndexKind) -> Result<(), StoreError> {
    if keeps(store, kind) {
        return Ok(());
    }
    let path = store.folder().join(kind.kept_file);
    let made = store.vfs().create(&path).and_then(|mut file| file.sync());
    made.and_then(|()| store.vfs().sync_dir(store.folder())).map_err(StoreError::io(&path))
}

/// Removes the indexes of a kind, and makes none for new segments.
pub fn drop_all(store: &Store, kind: &IndexKind) -> Result<(), StoreError> {
    remove_files(store, vec![store.folder().join(kind.kept_file)])?;
    remove_all(store, kind)
}

/// Removes the indexes of a kind: they are made again.
pub fn remove_all(store: &Store, kind: &IndexKind) -> Result<(), StoreError> {
    let version = store.version();
    version
        .segments
        .iter()
        .try_for_each(|segment| remove_in(&**store.vfs(), kind, &store.folder().join(segment.entry.folder())))
}

/// Removes the index of a segment, durably: keys of one are never beside rows of another, which is of other texts.
pub fn remove_in(vfs: &dyn Vfs, kind: &IndexKind, folder: &Path) -> Result<(), StoreError> {
    let files = [kind.keys_file(folder), kind.rows_file(folder)];
    if !files.iter().any(|file| vfs.exists(file)) {
        return Ok(());
    }
    for file in files {
        remove_file(vfs, &file)?;
    }
    vfs.sync_dir(folder).map_err(StoreError::io(folder))
}

/// Removes files that may be there.
pub fn remove_files(store: &Store, files: Vec<PathBuf>) -> Result<(), StoreError> {
    files.iter().try_for_each(|file| remove_file(&**store.vfs(), file))
}

fn remove_file(vfs: &dyn Vfs, file: &Path) -> Result<(), StoreError> {
    match vfs.remove(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(file)(error)),
        _ => Ok(()),
    }
}

/// Runs what makes indexes while nobody replaces a segment.
pub fn in_turn<T>(
    store: &Store,
    cancel: &CancelToken,
    make: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    store.compaction_lock().lock(cancel)?;
    let made = make();
    store.compaction_lock().unlock();
    made
}

/// Removes what was left where an index was being made by a process that was killed: nobody else makes one now.
fn remove_unfinished(store: &Store, kind: &IndexKind, folder: &Path) {
    for file in store.vfs().list(folder).unwrap_or_default() {
        let Some(name) =
            file.file_name().filter(|name| name.to_str().is_some_and(|name| kind.is_unfinished(name)))
        else {
            continue;
        };
        // It takes room only.
        let _ = store.vfs().remove(&folder.join(name));
    }
}

/// Calls `make` with each segment that has no index of a kind, or with each, and its folder; how many were left as they are.
pub fn each_without(
    store: &Store,
    kind: &IndexKind,
    force: bool,
    mut make: impl FnMut(&OpenSegment, &Path) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let mut others = 0;
    for segment in store.version().segments.iter() {
        let folder = store.folder().join(segment.entry.folder());
        remove_unfinished(store, kind, &folder);
        let files = [kind.keys_file(&folder), kind.rows_file(&folder)];
        if !force && files.iter().all(|file| store.vfs().exists(file)) {
            others += 1;
        } else {
            make(segment, &folder)?;
        }
    }
    Ok(others)
}
