//! A work folder that all workers see. All that is put there is files that are given their names where none has it, in one step (a hard link), or that
//! replace another as a whole.

use super::place::{BYTES_MAX, WorkPlace};
use crate::error::StoreError;
use lode_base::identity::random_identity;
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often a worker without a task looks for one.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The folders in it.
const FOLDERS: [&str; 6] = ["claims", "beats", "out", "done", "damaged", "new"];

/// A work folder.
#[derive(Debug)]
pub struct WorkFolder {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
}

impl WorkFolder {
    /// The one at a path, which need not be there.
    pub fn new(vfs: &Arc<dyn Vfs>, folder: &Path) -> Self {
        Self { vfs: Arc::clone(vfs), folder: folder.to_owned() }
    }

    /// Writes a file beside the others, durably but for its name.
    fn write_new(&self, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.folder.join("new").join(format!("{:032x}", random_identity()));
        let write = || {
            let mut file = self.vfs.create_new(&path)?;
            file.write_all(bytes)?;
            file.flush()?;
            file.sync()
        };
        write().map_err(StoreError::io(&path))?;
        Ok(path)
    }

    /// Makes what is in a folder durable.
    fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        for name in self.vfs.list(folder).map_err(StoreError::io(folder))? {
            let path = folder.join(name);
            let length = self.vfs.open(&path).map_err(StoreError::io(&path))?.len();
            let mut file = self.vfs.open_append(&path, length).map_err(StoreError::io(&path))?;
            file.sync().map_err(StoreError::io(&path))?;
        }
        self.vfs.sync_dir(folder).map_err(StoreError::io(folder))
    }
}

impl WorkPlace for WorkFolder {
    fn name(&self) -> String {
        self.folder.display().to_string()
    }

    fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.vfs
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    fn prepare(&self) -> Result<(), StoreError> {
        for folder in &FOLDERS {
            let folder = self.folder.join(folder);
            self.vfs.create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.folder.join(key);
        let file = match self.vfs.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        if file.len() > BYTES_MAX {
            return Err(StoreError::corruption(&path, 0, "longer than such a file of a load can be"));
        }
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(&path))?;
        Ok(Some(bytes))
    }

    fn list(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let path = if key.is_empty() { self.folder.clone() } else { self.folder.join(key) };
        match self.vfs.list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => {
                let names = names.map_err(StoreError::io(&path))?;
                Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
            }
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.folder.join(key);
        let new = self.write_new(bytes)?;
        self.vfs.rename(&new, &path).map_err(StoreError::io(&path))
    }

    /// The file system gives the second name to one of those who try.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let path = self.folder.join(key);
        let new = self.write_new(bytes)?;
        let linked = self.vfs.hard_link(&new, &path);
        let _ = self.vfs.remove(&new);
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let what = "this file system cannot give a file a second name (a hard link), without which two workers could do one task; \
                            put the work folder elsewhere (--work)";
                let source = io::Error::new(io::ErrorKind::Unsupported, what);
                return Err(StoreError::Io { path, source });
            }
            Err(source) => return Err(StoreError::Io { path, source }),
        }
        let folder = path.parent().unwrap_or(&self.folder);
        self.vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        Ok(true)
    }

    fn remove(&self, key: &str) -> Result<(), StoreError> {
        let (path, removed) = match key {
            "" => (self.folder.clone(), self.vfs.remove_dir_all(&self.folder)),
            key => {
                let path = self.folder.join(key);
                let removed = self.vfs.remove(&path);
                let is_folder = removed.is_err() && self.vfs.list(&path).is_ok();
                let removed = if is_folder { self.vfs.remove_dir_all(&path) } else { removed };
                (path, removed)
            }
        };
        match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(StoreError::Io { path, source }),
            _ => Ok(()),
        }
    }

    fn keep(&self, attempt: &str) -> Result<(), StoreError> {
        let out = self.folder.join("out");
        self.sync(&out.join(attempt))?;
        self.vfs.sync_dir(&out).map_err(StoreError::io(&out))
    }

    fn discard(&self, attempt: &str) {
        let _ = self.vfs.remove_dir_all(&self.folder.join("out").join(attempt));
    }
}
