//! Small files that are kept beside the data, in the folder of the database: each is the old one or the new one at any time. What is in that of queries
//! is the server's.

use crate::backup::KEPT_QUERIES;
use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// The text of the file of queries that a server keeps, of so many bytes at most; none where there is no file.
    ///
    /// # Errors
    /// Where it cannot be read, or is longer.
    pub fn kept_queries(&self, bytes_max: usize) -> Result<Option<Vec<u8>>, StoreError> {
        read_beside(self, KEPT_QUERIES, bytes_max)
    }

    /// Replaces that file, durably.
    ///
    /// # Errors
    /// Where the database is open for reading only, or the file cannot be written: then it is as it was.
    pub fn keep_queries(&self, text: &[u8]) -> Result<(), StoreError> {
        self.writer()?;
        replace_beside(self, KEPT_QUERIES, text)
    }
}

/// What a file beside the data has, of so many bytes at most; none where there is no file.
pub(crate) fn read_beside(
    store: &Store,
    name: &str,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, StoreError> {
    let (vfs, path) = (store.vfs(), store.folder().join(name));
    if !vfs.exists(&path) {
        return Ok(None);
    }
    let reader = vfs.open(&path).map_err(StoreError::io(&path))?;
    let bytes = usize::try_from(reader.len()).unwrap_or(usize::MAX);
    if bytes > bytes_max {
        return Err(StoreError::Limit(format!("{}: it has more than {bytes_max} bytes", path.display())));
    }
    let mut text = vec![0; bytes];
    reader.read_exact_at(&mut text, 0).map_err(StoreError::io(&path))?;
    Ok(Some(text))
}

/// Replaces a file beside the data, durably.
pub(crate) fn replace_beside(store: &Store, name: &str, text: &[u8]) -> Result<(), StoreError> {
    let (vfs, path) = (store.vfs(), store.folder().join(name));
    let new = path.with_extension("new");
    let mut file = vfs.create(&new).map_err(StoreError::io(&new))?;
    file.write_all(text).map_err(StoreError::io(&new))?;
    file.sync().map_err(StoreError::io(&new))?;
    drop(file);
    vfs.rename(&new, &path).map_err(StoreError::io(&path))?;
    vfs.sync_dir(store.folder()).map_err(StoreError::io(store.folder()))
}
