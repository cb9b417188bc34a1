//! What a publication of a database elsewhere (crate `remote`) needs of its folder: a version that stays readable while it is copied, and who
//! publishes from here.

use crate::backup::Original;
use crate::error::StoreError;
use crate::manifest::{PUBLISHER, PUBLISHER_TMP};
use crate::store::Store;
use crate::write_guard::WriteGuard;
use crate::write_options::WriteOptions;
use lode_base::cancel::CancelToken;
use lode_base::identity::random_identity;
use lode_base::vfs::Vfs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A flush reads little.
const CACHE_BYTES: usize = 1 << 20;
/// A longer file names no publisher.
const BYTES_MAX: u64 = 256;
/// What the file begins with.
const HEAD: &str = "lodestore publisher ";
/// What its second line begins with.
const FILE: &str = "file ";

/// The current version of a database, all of it in segments where nobody else has it open for writing; else with the log of who has.
///
/// # Errors
/// Where there is no database, it is damaged, cannot be read or (to bring its log into segments) written, or the work was cancelled.
pub fn frozen_version(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    cancel: &CancelToken,
) -> Result<Original, StoreError> {
    match Store::open_existing(Arc::clone(vfs), folder, CACHE_BYTES, WriteOptions::default()) {
        Ok(store) => WriteGuard::lock(&store, cancel)?.settle(cancel)?,
        // Its log goes along.
        Err(StoreError::Locked { .. } | StoreError::IsBackup { .. }) => {}
        Err(StoreError::Io { source, .. }) if is_read_only(&source) => {}
        Err(error) => return Err(error),
    }
    // Not of the store that is open: it is closed meanwhile, so that others may write, and these files are held open.
    Original::of_folder(&**vfs, folder, cancel)
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The random number of this folder of a database, by which publications from it are known; made where there is none yet. A copy of the
/// database that a backup or a restore makes has another one, and so has a folder that was copied in any other way, as far as the file system tells the
/// copy of the file with the number from the file itself.
///
/// # Errors
/// Where the file with it cannot be read or written, or is damaged.
pub fn publisher(vfs: &dyn Vfs, folder: &Path) -> Result<u128, StoreError> {
    let path = folder.join(PUBLISHER);
    let mut is_copy = false;
    if let Some(found) = read_publisher(vfs, &path)? {
        let now = vfs.file_identity(&path).unwrap_or(None);
        is_copy = found.file.is_some() && now.is_some() && found.file != now;
        if !is_copy {
            return Ok(found.number);
        }
    }
    let own = random_identity();
    // Whole before it is seen, and of two processes that are here at once the first one's.
    let tmp = folder.join(format!("{PUBLISHER_TMP}{own:032x}"));
    let write = || -> io::Result<()> {
        let mut file = vfs.create(&tmp)?;
        let mut text = format!("{HEAD}{own:032x}\n");
        if let Some(identity) = vfs.file_identity(&tmp)? {
            text += &format!("{FILE}{identity:032x}\n");
        }
        file.write_all(text.as_bytes())?;
        file.sync()?;
        match vfs.hard_link(&tmp, &path) {
            _ if is_copy => vfs.rename(&tmp, &path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Where there are no second names, nobody else should be here.
            Err(_) => vfs.rename(&tmp, &path)?,
            Ok(()) => {}
        }
        vfs.sync_dir(folder)
    };
    let written = write();
    let _ = vfs.remove(&tmp);
    written.map_err(StoreError::io(&path))?;
    Ok(read_publisher(vfs, &path)?.map_or(own, |found| found.number))
}

/// What the file says.
struct Publisher {
    number: u128,
    /// Which file it was written to.
    file: Option<u128>,
}

fn read_publisher(vfs: &dyn Vfs, path: &Path) -> Result<Option<Publisher>, StoreError> {
    let file = match vfs.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(StoreError::io(path))?,
    };
    let mut bytes = vec![0; file.len().min(BYTES_MAX) as usize];
    file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(path))?;
    let text = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_prefix(HEAD)?.strip_suffix('\n'));
    let number = |text: &str| (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
    let publisher = text.and_then(|text| match text.split_once('\n') {
        None => Some(Publisher { number: number(text)?, file: None }),
        Some((first, file)) => {
            Some(Publisher { number: number(first)?, file: Some(number(file.strip_prefix(FILE)?)?) })
        }
    });
    let damaged = "not the number of a publisher; without this file the next publication has to take over (--take-over)";
    publisher.map(Some).ok_or_else(|| StoreError::corruption(path, 0, damaged))
}

#[cfg(test)]
mod tests {
    //! Who publishes is known again, and a version is whole with and without a writer beside it.
    use super::*;
    use crate::crash_tests::{OLD, try_load};
    use crate::test_data::FOLDER;
    use crate::transaction::crash_tests::{commit, open};
    use lode_base::mem_vfs::MemVfs;

    #[test]
    fn a_publisher_has_one_number() {
        let vfs = MemVfs::new();
        try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
        let own = publisher(&vfs, Path::new(FOLDER)).unwrap();
        assert_eq!(publisher(&vfs, Path::new(FOLDER)).unwrap(), own);
        // It is there to stay, and no reason to refuse the folder.
        let after = vfs.after_crash(lode_base::mem_vfs::CrashKind::LoseAll);
        assert_eq!(publisher(&after, Path::new(FOLDER)).unwrap(), own);
        drop(open(Arc::new(after)).unwrap());
        vfs.create(&Path::new(FOLDER).join(PUBLISHER))
            .unwrap()
            .write_all(b"lodestore publisher 12\n")
            .unwrap();
        assert!(matches!(publisher(&vfs, Path::new(FOLDER)), Err(StoreError::Corruption { .. })));
    }

    #[test]
    fn a_copied_folder_has_another_number_and_a_moved_one_the_same() {
        let vfs = lode_base::real_vfs::RealVfs;
        let scratch = tempfile::tempdir().unwrap();
        let [old, copy, moved] = ["old", "copy", "moved"].map(|name| scratch.path().join(name));
        std::fs::create_dir_all(&old).unwrap();
        std::fs::create_dir_all(&copy).unwrap();
        let own = publisher(&vfs, &old).unwrap();
        std::fs::copy(old.join(PUBLISHER), copy.join(PUBLISHER)).unwrap();
        let of_copy = publisher(&vfs, &copy).unwrap();
        let is_told = vfs.file_identity(&old.join(PUBLISHER)).unwrap().is_some();
        assert_eq!(own != of_copy, is_told);
        assert_eq!(publisher(&vfs, &copy).unwrap(), of_copy);
        assert_eq!(publisher(&vfs, &old).unwrap(), own);
        std::fs::rename(&old, &moved).unwrap();
        assert_eq!(publisher(&vfs, &moved).unwrap(), own);
        // As it was written before.
        std::fs::write(copy.join(PUBLISHER), format!("{HEAD}{own:032x}\n")).unwrap();
        assert_eq!(publisher(&vfs, &copy).unwrap(), own);
        std::fs::write(copy.join(PUBLISHER), format!("{HEAD}{own:032x}\n{FILE}12\n")).unwrap();
        assert!(publisher(&vfs, &copy).is_err());
    }

    #[test]
    fn changes_become_segments_unless_somebody_writes() {
        let vfs = MemVfs::new();
        try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let freeze = || frozen_version(&shared, Path::new(FOLDER), &CancelToken::default()).unwrap();
        let store = open(Arc::clone(&shared)).unwrap();
        commit(&store, 1).unwrap();
        let beside = freeze();
        assert!(beside.changes().is_some());
        drop(store);
        let alone = freeze();
        assert!(alone.changes().is_none());
        assert_eq!(alone.quads, beside.quads);
        assert!(alone.segments.len() > beside.segments.len());
    }
}
