//! Where a copy goes: what is there already, the files that are added, and the step from the old version to the new one.
//!
//! At every moment the folder holds the old version, the new one, or (where there was none) none. A file is written only under
//! a name that the manifest there does not mention yet, and never over another: that one may be a link to a file of the
//! database. The log, which grows under one name, is written beside the old one and renamed over it; so is a copy that takes the place of a link.

use super::options::{BackupOptions, BackupProgress, BackupReport, KEPT_PREFIXES, KEPT_QUERIES};
use super::original::{Original, OriginalLog, OriginalSegment, read_meta};
use crate::error::StoreError;
use crate::log::{header, mark_end, replay};
use crate::manifest::{BACKUP, BACKUP_TMP, Manifest, log_file, log_number, segment_number};
use crate::store::{FolderLock, create_folder, remove_leftovers};
use lode_base::cancel::CancelToken;
use lode_base::vfs::{ReadAt, Vfs};
use lode_packed::SegmentMeta;
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
    /// Of a folder for backups.
    lock: Option<FolderLock>,
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
            Ok(names) if names.iter().any(|name| name.as_os_str() == BACKUP) => {}
            // Also where it was made just now by somebody who came to an end before that was durable.
            Ok(names) if names.is_empty() => create_folder(vfs, folder)?,
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
            // What is sound of a backup that did not end, or has lost its manifest, is kept, if it is of this database.
            Err(error) if error.is_without_manifest() || matches!(error, StoreError::Corruption { .. }) => {
                if has_files_of_another(vfs, folder, database) {
                    return Err(refused("this holds files of a backup of another database"));
                }
                None
            }
            Err(error) => return Err(error),
        };
        let mut target = Self::empty(vfs, folder, options, cancel, progress);
        (target.old, target.lock) = (old, Some(lock));
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
            lock: None,
        }
    }

    /// Brings the segments that are not there.
    pub fn add_segments(&mut self, original: &Original) -> Result<(), StoreError> {
        for segment in &original.segments {
            let folder = self.folder.join(segment.entry.folder());
            if self.has(segment, &folder)? {
                let copied = if self.options.link { 0 } else { self.copy_links(segment, &folder)? };
                self.report.segments_kept += u64::from(copied == 0);
                self.report.bytes_kept += segment.bytes() - copied;
                self.progress.done.fetch_add(segment.bytes() - copied, Ordering::Relaxed);
            } else {
                self.add_segment(segment, &folder)?;
                self.written.push(folder);
            }
        }
        self.vfs.sync_dir(self.folder).map_err(StoreError::io(self.folder))
    }

    /// Brings what is kept beside the data, as it is now: the queries of a server, and prefixes.
    pub fn add_kept(&mut self, original: &Original) -> Result<(), StoreError> {
        [KEPT_QUERIES, KEPT_PREFIXES].into_iter().try_for_each(|name| self.add_beside(original, name))
    }

    fn add_beside(&mut self, original: &Original, name: &str) -> Result<(), StoreError> {
        let (from, to) = (original.folder.join(name), self.folder.join(name));
        if !self.vfs.exists(&from) {
            return match self.vfs.exists(&to) {
                true => self.vfs.remove(&to).map_err(StoreError::io(&to)),
                false => Ok(()),
            };
        }
        let reader = self.vfs.open(&from).map_err(StoreError::io(&from))?;
        let new = to.with_extension("new");
        self.copy(&*reader, &from, reader.len(), &new)?;
        self.vfs.rename(&new, &to).map_err(StoreError::io(&to))?;
        self.vfs.sync_dir(self.folder).map_err(StoreError::io(self.folder))
    }

    /// Whether a segment is there, wholly: its description is the last that is written. What is left of a copy that did not end
    /// is removed.
    fn has(&self, segment: &OriginalSegment, folder: &Path) -> Result<bool, StoreError> {
        if !self.vfs.exists(folder) {
            return Ok(false);
        }
        let has = |old: &Manifest| old.segments.iter().any(|entry| entry.number == segment.entry.number);
        let is_old = self.old.as_ref().is_some_and(has);
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
            if !is_old {
                // A backup may have ended before its description was durable, and that is seen nevertheless.
                self.describe(segment, folder)?;
            }
            return Ok(true);
        }
        if is_old {
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
            if self.options.link && self.link(&segment.folder.join(&file.name), &to)? {
                self.report.files_linked += 1;
                self.report.bytes_linked += file.bytes;
                self.progress.done.fetch_add(file.bytes, Ordering::Relaxed);
            } else {
                let reader = file.open(vfs, &segment.folder)?;
                self.copy(&*reader, &segment.folder.join(&file.name), file.bytes, &to)?;
            }
        }
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        self.describe(segment, folder)?;
        self.has_copied(segment.meta.len() as u64);
        self.progress.done.fetch_add(segment.meta.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Writes the description of a segment whose other files are durable, durably.
    fn describe(&self, segment: &OriginalSegment, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(META_FILE);
        let write = || {
            let mut file = self.vfs.create(&path)?;
            file.write_all(&segment.meta)?;
            file.sync()
        };
        write().map_err(StoreError::io(&path))?;
        self.vfs.sync_dir(folder).map_err(StoreError::io(folder))
    }

    /// Gives a file a second name, if that can be done.
    fn link(&self, from: &Path, to: &Path) -> Result<bool, StoreError> {
        if self.vfs.hard_link(from, to).is_ok() {
            return Ok(true);
        }
        // The name may be there nevertheless. Who copies to it would write over the database's own file.
        match self.vfs.remove(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(to)(error)),
            _ => Ok(false),
        }
    }

    /// Puts copies in the place of those files of a segment that the original has, too. Their bytes.
    fn copy_links(&mut self, segment: &OriginalSegment, folder: &Path) -> Result<u64, StoreError> {
        let mut copied = 0;
        for file in &segment.files {
            self.cancel.check()?;
            let (from, to) = (segment.folder.join(&file.name), folder.join(&file.name));
            let is_link = match self.vfs.is_same_file(&from, &to) {
                // The original may be gone, and is open still.
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                other => other.map_err(StoreError::io(&to))?,
            };
            if is_link {
                let reader = file.open(self.vfs, &segment.folder)?;
                self.copy_over(&*reader, &from, file.bytes, &to)?;
                copied += file.bytes;
            }
        }
        if copied > 0 {
            self.vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        }
        Ok(copied)
    }

    /// Copies the first bytes of a file beside another, durably, and puts the copy in its place in one step, which is not durable yet.
    fn copy_over(
        &mut self,
        reader: &dyn ReadAt,
        from: &Path,
        bytes: u64,
        to: &Path,
    ) -> Result<(), StoreError> {
        let tmp = self.folder.join(BACKUP_TMP);
        // Never over another file: it may have a second name.
        match self.vfs.remove(&tmp) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(StoreError::io(&tmp)(error)),
            _ => {}
        }
        self.copy(reader, from, bytes, &tmp)?;
        self.vfs.rename(&tmp, to).map_err(StoreError::io(to))
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
            self.publish(manifest)?;
        }
        if let Some(log) = &original.log {
            let path = self.folder.join(log_file(manifest.log));
            self.replace_log(log, &path, manifest, is_current)?;
            // Written last: a log may be longer than its mark says, but not shorter.
            mark_end(self.vfs, &path, manifest.database, manifest.log, log.end)?;
        }
        if !shares_log && !is_current {
            self.publish(manifest)?;
        }
        Ok(())
    }

    fn publish(&self, manifest: &Manifest) -> Result<(), StoreError> {
        match self.lock {
            Some(_) => manifest.publish(self.vfs, self.folder),
            None => manifest.publish_with_copy(self.vfs, self.folder),
        }
    }

    /// Brings the log up to its end. `is_newer`: the log that is there belongs to a version from which this one came.
    fn replace_log(
        &mut self,
        log: &OriginalLog,
        to: &Path,
        manifest: &Manifest,
        is_newer: bool,
    ) -> Result<(), StoreError> {
        let bytes = log.end.offset;
        let same = self.same_bytes(log, to)?;
        if same == Some((bytes, bytes)) {
            self.report.bytes_kept += bytes;
            self.progress.done.fetch_add(bytes, Ordering::Relaxed);
            return Ok(());
        }
        if is_newer {
            match replay(self.vfs, to, manifest.database, manifest.log, &mut |_| Ok(())) {
                Ok(end) if same.is_none_or(|(same, _)| same < end.offset) => return Err(self.diverged()),
                // One that is damaged or gone is replaced by a sound one.
                Ok(_) | Err(StoreError::Corruption { .. }) => {}
                Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        self.copy_over(&*log.reader, &log.path, bytes, to)?;
        self.vfs.sync_dir(self.folder).map_err(StoreError::io(self.folder))
    }

    /// How many bytes of the log are there as they are to be, and how many there are; `None` where there is no log.
    fn same_bytes(&self, log: &OriginalLog, path: &Path) -> Result<Option<(u64, u64)>, StoreError> {
        let here = match self.vfs.open(path) {
            Ok(here) => here,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io(path)(error)),
        };
        let shorter = here.len().min(log.end.offset);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for start in (0..shorter).step_by(CHUNK_BYTES as usize) {
            self.cancel.check()?;
            for chunk in [&mut a, &mut b] {
                chunk.resize((shorter - start).min(CHUNK_BYTES) as usize, 0);
            }
            log.reader.read_exact_at(&mut a, start).map_err(StoreError::io(&log.path))?;
            here.read_exact_at(&mut b, start).map_err(StoreError::io(path))?;
            if let Some(same) = a.iter().zip(&b).position(|(a, b)| a != b) {
                return Ok(Some((start + same as u64, here.len())));
            }
        }
        Ok(Some((shorter, here.len())))
    }

    /// Removes what the version here does not name.
    pub fn clean(&self, manifest: &Manifest) -> Result<(), StoreError> {
        remove_leftovers(self.vfs, self.folder, std::iter::once(manifest), &|_| false)
    }
}

/// Whether a folder without a sound manifest holds files that say that they are of another database.
fn has_files_of_another(vfs: &dyn Vfs, folder: &Path, database: u128) -> bool {
    let owner = |name: &str| match (segment_number(name), log_number(name)) {
        (Some(_), _) => SegmentMeta::read(vfs, &folder.join(name)).ok().map(|meta| meta.origin.database),
        (_, Some(_)) => header(vfs, &folder.join(name)).ok().map(|(database, _)| database),
        _ => None,
    };
    let names = vfs.list(folder).unwrap_or_default();
    names.iter().any(|name| owner(&name.to_string_lossy()).is_some_and(|owner| owner != database))
}
