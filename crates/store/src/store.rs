//! A database on disk: opening, locking, and the version that readers get.

use crate::commit_check::CommitCheck;
use crate::error::StoreError;
use crate::fair_lock::FairLock;
use crate::io_profile::with_device;
use crate::last_prefixes::LastPrefixes;
use crate::log::{Log, LogCounters, Salvaged};
use crate::manifest::{
    BACKUP, Inferences, LOCK, Manifest, is_disposable, log_file, log_number, log_of, segment_number,
};
use crate::recovery::{FoundLog, OpenFiles, apply_sound_log, recover, skip_lost_versions};
use crate::snapshot::Snapshot;
use crate::snapshot_catalog::{SnapshotCatalog, settle};
use crate::version::{OpenSegment, Version};
use crate::write_options::WriteOptions;
use crate::writer::Writer;
use lode_base::block_source::SourceCounters;
use lode_base::identity::random_identity;
use lode_base::vfs::Vfs;
use lode_packed::{BlockCache, CacheCounters, CacheMemory};
use std::any::Any;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

/// An open database. Clones share it.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
    cache: Arc<BlockCache>,
    current: RwLock<Arc<Version>>,
    write_lock: FairLock,
    /// Held by the one that compacts.
    compaction_lock: FairLock,
    /// Named snapshots, where the database was opened for writing.
    snapshot_catalog: Mutex<SnapshotCatalog>,
    /// `None` where the database was opened for reading.
    writer: Option<Writer>,
    /// How the log was found, if there was one.
    found_log: Option<FoundLog>,
    prefixes: LastPrefixes,
    /// What is asked before a commit.
    commit_check: OnceLock<CommitCheck>,
    /// What transactions do before they are committed: they know its type.
    commit_upkeep: OnceLock<Box<dyn Any + Send + Sync>>,
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
            let _ = writer.close();
        }
    }
}

impl Store {
    /// Opens a database for reading. Needs no lock: a writer replaces the manifest in one step and only appends to the log.
    ///
    /// # Errors
    /// Where there is no database, it is of another version of the format, or a file cannot be read or is damaged.
    pub fn open(vfs: Arc<dyn Vfs>, folder: &Path, cache: impl Into<CacheMemory>) -> Result<Self, StoreError> {
        Self::open_for_reading(vfs, folder, cache, OpenFiles::Now)
    }

    /// The same, and says when the files of segments are opened. Until all are ([`Store::hold_files`]), what another process replaces
    /// meanwhile may be missing to this one, or seem damaged.
    ///
    /// # Errors
    /// Like [`Store::open`], of the files that are opened at once.
    pub fn open_for_reading(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: impl Into<CacheMemory>,
        files: OpenFiles,
    ) -> Result<Self, StoreError> {
        let cache = BlockCache::sharing(&with_device(cache.into(), &*vfs, folder));
        let mut manifest = Manifest::read_current(&*vfs, folder)?;
        loop {
            let recovered = recover(&vfs, folder, manifest.clone(), &cache, files);
            // Another process may have put another version in place after the manifest was read. Then segments may be gone, and
            // the log may tell of changes to that version.
            let now = Manifest::read_current(&*vfs, folder)?;
            if now == manifest {
                let (version, found) = recovered?;
                return Ok(Self::new(vfs, folder, cache, version, None, found));
            }
            manifest = now;
        }
    }

    /// Opens a database for writing, making an empty one where there is nothing. Removes what a killed writer left.
    ///
    /// # Errors
    /// Like [`Store::open_existing`], but for a path where nothing is: there the folder may not be made.
    pub fn create_or_open(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: impl Into<CacheMemory>,
    ) -> Result<Self, StoreError> {
        Self::open_for_writing(vfs, folder, cache, WriteOptions::default())
    }

    /// Like [`Store::create_or_open`], and says how to write.
    ///
    /// # Errors
    /// Like [`Store::create_or_open`].
    pub fn open_for_writing(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: impl Into<CacheMemory>,
        options: WriteOptions,
    ) -> Result<Self, StoreError> {
        let (lock, manifest) = match lock_database(&*vfs, folder) {
            Err(StoreError::Missing { .. }) => lock_new_database(&*vfs, folder)?,
            other => other?,
        };
        Self::open_locked(vfs, folder, cache, options, lock, manifest)
    }

    /// The same where there is a database; makes none.
    ///
    /// # Errors
    /// Like [`Store::open`]; [`StoreError::Locked`] where another process writes to the database, [`StoreError::IsBackup`] where it is a backup;
    /// where the log cannot be read or written.
    pub fn open_existing(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: impl Into<CacheMemory>,
        options: WriteOptions,
    ) -> Result<Self, StoreError> {
        let (lock, manifest) = lock_database(&*vfs, folder)?;
        Self::open_locked(vfs, folder, cache, options, lock, manifest)
    }

    fn open_locked(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: impl Into<CacheMemory>,
        options: WriteOptions,
        lock: FolderLock,
        manifest: Manifest,
    ) -> Result<Self, StoreError> {
        vfs.claim(folder).map_err(StoreError::io(folder))?;
        let cache = BlockCache::sharing(&with_device(cache.into(), &*vfs, folder));
        let path = folder.join(log_file(manifest.log));
        let (mut version, found) = recover(&vfs, folder, manifest, &cache, OpenFiles::Now)?;
        let named = SnapshotCatalog::of(&*vfs, folder, &version.manifest)?;
        let next_log = next_log(&*vfs, folder, &version.manifest)?;
        if version.manifest.version > 0 {
            // Where somebody made the database just now there is nothing that could be left over.
            settle(&*vfs, folder)?;
            let manifests = [&version.manifest].into_iter().chain(named.manifests.values());
            remove_leftovers(&*vfs, folder, manifests, &|number| named.may_name(number))?;
            renew_copy(&*vfs, folder, &version.manifest);
        }
        // Where a file cannot be read, who reads it is told so.
        let _ = vfs.sweep(folder);
        let log = match &found {
            Some(found) => Some(Log::reopen(&vfs, &path, found.end, options.durability)?),
            None => None,
        };
        skip_lost_versions(&mut version, found.as_ref());
        let writer = Writer::new(Arc::new(version.clone()), log, options, lock);
        writer.skip_logs(next_log);
        let store = Self::new(vfs, folder, cache, version, Some(writer), found);
        *store.snapshot_catalog() = named;
        Ok(store)
    }

    /// Opens for writing what is sound of a database whose log may be damaged; there is no log to go on with.
    pub(crate) fn open_sound(vfs: Arc<dyn Vfs>, folder: &Path) -> Result<SoundStore, StoreError> {
        let (lock, manifest) = lock_database(&*vfs, folder)?;
        let cache = Arc::new(BlockCache::new(0));
        let mut version = Version::open(&vfs, folder, manifest, &cache, &[])?;
        let found = apply_sound_log(&*vfs, folder, &mut version)?;
        let last_version = version.number;
        skip_lost_versions(&mut version, None);
        let named = SnapshotCatalog::of(&*vfs, folder, &version.manifest)?;
        let next_log = next_log(&*vfs, folder, &version.manifest)?;
        let writer = Writer::new(Arc::new(version.clone()), None, WriteOptions::default(), lock);
        writer.skip_logs(next_log);
        let store = Self::new(vfs, folder, cache, version, Some(writer), None);
        *store.snapshot_catalog() = named;
        Ok(SoundStore { store, last_version, found })
    }

    fn new(
        vfs: Arc<dyn Vfs>,
        folder: &Path,
        cache: Arc<BlockCache>,
        version: Version,
        writer: Option<Writer>,
        found_log: Option<FoundLog>,
    ) -> Self {
        Self(Arc::new(Inner {
            vfs,
            folder: folder.to_owned(),
            cache,
            current: RwLock::new(Arc::new(version)),
            write_lock: FairLock::default(),
            compaction_lock: FairLock::default(),
            snapshot_catalog: Mutex::default(),
            writer,
            found_log,
            prefixes: LastPrefixes::default(),
            commit_check: OnceLock::new(),
            commit_upkeep: OnceLock::new(),
        }))
    }

    /// From now on all transactions that begin are checked before they are committed. Once for a store.
    ///
    /// # Errors
    /// [`StoreError::Limit`] where it has a check already.
    pub fn check_commits(&self, check: CommitCheck) -> Result<(), StoreError> {
        let set = self.0.commit_check.set(check);
        set.map_err(|_| StoreError::Limit("the database has a check of commits already".into()))
    }

    /// Whether transactions are checked.
    pub fn checks_commits(&self) -> bool {
        self.commit_check().is_some()
    }

    pub(crate) fn commit_check(&self) -> Option<&CommitCheck> {
        self.0.commit_check.get()
    }

    pub(crate) fn commit_upkeep(&self) -> &OnceLock<Box<dyn Any + Send + Sync>> {
        &self.0.commit_upkeep
    }

    /// Whether what a transaction does depends on what there is when it commits, whatever it does itself: it has the write lock from its beginning then.
    pub fn commits_look(&self) -> bool {
        let maintained =
            || self.version().manifest.inferences.as_ref().is_some_and(Inferences::is_maintained);
        self.checks_commits() || (self.commit_upkeep().get().is_some() && maintained())
    }

    /// Fails where transactions are checked: of what cannot be.
    pub(crate) fn refuse_unchecked(&self) -> Result<(), StoreError> {
        if self.checks_commits() {
            let reason = "the database is validated before each commit, and a bulk load cannot be: send less at once, or load while \
                          nothing is validated (lode load, without a server)";
            return Err(StoreError::Refused(reason.into()));
        }
        Ok(())
    }

    /// The current version, which stays as it is while it is held.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.version())
    }

    /// Opens all files of the current version that are not open yet, so that it can be read whoever replaces it.
    ///
    /// # Errors
    /// Where a file cannot be opened or is damaged.
    pub fn hold_files(&self) -> Result<(), StoreError> {
        self.version().open_files()
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// What the block cache did so far.
    pub fn cache_counters(&self) -> CacheCounters {
        self.0.cache.counters()
    }

    /// What reading blocks of files took so far.
    pub fn read_counters(&self) -> SourceCounters {
        self.0.cache.source().counters()
    }

    /// The most bytes that the block cache keeps.
    pub fn cache_bytes_max(&self) -> usize {
        self.0.cache.capacity()
    }

    /// Whether it was opened for writing.
    pub fn is_writable(&self) -> bool {
        self.0.writer.is_some()
    }

    /// The file system that it is on.
    pub fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.0.vfs
    }

    pub(crate) fn cache(&self) -> &Arc<BlockCache> {
        &self.0.cache
    }

    pub(crate) fn version(&self) -> Arc<Version> {
        Arc::clone(&self.0.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How the log was found when the database was opened; none if there was no log.
    pub fn found_log(&self) -> Option<&FoundLog> {
        self.0.found_log.as_ref()
    }

    /// What logs have written since the store was opened.
    pub fn log_counters(&self) -> LogCounters {
        self.0.writer.as_ref().map(Writer::log_counters).unwrap_or_default()
    }

    /// Syncs of the log that failed where nobody waited for them: the commits that they were for may be lost in a power cut.
    pub fn sync_failures(&self) -> u64 {
        self.0.writer.as_ref().map(Writer::sync_failures).unwrap_or_default()
    }

    pub(crate) fn last_prefixes(&self) -> &LastPrefixes {
        &self.0.prefixes
    }

    pub(crate) fn write_lock(&self) -> &FairLock {
        &self.0.write_lock
    }

    pub(crate) fn compaction_lock(&self) -> &FairLock {
        &self.0.compaction_lock
    }

    pub(crate) fn writer(&self) -> Result<&Writer, StoreError> {
        self.0.writer.as_ref().ok_or_else(|| StoreError::ReadOnly { path: self.0.folder.clone() })
    }

    /// First blank node number that nobody has taken.
    pub(crate) fn next_blank(&self) -> u64 {
        self.0.writer.as_ref().map_or_else(|| self.version().next_blank, Writer::next_blank)
    }

    /// Makes a version that has become durable the current one, unless a later one is already.
    pub(crate) fn make_current(&self, version: Arc<Version>) {
        let mut current = self.0.current.write().unwrap_or_else(PoisonError::into_inner);
        if version.number > current.number {
            *current = version;
        }
    }

    /// Makes a version of elsewhere the current one, whatever its number.
    pub(crate) fn replace(&self, version: Arc<Version>) {
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = version;
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

    pub(crate) fn snapshot_catalog(&self) -> MutexGuard<'_, SnapshotCatalog> {
        // Each change is one step.
        self.0.snapshot_catalog.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`Store::publish`], with a version that is open already. What is in its delta is in its log.
    pub(crate) fn publish_version(&self, version: Arc<Version>) -> Result<(), StoreError> {
        let inner = &self.0;
        let before = self.version();
        let published = version.manifest.publish_with_copy(&*inner.vfs, &inner.folder);
        let visible = match &published {
            Ok(()) => true,
            Err(StoreError::InDoubt { .. }) => {
                if let Some(writer) = &inner.writer {
                    writer.set_in_doubt(&version);
                }
                Manifest::read(&*inner.vfs, &inner.folder).is_ok_and(|now| now == version.manifest)
            }
            Err(_) => false,
        };
        if published.is_ok() {
            let is_named = |open: &OpenSegment| {
                version.manifest.segments.iter().any(|entry| entry.number == open.entry.number)
            };
            let mut named = self.snapshot_catalog();
            for open in before.segments.iter().filter(|open| !is_named(open)) {
                if named.names(open.entry.number) {
                    named.mark(open);
                } else if let Some(writer) = &inner.writer {
                    open.set_obsolete(&writer.chores);
                }
            }
        }
        if visible {
            *inner.current.write().unwrap_or_else(PoisonError::into_inner) = version;
        }
        published
    }
}

/// What is sound of a database whose log may be damaged.
pub(crate) struct SoundStore {
    pub store: Store,
    /// The last version that the log tells of, or that of the manifest. The store goes on behind those that may be lost.
    pub last_version: u64,
    /// What was found in the log, if there should be one.
    pub found: Option<Salvaged>,
}

/// Held by whoever writes to a folder.
pub(crate) type FolderLock = Box<dyn Send + Sync>;

/// Locks the database in a folder, and reads its manifest.
fn lock_database(vfs: &dyn Vfs, folder: &Path) -> Result<(FolderLock, Manifest), StoreError> {
    if vfs.exists(&folder.join(BACKUP)) {
        return Err(StoreError::IsBackup { path: folder.to_owned() });
    }
    match Manifest::read_current(vfs, folder) {
        Ok(_) => {}
        Err(error @ (StoreError::NoManifest { .. } | StoreError::RestoreUnfinished { .. })) => {
            // Perhaps somebody is about to make one.
            lock(vfs, folder)?;
            return Err(error);
        }
        Err(error) => return Err(error),
    }
    let lock = lock(vfs, folder)?;
    // Somebody may have put another version in place before the lock was ours.
    let manifest = Manifest::read_current(vfs, folder)?;
    Ok((lock, manifest))
}

/// Makes a database where there is nothing, and locks it.
fn lock_new_database(vfs: &dyn Vfs, folder: &Path) -> Result<(FolderLock, Manifest), StoreError> {
    create_folder(vfs, folder)?;
    let lock = lock(vfs, folder)?;
    // Somebody may have made one before the lock was ours.
    let manifest = match Manifest::read_current(vfs, folder) {
        Err(StoreError::Missing { .. }) => create(vfs, folder)?,
        other => other?,
    };
    Ok((lock, manifest))
}

/// First log number that neither the manifest nor a file has.
fn next_log(vfs: &dyn Vfs, folder: &Path, manifest: &Manifest) -> Result<u64, StoreError> {
    let names = vfs.list(folder).map_err(StoreError::io(folder))?;
    let files = names.iter().filter_map(|name| log_number(&name.to_string_lossy()));
    Ok(files.map(|number| number + 1).fold(manifest.next_log, u64::max))
}

/// Makes the copy of the manifest one again, where a power cut has left an older one or none. Without it the database is as good.
fn renew_copy(vfs: &dyn Vfs, folder: &Path, manifest: &Manifest) {
    if Manifest::read_copy(vfs, folder).ok().flatten().as_ref() != Some(manifest) {
        let _ = manifest.write_copy(vfs, folder);
    }
}

pub(crate) fn lock(vfs: &dyn Vfs, folder: &Path) -> Result<FolderLock, StoreError> {
    let path = folder.join(LOCK);
    vfs.lock(&path, true).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => StoreError::Locked { path: folder.to_owned() },
        _ => StoreError::Io { path, source },
    })
}

/// Makes the folder and those above it, durably, also where they are there because that failed before.
pub(crate) fn create_folder(vfs: &dyn Vfs, folder: &Path) -> Result<(), StoreError> {
    let missing =
        folder.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty() && !vfs.exists(above));
    let made = 1 + missing.count();
    vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
    for (i, above) in folder.ancestors().skip(1).enumerate() {
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let synced = vfs.sync_dir(above).map_err(StoreError::io(above));
        // Those further up may have been made by an attempt that came to an end. Not everybody may read them.
        if i < made {
            synced?;
        }
    }
    Ok(())
}

fn create(vfs: &dyn Vfs, folder: &Path) -> Result<Manifest, StoreError> {
    let manifest = Manifest::new(random_identity());
    manifest.publish(vfs, folder)?;
    Ok(manifest)
}

/// Removes files that no version names: segments and temporary files of loads that did not end. The first of the manifests is the
/// current one; others are those of snapshots. `may_be_named` says of a segment's number that it must stay all the same.
pub(crate) fn remove_leftovers<'a>(
    vfs: &dyn Vfs,
    folder: &Path,
    manifests: impl Iterator<Item = &'a Manifest>,
    may_be_named: &dyn Fn(u64) -> bool,
) -> Result<(), StoreError> {
    let names = vfs.list(folder).map_err(StoreError::io(folder))?;
    let mut known = Vec::new();
    for manifest in manifests {
        known.extend(manifest.segments.iter().map(crate::manifest::SegmentEntry::folder));
        known.push(log_file(manifest.log));
    }
    let is_leftover = |name: &str| {
        is_disposable(name)
            && !known.iter().any(|k| k == log_of(name))
            && !segment_number(name).is_some_and(may_be_named)
    };
    let mut leftovers =
        names.iter().map(|name| name.to_string_lossy()).filter(|name| is_leftover(name)).peekable();
    if leftovers.peek().is_some() {
        // The manifest may be one that was in doubt: what the other one names goes only when this one is there to stay.
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    for name in leftovers {
        let path = folder.join(&*name);
        let is_folder = name.starts_with("segment-") || name.starts_with("spill-");
        let removed = if is_folder { vfs.remove_dir_all(&path) } else { vfs.remove(&path) };
        removed.map_err(StoreError::io(&path))?;
    }
    Ok(())
}
