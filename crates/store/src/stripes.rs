//! A database whose files are spread over several folders, each on a disk of its own: how it is made so, found so, and told that a folder has moved.

use crate::backup::{KEPT_PREFIXES, KEPT_QUERIES};
use crate::error::StoreError;
use crate::manifest::{BACKUP, LOCK, MANIFEST, MANIFEST_COPY, Manifest, RESTORING, is_disposable};
use crate::store::{create_folder, lock};
use lode_base::stripes::{CHUNK_BYTES, STRIPES_FILE, StripeFolders, StripedVfs, remove_own_folder};
use lode_base::vfs::Vfs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn failed(folder: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = folder.join(STRIPES_FILE);
    move |source| StoreError::Io { path, source }
}

/// The file system in which the database in `folder` is whole: `vfs` itself, unless it has stripe folders.
///
/// # Errors
/// Where one of these is missing or is not the right one; where the list of them cannot be read or is damaged.
pub fn striped(vfs: &Arc<dyn Vfs>, folder: &Path) -> Result<Arc<dyn Vfs>, StoreError> {
    StripedVfs::of(vfs, folder).map_err(failed(folder))
}

/// The stripe folders of the database in `folder`; none where it has none.
///
/// # Errors
/// Where the list of them cannot be read or is damaged.
pub fn stripe_folders(vfs: &dyn Vfs, folder: &Path) -> Result<Option<StripeFolders>, StoreError> {
    StripeFolders::read(vfs, folder).map_err(failed(folder))
}

/// The same, where the list may be lost.
///
/// # Errors
/// As [`stripe_folders`], and where it is.
pub fn stripe_folders_or_lost(vfs: &dyn Vfs, folder: &Path) -> Result<Option<StripeFolders>, StoreError> {
    StripeFolders::read_or_lost(vfs, folder).map_err(failed(folder))
}

/// Has the files of a database that are written from now on spread over folders: of one that is there or is made later. Does nothing where
/// they are; where its list of these is damaged or lost, writes it again.
///
/// # Errors
/// Where it has other stripe folders, or another process writes to it; where something else than a database is there; where a folder cannot be
/// one, or the file system refuses.
pub fn stripe(vfs: &dyn Vfs, folder: &Path, stripes: &[PathBuf]) -> Result<(), StoreError> {
    stripe_by(vfs, folder, stripes, CHUNK_BYTES)
}

pub(crate) fn stripe_by(
    vfs: &dyn Vfs,
    folder: &Path,
    stripes: &[PathBuf],
    chunk: u64,
) -> Result<(), StoreError> {
    let new = StripeFolders::new(folder, stripes, chunk).map_err(failed(folder))?;
    match is_striped_so(vfs, folder, &new) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::InvalidData => {
            return list_again(vfs, folder, stripes);
        }
        Err(error) => return Err(error),
    }
    if vfs.exists(&folder.join(BACKUP)) {
        return Err(StoreError::IsBackup { path: folder.to_owned() });
    }
    match Manifest::read_current(vfs, folder) {
        Ok(_) | Err(StoreError::Missing { .. }) => {}
        Err(error) => return Err(error),
    }
    create_folder(vfs, folder)?;
    let _lock = lock(vfs, folder)?;
    if is_striped_so(vfs, folder, &new)? {
        return Ok(());
    }
    new.sweep_unfinished(vfs, folder);
    let mut made = 0;
    let mut make = || {
        for number in 0..new.folders.len() {
            create_folder(vfs, &new.folders[number])?;
            new.prepare(vfs, folder, number).map_err(failed(folder))?;
            made = number + 1;
        }
        new.write(vfs, folder).map_err(failed(folder))
    };
    make().map(|()| new.finish(vfs)).inspect_err(|_| {
        // Unless the list is there all the same, nobody finds them.
        if stripe_folders(vfs, folder).is_ok_and(|found| found.is_none()) {
            (0..made).for_each(|number| drop(remove_own_folder(vfs, &new.own_folder(number))));
        }
    })
}

/// Writes the list of stripe folders again where it is damaged: by the marks in the folders that it had.
fn list_again(vfs: &dyn Vfs, folder: &Path, stripes: &[PathBuf]) -> Result<(), StoreError> {
    let _lock = lock(vfs, folder)?;
    let found = StripeFolders::of_marks(vfs, folder, stripes).ok_or_else(|| {
        StoreError::Limit(format!(
            "{}: it is damaged or missing, and these are not all of the folders that the database had: by their marks ({{DIR}}/lode-ID/owner) they are not, or not \
             only, those of {}; name all of them, or restore a backup",
            folder.join(STRIPES_FILE).display(),
            folder.display()
        ))
    })?;
    found.write(vfs, folder).map_err(failed(folder))
}

/// Whether a database has these folders already; an error where it has others.
fn is_striped_so(vfs: &dyn Vfs, folder: &Path, wanted: &StripeFolders) -> Result<bool, StoreError> {
    let Some(found) = stripe_folders_or_lost(vfs, folder)? else { return Ok(false) };
    if found.folders == wanted.folders {
        return Ok(true);
    }
    let shown: Vec<String> = found.folders.iter().map(|folder| folder.display().to_string()).collect();
    Err(StoreError::Limit(format!(
        "{}: the database has other stripe folders ({}); to spread it over others, dump it and load it anew, or restore a backup of it with \
         --stripe",
        folder.display(),
        shown.join(", ")
    )))
}

/// Says that a stripe folder of a database is in another place now, to which its files were moved before.
///
/// # Errors
/// Where the database has no such stripe folder, or another process writes to it; where the new folder has not the files; where the list cannot be
/// read or written.
pub fn move_stripe(vfs: &dyn Vfs, folder: &Path, old: &Path, new: &Path) -> Result<(), StoreError> {
    let none = || StoreError::Limit(format!("{}: the database has no stripe folders", folder.display()));
    stripe_folders(vfs, folder)?.ok_or_else(none)?;
    let _lock = lock(vfs, folder)?;
    let mut stripes = stripe_folders(vfs, folder)?.ok_or_else(none)?;
    stripes.move_folder(vfs, old, new).and_then(|()| stripes.write(vfs, folder)).map_err(failed(folder))
}

/// Removes what a restore has left that did not end, in the folder of the database and in its stripe folders, so that another can begin there. Whether
/// there was any.
///
/// # Errors
/// [`StoreError::Locked`] where it goes on, [`StoreError::NotEmpty`] where there is what no restore makes; where a stripe folder is missing, or a file
/// cannot be removed.
pub fn clear_unfinished_restore(vfs: &Arc<dyn Vfs>, folder: &Path) -> Result<bool, StoreError> {
    let is_unfinished = || vfs.exists(&folder.join(RESTORING)) && !vfs.exists(&folder.join(MANIFEST));
    if !is_unfinished() {
        return Ok(false);
    }
    let _lock = lock(&**vfs, folder)?;
    if !is_unfinished() {
        return Ok(false);
    }
    let files = striped(vfs, folder)?;
    // Not of a copy of the folder: its parts are those of the other one, which may be at work.
    files.claim(folder).map_err(failed(folder))?;
    let stays = |name: &str| [LOCK, RESTORING, STRIPES_FILE].contains(&name);
    let goes =
        |name: &str| is_disposable(name) || [MANIFEST_COPY, KEPT_QUERIES, KEPT_PREFIXES].contains(&name);
    let names = files.list(folder).map_err(StoreError::io(folder))?;
    let is_restored = |name: &PathBuf| name.to_str().is_some_and(|name| stays(name) || goes(name));
    if !names.iter().all(is_restored) {
        // A restore does not make such.
        return Err(StoreError::NotEmpty { path: folder.to_owned() });
    }
    for name in names.into_iter().filter(|name| name.to_str().is_some_and(|name| !stays(name))) {
        let path = folder.join(&name);
        if files.remove_dir_all(&path).is_err() {
            files.remove(&path).map_err(StoreError::io(&path))?;
        }
    }
    files.sweep(folder).map_err(failed(folder))?;
    files.sync_dir(folder).map_err(StoreError::io(folder))?;
    if let Some(stripes) = stripe_folders(&**vfs, folder)? {
        stripes.dissolve(&**vfs, folder).map_err(failed(folder))?;
    }
    // The mark goes last.
    let path = folder.join(RESTORING);
    vfs.remove(&path).map_err(StoreError::io(&path))?;
    vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    Ok(true)
}

#[cfg(test)]
mod speed_tests;
#[cfg(test)]
mod tests;
