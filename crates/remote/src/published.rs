//! A published version, open for reading.

use crate::address::Address;
use crate::cache::ObjectCache;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::extents::Source;
use crate::files::{FileSource, PublishedFiles, ReadWhole};
use crate::index;
use crate::keys;
use crate::object::ObjectStore;
use crate::retry::retrying;
use crate::version::{ObjectRef, PublishedVersion};
use crate::versions::{self, Wanted};
use crate::web::WebOptions;
use lode_base::cancel::{self, CancelToken};
use lode_base::checksum::checksum;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::OpenFiles;
use lode_engine::{Database, EngineError, OpenOptions};
use lode_store::manifest::{MANIFEST, SegmentEntry, log_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_128;

/// Indexes of segments that are fetched at once.
const PARALLEL: usize = 16;
/// A longer log cannot be: it would have become segments long before.
const LOG_BYTES_MAX: u64 = 8 << 30;
/// Indexes have one part in the cache.
const WHOLE: u64 = 0;

/// Where parts of objects are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// The folder.
    pub folder: PathBuf,
    /// The most that it may take.
    pub bytes_max: u64,
}

/// How a published database is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which version.
    pub wanted: Wanted,
    /// The cache on local disk. Without it, what is far away is fetched again whenever it is read again.
    pub cache: Option<CacheOptions>,
    /// How a web server is talked to.
    pub web: WebOptions,
    /// Calls the opening off.
    pub cancel: CancelToken,
}

/// A published version, open.
#[derive(Debug)]
pub struct Published {
    version: PublishedVersion,
    files: Arc<PublishedFiles>,
    root: PathBuf,
    counters: Arc<RemoteCounters>,
}

impl Published {
    /// Finds the version, and reads what is needed to open its segments.
    ///
    /// # Errors
    /// Where there is no such version, the store cannot be read, what it gives is damaged, or it needs a cache and there is none.
    pub fn open(address: &Address, options: &ReadOptions) -> Result<Self, RemoteError> {
        let store = match (address, &options.cache) {
            // Somebody wants the cache, as for a folder that is mounted from elsewhere.
            (Address::Folder(path), Some(_)) => Address::distant_folder(path),
            _ => address.store(options.web)?,
        };
        let root = PathBuf::from(address.to_string());
        Self::open_store(store, &root, options, RealVfs::shared())
    }

    /// The same for any store; `root` stands for its address in paths, and all other paths are in `beside`.
    ///
    /// # Errors
    /// As [`Published::open`].
    pub fn open_store(
        store: Arc<dyn ObjectStore>,
        root: &Path,
        options: &ReadOptions,
        beside: Arc<dyn Vfs>,
    ) -> Result<Self, RemoteError> {
        let counters = Arc::new(RemoteCounters::default());
        let cache = match &options.cache {
            Some(CacheOptions { folder, bytes_max }) => {
                let opened = ObjectCache::open(folder, *bytes_max, store.name());
                Some(Arc::new(opened.map_err(RemoteError::io(folder.display().to_string()))?))
            }
            None => None,
        };
        let counted: Arc<dyn ObjectStore> = Arc::new(Counted { store, counters: Arc::clone(&counters) });
        let opening = Opening { store: counted, cache, counters: Arc::clone(&counters) };
        let (version, files) =
            cancel::with_current(Some(&options.cancel), || opening.newest_or(&options.wanted))?;
        let files = opening.files(root, &version, files, beside);
        Ok(Self { version, files: Arc::new(files), root: root.to_owned(), counters })
    }

    /// Which it is.
    pub fn version(&self) -> &PublishedVersion {
        &self.version
    }

    /// Its files, below [`Published::root`].
    pub fn files(&self) -> Arc<dyn Vfs> {
        Arc::clone(&self.files) as Arc<dyn Vfs>
    }

    /// What stands for the folder of the database.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What was asked of the store.
    pub fn counters(&self) -> &Arc<RemoteCounters> {
        &self.counters
    }

    /// The database, for reading.
    ///
    /// # Errors
    /// Where something of it cannot be read or is damaged.
    pub fn database(&self, options: &OpenOptions, files: OpenFiles) -> Result<Database, EngineError> {
        Database::open_on(self.files(), &self.root, options, files)
    }
}

/// The files of a segment, by their paths below the root.
type SegmentFiles = Vec<(PathBuf, FileSource)>;

struct Opening {
    store: Arc<dyn ObjectStore>,
    cache: Option<Arc<ObjectCache>>,
    counters: Arc<RemoteCounters>,
}

impl Opening {
    /// The version that is wanted, and the files of its segments. Whether there is a newer one than the copy says is found out while these
    /// are fetched.
    fn newest_or(&self, wanted: &Wanted) -> Result<(PublishedVersion, Vec<SegmentFiles>), RemoteError> {
        let store = &*self.store;
        let copy = match wanted {
            Wanted::Newest if versions::numbers(store)?.is_none() => {
                retrying(&self.counters, || versions::copy(store))?
            }
            _ => None,
        };
        let Some(copy) = copy else {
            let version = retrying(&self.counters, || versions::find(store, wanted))?;
            let files = self.segments(&version)?;
            return Ok((version, files));
        };
        let token = cancel::current();
        let (newest, files) = std::thread::scope(|scope| {
            let after = || retrying(&self.counters, || versions::after(store, copy.clone()));
            let newest = scope.spawn(move || cancel::with_current(token.as_ref(), after));
            let files = self.segments(&copy);
            (newest.join(), files)
        });
        let newest = newest.map_err(|_| RemoteError::damaged(store.name(), 0, "a thread has failed"))??;
        match newest == copy {
            true => Ok((copy, files?)),
            false => {
                let files = self.segments(&newest)?;
                Ok((newest, files))
            }
        }
    }

    /// The files of all segments, whose indexes are fetched several at once.
    fn segments(&self, version: &PublishedVersion) -> Result<Vec<SegmentFiles>, RemoteError> {
        let wanted: Vec<(&SegmentEntry, &ObjectRef<u64>)> =
            version.manifest.segments.iter().zip(&version.indexes).collect();
        let mut segments = Vec::with_capacity(wanted.len());
        for some in wanted.chunks(PARALLEL) {
            if let [(entry, index)] = some {
                segments.push(self.segment(entry, index)?);
                continue;
            }
            let token = cancel::current();
            let segment = |entry, index| cancel::with_current(token.as_ref(), || self.segment(entry, index));
            let found: Result<Vec<SegmentFiles>, RemoteError> = std::thread::scope(|scope| {
                let threads: Vec<_> =
                    some.iter().map(|(entry, index)| scope.spawn(|| segment(entry, index))).collect();
                let join = |thread: std::thread::ScopedJoinHandle<'_, Result<SegmentFiles, RemoteError>>| {
                    let failed = |_| RemoteError::damaged(self.store.name(), 0, "a thread has failed");
                    thread.join().map_err(failed)?
                };
                threads.into_iter().map(join).collect()
            });
            segments.extend(found?);
        }
        Ok(segments)
    }

    fn segment(&self, entry: &SegmentEntry, index: &ObjectRef<u64>) -> Result<SegmentFiles, RemoteError> {
        let folder = keys::segment(entry);
        let key = format!("{folder}/{}", keys::INDEX);
        let bytes = self.index(&key, index)?;
        let is_local = self.cache.is_none() && self.store.open(&key)?.is_some();
        let source = (!is_local).then(|| Source {
            store: Arc::clone(&self.store),
            cache: self.cache.clone(),
            counters: Arc::clone(&self.counters),
        });
        let files = index::decode(&bytes, &self.store.object(&key))?;
        let below = PathBuf::from(entry.folder());
        let file = |file: index::IndexedFile| {
            let path = below.join(&file.name);
            (path, FileSource::of_segment(format!("{folder}/{}", file.name), file, source.as_ref()))
        };
        Ok(files.into_iter().map(file).collect())
    }

    /// The bytes of an index: from the cache, where they are the right ones there.
    fn index(&self, key: &str, index: &ObjectRef<u64>) -> Result<Vec<u8>, RemoteError> {
        let object = self.store.object(key);
        if index.bytes > index::BYTES_MAX {
            return Err(RemoteError::damaged(object, 0, "longer than such an object can be"));
        }
        let is_right = |bytes: &[u8]| bytes.len() as u64 == index.bytes && checksum(bytes) == index.checksum;
        if let Some(bytes) = self.cache.as_ref().and_then(|cache| cache.read_all(key, WHOLE)) {
            if is_right(&bytes) {
                self.counters.count_cached(bytes.len());
                return Ok(bytes);
            }
            self.counters.count_damaged();
        }
        let bytes = retrying(&self.counters, || {
            let bytes = self.store.get(key, index.bytes)?;
            match is_right(&bytes) {
                true => Ok(bytes),
                false => Err(RemoteError::damaged(&object, 0, "not the object that the manifest names")),
            }
        })?;
        if let Some(cache) = &self.cache
            && cache.write(key, WHOLE, &bytes).is_err()
        {
            self.counters.count_unwritten();
        }
        Ok(bytes)
    }

    /// All files of a version.
    fn files(
        &self,
        root: &Path,
        version: &PublishedVersion,
        segments: Vec<SegmentFiles>,
        beside: Arc<dyn Vfs>,
    ) -> PublishedFiles {
        let manifest = version.manifest.encode().into_bytes().into();
        let mut files: BTreeMap<PathBuf, FileSource> = segments.into_iter().flatten().collect();
        files.insert(MANIFEST.into(), FileSource::Memory(manifest));
        if let Some(log) = &version.log {
            let whole = FileSource::Whole { key: keys::log(log.checksum), bytes: Default::default() };
            files.insert(log_file(version.manifest.log).into(), whole);
        }
        PublishedFiles::new(root, Arc::clone(&self.store), files, self.read_log(version.log), beside)
    }

    fn read_log(&self, log: Option<ObjectRef<u128>>) -> ReadWhole {
        let (store, counters) = (Arc::clone(&self.store), Arc::clone(&self.counters));
        Box::new(move |key| {
            let Some(log) = &log else { return Err(RemoteError::Missing { object: store.object(key) }) };
            retrying(&counters, || {
                let bytes = store.get(key, log.bytes.min(LOG_BYTES_MAX))?;
                match bytes.len() as u64 == log.bytes && xxh3_128(&bytes) == log.checksum {
                    true => Ok(bytes),
                    false => {
                        Err(RemoteError::damaged(store.object(key), 0, "not the log that the manifest names"))
                    }
                }
            })
        })
    }
}

/// A store whose requests for whole objects are counted; those for ranges are by who makes them.
#[derive(Debug)]
struct Counted {
    store: Arc<dyn ObjectStore>,
    counters: Arc<RemoteCounters>,
}

impl ObjectStore for Counted {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        let began = Instant::now();
        let got = self.store.get(key, bytes_max);
        self.counters.count_request(got.as_ref().map_or(0, Vec::len), began.elapsed());
        got
    }

    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        self.store.get_range(key, offset, buf)
    }

    fn open(&self, key: &str) -> Result<Option<Arc<dyn lode_base::vfs::ReadAt>>, RemoteError> {
        self.store.open(key)
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        self.store.list(folder)
    }

    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError> {
        self.store.size(key)
    }

    fn put(&self, key: &str, body: &mut dyn std::io::Read) -> Result<(), RemoteError> {
        self.store.put(key, body)
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, RemoteError> {
        self.store.put_if_absent(key, bytes)
    }

    fn remove(&self, key: &str) -> Result<(), RemoteError> {
        self.store.remove(key)
    }
}
