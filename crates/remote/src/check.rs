//! Whether all objects of a published version are there, and are what was published.

use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::index::{self, IndexedFile, PAGE_BYTES};
use crate::keys;
use crate::object::ObjectStore;
use crate::retry::retrying;
use crate::version::{ObjectRef, PublishedVersion};
use crate::versions::{self, Wanted};
use lode_base::cancel::CancelToken;
use lode_base::checksum::checksum;
use lode_store::manifest::SegmentEntry;
use xxhash_rust::xxh3::xxh3_128;

/// Read at once: some pages.
const PAGES_AT_ONCE: usize = 16;

/// What is wrong with an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectProblem {
    /// The object.
    pub object: String,
    /// Where it begins.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
    /// What can be done about it.
    pub remedy: ObjectRemedy,
}

/// What can be done about an object that is not what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectRemedy {
    /// To publish: the next who does writes it again.
    Publish,
    /// To remove it, and to publish then: its copy is sound.
    RemoveAndPublish,
    /// To publish to another address: nothing here is written again.
    PublishElsewhere,
}

/// What a check of a published version has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedCheck {
    /// The number of the version.
    pub number: u64,
    /// Quads in it.
    pub quads: u64,
    /// Its segments.
    pub segments: u64,
    /// Objects that were looked at, the manifest among them.
    pub objects: u64,
    /// Their bytes that were read.
    pub bytes: u64,
    /// What is wrong; a segment whose index is damaged is not looked at further.
    pub problems: Vec<ObjectProblem>,
}

/// Reads all objects that a published version names and compares their lengths and checksums with what it says of them. `progress` hears how many bytes
/// were read.
///
/// # Errors
/// Where there is no such version, or the work was cancelled; where the store cannot be asked. Damage, of manifests too, is in the report.
pub fn check(
    store: &dyn ObjectStore,
    wanted: &Wanted,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(u64),
) -> Result<PublishedCheck, RemoteError> {
    let counters = RemoteCounters::default();
    let mut check = Check { store, counters, cancel, progress, report: PublishedCheck::default() };
    let Some(version) = check.version(wanted)? else { return Ok(check.report) };
    for (entry, index) in version.manifest.segments.iter().zip(&version.indexes) {
        check.segment(entry, index)?;
    }
    if let Some(log) = &version.log {
        check.log(log)?;
    }
    Ok(check.report)
}

struct Check<'a> {
    store: &'a dyn ObjectStore,
    counters: RemoteCounters,
    cancel: &'a CancelToken,
    progress: &'a mut dyn FnMut(u64),
    report: PublishedCheck,
}

impl Check<'_> {
    fn problem(&mut self, key: &str, offset: u64, what: impl Into<String>) {
        let (object, what, remedy) = (self.store.object(key), what.into(), ObjectRemedy::PublishElsewhere);
        self.report.problems.push(ObjectProblem { object, offset, what, remedy });
    }

    /// Says what can be done about the problems of one object.
    fn mended_by(&mut self, key: &str, remedy: ObjectRemedy) {
        let object = self.store.object(key);
        let of_it = self.report.problems.iter_mut().filter(|problem| problem.object == object);
        of_it.for_each(|problem| problem.remedy = remedy);
    }

    /// The version that is wanted, and what is wrong with its manifest and, of the newest, with the copy of it; none where there is nothing to go on from.
    fn version(&mut self, wanted: &Wanted) -> Result<Option<PublishedVersion>, RemoteError> {
        let (store, counters) = (self.store, &self.counters);
        let found = retrying(counters, || versions::find(store, wanted));
        self.report.objects = 1;
        let version = match found {
            Err(RemoteError::Damaged { object, offset, what }) => {
                let remedy = ObjectRemedy::PublishElsewhere;
                self.report.problems.push(ObjectProblem { object, offset, what, remedy });
                // Only where it is the copy of what is damaged.
                let copy = versions::copy(store).ok().flatten();
                let Some(copy) = copy.filter(|copy| self.has_problem(&keys::manifest(copy.number))) else {
                    self.mended_by(keys::LATEST, ObjectRemedy::Publish);
                    return Ok(None);
                };
                self.mended_by(&keys::manifest(copy.number), ObjectRemedy::RemoveAndPublish);
                copy
            }
            found => {
                let version = found?;
                self.manifest(version.number)?;
                version
            }
        };
        self.report.number = version.number;
        self.report.quads = version.quads;
        self.report.segments = version.manifest.segments.len() as u64;
        if *wanted == Wanted::Newest {
            self.copy()?;
        }
        Ok(Some(version))
    }

    /// The manifest of a version that was found, perhaps by the copy alone.
    fn manifest(&mut self, number: u64) -> Result<(), RemoteError> {
        let (store, counters, key) = (self.store, &self.counters, keys::manifest(number));
        let found = retrying(counters, || versions::read(store, number));
        match self.noted(&key, 0, found)? {
            Some(Some(_)) => {}
            Some(None) => {
                self.problem(&key, 0, "is missing");
                self.mended_by(&key, ObjectRemedy::Publish);
            }
            None => self.mended_by(&key, ObjectRemedy::RemoveAndPublish),
        }
        Ok(())
    }

    /// The copy of the newest manifest. Where there is none, who published was stopped before he wrote it: the next who publishes does.
    fn copy(&mut self) -> Result<(), RemoteError> {
        let (store, counters) = (self.store, &self.counters);
        let found = retrying(counters, || versions::copy(store));
        self.noted(keys::LATEST, 0, found)?;
        self.mended_by(keys::LATEST, ObjectRemedy::Publish);
        Ok(())
    }

    fn has_problem(&self, key: &str) -> bool {
        let object = self.store.object(key);
        self.report.problems.iter().any(|problem| problem.object == object)
    }

    fn read(&mut self, bytes: u64) {
        self.report.bytes += bytes;
        (self.progress)(bytes);
    }

    /// Whether an object is there and has its length; what else there is to say of it follows.
    fn has_length(&mut self, key: &str, bytes: u64) -> Result<bool, RemoteError> {
        self.cancel.check()?;
        self.report.objects += 1;
        let (store, counters) = (self.store, &self.counters);
        let found = retrying(counters, || store.size(key));
        let Some(found) = self.noted(key, 0, found)? else { return Ok(false) };
        match found {
            Some(found) if found == bytes => Ok(true),
            Some(found) => {
                self.problem(key, found.min(bytes), format!("{found} bytes instead of {bytes}"));
                Ok(false)
            }
            None => {
                self.problem(key, 0, "is missing");
                Ok(false)
            }
        }
    }

    /// A whole object; none where it cannot be read or is another one, which is noted then.
    fn whole(
        &mut self,
        key: &str,
        bytes: u64,
        is_right: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Vec<u8>>, RemoteError> {
        if !self.has_length(key, bytes)? {
            return Ok(None);
        }
        let (store, counters) = (self.store, &self.counters);
        let found = retrying(counters, || store.get(key, bytes));
        let Some(found) = self.noted(key, 0, found)? else { return Ok(None) };
        self.read(found.len() as u64);
        if !is_right(&found) {
            self.problem(key, 0, "not the object that the manifest names");
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// Notes an error that is one of an object. The rest goes on without it.
    fn noted<T>(
        &mut self,
        key: &str,
        offset: u64,
        result: Result<T, RemoteError>,
    ) -> Result<Option<T>, RemoteError> {
        match result {
            Ok(found) => Ok(Some(found)),
            Err(error @ RemoteError::Cancelled(_)) => Err(error),
            // That tells nothing of the object.
            Err(error) if error.is_of_network() => Err(error),
            Err(RemoteError::Damaged { offset, what, .. }) => {
                self.problem(key, offset, what);
                Ok(None)
            }
            Err(RemoteError::Missing { .. }) => {
                self.problem(key, 0, "is missing");
                Ok(None)
            }
            Err(error) => {
                self.problem(key, offset, format!("cannot be read: {error}"));
                Ok(None)
            }
        }
    }

    fn segment(&mut self, entry: &SegmentEntry, index: &ObjectRef<u64>) -> Result<(), RemoteError> {
        let folder = keys::segment(entry);
        let key = format!("{folder}/{}", keys::INDEX);
        if index.bytes > index::BYTES_MAX {
            self.problem(&key, 0, "longer than such an object can be");
            return Ok(());
        }
        let found = self.whole(&key, index.bytes, |bytes| checksum(bytes) == index.checksum)?;
        let Some(bytes) = found else { return Ok(()) };
        let files = index::decode(&bytes, &self.store.object(&key));
        let Some(files) = self.noted(&key, 0, files)? else { return Ok(()) };
        files.iter().try_for_each(|file| self.file(&format!("{folder}/{}", file.name), file))
    }

    fn file(&mut self, key: &str, file: &IndexedFile) -> Result<(), RemoteError> {
        if !self.has_length(key, file.bytes)? {
            return Ok(());
        }
        for (number, sums) in file.sums.chunks(PAGES_AT_ONCE).enumerate() {
            self.cancel.check()?;
            let offset = number as u64 * PAGES_AT_ONCE as u64 * PAGE_BYTES;
            let length = (file.bytes - offset).min(PAGES_AT_ONCE as u64 * PAGE_BYTES);
            let mut bytes = vec![0; length as usize];
            // What is damaged on its way is fetched once more; what is so again is damaged there.
            for is_last in [false, true] {
                let (store, counters) = (self.store, &self.counters);
                let found = retrying(counters, || store.get_range(key, offset, &mut bytes));
                if self.noted(key, offset, found)?.is_none() {
                    return Ok(());
                }
                let mut pages = bytes.chunks(PAGE_BYTES as usize).zip(sums).enumerate();
                match pages.find(|(_, (page, sum))| checksum(page) != **sum) {
                    None => break,
                    Some((page, _)) if is_last => {
                        let at = offset + page as u64 * PAGE_BYTES;
                        let what =
                            format!("the {PAGE_BYTES} bytes from here on are not those that were published");
                        self.problem(key, at, what);
                    }
                    Some(_) => {}
                }
            }
            self.read(length);
        }
        Ok(())
    }

    fn log(&mut self, log: &ObjectRef<u128>) -> Result<(), RemoteError> {
        self.whole(&keys::log(log.checksum), log.bytes, |bytes| xxh3_128(bytes) == log.checksum).map(drop)
    }
}
