//! Folders of snapshots. One that has the name of a snapshot holds its manifest at every moment: it is made under another name and gets
//! its own when it is whole, and it loses that before anything in it is removed. So where the manifest is missing, it was lost.

use super::names::check_name;
use crate::error::StoreError;
use crate::manifest::{MANIFEST, Manifest, SNAPSHOTS};
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};

/// Behind the name of a snapshot: a folder that is being made or removed. No name has it.
const UNNAMED: &str = "~";

pub fn folder_of(database: &Path, name: &str) -> PathBuf {
    database.join(SNAPSHOTS).join(name)
}

/// The folder of a snapshot before it is one, and when it is none any more.
fn unnamed_of(database: &Path, name: &str) -> PathBuf {
    database.join(SNAPSHOTS).join(format!("{name}{UNNAMED}"))
}

/// Names of what may be snapshots.
pub fn names(vfs: &dyn Vfs, database: &Path) -> Result<Vec<String>, StoreError> {
    let names = list(vfs, &database.join(SNAPSHOTS))?.unwrap_or_default();
    Ok(names.into_iter().filter(|name| check_name(name).is_ok()).collect())
}

/// Names in a folder; `None` where there is no such folder.
fn list(vfs: &dyn Vfs, folder: &Path) -> Result<Option<Vec<String>>, StoreError> {
    match vfs.list(folder) {
        Ok(found) => Ok(Some(found.iter().filter_map(|name| name.to_str().map(str::to_owned)).collect())),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(StoreError::io(folder)(error)),
    }
}

/// The manifest of a snapshot; `None` where there is no such snapshot. `of_database`: the database whose it must be, if that is known.
pub fn read(
    vfs: &dyn Vfs,
    database: &Path,
    name: &str,
    of_database: Option<u128>,
) -> Result<Option<Manifest>, StoreError> {
    let folder = folder_of(database, name);
    let path = folder.join(MANIFEST);
    let mut found = Manifest::read_file(vfs, &path)?;
    if found.is_none() {
        if list(vfs, &folder)?.is_none() {
            return Ok(None);
        }
        // Another process may have made it after it was looked for.
        found = Manifest::read_file(vfs, &path)?;
    }
    let wrong = |what: String| Err(StoreError::corruption(&path, 0, what));
    match found {
        None => wrong("the manifest of the snapshot is missing".to_owned()),
        Some(Manifest { snapshot: Some(other), .. }) if other != name => {
            wrong(format!("the manifest of another snapshot, {other}"))
        }
        Some(Manifest { snapshot: None, .. }) => wrong("not the manifest of a snapshot".to_owned()),
        Some(manifest) if of_database.is_some_and(|database| database != manifest.database) => {
            wrong("the manifest of a snapshot of another database".to_owned())
        }
        found => Ok(found),
    }
}

/// Makes the folder of a snapshot, durably, but for its name: [`give_name`] comes next. After an error it never had the name, and must not
/// get it, as it may not be whole.
pub fn make(vfs: &dyn Vfs, database: &Path, name: &str, manifest: &Manifest) -> Result<(), StoreError> {
    let unnamed = unnamed_of(database, name);
    remove_unnamed(vfs, &unnamed)?;
    let made = write(vfs, database, &unnamed, manifest);
    if made.is_err() {
        // What cannot be removed now is removed when the database is next opened for writing.
        let _ = remove_unnamed(vfs, &unnamed);
    }
    made
}

fn write(vfs: &dyn Vfs, database: &Path, unnamed: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    vfs.create_dir_all(unnamed).map_err(StoreError::io(unnamed))?;
    let path = unnamed.join(MANIFEST);
    manifest.write_file(vfs, &path).map_err(StoreError::io(&path))?;
    for folder in [unnamed, database] {
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    Ok(())
}

/// Gives the folder that [`make`] has made the name of the snapshot, durably. After an error [`remove`] takes back what may be there.
pub fn give_name(vfs: &dyn Vfs, database: &Path, name: &str) -> Result<(), StoreError> {
    let unnamed = unnamed_of(database, name);
    // Or it has the name, and nobody knows whether durably: this is tried again.
    if vfs.exists(&unnamed) {
        rename(vfs, &unnamed, &folder_of(database, name))?;
    }
    sync(vfs, database)
}

/// Takes the name from the folder of a snapshot, if there is one, durably, and removes it. After an error it may have the name, or may
/// have it again after a power cut.
pub fn remove(vfs: &dyn Vfs, database: &Path, name: &str) -> Result<(), StoreError> {
    let (folder, unnamed) = (folder_of(database, name), unnamed_of(database, name));
    if vfs.exists(&folder) {
        remove_unnamed(vfs, &unnamed)?;
    } else if vfs.exists(&unnamed) {
        // It lost the name before, and that may not have become durable: a sync makes durable only what has changed since one failed.
        // It is whole, or the name would be gone for good.
        rename(vfs, &unnamed, &folder)?;
    }
    if vfs.exists(&folder) {
        rename(vfs, &folder, &unnamed)?;
    }
    sync(vfs, database)?;
    // What cannot be removed now is removed when the database is next opened for writing.
    let _ = vfs.remove_dir_all(&unnamed);
    Ok(())
}

/// Removes what is left of folders that were not made, or not removed, wholly, after it has become durable that they have no name: until
/// then they may have it again after a power cut, and need their segments.
pub fn settle(vfs: &dyn Vfs, database: &Path) -> Result<(), StoreError> {
    let names = list(vfs, &database.join(SNAPSHOTS))?.unwrap_or_default();
    let is_unnamed = |name: &&String| name.strip_suffix(UNNAMED).is_some_and(|name| check_name(name).is_ok());
    let unnamed: Vec<&String> = names.iter().filter(is_unnamed).collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    sync(vfs, database)?;
    unnamed.into_iter().try_for_each(|name| remove_unnamed(vfs, &database.join(SNAPSHOTS).join(name)))
}

fn remove_unnamed(vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
    match vfs.remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(folder)(error)),
        _ => Ok(()),
    }
}

fn rename(vfs: &dyn Vfs, from: &Path, to: &Path) -> Result<(), StoreError> {
    vfs.rename(from, to).map_err(StoreError::io(from))
}

/// Makes the names of snapshots durable.
fn sync(vfs: &dyn Vfs, database: &Path) -> Result<(), StoreError> {
    let folder = database.join(SNAPSHOTS);
    if vfs.exists(&folder) { vfs.sync_dir(&folder).map_err(StoreError::io(&folder)) } else { Ok(()) }
}
