//! The place of a load's work in a store of objects.

use super::fetched_file::Fetching;
use super::work_files::WorkFiles;
use crate::cache::ObjectCache;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::keys;
use crate::object::ObjectStore;
use crate::publish::upload_segment;
use crate::retry::retrying;
use crate::version::ObjectRef;
use lode_base::cancel;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::{ReadAt, Vfs};
use lode_store::load::parts::{BYTES_MAX, PLAN, WorkPlace};
use lode_store::manifest::SegmentEntry;
use lode_store::{META_FILE, OriginalSegment, SegmentMeta, StoreError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Each look is some requests.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// What is kept of an attempt at a segment besides its description: what the manifest will say of the index.
const INDEX: &str = "index";
/// Bytes of it.
const INDEX_BYTES: usize = 16;

/// The place below a published database to be, and where this machine has files of the load.
#[derive(Debug)]
pub struct LoadPlace {
    from: Arc<Fetching>,
    files: Arc<dyn Vfs>,
    folder: PathBuf,
}

impl LoadPlace {
    /// The place in a store. Files are written in a folder of `beside`, and parts of objects kept in `kept`, a folder of this machine that may be the same.
    ///
    /// # Errors
    /// Where `kept` cannot be made.
    pub fn new(
        store: Arc<dyn ObjectStore>,
        beside: Arc<dyn Vfs>,
        folder: &Path,
        kept: &Path,
    ) -> Result<Self, RemoteError> {
        let kept = ObjectCache::open(kept, u64::MAX, store.name());
        let kept = kept.map_err(RemoteError::io(folder.display().to_string()))?;
        let from = Arc::new(Fetching { store, kept, counters: RemoteCounters::default() });
        let files = Arc::new(WorkFiles::new(Arc::clone(&from), folder, beside));
        Ok(Self { from, files, folder: folder.to_owned() })
    }

    /// The same on the disks of this machine: files are written, and what is fetched is kept, in one folder.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn on_disk(store: Arc<dyn ObjectStore>, folder: &Path) -> Result<Self, RemoteError> {
        Self::new(store, RealVfs::shared(), folder, &folder.join("kept"))
    }

    fn retrying<T>(
        &self,
        mut work: impl FnMut(&dyn ObjectStore) -> Result<T, RemoteError>,
    ) -> Result<T, StoreError> {
        Ok(retrying(&self.from.counters, || work(&*self.from.store))?)
    }

    fn attempt(&self, name: &str) -> PathBuf {
        self.folder.join("out").join(name)
    }

    /// Whether its objects are files.
    fn is_folder(&self) -> bool {
        !matches!(self.from.store.open(&key(PLAN)), Ok(None))
    }

    fn put_file(&self, attempt: &str, name: &Path) -> Result<(), StoreError> {
        let path = self.attempt(attempt).join(name);
        let file = self.files.open(&path).map_err(StoreError::io(&path))?;
        let key = key(&format!("out/{attempt}/{}", name.display()));
        self.retrying(|store| store.put(&key, &mut Reading { file: &*file, at: 0 }))
    }
}

/// The key of something in the place.
fn key(below: &str) -> String {
    if below.is_empty() { keys::WORK.to_owned() } else { format!("{}/{below}", keys::WORK) }
}

/// What [`WorkPlace::keep_segment`] has kept of the index of a segment.
pub fn index_of(files: &dyn Vfs, attempt: &Path) -> Result<ObjectRef<u64>, StoreError> {
    let path = attempt.join(INDEX);
    let file = files.open(&path).map_err(StoreError::io(&path))?;
    let mut bytes = [0; INDEX_BYTES];
    file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(&path))?;
    let both = u128::from_le_bytes(bytes);
    Ok(ObjectRef { bytes: (both >> 64) as u64, checksum: both as u64 })
}

fn encode_index(index: ObjectRef<u64>) -> [u8; INDEX_BYTES] {
    (u128::from(index.bytes) << 64 | u128::from(index.checksum)).to_le_bytes()
}

impl WorkPlace for LoadPlace {
    fn name(&self) -> String {
        self.from.store.object(keys::WORK)
    }

    fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.files
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn look_every(&self) -> Duration {
        LOOK_EVERY
    }

    fn prepare(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn get(&self, below: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let key = key(below);
        self.retrying(|store| match store.get(&key, BYTES_MAX) {
            Err(RemoteError::Missing { .. }) => Ok(None),
            found => found.map(Some),
        })
    }

    fn list(&self, below: &str) -> Result<Vec<String>, StoreError> {
        let key = key(below);
        let names = self.retrying(|store| store.list(&key))?;
        names.ok_or_else(|| StoreError::Refused(format!("{} does not tell what it holds", self.name())))
    }

    fn put(&self, below: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let key = key(below);
        // Who was called off says so.
        cancel::with_current(None, || self.retrying(|store| store.put(&key, &mut &*bytes)))
    }

    fn put_if_absent(&self, below: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let at = key(below);
        let is_put = self.retrying(|store| match store.put_if_absent(&at, bytes) {
            // Tried again, it is told.
            Err(RemoteError::InDoubt { object, source }) => Err(RemoteError::Io { object, source }),
            put => put,
        })?;
        // What is there may be what an attempt before has put, of which no answer came. All who put have other bytes.
        Ok(is_put || self.get(below)?.is_some_and(|found| found == bytes))
    }

    fn remove(&self, below: &str) -> Result<(), StoreError> {
        let key = key(below);
        self.retrying(|store| store.remove(&key))
    }

    fn keep(&self, attempt: &str) -> Result<(), StoreError> {
        let folder = self.attempt(attempt);
        let names = self.files.list(&folder).map_err(StoreError::io(&folder))?;
        names.iter().try_for_each(|name| self.put_file(attempt, name))
    }

    fn takes_segments(&self) -> bool {
        true
    }

    fn keep_segment(&self, attempt: &str, segment: &SegmentEntry) -> Result<(), StoreError> {
        let folder = self.attempt(attempt);
        let original = OriginalSegment::in_folder(&*self.files, &folder, segment.clone())?;
        let cancel = cancel::current().unwrap_or_default();
        // What of it is there is not written again.
        let index = self.retrying(|store| upload_segment(&*self.files, &original, store, &cancel))?;
        // Nobody reads them here again.
        for file in &original.files {
            let path = folder.join(&file.name);
            self.files.remove(&path).map_err(StoreError::io(&path))?;
        }
        let path = folder.join(INDEX);
        let write = || {
            let mut file = self.files.create(&path)?;
            file.write_all(&encode_index(index))?;
            file.flush()
        };
        write().map_err(StoreError::io(&path))?;
        [META_FILE, INDEX].iter().try_for_each(|name| self.put_file(attempt, Path::new(name)))
    }

    /// A store that is not a folder does.
    fn vouches(&self) -> bool {
        !self.is_folder()
    }

    fn open_kept(&self, attempt: &str, name: &str) -> Result<Arc<dyn ReadAt>, StoreError> {
        let folder = self.attempt(attempt);
        let path = folder.join(name);
        match self.files.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened.map_err(StoreError::io(&path)),
        }
        // A file of a segment, which is where it will be read.
        let meta = SegmentMeta::read(&*self.files, &folder)?;
        let key = format!("{}/{name}", keys::segment_of(meta.origin.identity));
        let file = self.retrying(|store| match store.open(&key) {
            Err(RemoteError::Missing { .. }) => Ok(None),
            opened => opened,
        })?;
        file.ok_or_else(|| StoreError::Io { path, source: io::ErrorKind::NotFound.into() })
    }

    fn discard(&self, attempt: &str) {
        let _ = self.files.remove_dir_all(&self.attempt(attempt));
        let _ = self.remove(&format!("out/{attempt}"));
    }
}

/// The bytes of a file, from its beginning.
struct Reading<'a> {
    file: &'a dyn ReadAt,
    at: u64,
}

impl Read for Reading<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.file.len() - self.at;
        let count = buf.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let buf = buf.get_mut(..count).unwrap_or_default();
        self.file.read_exact_at(buf, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
