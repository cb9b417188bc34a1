//! A database on disk: opening, locking, and the version that readers get.

use crate::error::StoreError;
use crate::gate::Gate;
use crate::log::{Log, LogCounters, Salvaged};
use crate::manifest::{BACKUP, BACKUP_TMP, MANIFEST, MANIFEST_TMP, Manifest, is_own_name, log_file};
use crate::named::{self, Named};
use crate::recovery::{apply_sound_log, recover, with_advice};
use crate::snapshot::Snapshot;
use crate::version::{OpenSegment, Version};
use crate::writer::{WriteOptions, Writer, WriterPlace};
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, CacheCounters};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Name of the file that a writer locks.
pub const LOCK: &str = "LOCK";

/// An open database. Clones share it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
    cache: Arc<BlockCache>,
    current: RwLock<Arc<Version>>,
    gate: Gate,
    /// The place of the one that compacts.
    compaction: Gate,
    /// Named snapshots, where the database was opened for writing.
    named: Mutex<Named>,
    /// `None` where the database was opened for reading.
    writer: Option<Writer>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(writer) = &self.writer {
            // What was acknowledged before it was durable, as the user chose, is lost only if this fails.
            let _ = writer.drain();
        }
    }
}

impl Store {
    /// Opens a database for reading. Needs no lock: a writer replaces the manifest in one step and only appends to the log.
    pub fn open(vfs: Arc<dyn Vfs>, folder: &Path, cache_bytes: usize) -> Result<Self, StoreError> {
        let cache = Arc::new(BlockCache::new(cache_bytes));
        let mut manifest = Manifest::read(&*vfs, folder)?;
        loop {
            let recovered = recover(&vfs, folder, manifest.clone(), &cache);
            // Another process may have put another version in place after the manifest was read. Then segments may be gone, and
            // the log may tell of changes to that version.
            let now = Manifest::read(&*vfs, folder)?;
            if now == manifest {
                return Ok(Self::new(vfs, folder, cache, recovered?.0, None));
            }
            manifest = now;
        }
    }

    /// Opens a database for writing, making an empty one where there is nothing. Removes what a killed writer left.
    pub fn create_or_open(vfs: Arc<dyn Vfs>, folder: &Path, cache_bytes: usize) -> Result<Self, StoreError> {
        Self::open_for_writing(vfs, folder, cache_bytes, WriteOptions::default())
    }

    /// Like [`Store::create_or_open`], and says how to write.
    pub fn open_for_writing(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache_bytes: usize,
        options: WriteOptions,
    ) -> Result<Self, StoreError> {
        if vfs.exists(&folder.join(BACKUP)) {
            return Err(StoreError::IsBackup { path: folder.to_owned() });
        }
        match Manifest::read(&*vfs, folder) {
            Ok(_) => {}
            Err(StoreError::Missing { .. }) => create_folder(&*vfs, folder)?,
            Err(error) => return Err(error),
        }
        let lock = lock(&*vfs, folder)?;
        // Somebody may have made a database, or another version, before the lock was ours.
        let manifest = match Manifest::read(&*vfs, folder) {
            Err(StoreError::Missing { .. }) => create(&*vfs, folder)?,
            other => other?,
        };
        let cache = Arc::new(BlockCache::new(cache_bytes));
        let path = folder.join(log_file(manifest.log));
        let (version, end) =
            recover(&vfs, folder, manifest, &cache).map_err(|error| with_advice(error, &path))?;
        let manifests = named::read_all(&*vfs, folder)?;
        remove_leftovers(&*vfs, folder, [&version.manifest].into_iter().chain(manifests.values()))?;
        let log = match end {
            Some(end) => Some(Log::reopen(&vfs, &path, end, options.durability)?),
            None => None,
        };
        let writer = Writer::new(Arc::new(version.clone()), log, options, lock);
        let store = Self::new(vfs, folder, cache, version, Some(writer));
        store.named().manifests = manifests;
        Ok(store)
    }

    /// Opens for writing what is sound of a database whose log may be damaged; there is no log to go on with.
    pub(crate) fn open_sound(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
    ) -> Result<(Self, Option<Salvaged>), StoreError> {
        if vfs.exists(&folder.join(BACKUP)) {
            return Err(StoreError::IsBackup { path: folder.to_owned() });
        }
        Manifest::read(&*vfs, folder)?;
        let lock = lock(&*vfs, folder)?;
        let manifest = Manifest::read(&*vfs, folder)?;
        let cache = Arc::new(BlockCache::new(0));
        let mut version = Version::open(&vfs, folder, manifest, &cache, &[])?;
        let found = apply_sound_log(&*vfs, folder, &mut version)?;
        let manifests = named::read_all(&*vfs, folder)?;
        let writer = Writer::new(Arc::new(version.clone()), None, WriteOptions::default(), lock);
        let store = Self::new(vfs, folder, cache, version, Some(writer));
        store.named().manifests = manifests;
        Ok((store, found))
    }

    fn new(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: Arc<BlockCache>,
        version: Version,
        writer: Option<Writer>,
    ) -> Self {
        Self(Arc::new(Inner {
            vfs,
            folder: folder.to_owned(),
            cache,
            current: RwLock::new(Arc::new(version)),
            gate: Gate::default(),
            compaction: Gate::default(),
            named: Mutex::default(),
            writer,
        }))
    }

    /// The current version, which stays as it is while it is held.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.version())
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// What the block cache did so far.
    pub fn cache_counters(&self) -> CacheCounters {
        self.0.cache.counters()
    }

    /// Whether it was opened for writing.
    pub fn is_writable(&self) -> bool {
        self.0.writer.is_some()
    }

    pub(crate) fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.0.vfs
    }

    pub(crate) fn version(&self) -> Arc<Version> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What logs have written since the store was opened.
    pub fn log_counters(&self) -> LogCounters {
        self.0.writer.as_ref().map(Writer::log_counters).unwrap_or_default()
    }

    pub(crate) fn gate(&self) -> &Gate {
        &self.0.gate
    }

    pub(crate) fn compaction_gate(&self) -> &Gate {
        &self.0.compaction
    }

    pub(crate) fn writer(&self) -> Result<&Writer, StoreError> {
        self.0.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.0.folder.clone() })
    }

    /// First blank node number that nobody has taken.
    pub(crate) fn next_blank(&self) -> u64 {
        self.0.writer.as_ref().map_or_else(|| self.version().next_blank, Writer::next_blank)
    }

    /// Lets one caller at a time make the next version, of segments alone: what transactions have changed is in segments before.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        cancel: &CancelToken,
        work: impl FnOnce(&Arc<Version>) -> Result<T, E>,
    ) -> Result<T, E> {
        let place = WriterPlace::enter(self, cancel)?;
        place.settle(cancel)?;
        let result = work(&self.version());
        place.has_published()?;
        result
    }

    /// Makes a version that has become durable the current one, unless a later one is already.
    pub(crate) fn make_current(&self, version: Arc<Version>) {
        let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
        if version.number > current.number {
            *current = version;
        }
    }

    /// Makes `manifest` the current version, on disk and for new snapshots. Files of segments that it does not name go as soon as
    /// no snapshot needs them. Not every error means that nothing was changed: see [`Manifest::publish`].
    pub(crate) fn publish(&self, manifest: Manifest) -> Result<(), StoreError> {
        let version = self.open_version(manifest)?;
        self.publish_version(Arc::new(version))
    }

    /// Opens the segments of a manifest: one that cannot be read back must not become part of a version.
    pub(crate) fn open_version(&self, manifest: Manifest) -> Result<Version, StoreError> {
        self.open_with(manifest, &self.version().segments)
    }

    /// The same; segments that are among `known` are shared.
    pub(crate) fn open_with(&self, manifest: Manifest, known: &[OpenSegment]) -> Result<Version, StoreError> {
        let inner = &self.0;
        Version::open(&inner.vfs, &inner.folder, manifest, &inner.cache, known)
    }

    pub(crate) fn named_lock(&self) -> &Mutex<Named> {
        &self.0.named
    }

    /// Like [`Store::publish`], with a version that is open already. What is in its delta is in its log.
    pub(crate) fn publish_version(&self, version: Arc<Version>) -> Result<(), StoreError> {
        let inner = &self.0;
        let before = self.version();
        let published = version.manifest.publish(&*inner.vfs, &inner.folder);
        let visible = match &published {
            Ok(()) => true,
            Err(StoreError::InDoubt { .. }) => {
                if let Some(writer) = &inner.writer {
                    writer.set_in_doubt();
                }
                Manifest::read(&*inner.vfs, &inner.folder).is_ok_and(|now| now == version.manifest)
            }
            Err(_) => false,
        };
        if published.is_ok() {
            let is_named = |open: &OpenSegment| {
                version.manifest.segments.iter().any(|entry| entry.number == open.entry.number)
            };
            let mut named = self.named();
            for open in before.segments.iter().filter(|open| !is_named(open)) {
                if named.names(open.entry.number) {
                    named.mark(open);
                } else {
                    open.set_obsolete();
                }
            }
        }
        if visible {
            *inner.current.write().unwrap_or_else(PoisonError::into_inner) = version;
        }
        published
    }
}

fn lock(vfs: &dyn Vfs, folder: &Path) -> Result<Box<dyn Send + Sync>, StoreError> {
    let path = folder.join(LOCK);
    vfs.lock(&path, true).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => StoreError::Locked { path: folder.to_owned() },
        _ => StoreError::Io { path, source },
    })
}

/// Makes the folder and those above it, durably, also where it is there because that failed before.
pub(crate) fn create_folder(vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
    let missing =
        folder.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty() && !vfs.exists(above));
    let made = 1 + missing.count();
    vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
    for parent in folder.ancestors().skip(1).take(made) {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        vfs.sync_dir(parent).map_err(StoreError::io(parent))?;
    }
    Ok(())
}

fn create(vfs: &dyn Vfs, folder: &Path) -> Result<Manifest, StoreError> {
    let random = || u128::from(RandomState::new().build_hasher().finish());
    let manifest = Manifest::new(random() << 64 | random());
    manifest.publish(vfs, folder)?;
    Ok(manifest)
}

/// Removes files that no version names: segments and temporary files of loads that did not end. The first of the manifests is the
/// current one; others are those of snapshots.
pub(crate) fn remove_leftovers<'a>(
    vfs: &dyn Vfs,
    folder: &Path,
    manifests: impl Iterator<Item = &'a Manifest>,
) -> Result<(), StoreError> {
    let names = vfs.list(folder).map_err(StoreError::io(folder))?;
    let mut known = Vec::new();
    for manifest in manifests {
        known.extend(manifest.segments.iter().map(crate::manifest::SegmentEntry::folder));
        known.push(log_file(manifest.log));
    }
    let is_leftover = |name: &str| {
        ![MANIFEST, LOCK, BACKUP].contains(&name) && !known.iter().any(|k| k == name) && is_own_name(name)
    };
    let mut leftovers =
        names.iter().map(|name| name.to_string_lossy()).filter(|name| is_leftover(name)).peekable();
    if leftovers.peek().is_some() {
        // The manifest may be one that was in doubt: what the other one names goes only when this one is there to stay.
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    for name in leftovers {
        let path = folder.join(&*name);
        let is_file = [MANIFEST_TMP, BACKUP_TMP].contains(&&*name) || name.starts_with("log-");
        let removed = if is_file { vfs.remove(&path) } else { vfs.remove_dir_all(&path) };
        removed.map_err(StoreError::io(&path))?;
    }
    Ok(())
}
