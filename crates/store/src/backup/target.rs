//! Where a copy goes: what is there already, the files that are added, and the step from the old version to the new one.
//!
//! At every moment the folder holds the old version, the new one, or (where there was none) none. A file is written only under
//! a name that the manifest there does not mention yet, and never over another: that one may be a link to a file of the
//! database. The log, which grows under one name, is written beside the old one and renamed over it.

use super::original::{Original, OriginalLog, OriginalSegment, read_meta};
use super::{BackupOptions, BackupProgress, BackupReport};
use crate::error::StoreError;
use crate::log::replay;
use crate::manifest::{BACKUP, BACKUP_TMP, Manifest, log_file};
use crate::store::{create_folder, remove_leftovers};
use lode_base::cancel::CancelToken;
use lode_base::vfs::{ReadAt, Vfs};
use lode_packed::segment::META_FILE;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Copied at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// A folder that becomes a copy.
pub struct Target<'a> {
    pub vfs: &'a dyn Vfs,
    pub folder: &'a Path,
    /// What the folder holds now.
    old: Option<Manifest>,
    pub options: BackupOptions,
    pub cancel: &'a CancelToken,
    pub progress: &'a BackupProgress,
    pub report: BackupReport,
    /// Segments that were written.
    pub written: Vec<PathBuf>,
    _lock: Option<Box<dyn Send + Sync>>,
}

impl<'a> Target<'a> {
    /// A folder for backups of this database, made if need be. Nobody else writes to it meanwhile.
    pub fn of_backup(
        vfs: &'a dyn Vfs,
        folder: &'a Path,
        database: u128,
        options: &BackupOptions,
        cancel: &'a CancelToken,
        progress: &'a BackupProgress,
    ) -> Result<Self, StoreError> {
        let refused =
            |what: &str| StoreError::BackupTarget { path: folder.to_owned(), what: what.to_owned() };
        match vfs.list(folder) {
            Ok(names) if names.is_empty() || names.iter().any(|name| name.as_os_str() == BACKUP) => {}
            Ok(_) => return Err(refused("this folder holds something else than a backup")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => create_folder(vfs, folder)?,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(refused("this is a file"));
            }
            Err(error) => return Err(StoreError::io(folder)(error)),
        }
        let mark = folder.join(BACKUP);
        let lock = vfs.lock(&mark, true).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => refused("another process is writing a backup here"),
            _ => StoreError::io(&mark)(source),
        })?;
        // From here on nobody takes the folder for anything else.
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        let old = match Manifest::read(vfs, folder) {
            Ok(old) if old.database == database => Some(old),
            Ok(_) => return Err(refused("this is a backup of another database")),
            Err(StoreError::Missing { .. } | StoreError::NotADatabase { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut target = Self::empty(vfs, folder, options, cancel, progress);
        (target.old, target._lock) = (old, Some(lock));
        Ok(target)
    }

    /// A folder that holds nothing.
    pub fn empty(
        vfs: &'a dyn Vfs,
        folder: &'a Path,
        options: &BackupOptions,
        cancel: &'a CancelToken,
        progress: &'a BackupProgress,
    ) -> Self {
        Self {
            vfs,
            folder,
            old: None,
            options: options.clone(),
            cancel,
            progress,
            report: BackupReport::default(),
            written: Vec::new(),
            _lock: None,
        }
    }

    /// Brings the segments that are not there.
    pub fn add_segments(&mut self, original: &Original) -> Result<(), StoreError> {
        for segment in &original.segments {
            let folder = self.folder.join(segment.entry.folder());
            if self.has(segment, &folder)? {
                self.report.segments_kept += 1;
                self.report.bytes_kept += segment.bytes();
                self.progress.done.fetch_add(segment.bytes(), Ordering::Relaxed);
            } else {
                self.add_segment(segment, &folder)?;
                self.written.push(folder);
            }
        }
        self.vfs.sync_dir(self.folder).map_err(StoreError::io(self.folder))
    }

    /// Whether a segment is there, wholly: its description is the last that is written. What is left of a copy that did not end
    /// is removed.
    fn has(&self, segment: &OriginalSegment, folder: &Path) -> Result<bool, StoreError> {
        if !self.vfs.exists(folder) {
            return Ok(false);
        }
        let is_same = match read_meta(self.vfs, folder) {
            Ok(meta) => meta == segment.meta,
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_same {
            for file in &segment.files {
                let path = folder.join(&file.name);
                if self.vfs.open(&path).map_err(StoreError::io(&path))?.len() != file.bytes {
                    return Err(StoreError::corruption(&path, 0, "another length than in the database"));
                }
            }
            return Ok(true);
        }
        if self.old.as_ref().is_some_and(|old| old.segments.iter().any(|e| e.number == segment.entry.number))
        {
            return Err(self.diverged());
        }
        self.vfs.remove_dir_all(folder).map_err(StoreError::io(folder))?;
        Ok(false)
    }

    /// The database is not one to which the version here has ever led.
    fn diverged(&self) -> StoreError {
        let what = "this is a backup of a version from which the database has gone another way since, as after a restore";
        StoreError::BackupTarget { path: self.folder.to_owned(), what: what.to_owned() }
    }

    fn add_segment(&mut self, segment: &OriginalSegment, folder: &Path) -> Result<(), StoreError> {
        let vfs = self.vfs;
        vfs.create_dir_all(folder).map_err(StoreError::io(folder))?;
        for file in &segment.files {
            self.cancel.check()?;
            let to = folder.join(&file.name);
            // Where a link cannot be made, for whatever reason, the bytes are copied.
            if self.options.link && vfs.hard_link(&segment.folder.join(&file.name), &to).is_ok() {
                self.report.files_linked += 1;
                self.report.bytes_linked += file.bytes;
                self.progress.done.fetch_add(file.bytes, Ordering::Relaxed);
            } else {
                let reader = file.open(vfs, &segment.folder)?;
                self.copy(&*reader, &segment.folder.join(&file.name), file.bytes, &to)?;
            }
        }
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        let path = folder.join(META_FILE);
        let write = || {
            let mut file = vfs.create(&path)?;
            file.write_all(&segment.meta)?;
            file.sync()
        };
        write().map_err(StoreError::io(&path))?;
        self.has_copied(segment.meta.len() as u64);
        self.progress.done.fetch_add(segment.meta.len() as u64, Ordering::Relaxed);
        vfs.sync_dir(folder).map_err(StoreError::io(folder))
    }

    fn has_copied(&mut self, bytes: u64) {
        self.report.files_copied += 1;
        self.report.bytes_copied += bytes;
    }

    /// Copies the first bytes of a file, durably.
    fn copy(&mut self, reader: &dyn ReadAt, from: &Path, bytes: u64, to: &Path) -> Result<(), StoreError> {
        let mut file = self.vfs.create(to).map_err(StoreError::io(to))?;
        let mut chunk = Vec::new();
        for start in (0..bytes).step_by(CHUNK_BYTES as usize) {
            self.cancel.check()?;
            chunk.resize((bytes - start).min(CHUNK_BYTES) as usize, 0);
            reader.read_exact_at(&mut chunk, start).map_err(StoreError::io(from))?;
            file.write_all(&chunk).map_err(StoreError::io(to))?;
            self.progress.done.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        }
        file.sync().map_err(StoreError::io(to))?;
        self.has_copied(bytes);
        Ok(())
    }

    /// Makes the new version the one that the folder holds, durably.
    pub fn switch(&mut self, original: &Original) -> Result<(), StoreError> {
        let manifest = &original.manifest;
        let is_current = self.old.as_ref() == Some(manifest);
        let shares_log = self.old.as_ref().is_some_and(|old| manifest.log != 0 && old.log == manifest.log);
        if shares_log && !is_current {
            // Two manifests name one log only where the older has nothing in it: so the newer may have it as it is, but the older
            // may not have what is in it now.
            let path = self.folder.join(log_file(manifest.log));
            let end = replay(self.vfs, &path, manifest.database, manifest.log, &mut |_| Ok(()))?;
            if end.next_sequence != 0 {
                return Err(self.diverged());
            }
            manifest.publish(self.vfs, self.folder)?;
        }
        if let Some(log) = &original.log {
            self.replace_log(log, &self.folder.join(log_file(manifest.log)))?;
        }
        if !shares_log && !is_current {
            manifest.publish(self.vfs, self.folder)?;
        }
        Ok(())
    }

    fn replace_log(&mut self, log: &OriginalLog, to: &Path) -> Result<(), StoreError> {
        if self.is_log(log, to)? {
            self.report.bytes_kept += log.bytes;
            self.progress.done.fetch_add(log.bytes, Ordering::Relaxed);
            return Ok(());
        }
        let tmp = self.folder.join(BACKUP_TMP);
        self.copy(&*log.reader, &log.path, log.bytes, &tmp)?;
        self.vfs.rename(&tmp, to).map_err(StoreError::io(to))?;
        self.vfs.sync_dir(self.folder).map_err(StoreError::io(self.folder))
    }

    /// Whether the log is there as it is to be.
    fn is_log(&self, log: &OriginalLog, path: &Path) -> Result<bool, StoreError> {
        let here = match self.vfs.open(path) {
            Ok(here) if here.len() == log.bytes => here,
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io(path)(error)),
        };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for start in (0..log.bytes).step_by(CHUNK_BYTES as usize) {
            self.cancel.check()?;
            for chunk in [&mut a, &mut b] {
                chunk.resize((log.bytes - start).min(CHUNK_BYTES) as usize, 0);
            }
            log.reader.read_exact_at(&mut a, start).map_err(StoreError::io(&log.path))?;
            here.read_exact_at(&mut b, start).map_err(StoreError::io(path))?;
            if a != b {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes what the version here does not name.
    pub fn clean(&self, manifest: &Manifest) -> Result<(), StoreError> {
        remove_leftovers(self.vfs, self.folder, std::iter::once(manifest))
    }
}
