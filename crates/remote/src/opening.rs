//! How versions are read: which is the newest, the indexes of its segments, and the files that these tell of.

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
use lode_base::cancel;
use lode_base::checksum::checksum;
use lode_base::vfs::Vfs;
use lode_store::manifest::{MANIFEST, SegmentEntry, log_file};
use lode_store::{KEPT_PREFIXES, encode_prefixes};
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

/// The files of a segment, by their paths below the root.
pub type SegmentFiles = Vec<(PathBuf, FileSource)>;

/// Those that were found already, by number and identity.
pub type KnownSegments = BTreeMap<(u64, u128), SegmentFiles>;

fn of_segment(entry: &SegmentEntry) -> (u64, u128) {
    (entry.number, entry.identity)
}

/// The files of a version's segments by the segments.
pub fn known_segments(version: &PublishedVersion, segments: &[SegmentFiles]) -> KnownSegments {
    version.manifest.segments.iter().map(of_segment).zip(segments.iter().cloned()).collect()
}

/// What reads versions of a store.
#[derive(Debug, Clone)]
pub struct Opening {
    pub store: Arc<dyn ObjectStore>,
    pub cache: Option<Arc<ObjectCache>>,
    pub counters: Arc<RemoteCounters>,
}

impl Opening {
    /// The version that is wanted, and the files of its segments. Whether there is a newer one than the copy says is found out while these
    /// are fetched.
    pub fn newest_or(&self, wanted: &Wanted) -> Result<(PublishedVersion, Vec<SegmentFiles>), RemoteError> {
        let store = &*self.store;
        let copy = match wanted {
            Wanted::Newest if versions::numbers(store)?.is_none() => {
                retrying(&self.counters, || versions::copy(store))?
            }
            _ => None,
        };
        let Some(copy) = copy else {
            let version = retrying(&self.counters, || versions::find(store, wanted))?;
            let files = self.segments(&version, &KnownSegments::new())?;
            return Ok((version, files));
        };
        let token = cancel::current();
        let (newest, files) = std::thread::scope(|scope| {
            let after = || retrying(&self.counters, || versions::after(store, copy.clone()));
            let newest = scope.spawn(move || cancel::with_current(token.as_ref(), after));
            let files = self.segments(&copy, &KnownSegments::new());
            (newest.join(), files)
        });
        let newest = newest.map_err(|_| RemoteError::damaged(store.name(), 0, "a thread has failed"))??;
        match newest == copy {
            true => Ok((copy, files?)),
            false => {
                // The copy's may have been removed meanwhile.
                let known = files.map(|files| known_segments(&copy, &files)).unwrap_or_default();
                let files = self.segments(&newest, &known)?;
                Ok((newest, files))
            }
        }
    }

    /// The files of all segments. Indexes of those that are not known are fetched, several at once.
    pub fn segments(
        &self,
        version: &PublishedVersion,
        known: &KnownSegments,
    ) -> Result<Vec<SegmentFiles>, RemoteError> {
        let entries = &version.manifest.segments;
        let is_new = |(entry, _): &(&SegmentEntry, &ObjectRef<u64>)| !known.contains_key(&of_segment(entry));
        let wanted: Vec<(&SegmentEntry, &ObjectRef<u64>)> =
            entries.iter().zip(&version.indexes).filter(is_new).collect();
        let mut fetched = self.fetched(&wanted)?.into_iter();
        let files = |entry| known.get(&of_segment(entry)).cloned().or_else(|| fetched.next());
        Ok(entries.iter().filter_map(files).collect())
    }

    fn fetched(&self, wanted: &[(&SegmentEntry, &ObjectRef<u64>)]) -> Result<Vec<SegmentFiles>, RemoteError> {
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
    pub fn files(
        &self,
        root: &Path,
        version: &PublishedVersion,
        segments: Vec<SegmentFiles>,
        beside: Arc<dyn Vfs>,
    ) -> PublishedFiles {
        let manifest = version.manifest.encode().into_bytes().into();
        let mut files: BTreeMap<PathBuf, FileSource> = segments.into_iter().flatten().collect();
        files.insert(MANIFEST.into(), FileSource::Memory(manifest));
        if !version.prefixes.is_empty() {
            let text = encode_prefixes(&version.prefixes).into_bytes().into();
            files.insert(KEPT_PREFIXES.into(), FileSource::Memory(text));
        }
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
pub struct Counted {
    pub store: Arc<dyn ObjectStore>,
    pub counters: Arc<RemoteCounters>,
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
