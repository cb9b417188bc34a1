//! The file of users: read whole, and written so that it is the old one or the new one at any time.

use super::users::{UserError, Users};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a file of users has in the folder of a database.
const NAME: &str = "users.json";
/// A file of more bytes is none of ours.
const BYTES_MAX: u64 = 16 << 20;

/// What changes with a file.
pub(super) type Stamp = (SystemTime, u64, u64);

impl Users {
    /// The file of a place: the one in the folder of a database, or the place itself.
    pub fn file_of(place: &Path) -> PathBuf {
        if place.is_dir() { place.join(NAME) } else { place.to_owned() }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read, or is no file of users.
    pub fn read(path: &Path) -> Result<Self, UserError> {
        let wrong = |what: String| UserError::Format { path: path.to_owned(), what };
        // To open a pipe would wait for whoever writes to it.
        if !std::fs::metadata(path).map_err(failed(path))?.is_file() {
            return Err(wrong("it is not a file of bytes".to_owned()));
        }
        let mut text = String::new();
        let file = File::open(path).map_err(failed(path))?;
        file.take(BYTES_MAX).read_to_string(&mut text).map_err(failed(path))?;
        let users: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        users.check().map_err(wrong)?;
        Ok(users)
    }

    /// The same; nobody where there is no file.
    ///
    /// # Errors
    /// Like [`Users::read`].
    pub fn read_or_empty(path: &Path) -> Result<Self, UserError> {
        match Self::read(path) {
            Err(UserError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    /// Changes a file, or makes it, one after the other where several do so at once. Only its owner can read it.
    ///
    /// # Errors
    /// Those of `change`, and where the file cannot be read or written.
    pub fn change<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, UserError>,
    ) -> Result<T, UserError> {
        let beside = |end: &str| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(end);
            path.with_file_name(name)
        };
        let lock_path = beside(".lock");
        let lock = private(&lock_path).map_err(failed(&lock_path))?;
        lock.lock().map_err(failed(&lock_path))?;
        let mut users = Self::read_or_empty(path)?;
        let done = change(&mut users)?;
        let new = beside(".new");
        let _ = std::fs::remove_file(&new);
        write(&new, path, &users).map_err(failed(path))?;
        Ok(done)
    }
}

fn write(new: &Path, path: &Path, users: &Users) -> io::Result<()> {
    let mut file = private(new)?;
    serde_json::to_writer_pretty(&mut file, users)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(new, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// A file for its owner alone.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn failed(path: &Path) -> impl Fn(io::Error) -> UserError + '_ {
    |source| UserError::Io { path: path.to_owned(), source }
}

/// The file as it is now; none where there is none.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let number = 0;
    Some((found.modified().ok()?, found.len(), number))
}
