//! Publishing a version: the objects that are new, then the next manifest where there is none yet. That one step makes the version public, and of all
//! who publish at once it is done by one. Whoever is killed before it has changed nothing that anybody sees.

mod publication;
mod upload;

use crate::error::RemoteError;
use crate::keys;
use crate::object::ObjectStore;
use crate::place::refuse_databases;
use crate::version::{BYTES_MAX, ObjectRef, PublishedVersion, is_name};
use crate::versions;
use lode_base::cancel::CancelToken;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use lode_store::manifest::{Manifest, Sign};
use lode_store::{Original, OriginalSegment, Store, StoreError, frozen_version, prefixes_in, publisher};
use publication::Publication;
pub use publication::{PublishOptions, PublishProgress, PublishReport};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use upload::Upload;

/// So long a publication waits for who writes.
const LOCK_WAIT_MAX: Duration = Duration::from_millis(500);

/// Publishes the current version of the database in a folder.
///
/// # Errors
/// [`RemoteError::Conflict`] where another database or another copy of it is published there, or somebody else published meanwhile; where the database or the
/// store cannot be read or written, or the work was cancelled. But for [`RemoteError::InDoubt`], what was published before is what is published then.
pub fn publish(
    vfs: &Arc<dyn Vfs>,
    database: &Path,
    store: &dyn ObjectStore,
    options: &PublishOptions,
    cancel: &CancelToken,
    progress: &PublishProgress,
) -> Result<PublishReport, RemoteError> {
    check_name(store, options)?;
    let before = versions::newest_for_writing(store)?;
    let original = frozen_version(vfs, database, cancel)?;
    let publisher = publisher(&**vfs, database)?;
    let prefixes = prefixes_in(&**vfs, database);
    let publication = Publication { vfs: &**vfs, store, options, cancel, progress, publisher, prefixes };
    publication.run(&original, before)
}

/// The same for a database that this process has open for writing, others go on writing to it meanwhile.
///
/// # Errors
/// Like [`publish`].
pub fn publish_store(
    database: &Store,
    store: &dyn ObjectStore,
    options: &PublishOptions,
    cancel: &CancelToken,
    progress: &PublishProgress,
) -> Result<PublishReport, RemoteError> {
    check_name(store, options)?;
    let before = versions::newest_for_writing(store)?;
    // Who has a transaction open over several requests holds the lock; what is in the folder meanwhile can be read without.
    let wait = CancelToken::new(Some(LOCK_WAIT_MAX));
    let original = match Original::of_store(database, &wait) {
        Err(StoreError::Cancelled(_)) => Original::of_folder(&**database.vfs(), database.folder(), cancel)?,
        original => original?,
    };
    let vfs = &**database.vfs();
    let publisher = publisher(vfs, database.folder())?;
    let prefixes = database.prefixes();
    let publication = Publication { vfs, store, options, cancel, progress, publisher, prefixes };
    publication.run(&original, before)
}

/// Writes the objects of a segment that is in a folder, for who publishes it later; what a version says of its index.
///
/// # Errors
/// Where the folder cannot be read or the store written, or the work was cancelled.
pub(crate) fn upload_segment(
    vfs: &dyn Vfs,
    segment: &OriginalSegment,
    store: &dyn ObjectStore,
    cancel: &CancelToken,
) -> Result<ObjectRef<u64>, RemoteError> {
    let (options, progress) = (&PublishOptions::default(), &PublishProgress::default());
    let prefixes = Vec::new().into();
    let publication = Publication { vfs, store, options, cancel, progress, publisher: 0, prefixes };
    Upload::begin(&publication)?.segment(segment)
}

fn check_name(store: &dyn ObjectStore, options: &PublishOptions) -> Result<(), RemoteError> {
    refuse_databases(store)?;
    let Some(name) = options.name.as_ref().filter(|name| !is_name(name)) else { return Ok(()) };
    let what = format!(
        "{name:?} cannot be the name of a version: that has 1 to 64 ASCII letters, digits, -, _ and ., and is no number"
    );
    Err(RemoteError::Address { address: store.name().to_owned(), what })
}

/// The same for a folder of this machine.
///
/// # Errors
/// Like [`publish`].
pub fn publish_folder(
    database: &Path,
    store: &dyn ObjectStore,
    options: &PublishOptions,
    cancel: &CancelToken,
    progress: &PublishProgress,
) -> Result<PublishReport, RemoteError> {
    let vfs = lode_store::striped(&RealVfs::shared(), database)?;
    publish(&vfs, database, store, options, cancel, progress)
}

impl Publication<'_> {
    fn run(
        &self,
        original: &Original,
        before: Option<PublishedVersion>,
    ) -> Result<PublishReport, RemoteError> {
        let mut version = self.next(original, before.as_ref())?;
        let mut report = PublishReport {
            version: original.version,
            quads: original.quads,
            segments: original.segments.len() as u64,
            ..PublishReport::default()
        };
        if let Some(before) = before.as_ref().filter(|before| self.is_there(before, &version)) {
            self.renew_copy(before)?;
            report.segments_kept = report.segments;
            return Ok(PublishReport {
                number: before.number,
                epoch: before.epoch,
                was_there: true,
                ..report
            });
        }
        let known = |segment: &OriginalSegment| before.as_ref().and_then(|before| index_of(before, segment));
        let new: Vec<&OriginalSegment> =
            original.segments.iter().filter(|segment| known(segment).is_none()).collect();
        let log_bytes = original.changes().map_or(0, |log| log.end.offset);
        let total = new.iter().map(|segment| segment.bytes()).sum::<u64>() + log_bytes;
        self.progress.total.store(total, Ordering::Relaxed);
        let mut upload = Upload::begin(self)?;
        for segment in &original.segments {
            let index = match known(segment) {
                Some(index) => index,
                None => upload.segment(segment)?,
            };
            version.indexes.push(index);
        }
        version.log = original.changes().map(|log| upload.log(log)).transpose()?;
        report.segments_kept = report.segments - new.len() as u64;
        self.cancel.check()?;
        let place = keys::manifest(version.number);
        let text = version.encode();
        if text.len() as u64 > BYTES_MAX {
            let what = "the database has too many segments to be published: lode compact makes one of them";
            return Err(self.conflict(what.to_owned()));
        }
        if !self.store.put_if_absent(&place, text.as_bytes())? {
            let winner = self.lost(&version)?;
            self.renew_copy(&winner)?;
            return Ok(PublishReport {
                number: winner.number,
                epoch: winner.epoch,
                was_there: true,
                ..report
            });
        }
        upload.make_sure(&new, original.changes())?;
        let newest = versions::write_copy(self.store, &version)?;
        if newest.epoch > version.epoch {
            // What was ours to take was free only since garbage collection had removed what others had put there.
            let what = format!(
                "version {} there was published by another copy of this database, which has taken over",
                newest.number
            );
            return Err(self.conflict(what));
        }
        Ok(PublishReport {
            number: version.number,
            epoch: version.epoch,
            objects: upload.objects,
            bytes: upload.bytes,
            bytes_found: upload.bytes_found,
            log_bytes,
            ..report
        })
    }

    /// What is to be published, but for its objects; an error where it may not be.
    fn next(
        &self,
        original: &Original,
        before: Option<&PublishedVersion>,
    ) -> Result<PublishedVersion, RemoteError> {
        let (mut number, mut epoch) = (1, 1);
        if let Some(before) = before {
            number = before.number + 1;
            epoch = self.epoch_after(original, before)?;
        }
        // A log without changes is none.
        let log = if original.changes().is_some() { original.manifest.log } else { 0 };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        Ok(PublishedVersion {
            number,
            epoch,
            publisher: self.publisher,
            time,
            name: self.options.name.clone(),
            version: original.version,
            quads: original.quads,
            indexes: Vec::new(),
            log: None,
            prefixes: self.prefixes.clone(),
            manifest: Manifest { log, ..original.manifest.clone() },
        })
    }

    fn epoch_after(&self, original: &Original, before: &PublishedVersion) -> Result<u64, RemoteError> {
        let number = before.number;
        if before.manifest.database != original.manifest.database {
            return Err(self.conflict(format!(
                "version {number} there is of another database: publish to another address"
            )));
        }
        match self.objection(original, before) {
            None => Ok(before.epoch),
            // What was published last is given up, whoever did it: readers must not take this for something that came after it.
            Some(_) if self.options.take_over => Ok(before.epoch + 1),
            Some(what) => Err(self.conflict(what)),
        }
    }

    /// Why this may not be published after that, if so.
    fn objection(&self, original: &Original, before: &PublishedVersion) -> Option<String> {
        let number = before.number;
        if before.publisher != self.publisher {
            return Some(format!(
                "version {number} there was published from another copy of this database. If that one is given up, --take-over lets this one go on in its place"
            ));
        }
        let is_diverged = |segment: &OriginalSegment| {
            let same = before.manifest.segments.iter().find(|entry| entry.number == segment.entry.number);
            same.is_some_and(|entry| entry.identity != segment.entry.identity)
        };
        let has_same_number = before.version == original.version && !is_same_state(before, original);
        if has_same_number || original.segments.iter().any(is_diverged) {
            return Some(format!(
                "version {number} there holds other changes than the database in this folder, of which there is another copy that was written to. If what \
                 was published is to be replaced by this, --take-over does it"
            ));
        }
        if before.version > original.version {
            return Some(format!(
                "version {number} there holds version {} of the database, which is newer than what is in this folder ({}). If what was published \
                 is to be replaced by this, --take-over does it",
                before.version, original.version
            ));
        }
        None
    }

    fn conflict(&self, what: String) -> RemoteError {
        RemoteError::Conflict { address: self.store.name().to_owned(), what }
    }

    /// Whether what is to be published is what is there.
    fn is_there(&self, before: &PublishedVersion, next: &PublishedVersion) -> bool {
        let is_named = next.name.is_none() || next.name == before.name;
        is_named
            && before.publisher == next.publisher
            && before.version == next.version
            && before.prefixes == next.prefixes
            && before.manifest == next.manifest
    }

    /// Somebody else has published this number meanwhile: their version, if it is the same as ours.
    fn lost(&self, ours: &PublishedVersion) -> Result<PublishedVersion, RemoteError> {
        let number = ours.number;
        match versions::read(self.store, number)? {
            Some(theirs) if theirs.is_same_content(ours) => Ok(theirs),
            _ => Err(RemoteError::Lost { address: self.store.name().to_owned(), number }),
        }
    }

    /// Puts the copy right that somebody who was killed has left behind.
    fn renew_copy(&self, newest: &PublishedVersion) -> Result<(), RemoteError> {
        match versions::copy(self.store) {
            Ok(Some(copy)) if copy.number >= newest.number => Ok(()),
            // One that is damaged is replaced.
            Ok(_) | Err(RemoteError::Damaged { .. }) => versions::write_copy(self.store, newest).map(drop),
            Err(error) => Err(error),
        }
    }
}

/// Whether a version holds just this, whichever of it is in the log.
fn is_same_state(before: &PublishedVersion, original: &Original) -> bool {
    let identities = |manifest: &Manifest| {
        let segments = manifest.segments.iter().map(|entry| (entry.identity, entry.sign == Sign::TermsOnly));
        segments.collect::<Vec<_>>()
    };
    before.quads == original.quads && identities(&before.manifest) == identities(&original.manifest)
}

/// The index of a segment that a version has.
fn index_of(version: &PublishedVersion, segment: &OriginalSegment) -> Option<ObjectRef<u64>> {
    let identity = segment.entry.identity;
    let at = version.manifest.segments.iter().position(|entry| entry.identity == identity)?;
    version.indexes.get(at).copied()
}
