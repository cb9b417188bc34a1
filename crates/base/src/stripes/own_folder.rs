//! The folder of its own that a database has in a stripe folder: how it is called, what is in it besides parts, and how it goes, so that whoever is stopped
//! in between leaves one that says whose it was, or an empty one.

use super::owner::{OWNER_FILE, OWNER_FILE_TMP};
use crate::checksum::checksum;
use crate::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the mark that tells which of the folders of its database it is in.
pub(super) const MARK_FILE: &str = "stripe";
/// There until the database has its list of folders, and again while it is taken apart: a folder with it holds nothing that anybody has.
pub(super) const UNFINISHED_FILE: &str = "unfinished";
/// What names of own folders begin with.
pub(super) const OWN_PREFIX: &str = "lode-";
/// And those of folders that become some.
const MAKING_PREFIX: &str = "lode-making-";

/// The own folder of the database in `root` while it is made. Who makes it has the lock of that database, so there is one at most.
pub(super) fn making_folder(folder: &Path, root: &Path) -> PathBuf {
    folder.join(format!("{MAKING_PREFIX}{:016x}", checksum(root.display().to_string().as_bytes())))
}

/// The own folders of databases in a stripe folder.
pub(super) fn own_folders(vfs: &dyn Vfs, folder: &Path) -> Vec<PathBuf> {
    folders_with(vfs, folder, &|name| id_of(name).is_some())
}

/// Those that were begun.
pub(super) fn making_folders(vfs: &dyn Vfs, folder: &Path) -> Vec<PathBuf> {
    folders_with(vfs, folder, &|name| name.starts_with(MAKING_PREFIX))
}

fn folders_with(vfs: &dyn Vfs, folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let names = vfs.list(folder).unwrap_or_default();
    let wanted = names.into_iter().filter(|name| name.to_str().is_some_and(is_wanted));
    wanted.map(|name| folder.join(name)).collect()
}

/// The number in the name of an own folder.
pub(super) fn id_of(name: &str) -> Option<u128> {
    name.strip_prefix(OWN_PREFIX).and_then(number)
}

/// A number as names and texts have it.
pub(super) fn number(text: &str) -> Option<u128> {
    (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// Whether an own folder has neither marks nor parts: who made it, or removed it, was stopped. Nobody makes one so, since it has its marks before its
/// name.
pub(super) fn was_never_made(vfs: &dyn Vfs, own: &Path) -> bool {
    let is_nothing = |names: Vec<PathBuf>| names.iter().all(|name| name.as_os_str() == UNFINISHED_FILE);
    vfs.list(own).is_ok_and(is_nothing)
}

/// Removes an own folder: the mark of whose it is when no more is in it but that it is unfinished, if it is.
///
/// # Errors
/// Where the file system refuses: some of it may be left.
pub fn remove_own_folder(vfs: &dyn Vfs, own: &Path) -> io::Result<()> {
    let goes_first = |name: &PathBuf| ![OWNER_FILE, UNFINISHED_FILE].map(Path::new).contains(&&**name);
    for name in vfs.list(own)?.into_iter().filter(goes_first).chain([OWNER_FILE.into()]) {
        // What is no file goes with the rest.
        let _ = vfs.remove(&own.join(name));
    }
    vfs.remove_dir_all(own)
}

/// Whether a file in an own folder is neither a part nor any other that belongs there.
pub(super) fn is_foreign(name: &str) -> bool {
    ![MARK_FILE, OWNER_FILE, OWNER_FILE_TMP, UNFINISHED_FILE].contains(&name)
}
