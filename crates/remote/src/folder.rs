//! Objects as files of a folder, for `file://`: a disk, or what is mounted of one elsewhere.
//!
//! An object is written beside the others (`uploads`), made durable and then given its name: by a rename, or where it must not be there yet by a
//! second name (a hard link), which the file system gives to one of those who try.

use crate::error::RemoteError;
use crate::object::ObjectStore;
use lode_base::vfs::{ReadAt, Vfs};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where objects are while they are being written.
pub(crate) const UPLOADS: &str = "uploads";
/// Written at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A folder of objects.
#[derive(Debug)]
pub struct FolderStore {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
    name: String,
    /// Whether objects are to be read as if they were far away.
    is_remote: bool,
}

impl FolderStore {
    /// The objects in a folder, which need not be there.
    pub fn new(vfs: Arc<dyn Vfs>, folder: &Path) -> Self {
        Self {
            vfs,
            folder: folder.to_owned(),
            name: format!("file://{}", folder.display()),
            is_remote: false,
        }
    }

    /// The same, and objects are read through a cache as those of other stores are: for folders that are mounted from elsewhere.
    #[must_use]
    pub fn remote(self) -> Self {
        Self { is_remote: true, ..self }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    fn reader(&self, key: &str) -> Result<Arc<dyn ReadAt>, RemoteError> {
        self.vfs.open_immutable(&self.path(key)).map_err(RemoteError::io(self.object(key)))
    }

    /// Makes the folder of an object and those above it, durably.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        if self.vfs.exists(folder) {
            return Ok(());
        }
        let missing = folder.ancestors().take_while(|above| !self.vfs.exists(above)).count();
        self.vfs.create_dir_all(folder)?;
        // From the uppermost down.
        let made: Vec<&Path> = folder.ancestors().skip(1).take(missing).collect();
        made.into_iter()
            .rev()
            .filter(|above| !above.as_os_str().is_empty())
            .try_for_each(|above| self.vfs.sync_dir(above))
    }

    /// Writes bytes beside the objects, durably but for the name that it has there.
    fn upload(&self, body: &mut dyn Read) -> io::Result<PathBuf> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let random = RandomState::new().build_hasher().finish();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(UPLOADS).join(format!("{random:016x}-{number}"));
        self.make_folder(&path)?;
        let mut write = || {
            let mut file = self.vfs.create_new(&path)?;
            let mut chunk = vec![0; CHUNK_BYTES];
            loop {
                match body.read(&mut chunk)? {
                    0 => break,
                    count => file.write_all(chunk.get(..count).unwrap_or_default())?,
                }
            }
            file.sync()
        };
        write().map(|()| path.clone()).inspect_err(|_| drop(self.vfs.remove(&path)))
    }
}

impl ObjectStore for FolderStore {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        let file = self.vfs.open(&self.path(key)).map_err(RemoteError::io(self.object(key)))?;
        if file.len() > bytes_max {
            return Err(RemoteError::damaged(self.object(key), 0, "longer than such an object can be"));
        }
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0).map_err(RemoteError::io(self.object(key)))?;
        Ok(bytes)
    }

    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        let file = self.reader(key)?;
        if file.len() < offset.saturating_add(buf.len() as u64) {
            return Err(RemoteError::damaged(
                self.object(key),
                file.len(),
                "the object ends here, too early",
            ));
        }
        file.read_exact_at(buf, offset).map_err(RemoteError::io(self.object(key)))
    }

    fn open(&self, key: &str) -> Result<Option<Arc<dyn ReadAt>>, RemoteError> {
        if self.is_remote { Ok(None) } else { self.reader(key).map(Some) }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        let names = match self.vfs.list(&self.path(folder)) {
            Ok(names) => names,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Vec::new()
            }
            Err(error) => return Err(RemoteError::io(self.object(folder))(error)),
        };
        Ok(Some(names.into_iter().filter_map(|name| name.to_str().map(str::to_owned)).collect()))
    }

    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError> {
        match self.vfs.open_immutable(&self.path(key)) {
            Ok(file) => Ok(Some(file.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(RemoteError::io(self.object(key))(error)),
        }
    }

    fn put(&self, key: &str, body: &mut dyn Read) -> Result<(), RemoteError> {
        let path = self.path(key);
        let mut put = || {
            let upload = self.upload(body)?;
            let named = self.make_folder(&path).and_then(|()| self.vfs.rename(&upload, &path));
            named.inspect_err(|_| drop(self.vfs.remove(&upload)))?;
            self.vfs.sync_dir(path.parent().unwrap_or(&path))
        };
        put().map_err(|source| RemoteError::Io { object: self.object(key), source })
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, RemoteError> {
        let path = self.path(key);
        let failed = |source| RemoteError::Io { object: self.object(key), source };
        let upload = self.upload(&mut &*bytes).map_err(failed)?;
        let named = self.make_folder(&path).and_then(|()| self.vfs.hard_link(&upload, &path));
        // What cannot be removed now goes with the next garbage collection.
        let _ = self.vfs.remove(&upload);
        match named {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let what = "this file system cannot give a file a second name (a hard link), without which two who publish at once could both win";
                return Err(failed(io::Error::new(io::ErrorKind::Unsupported, what)));
            }
            // It may have been given all the same.
            Err(source) if self.vfs.exists(&path) => {
                return Err(RemoteError::InDoubt { object: self.object(key), source });
            }
            Err(error) => return Err(failed(error)),
        }
        let synced = self.vfs.sync_dir(path.parent().unwrap_or(&path));
        synced.map_err(|source| RemoteError::InDoubt { object: self.object(key), source })?;
        Ok(true)
    }

    fn remove(&self, key: &str) -> Result<(), RemoteError> {
        let path = self.path(key);
        let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match self.vfs.remove(&path) {
            Ok(()) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            Err(_) => match self.vfs.remove_dir_all(&path) {
                Err(error) if !is_gone(&error) => Err(RemoteError::io(self.object(key))(error)),
                _ => Ok(()),
            },
        }
    }
}
