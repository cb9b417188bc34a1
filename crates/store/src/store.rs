//! A database on disk: opening, locking, and the version that readers get.

use crate::error::StoreError;
use crate::manifest::{MANIFEST, MANIFEST_TMP, Manifest, is_own_name};
use crate::snapshot::Snapshot;
use crate::version::{OpenSegment, Version};
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
        let mut manifest = Manifest::read(&*vfs, folder)?;
        loop {
            match Self::with_manifest(Arc::clone(&vfs), folder, manifest.clone(), cache_bytes, None) {
                Ok(store) => return Ok(store),
                // Another process may have compacted the database after the manifest was read.
                Err(error) => match Manifest::read(&*vfs, folder)? {
                    now if now.version > manifest.version => manifest = now,
                    _ => return Err(error),
                },
            }
        }
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
        let version = Version::open(&vfs, folder, manifest, &cache, None)?;
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

    /// Makes `manifest` the current version, on disk and for new snapshots. Files of segments that it does not name go as soon as
    /// no snapshot needs them. Not every error means that nothing was changed: see [`Manifest::publish`].
    pub(crate) fn publish(&self, manifest: Manifest) -> Result<(), StoreError> {
        let inner = &self.0;
        let before = self.version();
        // Opened first: a segment that cannot be read back must not become part of a version.
        let version = Version::open(&inner.vfs, &inner.folder, manifest, &inner.cache, Some(&before))?;
        let published = version.manifest.publish(&*inner.vfs, &inner.folder);
        let visible = match &published {
            Ok(()) => true,
            Err(StoreError::InDoubt { .. }) => {
                Manifest::read(&*inner.vfs, &inner.folder).is_ok_and(|now| now == version.manifest)
            }
            Err(_) => false,
        };
        if published.is_ok() {
            let kept = |open: &&OpenSegment| !version.manifest.segments.contains(&open.entry);
            before.segments.iter().filter(kept).for_each(OpenSegment::set_obsolete);
        }
        if visible {
            *inner.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(version);
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
    let is_leftover = |name: &str| {
        name != MANIFEST && name != LOCK && !known.iter().any(|k| k == name) && is_own_name(name)
    };
    let mut leftovers =
        names.iter().map(|name| name.to_string_lossy()).filter(|name| is_leftover(name)).peekable();
    if leftovers.peek().is_some() {
        // The manifest may be one that was in doubt: what the other one names goes only when this one is there to stay.
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    for name in leftovers {
        let path = folder.join(&*name);
        let removed = if *name == *MANIFEST_TMP { vfs.remove(&path) } else { vfs.remove_dir_all(&path) };
        removed.map_err(StoreError::io(&path))?;
    }
    Ok(())
}
