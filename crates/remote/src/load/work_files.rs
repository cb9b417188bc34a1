//! The files of a load as its tasks see them: those of this machine, and below the folder of attempts also what others have made objects of.

use super::fetched_file::{FetchedFile, Fetching};
use crate::keys;
use lode_base::device::Device;
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file system.
#[derive(Debug)]
pub struct WorkFiles {
    from: Arc<Fetching>,
    /// On this machine. What is not in it is looked for among the objects.
    folder: PathBuf,
    beside: Arc<dyn Vfs>,
}

impl WorkFiles {
    /// The files of `beside`, and below a folder of it the objects of the load.
    pub fn new(from: Arc<Fetching>, folder: &Path, beside: Arc<dyn Vfs>) -> Self {
        Self { from, folder: folder.to_owned(), beside }
    }

    /// The object that a file has become.
    fn key(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.folder).ok()?.to_str()?;
        Some(format!("{}/{below}", keys::WORK))
    }

    fn open_object(&self, key: String) -> io::Result<Arc<dyn ReadAt>> {
        if let Some(file) = self.from.store.open(&key)? {
            return Ok(file);
        }
        match FetchedFile::of_key(&self.from, key)? {
            Some(file) => Ok(Arc::new(file)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Vfs for WorkFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        match (self.beside.open(path), self.key(path)) {
            (Err(error), Some(key)) if error.kind() == io::ErrorKind::NotFound => self.open_object(key),
            (opened, _) => opened,
        }
    }

    fn device(&self) -> Device {
        self.beside.device()
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.beside.create(path)
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.beside.create_new(path)
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.beside.open_append(path, len)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.beside.create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.beside.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.beside.exists(path) || self.key(path).is_some_and(|key| self.open_object(key).is_ok())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.beside.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        // What is an object is copied instead.
        self.beside.hard_link(from, to)
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        self.beside.is_same_file(a, b)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.beside.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.beside.remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.beside.sync_dir(path)
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<Option<u64>> {
        self.beside.free_bytes(folder)
    }

    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.beside.allocate(path, bytes)
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.beside.lock(path, exclusive)
    }
}
