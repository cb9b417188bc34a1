//! Folders of segments that are being written.

use crate::error::StoreError;
use crate::manifest::segment_folder;
use crate::store::Store;
use std::path::PathBuf;

/// The folders that a compaction has made. Dropped, they are removed, unless they were kept.
#[derive(Debug)]
pub struct NewFolders<'a> {
    store: &'a Store,
    paths: Vec<PathBuf>,
}

impl<'a> NewFolders<'a> {
    /// None yet.
    pub fn new(store: &'a Store) -> Self {
        Self { store, paths: Vec::new() }
    }

    /// Makes the folder of a new segment; the number of the segment, and the folder.
    pub fn create(&mut self) -> Result<(u64, PathBuf), StoreError> {
        let number = self.store.writer()?.take_segments(1);
        let path = self.store.folder().join(segment_folder(number));
        self.paths.push(path.clone());
        self.store.vfs().create_dir_all(&path).map_err(StoreError::io(&path))?;
        Ok((number, path))
    }

    /// Removes one of them, which turned out to be useless.
    pub fn remove(&mut self, path: &PathBuf) {
        self.paths.retain(|other| other != path);
        // What cannot be removed now is removed when the database is next opened for writing.
        let _ = self.store.vfs().remove_dir_all(path);
    }

    /// They belong to the database from now on, or may turn out to.
    pub fn keep(mut self) {
        self.paths.clear();
    }
}

impl Drop for NewFolders<'_> {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = self.store.vfs().remove_dir_all(path);
        }
    }
}
