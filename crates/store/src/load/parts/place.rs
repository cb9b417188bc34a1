//! Where the work of a load is: a folder that all see, or a store of objects. Either puts what is not there yet in one step, and holds the files that
//! tasks write for those that come after them.

use crate::error::StoreError;
use crate::manifest::SegmentEntry;
use lode_base::vfs::{ReadAt, Vfs};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Nothing that is put in one step is longer: plans of a million shards are shorter.
pub const BYTES_MAX: u64 = 1 << 30;

/// The place of a load's work. Keys have one part or two, as in `done/read-000003`; the empty key is all of it.
pub trait WorkPlace: Send + Sync + Debug {
    /// What it is called, for people.
    fn name(&self) -> String;

    /// The file system by which tasks write, and read what others have written.
    fn vfs(&self) -> &Arc<dyn Vfs>;

    /// The folder in it below which attempts write, each into `out/ATTEMPT`.
    fn folder(&self) -> &Path;

    /// How often whoever waits for others looks: more often costs more than the wait.
    fn look_every(&self) -> Duration;

    /// Makes it ready for a load.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn prepare(&self) -> Result<(), StoreError>;

    /// What is at a key; none where nothing is.
    ///
    /// # Errors
    /// Where it cannot be read, or is longer than [`BYTES_MAX`].
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// The last parts of the keys below one; none where nothing is.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn list(&self, key: &str) -> Result<Vec<String>, StoreError>;

    /// Puts something at a key, over what is there, in one step.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError>;

    /// Puts something at a key where nothing is, durably and in one step; whether that is so. Of many who do this at once, each with other bytes, it is so
    /// for one.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, StoreError>;

    /// Removes what is at a key and below it; fine where nothing is.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn remove(&self, key: &str) -> Result<(), StoreError>;

    /// Has the files that an attempt has written be there for all, durably.
    ///
    /// # Errors
    /// Where they cannot be read, or written to where others find them.
    fn keep(&self, attempt: &str) -> Result<(), StoreError>;

    /// Whether segments go to the database right away, by [`Self::keep_segment`]: then they need all of their descriptions before.
    fn takes_segments(&self) -> bool {
        false
    }

    /// Has the files of a segment that an attempt has written be there for who publishes it, durably. What that one must know is kept in their place.
    ///
    /// # Errors
    /// As [`Self::keep`].
    fn keep_segment(&self, attempt: &str, _segment: &SegmentEntry) -> Result<(), StoreError> {
        self.keep(attempt)
    }

    /// Whether it makes sure itself that what it gives is what was put there, so that nobody else has to read it for that.
    fn vouches(&self) -> bool {
        false
    }

    /// A file that was kept of an attempt.
    ///
    /// # Errors
    /// Where it is not there, or cannot be read.
    fn open_kept(&self, attempt: &str, name: &str) -> Result<Arc<dyn ReadAt>, StoreError> {
        let path = self.folder().join("out").join(attempt).join(name);
        self.vfs().open(&path).map_err(StoreError::io(&path))
    }

    /// Removes what an attempt has written, as far as that can be done now.
    fn discard(&self, attempt: &str);
}
