//! The version that a folder holds: what its manifest names, and what its log tells.

use crate::delta::{ChangeSet, Delta, Row, TermTable};
use crate::error::StoreError;
use crate::log::{Changes, LogEnd, LogRecord, Salvaged, VERSIONS_LOST_MAX, salvage};
use crate::manifest::{LOG_ADVICE, Manifest, advised, log_file};
use crate::version::Version;
use lode_base::vfs::Vfs;
use lode_packed::BlockCache;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the log of a database was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLog {
    /// The file.
    pub path: PathBuf,
    /// Its end.
    pub end: LogEnd,
    /// What is wrong with its end mark, without which damage to its end could not be seen.
    pub mark_damage: Option<String>,
    /// Whether the end mark says that the log was durable up to its end.
    pub is_marked: bool,
}

impl FoundLog {
    /// Damage is an error.
    pub(crate) fn new(path: &Path, found: Salvaged) -> Result<Self, StoreError> {
        let mark_damage = found.mark_damage.map(|error| error.to_string());
        let sound = Self { path: path.to_owned(), end: found.end, mark_damage, is_marked: found.is_marked };
        found.damage.map_or(Ok(sound), Err)
    }

    /// What people should know about it.
    pub fn note(&self) -> Option<&dyn fmt::Display> {
        let is_notable = self.end.ignored_bytes > 0 || self.mark_damage.is_some();
        is_notable.then_some(self)
    }

    /// What a check should tell: nothing proves that the log was not longer. A log that is being written to has no mark of its last commits,
    /// nor has one whose process was killed in the middle of them.
    pub fn unproved(&self) -> Option<String> {
        (!self.is_marked && self.mark_damage.is_none()).then(|| {
            format!(
                "{}: no end mark says that the log ends at byte {}, as there is none while a process writes to it, or where one was killed \
                 then. All that it holds is whole; but if that was not so, it may have been longer",
                self.path.display(),
                self.end.offset
            )
        })
    }
}

impl fmt::Display for FoundLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogEnd { offset, ignored_bytes, .. } = self.end;
        write!(f, "{}: ", self.path.display())?;
        if ignored_bytes > 0 {
            write!(
                f,
                "{ignored_bytes} bytes after the last whole record, which ends at byte {offset}, do not count: of a commit that is \
                 being written, or was when the process or the power ended. Nothing is lost that was told to be durable, unless \
                 the disk has damaged it since"
            )?;
        }
        if let Some(damage) = &self.mark_damage {
            let separator = if ignored_bytes > 0 { "; " } else { "" };
            write!(
                f,
                "{separator}its end mark is damaged ({damage}): all of the log is read, but nobody can tell whether it was longer"
            )?;
        }
        Ok(())
    }
}

/// When the files of segments are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenFiles {
    /// At once: what is open can be read whoever removes it.
    Now,
    /// When something in them is wanted.
    WhenRead,
}

/// Opens the version of a manifest and applies its log. Changes nothing. How the log was found, if there is one.
pub fn recover(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    manifest: Manifest,
    cache: &Arc<BlockCache>,
    files: OpenFiles,
) -> Result<(Version, Option<FoundLog>), StoreError> {
    let mut version = match files {
        OpenFiles::Now => Version::open(vfs, folder, manifest, cache, &[])?,
        OpenFiles::WhenRead => Version::open_when_read(vfs, folder, manifest, cache)?,
    };
    let log = folder.join(log_file(version.manifest.log));
    let found = apply_log(&**vfs, folder, &mut version).map_err(|error| log_advised(error, &**vfs, &log))?;
    Ok((version, found))
}

/// Applies the log of a version that was made of its manifest alone.
pub fn apply_log(
    vfs: &dyn Vfs,
    folder: &Path,
    version: &mut Version,
) -> Result<Option<FoundLog>, StoreError> {
    let path = folder.join(log_file(version.manifest.log));
    apply_sound_log(vfs, folder, version)?.map(|found| FoundLog::new(&path, found)).transpose()
}

/// Goes on behind all version numbers that somebody may have seen, where the log may have lost its end.
pub fn skip_lost_versions(version: &mut Version, found: Option<&FoundLog>) {
    if version.manifest.log != 0 && !found.is_some_and(|found| found.end.is_closed) {
        version.number = version.number.saturating_add(VERSIONS_LOST_MAX);
    }
}

/// The same, and damage only ends the log.
pub fn apply_sound_log(
    vfs: &dyn Vfs,
    folder: &Path,
    version: &mut Version,
) -> Result<Option<Salvaged>, StoreError> {
    if version.manifest.log == 0 {
        return Ok(None);
    }
    let path = folder.join(log_file(version.manifest.log));
    let mut recovery =
        Recovery { number: version.number, next_blank: version.next_blank, ..Recovery::default() };
    let (database, log) = (version.manifest.database, version.manifest.log);
    let found = salvage(vfs, &path, database, log, &mut |record| recovery.apply(&path, &record))?;
    version.number = recovery.number;
    version.next_blank = recovery.next_blank;
    version.delta = Delta::new(recovery.net.finish(), Arc::new(recovery.terms));
    Ok(Some(found))
}

/// The error about a log, with what can be done about it where that is damaged.
pub fn log_advised(error: StoreError, vfs: &dyn Vfs, log: &Path) -> StoreError {
    let is_of_log = matches!(&error, StoreError::Corruption { file, .. } if Path::new(file) == log);
    let folder = log.parent().unwrap_or(log);
    if is_of_log { advised(error, vfs, folder, LOG_ADVICE) } else { error }
}

#[derive(Default)]
struct Recovery {
    number: u64,
    next_blank: u64,
    terms: TermTable,
    net: Net,
}

impl Recovery {
    fn apply(&mut self, path: &Path, record: &LogRecord<'_>) -> Result<(), StoreError> {
        let wrong = |what: &str| StoreError::corruption(path, record.offset, what);
        let changes = Changes::decode(record, path)?;
        if changes.version <= self.number {
            return Err(wrong("a record of a version that there was before"));
        }
        if changes.first_term != self.terms.len() {
            return Err(wrong("terms are missing before a record"));
        }
        for (index, (section, key)) in (changes.first_term..).zip(&changes.terms) {
            if self.terms.insert(*section, key) != Some(index) {
                return Err(wrong("a record brings a term that there was before"));
            }
        }
        self.number = changes.version;
        self.next_blank = self.next_blank.max(changes.next_blank);
        self.net.add(&changes.inserts, true);
        self.net.add(&changes.deletes, false);
        Ok(())
    }
}

/// So many changes are held at least before those that cancel out are looked for: what a processor can sort in its own cache.
const CHANGES_MIN: usize = 1 << 16;

/// The net effect of changes in their order. Each really changed something, so those of a quad alternate: the first tells whether it was
/// there before, the last whether it is there after.
///
/// A log may change the same quads again and again. What cancels out is forgotten whenever there are twice as many changes as were
/// left the last time, so there is never much more than a delta can hold.
#[derive(Default)]
struct Net {
    /// Quads, and whether they were inserted.
    changes: Vec<(Row, bool)>,
    /// Those of them that were left the last time.
    left: usize,
}

impl Net {
    fn add(&mut self, quads: &[Row], is_insert: bool) {
        self.changes.extend(quads.iter().map(|quad| (*quad, is_insert)));
        if self.changes.len() > CHANGES_MIN.max(2 * self.left) {
            self.reduce();
        }
    }

    /// Leaves one change of each quad that is there after and was not before, or the other way.
    fn reduce(&mut self) {
        // Stable: changes of a quad stay in their order. What was left the last time is sorted, and found to be.
        self.changes.sort_by_key(|(quad, _)| *quad);
        let (mut from, mut to) = (0, 0);
        while let Some((quad, first)) = self.changes.get(from).copied() {
            let rest = self.changes.get(from..).unwrap_or_default();
            let count = rest.iter().take_while(|(other, _)| *other == quad).count();
            let last = rest.get(count - 1).is_some_and(|(_, last)| *last);
            if first == last {
                if let Some(place) = self.changes.get_mut(to) {
                    *place = (quad, first);
                }
                to += 1;
            }
            from += count;
        }
        self.changes.truncate(to);
        self.left = to;
    }

    /// What is inserted and what is deleted, sorted.
    fn finish(mut self) -> ChangeSet {
        self.reduce();
        let of = |is_insert: bool| {
            let changes = self.changes.iter().filter(|(_, insert)| *insert == is_insert);
            changes.map(|(quad, _)| *quad).collect()
        };
        ChangeSet::new(of(true), of(false))
    }
}

#[cfg(test)]
mod tests {
    //! Changes that cancel out, few and very many.
    use super::*;
    use lode_packed::Order;
    use std::collections::BTreeMap;

    #[test]
    fn what_cancels_out_is_forgotten() {
        let row = |number: u64| [number, 1, 2, 0];
        let (mut net, mut state) = (Net::default(), BTreeMap::new());
        let mut most = 0;
        // Some quads are there before: of these the first change is a deletion.
        let was_there = |number: u64| number.is_multiple_of(3);
        for round in 0..60_u64 {
            for number in 0..50_000 {
                if (number * 7 + round * 13) % 5 == 0 {
                    let is_there = state.entry(number).or_insert_with(|| was_there(number));
                    *is_there = !*is_there;
                    net.add(&[row(number)], *is_there);
                    most = most.max(net.changes.capacity());
                }
            }
        }
        let change_set = net.finish();
        let wanted = |now: bool| -> Vec<Row> {
            let changed = state.iter().filter(|(number, is)| **is == now && was_there(**number) != now);
            changed.map(|(number, _)| row(*number)).collect()
        };
        assert_eq!(change_set.inserts.rows(Order::Spog).as_slice(), wanted(true));
        assert_eq!(change_set.deletes.rows(Order::Spog).as_slice(), wanted(false));
        assert!(most <= 4 * CHANGES_MIN, "{most}");
    }
}
