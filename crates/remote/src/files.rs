//! The files of a published version, as a file system that can only be read: the manifest and the log as they would be in the folder of the database,
//! and the files of its segments, which are objects. Other paths are those of another file system, so that a database can be restored from here.

use crate::error::RemoteError;
use crate::extents::{DEVICE, RemoteFile, Source};
use crate::index::IndexedFile;
use crate::object::ObjectStore;
use lode_base::device::Device;
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Where the bytes of a file come from.
#[derive(Debug, Clone)]
pub enum FileSource {
    /// They are here.
    Memory(Arc<[u8]>),
    /// Fetched when they are wanted, as a whole.
    Whole {
        /// The object.
        key: String,
        /// What came.
        bytes: OnceLock<Arc<[u8]>>,
    },
    /// An object that is read like a file.
    Object(String),
    /// One that comes in parts.
    Extents(Arc<RemoteFile>),
}

impl FileSource {
    /// A file of a segment.
    pub fn of_segment(key: String, file: IndexedFile, source: Option<&Source>) -> Self {
        match source {
            _ if file.end_start() == 0 => Self::Memory(file.end),
            Some(source) => Self::Extents(Arc::new(RemoteFile::new(source.clone(), key, file))),
            None => Self::Object(key),
        }
    }
}

/// Reads a whole object of the version, and verifies it.
pub type ReadWhole = Box<dyn Fn(&str) -> Result<Vec<u8>, RemoteError> + Send + Sync>;

/// The file system.
pub struct PublishedFiles {
    root: PathBuf,
    store: Arc<dyn ObjectStore>,
    read_whole: ReadWhole,
    /// By path below the root.
    files: BTreeMap<PathBuf, FileSource>,
    beside: Arc<dyn Vfs>,
    /// Of those that are far away, if any are.
    device: Device,
}

impl fmt::Debug for PublishedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedFiles").field("root", &self.root).finish_non_exhaustive()
    }
}

impl PublishedFiles {
    /// These files below a root; what is elsewhere is in `beside`.
    pub fn new(
        root: &Path,
        store: Arc<dyn ObjectStore>,
        files: BTreeMap<PathBuf, FileSource>,
        read_whole: ReadWhole,
        beside: Arc<dyn Vfs>,
    ) -> Self {
        let is_far = files.values().any(|file| matches!(file, FileSource::Extents(_)));
        let device = if is_far { DEVICE } else { beside.device() };
        Self { root: root.to_owned(), store, read_whole, files, beside, device }
    }

    /// The path below the root, if it is there.
    fn own<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.root).ok()
    }

    fn read_only<T>(&self, path: &Path, elsewhere: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if self.own(path).is_none() {
            return elsewhere();
        }
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "a published database can be read only"))
    }

    fn open_own(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        match self.files.get(path).ok_or(io::ErrorKind::NotFound)? {
            FileSource::Memory(bytes) => Ok(Arc::new(InMemory(Arc::clone(bytes)))),
            FileSource::Whole { key, bytes } => {
                let bytes = match bytes.get() {
                    Some(bytes) => bytes,
                    None => {
                        let read = (self.read_whole)(key)?;
                        bytes.get_or_init(|| read.into())
                    }
                };
                Ok(Arc::new(InMemory(Arc::clone(bytes))))
            }
            FileSource::Object(key) => {
                let file = self.store.open(key)?;
                file.ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
            }
            FileSource::Extents(file) => Ok(Arc::clone(file) as Arc<dyn ReadAt>),
        }
    }

    fn list_own(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let below = self.files.keys().filter_map(|file| file.strip_prefix(path).ok());
        let names =
            below.filter_map(|rest| rest.components().next().map(|name| PathBuf::from(name.as_os_str())));
        let mut names: Vec<PathBuf> = names.collect();
        names.dedup();
        if names.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(names) }
    }
}

impl Vfs for PublishedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.own(path).map_or_else(|| self.beside.open(path), |own| self.open_own(own))
    }

    fn open_immutable(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.own(path).map_or_else(|| self.beside.open_immutable(path), |own| self.open_own(own))
    }

    fn device(&self) -> Device {
        self.device
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.read_only(path, || self.beside.create(path))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.read_only(path, || self.beside.create_new(path))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.read_only(path, || self.beside.open_append(path, len))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.read_only(path, || self.beside.create_dir_all(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.own(path).map_or_else(|| self.beside.list(path), |own| self.list_own(own))
    }

    fn exists(&self, path: &Path) -> bool {
        self.own(path).map_or_else(
            || self.beside.exists(path),
            |own| self.files.keys().any(|file| file.starts_with(own)),
        )
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.read_only(from, || self.read_only(to, || self.beside.rename(from, to)))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        // What is copied instead.
        let other = || Err(io::ErrorKind::Unsupported.into());
        if self.own(from).is_some() {
            other()
        } else {
            self.read_only(to, || self.beside.hard_link(from, to))
        }
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        let is_own = self.own(a).is_some() || self.own(b).is_some();
        if is_own { Ok(a == b) } else { self.beside.is_same_file(a, b) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.read_only(path, || self.beside.remove(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.read_only(path, || self.beside.remove_dir_all(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.read_only(path, || self.beside.sync_dir(path))
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<Option<u64>> {
        self.own(folder).map_or_else(|| self.beside.free_bytes(folder), |_| Ok(None))
    }

    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        self.read_only(path, || self.beside.allocate(path, bytes))
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.read_only(path, || self.beside.lock(path, exclusive))
    }
}

/// A file whose bytes are here.
#[derive(Debug)]
struct InMemory(Arc<[u8]>);

impl ReadAt for InMemory {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let found = usize::try_from(offset).ok().and_then(|at| self.0.get(at..)?.get(..buf.len()));
        buf.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn device(&self) -> Device {
        Device::MEMORY
    }
}
