//! A reader that goes on to versions which others have made public elsewhere: what is new in one is opened, segments that are open already are shared, and
//! whoever reads the version before goes on with that.

use crate::error::StoreError;
use crate::manifest::{MANIFEST, Manifest, log_file};
use crate::recovery::{apply_log, log_advised};
use crate::store::Store;
use crate::version::Version;
use lode_base::vfs::Vfs;
use std::sync::Arc;

/// How a version that is followed to came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// From the one before, by the one who made that.
    Same,
    /// By another copy of the database, which may have gone another way since: numbers of versions, of segments and of terms may stand for something else.
    Other,
}

impl Store {
    /// Goes on to the version that is in the store's folder of another file system: all its files are opened and its log is read before new snapshots have it.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged or of another database, or this store is open for writing. Then the version stays what it was.
    pub fn follow(&self, vfs: &Arc<dyn Vfs>, course: Course) -> Result<(), StoreError> {
        if self.is_writable() {
            return Err(StoreError::Refused("a database that is open for writing follows nobody".into()));
        }
        let (before, folder) = (self.version(), self.folder());
        let manifest = Manifest::read_current(&**vfs, folder)?;
        if manifest.database != before.manifest.database {
            let path = folder.join(MANIFEST);
            return Err(StoreError::corruption(&path, 0, "another database than the one that is followed"));
        }
        let log = folder.join(log_file(manifest.log));
        let mut version = Version::open(vfs, folder, manifest, self.cache(), &before.segments)?;
        apply_log(&**vfs, folder, &mut version).map_err(|error| log_advised(error, &**vfs, &log))?;
        version.history = before.history + u64::from(course == Course::Other);
        self.replace(Arc::new(version));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! Versions come one after the other, and who reads one keeps it.
    use super::*;
    use crate::compact::{CompactOptions, compact};
    use crate::crash_tests::{OLD, try_load};
    use crate::test_data::FOLDER;
    use crate::transaction::crash_tests::{commit, open};
    use lode_base::mem_vfs::MemVfs;
    use lode_packed::Order;
    use std::path::Path;

    fn frozen(vfs: &MemVfs) -> Arc<dyn Vfs> {
        Arc::new(vfs.deep_copy())
    }

    /// Rows that a scan finds, which reads blocks of all segments.
    fn rows(store: &Store) -> u64 {
        store.snapshot().count(Order::Spog, &[]).unwrap()
    }

    #[test]
    fn versions_are_followed_and_segments_are_shared() {
        let vfs = MemVfs::new();
        try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
        let reader = Store::open(frozen(&vfs), Path::new(FOLDER), 1 << 20).unwrap();
        let held = reader.snapshot();
        let before = rows(&reader);
        let writer = open(Arc::new(vfs.clone())).unwrap();
        for number in 1..4 {
            commit(&writer, number).unwrap();
            reader.follow(&frozen(&vfs), Course::Same).unwrap();
            assert_eq!(reader.snapshot().version_number(), writer.snapshot().version_number());
            assert_eq!(reader.snapshot().quad_count(), writer.snapshot().quad_count());
        }
        assert!(held.version().segments[0].is_same(&reader.version().segments[0]));
        compact(&writer, &CompactOptions::default(), &Arc::default()).unwrap();
        reader.follow(&frozen(&vfs), Course::Same).unwrap();
        assert_eq!(rows(&reader), rows(&writer));
        assert_eq!(held.count(Order::Spog, &[]).unwrap(), before);
        assert!(writer.follow(&frozen(&vfs), Course::Same).is_err());
    }

    #[test]
    fn another_course_has_other_numbers_of_state() {
        let vfs = MemVfs::new();
        try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
        let other = vfs.deep_copy();
        commit(&open(Arc::new(vfs.clone())).unwrap(), 1).unwrap();
        commit(&open(Arc::new(other.clone())).unwrap(), 2).unwrap();
        let reader = Store::open(frozen(&vfs), Path::new(FOLDER), 1 << 20).unwrap();
        let before = reader.snapshot();
        reader.follow(&frozen(&other), Course::Other).unwrap();
        let after = reader.snapshot();
        assert_eq!(before.version_number(), after.version_number());
        assert_ne!(before.state_number(), after.state_number());
        assert_ne!(before.terms_number(), after.terms_number());
    }

    #[test]
    fn what_is_damaged_or_another_database_is_not_followed() {
        let vfs = MemVfs::new();
        try_load(Arc::new(vfs.clone()), OLD, 1 << 30).unwrap();
        let reader = Store::open(frozen(&vfs), Path::new(FOLDER), 1 << 20).unwrap();
        let number = reader.snapshot().version_number();
        let writer = open(Arc::new(vfs.clone())).unwrap();
        commit(&writer, 1).unwrap();
        drop(writer);
        let stays = |wrong: Arc<dyn Vfs>| {
            assert!(reader.follow(&wrong, Course::Same).is_err());
            assert_eq!(reader.snapshot().version_number(), number);
        };
        let log = Path::new(FOLDER).join(log_file(reader_log(&vfs)));
        let cut = vfs.deep_copy();
        cut.remove(&log).unwrap();
        stays(Arc::new(cut));
        let other = MemVfs::new();
        try_load(Arc::new(other.clone()), OLD, 1 << 30).unwrap();
        stays(Arc::new(other));
        stays(Arc::new(MemVfs::new()));
        reader.follow(&frozen(&vfs), Course::Same).unwrap();
        assert!(reader.snapshot().version_number() > number);
    }

    fn reader_log(vfs: &MemVfs) -> u64 {
        Manifest::read(vfs, Path::new(FOLDER)).unwrap().log
    }
}
