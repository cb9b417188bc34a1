//! A folder of databases: which there are, and how one gets another name or goes, so that it has one name or none at any time.

use crate::error::StoreError;
use crate::store::lock;
use lode_base::real_vfs::RealVfs;
use lode_base::stripes::StripedVfs;
use lode_base::vfs::Vfs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a database is called from when it is dropped until all of its files are removed.
const DROPPED: &str = ".dropped-";

/// The folder. Whoever changes names in it must have closed the database; one that another process has is refused.
#[derive(Clone)]
pub struct DatabaseFolders {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
}

impl DatabaseFolders {
    /// A folder of this machine.
    pub fn new(folder: &Path) -> Self {
        Self::in_vfs(RealVfs::shared(), folder)
    }

    fn in_vfs(vfs: Arc<dyn Vfs>, folder: &Path) -> Self {
        Self { vfs, folder: folder.to_owned() }
    }

    /// Where a database of this name is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Names of all that is there and is not hidden, sorted.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let names = self.vfs.list(&self.folder).map_err(StoreError::io(&self.folder))?;
        let name = |path: PathBuf| path.to_str().filter(|name| !name.starts_with('.')).map(str::to_owned);
        Ok(names.into_iter().filter_map(name).collect())
    }

    /// Whether there is anything of this name.
    pub fn exists(&self, name: &str) -> bool {
        self.vfs.exists(&self.path(name))
    }

    /// Gives a database another name, durably.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] where another process has it; where the file system refuses. Then it has one of the two names.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let (from, to) = (self.path(from), self.path(to));
        // The lock goes with its file.
        let _lock = lock(&*self.vfs, &from)?;
        self.vfs.rename(&from, &to).map_err(StoreError::io(&from))?;
        self.vfs.sync_dir(&self.folder).map_err(StoreError::io(&self.folder))
    }

    /// Removes a database with its data. From when this has returned, or the process has ended within it, there is none of its name, or it is
    /// whole.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] where another process has it; where the file system refuses. Files that are left then go with
    /// [`DatabaseFolders::remove_dropped`].
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let aside = format!("{DROPPED}{name}");
        self.remove_folder(&aside)?;
        self.rename(name, &aside)?;
        self.remove_folder(&aside)
    }

    /// Removes what is left of databases that were dropped when a process ended.
    ///
    /// # Errors
    ///
    /// Where the file system refuses.
    pub fn remove_dropped(&self) -> Result<(), StoreError> {
        let names = self.vfs.list(&self.folder).map_err(StoreError::io(&self.folder))?;
        let dropped = names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with(DROPPED));
        dropped.into_iter().try_for_each(|name| self.remove_folder(name))
    }

    fn remove_folder(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name);
        if self.vfs.exists(&path) {
            // Where a disk of it is missing, what is there is removed all the same.
            let vfs = StripedVfs::of(&self.vfs, &path).unwrap_or_else(|_| Arc::clone(&self.vfs));
            vfs.remove_dir_all(&path).map_err(StoreError::io(&path))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Names that change and go.
    use super::DatabaseFolders;
    use crate::error::StoreError;
    use crate::store::Store;
    use lode_base::mem_vfs::MemVfs;
    use lode_base::vfs::Vfs;
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn databases_are_moved_and_removed_unless_somebody_has_them() {
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
        let folders = DatabaseFolders::in_vfs(Arc::clone(&vfs), Path::new("/all"));
        let open = |name: &str| {
            Store::open_existing(Arc::clone(&vfs), &folders.path(name), 1 << 20, Default::default())
        };
        let make = |name: &str| {
            Store::open_for_writing(Arc::clone(&vfs), &folders.path(name), 1 << 20, Default::default())
        };
        let held = make("a").unwrap();
        drop(make("b").unwrap());
        assert_eq!(folders.names().unwrap(), ["a", "b"]);
        assert!(matches!(folders.rename("a", "c"), Err(StoreError::Locked { .. })));
        assert!(matches!(folders.remove("a"), Err(StoreError::Locked { .. })));
        assert!(folders.exists("a") && !folders.exists("c"));
        drop(held);
        folders.rename("a", "c").unwrap();
        drop(open("c").unwrap());
        folders.remove("b").unwrap();
        assert_eq!(folders.names().unwrap(), ["c"]);
        assert!(matches!(open("b"), Err(StoreError::Missing { .. })));
        // What a crash left.
        vfs.create_dir_all(&folders.path(".dropped-b")).unwrap();
        folders.remove_dropped().unwrap();
        assert!(!folders.exists(".dropped-b") && folders.exists("c"));
    }
}
