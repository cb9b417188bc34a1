//! A database on disk: opening, locking, and the version that readers get.

use crate::error::StoreError;
use crate::manifest::{MANIFEST, MANIFEST_TMP, Manifest};
use crate::snapshot::Snapshot;
use crate::version::Version;
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
    /// Held by whoever makes the next version; `None` inside where the database was opened for reading.
    writer: Mutex<Option<Box<dyn Send + Sync>>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens a database for reading. Needs no lock: a writer replaces the manifest in one step and never changes files.
    pub fn open(vfs: Arc<dyn Vfs>, folder: &Path, cache_bytes: usize) -> Result<Self, StoreError> {
        let manifest = Manifest::read(&*vfs, folder)?;
        Self::with_manifest(vfs, folder, manifest, cache_bytes, None)
    }

    /// Opens a database for writing, making an empty one where there is nothing. Removes what a killed writer left.
    pub fn create_or_open(vfs: Arc<dyn Vfs>, folder: &Path, cache_bytes: usize) -> Result<Self, StoreError> {
        match Manifest::read(&*vfs, folder) {
            Ok(_) | Err(StoreError::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
        let created = !vfs.exists(folder);
        vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
        let lock = lock(&*vfs, folder)?;
        // Somebody may have made a database, or another version, before the lock was ours.
        let manifest = match Manifest::read(&*vfs, folder) {
            Err(StoreError::Missing { .. }) => create(&*vfs, folder)?,
            other => other?,
        };
        if created && let Some(parent) = folder.parent() {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            vfs.sync_dir(parent).map_err(StoreError::io(parent))?;
        }
        remove_leftovers(&*vfs, folder, &manifest)?;
        Self::with_manifest(vfs, folder, manifest, cache_bytes, Some(lock))
    }

    fn with_manifest(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        manifest: Manifest,
        cache_bytes: usize,
        lock: Option<Box<dyn Send + Sync>>,
    ) -> Result<Self, StoreError> {
        let cache = Arc::new(BlockCache::new(cache_bytes));
        let version = Version::open(&*vfs, folder, manifest, &cache, None)?;
        Ok(Self(Arc::new(Inner {
            vfs,
            folder: folder.to_owned(),
            cache,
            current: RwLock::new(Arc::new(version)),
            writer: Mutex::new(lock),
        })))
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

    pub(crate) fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.0.vfs
    }

    pub(crate) fn version(&self) -> Arc<Version> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets one caller at a time make the next version.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Arc<Version>) -> Result<T, E>,
    ) -> Result<T, E> {
        let writer = self.0.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            return Err(StoreError::ReadOnly { path: self.0.folder.clone() }.into());
        }
        work(&self.version())
    }

    /// Makes `manifest` the current version, on disk and for new snapshots.
    pub(crate) fn publish(&self, manifest: Manifest) -> Result<(), StoreError> {
        let inner = &self.0;
        let before = self.version();
        // Opened first: a segment that cannot be read back must not become part of a version.
        let version = Version::open(&*inner.vfs, &inner.folder, manifest, &inner.cache, Some(&before))?;
        version.manifest.replace(&before.manifest, &*inner.vfs, &inner.folder)?;
        *inner.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
        Ok(())
    }
}

fn lock(vfs: &dyn Vfs, folder: &Path) -> Result<Box<dyn Send + Sync>, StoreError> {
    let path = folder.join(LOCK);
    vfs.lock(&path, true).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => StoreError::Locked { path: folder.to_owned() },
        _ => StoreError::Io { path, source },
    })
}

fn create(vfs: &dyn Vfs, folder: &Path) -> Result<Manifest, StoreError> {
    let random = || u128::from(RandomState::new().build_hasher().finish());
    let manifest = Manifest::new(random() << 64 | random());
    manifest.publish(vfs, folder)?;
    Ok(manifest)
}

/// Removes files that no version names: segments and temporary files of loads that did not end.
fn remove_leftovers(vfs: &dyn Vfs, folder: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let names = vfs.list(folder).map_err(StoreError::io(folder))?;
    let known: Vec<String> = manifest.segments.iter().map(crate::manifest::SegmentEntry::folder).collect();
    for name in names {
        let name = name.to_string_lossy();
        let kept = *name == *MANIFEST || *name == *LOCK || known.iter().any(|k| **k == *name);
        if kept || !crate::manifest::is_own_name(&name) {
            continue;
        }
        let path = folder.join(&*name);
        let removed = if *name == *MANIFEST_TMP { vfs.remove(&path) } else { vfs.remove_dir_all(&path) };
        removed.map_err(StoreError::io(&path))?;
    }
    Ok(())
}
