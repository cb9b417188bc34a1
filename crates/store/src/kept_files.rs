//! Small files that are kept beside the data, in the folder of the database: each is the old one or the new one at any time. What is in that of queries
//! is the server's.

use crate::backup::KEPT_QUERIES;
use crate::error::StoreError;
use crate::small_file::{read_file, replace_file};
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
    read_file(&**store.vfs(), &store.folder().join(name), bytes_max)
}

/// Replaces a file beside the data, durably.
pub(crate) fn replace_beside(store: &Store, name: &str, text: &[u8]) -> Result<(), StoreError> {
    replace_file(&**store.vfs(), store.folder(), name, text)
}
