//! Where the processes of a load to an address have files on this machine: a folder that goes with who has made it. What somebody who was killed has left
//! is taken over by the next.

use crate::talk::say;
use anyhow::{Context, bail};
use lode_engine::store::load::parts::{Board, BoardState};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// So many loads to one address may have folders on a machine.
const FOLDERS_MAX: usize = 1000;
/// Locked by who has the folder.
const LOCK: &str = "LOCK";
/// What is written.
const FILES: &str = "files";

/// Such a folder.
#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
    _lock: File,
}

impl Scratch {
    /// A folder for a load to this address, in `folder` or where the system has temporary files.
    pub fn take(folder: Option<&Path>, address: &str) -> anyhow::Result<Self> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let mut hash = DefaultHasher::new();
        address.hash(&mut hash);
        let told = || format!("making a folder for files of the load in {}", folder.display());
        for number in 0..FOLDERS_MAX {
            let root = folder.join(format!("lode-load-{:016x}.{number}", hash.finish()));
            fs::create_dir_all(&root).with_context(told)?;
            let lock = File::options().create(true).truncate(false).write(true).open(root.join(LOCK));
            let lock = lock.with_context(told)?;
            if lock.try_lock().is_err() {
                continue;
            }
            let scratch = Self { root, _lock: lock };
            let files = scratch.files();
            if files.exists() {
                fs::remove_dir_all(&files).with_context(told)?;
            }
            fs::create_dir_all(&files).with_context(told)?;
            return Ok(scratch);
        }
        bail!("{}: too many others load to {address}", folder.display())
    }

    /// Where files go.
    pub fn files(&self) -> PathBuf {
        self.root.join(FILES)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is the next one's to remove.
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The work folder of a database unless another is told.
pub fn work_beside(database: &Path) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_owned();
    name.push(".load");
    database.with_file_name(name)
}

/// Says that a load with workers has begun on a database and has not ended. Queries do not see any of it.
pub fn tell_work_beside(database: &Path) -> anyhow::Result<()> {
    let work = work_beside(&std::path::absolute(database)?);
    // Work that cannot be read is told of by who goes on with it.
    let state = if work.is_dir() { Board::on_disk(&work).state().ok() } else { None };
    let (Some(BoardState::Open | BoardState::Failed(_)), work) = (state, work.display()) else {
        return Ok(());
    };
    say!(
        "{work} is the work of a load with --workers that has not ended; the command line that began it goes on with it, and until then nothing of it is in the database"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Folders are nobody else's, and go.
    use super::*;

    #[test]
    fn each_has_its_own_and_takes_over_what_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let take = |address: &str| Scratch::take(Some(folder.path()), address).unwrap();
        let (one, two, other) = (take("s3://a/b"), take("s3://a/b"), take("s3://a/c"));
        assert!(one.files() != two.files() && one.files() != other.files());
        let left = one.files();
        drop((one, two, other));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir_all(left.join("out/x")).unwrap();
        let again = take("s3://a/b");
        assert!(again.files() == left && fs::read_dir(&left).unwrap().count() == 0);
    }

    #[test]
    fn the_work_folder_is_beside_the_database() {
        assert_eq!(work_beside(Path::new("/srv/my.db")), Path::new("/srv/my.db.load"));
        assert_eq!(work_beside(Path::new("/srv/my.db/")), Path::new("/srv/my.db.load"));
    }
}
