//! What is to be copied: a manifest, the files of its segments, and the log up to where it is whole.
//!
//! Of a database that this process writes to, the version is held, so that its files stay. Of any other, all files are opened
//! before the manifest is read once more: if it is the same, they are what it names, and remain readable also
//! where the process that writes removes them.

use crate::error::StoreError;
use crate::index_files::PLACES;
use crate::log::{Changes, LogEnd, salvage};
use crate::manifest::{Manifest, SegmentEntry, log_file};
use crate::recovery::{FoundLog, log_advised};
use crate::store::Store;
use crate::version::Version;
use crate::word_files::WORDS;
use crate::write_guard::WriteGuard;
use lode_base::cancel::CancelToken;
use lode_base::vfs::{ReadAt, Vfs};
use lode_packed::segment::META_FILE;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A description of a segment is much shorter.
const META_BYTES_MAX: u64 = 1 << 20;

/// A version of a database, as files that stay as they are while this is held.
pub struct Original {
    /// Where they are.
    pub folder: PathBuf,
    /// What the version consists of.
    pub manifest: Manifest,
    /// Its segments, as the manifest has them.
    pub segments: Vec<OriginalSegment>,
    /// What came since; none where no log was begun.
    pub log: Option<OriginalLog>,
    /// Number of the version, with what the log tells.
    pub version: u64,
    /// Quads in it.
    pub quads: u64,
    /// What people should know about the log.
    pub note: Option<String>,
    _held: Option<Arc<Version>>,
}

/// The files of a segment.
pub struct OriginalSegment {
    /// Its line in the manifest.
    pub entry: SegmentEntry,
    /// Where they are.
    pub folder: PathBuf,
    /// All but the description, and indexes that are kept beside it.
    pub files: Vec<OriginalFile>,
    /// The description, which tells segments of the same number apart.
    pub meta: Vec<u8>,
}

/// A file of a segment.
pub struct OriginalFile {
    /// Its name in the folder of the segment.
    pub name: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Where nothing else keeps the file.
    reader: Option<Arc<dyn ReadAt>>,
}

/// The log, up to the end that belongs to the version.
pub struct OriginalLog {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes, and perhaps more that do not count.
    pub reader: Arc<dyn ReadAt>,
    /// Where it ends.
    pub end: LogEnd,
}

impl Original {
    /// The current version of an open database.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn of_store(store: &Store, cancel: &CancelToken) -> Result<Self, StoreError> {
        let (vfs, folder) = (&**store.vfs(), store.folder());
        if store.writer().is_err() {
            return Self::of_folder(vfs, folder, cancel);
        }
        let guard = WriteGuard::lock(store, cancel)?;
        let (version, end) = guard.version_and_log(cancel)?;
        // Opened while nobody can begin another log and remove this one.
        let log = end.map(|end| open_log(vfs, folder, version.manifest.log, end)).transpose()?;
        drop(guard);
        let (manifest, number, quads) = (version.manifest.clone(), version.number, version.quads());
        let segments = manifest.segments.iter().map(|entry| open_segment(vfs, folder, entry, false));
        let segments = segments.collect::<Result<_, _>>()?;
        let folder = folder.to_owned();
        Ok(Self { folder, manifest, segments, log, version: number, quads, note: None, _held: Some(version) })
    }

    /// The version in a folder that another process may be writing to.
    ///
    /// # Errors
    /// Where a file cannot be read or is damaged, or the work was cancelled.
    pub fn of_folder(vfs: &dyn Vfs, folder: &Path, cancel: &CancelToken) -> Result<Self, StoreError> {
        let mut manifest = Manifest::read_current(vfs, folder)?;
        loop {
            cancel.check()?;
            let opened = Self::open(vfs, folder, &manifest);
            let now = Manifest::read_current(vfs, folder)?;
            if now == manifest {
                return opened;
            }
            manifest = now;
        }
    }

    fn open(vfs: &dyn Vfs, folder: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let segments = manifest.segments.iter().map(|entry| open_segment(vfs, folder, entry, true));
        let segments = segments.collect::<Result<_, _>>()?;
        let (mut version, mut quads) = (manifest.version, i128::from(manifest.quads()));
        let (mut log, mut note) = (None, None);
        if manifest.log != 0 {
            // Whoever writes may be in the middle of a record.
            let path = &folder.join(log_file(manifest.log));
            let found = salvage(vfs, path, manifest.database, manifest.log, &mut |record| {
                let changes = Changes::decode(&record, path)?;
                version = changes.version;
                // Each change is one of what is visible, so they add up.
                quads += changes.inserts.len() as i128 - changes.deletes.len() as i128;
                Ok(())
            })?;
            let found = FoundLog::new(path, found).map_err(|error| log_advised(error, vfs, path))?;
            note = found.mark_damage.is_some().then(|| found.to_string());
            log = Some(open_log(vfs, folder, manifest.log, found.end)?);
        }
        let (manifest, quads) = (manifest.clone(), u64::try_from(quads).unwrap_or(0));
        let folder = folder.to_owned();
        Ok(Self { folder, manifest, segments, log, version, quads, note, _held: None })
    }

    /// The log, if it tells of any change.
    pub fn changes(&self) -> Option<&OriginalLog> {
        self.log.as_ref().filter(|log| log.end.next_sequence > 0)
    }

    /// Bytes of all files but the manifest.
    pub fn bytes(&self) -> u64 {
        let segments: u64 = self.segments.iter().map(OriginalSegment::bytes).sum();
        segments + self.log.as_ref().map_or(0, |log| log.end.offset)
    }
}

impl OriginalSegment {
    /// The files of a segment in a folder, which nobody changes.
    ///
    /// # Errors
    /// Where one cannot be read.
    pub fn in_folder(vfs: &dyn Vfs, folder: &Path, entry: SegmentEntry) -> Result<Self, StoreError> {
        Self::open(vfs, folder.to_owned(), entry, false)
    }

    /// With `hold`, files are open, so that they can be read also once they are removed.
    fn open(vfs: &dyn Vfs, folder: PathBuf, entry: SegmentEntry, hold: bool) -> Result<Self, StoreError> {
        let meta = read_meta(vfs, &folder)?;
        let mut files = Vec::new();
        for name in vfs.list(&folder).map_err(StoreError::io(&folder))? {
            // Indexes beside a segment come and go, and are made of it anew where somebody wants them.
            let is_of_index =
                name.to_str().is_some_and(|name| [WORDS, PLACES].iter().any(|kind| kind.owns(name)));
            if name.as_os_str() == META_FILE || is_of_index {
                continue;
            }
            let path = folder.join(&name);
            let reader = vfs.open_immutable(&path).map_err(StoreError::io(&path))?;
            files.push(OriginalFile { name, bytes: reader.len(), reader: hold.then_some(reader) });
        }
        Ok(Self { entry, folder, files, meta })
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum::<u64>() + self.meta.len() as u64
    }
}

impl OriginalFile {
    /// Opens the file for reading, if it is not open.
    ///
    /// # Errors
    /// Where that cannot be.
    pub fn open(&self, vfs: &dyn Vfs, folder: &Path) -> Result<Arc<dyn ReadAt>, StoreError> {
        let path = folder.join(&self.name);
        self.reader.clone().map_or_else(|| vfs.open_immutable(&path).map_err(StoreError::io(&path)), Ok)
    }
}

fn open_segment(
    vfs: &dyn Vfs,
    folder: &Path,
    entry: &SegmentEntry,
    hold: bool,
) -> Result<OriginalSegment, StoreError> {
    OriginalSegment::open(vfs, folder.join(entry.folder()), entry.clone(), hold)
}

/// The bytes of a segment's description.
pub fn read_meta(vfs: &dyn Vfs, folder: &Path) -> Result<Vec<u8>, StoreError> {
    let path = folder.join(META_FILE);
    let file = vfs.open(&path).map_err(StoreError::io(&path))?;
    if file.len() > META_BYTES_MAX {
        return Err(StoreError::corruption(&path, 0, "the description of the segment is too long"));
    }
    let mut bytes = vec![0; file.len() as usize];
    file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(&path))?;
    Ok(bytes)
}

fn open_log(vfs: &dyn Vfs, folder: &Path, number: u64, end: LogEnd) -> Result<OriginalLog, StoreError> {
    let path = folder.join(log_file(number));
    let reader = vfs.open(&path).map_err(StoreError::io(&path))?;
    Ok(OriginalLog { path, reader, end })
}
