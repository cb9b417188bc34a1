//! What a store of objects must be able to do. Objects have keys of one or two parts, as in `manifest/00000000000000000001`; but for the copy of
//! the newest manifest, none ever changes.

use crate::error::RemoteError;
use lode_base::vfs::ReadAt;
use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;

/// A store of objects. Those that can only be read refuse the rest.
pub trait ObjectStore: Send + Sync + Debug {
    /// Its address, as it is told to people.
    fn name(&self) -> &str;

    /// The whole of an object of at most so many bytes.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Missing`] where there is none; where it is longer, or cannot be read.
    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError>;

    /// Fills `buf` with what is at a place of an object.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Missing`] where there is none, [`RemoteError::Damaged`] where it ends before; where it cannot be read.
    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError>;

    /// An object as a file, where reading it takes no longer than reading a file does. Of a store either all are, or none.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Missing`] where there is none; where it cannot be opened.
    fn open(&self, _key: &str) -> Result<Option<Arc<dyn ReadAt>>, RemoteError> {
        Ok(None)
    }

    /// The names in a folder (with an empty name: of the store), sorted: of objects, and of folders with objects. None where the store cannot tell.
    ///
    /// # Errors
    ///
    /// Where the store cannot be asked.
    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError>;

    /// The length of an object; none where there is no such object.
    ///
    /// # Errors
    ///
    /// Where the store cannot be asked.
    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError>;

    /// Writes an object, durably: whoever reads it meanwhile finds all of it, or what was there before.
    ///
    /// # Errors
    ///
    /// Where `body` or the store fails, or the store can only be read. Then what was there before is there.
    fn put(&self, key: &str, body: &mut dyn Read) -> Result<(), RemoteError>;

    /// Writes an object where there is none, durably and in one step; whether that is so. Of many who do this at once, it is so for one.
    ///
    /// # Errors
    ///
    /// [`RemoteError::InDoubt`] where it may have been written; else as [`ObjectStore::put`].
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, RemoteError>;

    /// Removes an object, or a folder with all objects in it; fine where there is none.
    ///
    /// # Errors
    ///
    /// Where the store refuses.
    fn remove(&self, key: &str) -> Result<(), RemoteError>;

    /// How an error names one of its objects.
    fn object(&self, key: &str) -> String {
        format!("{}/{key}", self.name())
    }
}
