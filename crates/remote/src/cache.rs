//! Parts of objects on local disk. They survive restarts and may be shared by processes: each part is a file of its own, which is there wholly or not
//! at all, and may be removed by anybody at any time. What is read of it is verified by who reads it, against checksums that were published.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;
use xxhash_rust::xxh3::xxh3_64;

/// The folder in that of the user's caches; another format has another name.
const OWN_FOLDER: &str = "lode-objects-1";
/// What is being written.
const UNFINISHED: &str = ".new-";
/// Files that a process which was killed has left unfinished go after so many seconds.
const UNFINISHED_SECONDS_MAX: u64 = 3600;
/// Whenever this part of the room has been written, the oldest files go, and so much again is made free.
const SWEEP_PART: u64 = 16;

/// The cache of a store's objects.
#[derive(Debug)]
pub struct ObjectCache {
    shared: Arc<Shared>,
    /// Of this store.
    folder: PathBuf,
    sweeper: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    bytes_max: u64,
    /// Written since the last sweep.
    written: AtomicU64,
    has_swept: AtomicBool,
    is_sweeping: AtomicBool,
}

impl ObjectCache {
    /// The cache in a folder, which is made where it is missing, for the objects of the store with this address.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be made.
    pub fn open(folder: &Path, bytes_max: u64, store: &str) -> io::Result<Self> {
        let root = folder.join(OWN_FOLDER);
        // Two stores may have an object of one name, and only one of them may be who it seems to be.
        let folder = root.join(format!("{:016x}", xxh3_64(store.as_bytes())));
        fs::create_dir_all(&folder)?;
        let shared = Shared {
            root,
            bytes_max,
            written: AtomicU64::new(0),
            has_swept: AtomicBool::new(false),
            is_sweeping: AtomicBool::new(false),
        };
        Ok(Self { shared: Arc::new(shared), folder, sweeper: Mutex::new(None) })
    }

    fn path(&self, key: &str, part: u64) -> PathBuf {
        self.folder.join(key).join(format!("{part:08x}"))
    }

    /// Reads from a place of a part; none where the part is not there, or shorter.
    pub fn read(&self, key: &str, part: u64, offset: u64, bytes: usize) -> Option<Vec<u8>> {
        let file = opened(&self.path(key, part))?;
        let mut found = vec![0; bytes];
        file.read_exact_at(&mut found, offset).ok()?;
        Some(found)
    }

    /// Reads a whole part.
    pub fn read_all(&self, key: &str, part: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        opened(&self.path(key, part))?.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Says that a part was used: what was not used for long goes first.
    pub fn touch(&self, key: &str, part: u64) {
        if let Some(file) = opened(&self.path(key, part)) {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Writes a part, over one that was there.
    ///
    /// # Errors
    ///
    /// Where that cannot be. The cache is as good without.
    pub fn write(&self, key: &str, part: u64, bytes: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let folder = self.folder.join(key);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let new = folder.join(format!("{UNFINISHED}{}-{number}", std::process::id()));
        let mut file = create(&folder, &new)?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&new, self.path(key, part)));
        if let Err(error) = written {
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        let shared = &self.shared;
        let written = shared.written.fetch_add(bytes.len() as u64, Ordering::Relaxed) + bytes.len() as u64;
        let is_due =
            written > shared.bytes_max / SWEEP_PART || !shared.has_swept.swap(true, Ordering::Relaxed);
        if is_due && !shared.is_sweeping.swap(true, Ordering::Relaxed) {
            shared.written.store(0, Ordering::Relaxed);
            self.sweep_aside();
        }
        Ok(())
    }

    /// Sweeps beside whoever waits for an answer.
    fn sweep_aside(&self) {
        let shared = Arc::clone(&self.shared);
        let sweep = move || {
            sweep(&shared.root, shared.bytes_max);
            shared.is_sweeping.store(false, Ordering::Relaxed);
        };
        match std::thread::Builder::new().name("lode-cache".to_owned()).spawn(sweep) {
            Ok(thread) => {
                let before = self.sweeper.lock().unwrap_or_else(PoisonError::into_inner).replace(thread);
                // It has ended, or else this one would not have begun.
                drop(before);
            }
            Err(_) => self.shared.is_sweeping.store(false, Ordering::Relaxed),
        }
    }
}

impl Drop for ObjectCache {
    fn drop(&mut self) {
        // Else many short processes would never remove anything.
        let thread = self.sweeper.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// A part as a file. What is no file, as a pipe that somebody has put there, would keep who opens it for ever.
fn opened(path: &Path) -> Option<File> {
    let is_file = fs::metadata(path).is_ok_and(|meta| meta.is_file());
    is_file.then(|| File::open(path).ok()).flatten()
}

/// A file of the cache.
struct Found {
    used: SystemTime,
    bytes: u64,
    path: PathBuf,
}

/// Makes a file that is to be written, and its folder, which a sweep may take away in between while it is empty.
fn create(folder: &Path, new: &Path) -> io::Result<File> {
    const ATTEMPTS: usize = 5;
    for _ in 0..ATTEMPTS {
        match File::create_new(new) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder)?,
            // Of a process of this number that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(new)?,
            created => return created,
        }
    }
    File::create_new(new)
}

/// Removes the files that were not used for longest, until there is room again.
fn sweep(root: &Path, bytes_max: u64) {
    let mut found = Vec::new();
    walk(root, 0, &mut found);
    let mut total: u64 = found.iter().map(|file| file.bytes).sum();
    let wanted = bytes_max - bytes_max / SWEEP_PART;
    if total <= wanted {
        return;
    }
    found.sort_by_key(|file| file.used);
    for file in found {
        if total <= wanted {
            break;
        }
        if fs::remove_file(&file.path).is_ok() {
            total -= file.bytes;
        }
    }
}

/// All files below a folder. Folders that are empty go.
fn walk(folder: &Path, depth: usize, found: &mut Vec<Found>) {
    const DEPTH_MAX: usize = 4;
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut any = false;
    for entry in entries.flatten() {
        any = true;
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            if depth < DEPTH_MAX {
                walk(&entry.path(), depth + 1, found);
            }
            continue;
        }
        let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        let is_old = || used.elapsed().is_ok_and(|age| age.as_secs() > UNFINISHED_SECONDS_MAX);
        if is_unfinished && is_old() {
            let _ = fs::remove_file(entry.path());
        } else if !is_unfinished {
            found.push(Found { used, bytes: meta.len(), path: entry.path() });
        }
    }
    if !any && depth > 1 {
        // Whoever is about to write there makes it again.
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    //! Parts come back, and the room that they take is bounded.
    use super::*;

    fn bytes_in(folder: &Path) -> u64 {
        let mut found = Vec::new();
        walk(folder, 0, &mut found);
        found.iter().map(|file| file.bytes).sum()
    }

    #[test]
    fn parts_come_back_also_in_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let open = |store: &str| ObjectCache::open(folder.path(), 1 << 20, store).unwrap();
        open("a").write("k/f", 3, b"hello").unwrap();
        assert_eq!(open("a").read("k/f", 3, 1, 3).unwrap(), b"ell");
        assert_eq!(open("a").read_all("k/f", 3).unwrap(), b"hello");
        assert!(open("a").read("k/f", 3, 1, 5).is_none() && open("a").read_all("k/f", 2).is_none());
        assert!(open("b").read_all("k/f", 3).is_none());
        open("a").write("k/f", 3, b"again").unwrap();
        assert_eq!(open("a").read_all("k/f", 3).unwrap(), b"again");
    }

    #[test]
    fn what_is_no_file_keeps_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), 1 << 20, "a").unwrap();
        cache.write("k", 1, b"one").unwrap();
        for part in [2, 3] {
            let path = cache.path("k", part);
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        }
        assert!(cache.read("k", 2, 0, 1).is_none() && cache.read_all("k", 2).is_none());
        cache.touch("k", 2);
        cache.write("k", 3, b"three").unwrap();
        assert_eq!(
            (cache.read_all("k", 3).unwrap(), cache.read_all("k", 1).unwrap()),
            (b"three".to_vec(), b"one".to_vec())
        );
    }

    #[test]
    fn what_was_not_used_for_long_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), 1 << 20, "a").unwrap();
        let long_ago = |key: &str, part| {
            let file = File::open(cache.path(key, part)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(part + 1)).unwrap();
        };
        for part in 0..40 {
            cache.write("k", part, &vec![7; 20 << 10]).unwrap();
            long_ago("k", part);
        }
        cache.touch("k", 0);
        for part in 0..30 {
            cache.write("new", part, &vec![7; 20 << 10]).unwrap();
        }
        drop(cache);
        let cache = ObjectCache::open(folder.path(), 1 << 20, "a").unwrap();
        cache.write("last", 0, b"x").unwrap();
        drop(cache);
        assert!(bytes_in(folder.path()) <= 1 << 20, "{}", bytes_in(folder.path()));
        let cache = ObjectCache::open(folder.path(), 1 << 20, "a").unwrap();
        assert!(
            cache.read_all("k", 0).is_some()
                && cache.read_all("k", 1).is_none()
                && cache.read_all("new", 29).is_some()
        );
    }
}
