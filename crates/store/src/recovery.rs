//! The version that a folder holds: what its manifest names, and what its log tells.

use crate::delta::{Delta, Row, Run, TermTable};
use crate::error::StoreError;
use crate::log::{Changes, LogEnd, LogRecord, Salvaged, salvage};
use crate::manifest::{Manifest, log_file};
use crate::version::Version;
use lode_base::vfs::Vfs;
use lode_packed::BlockCache;
use std::path::Path;
use std::sync::Arc;

/// Opens the version of a manifest and applies its log. Changes nothing. The end of the log, if there is one.
pub fn recover(
    vfs: &Arc<dyn Vfs>,
    folder: &Path,
    manifest: Manifest,
    cache: &Arc<BlockCache>,
) -> Result<(Version, Option<LogEnd>), StoreError> {
    let mut version = Version::open(vfs, folder, manifest, cache, &[])?;
    let end = apply_log(&**vfs, folder, &mut version)?;
    Ok((version, end))
}

/// Applies the log of a version that was made of its manifest alone. The end of the log, if there is one.
pub fn apply_log(vfs: &dyn Vfs, folder: &Path, version: &mut Version) -> Result<Option<LogEnd>, StoreError> {
    match apply_sound_log(vfs, folder, version)? {
        Some(Salvaged { damage: Some(damage), .. }) => Err(damage),
        found => Ok(found.map(|found| found.end)),
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
    version.delta = Delta::new(net(recovery.changes), Arc::new(recovery.terms));
    Ok(Some(found))
}

/// The error of a database that cannot be opened for writing, with what can be done about it.
pub fn with_advice(error: StoreError, log: &Path) -> StoreError {
    match error {
        StoreError::Corruption { file, offset, what } if Path::new(&file) == log => {
            let what =
                format!("{what}; `lode check --salvage` makes a database of what is before the damage");
            StoreError::Corruption { file, offset, what }
        }
        other => other,
    }
}

#[derive(Default)]
struct Recovery {
    number: u64,
    next_blank: u64,
    terms: TermTable,
    /// Quads, and whether they were inserted, in the order of the log.
    changes: Vec<(Row, bool)>,
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
        self.changes.extend(changes.inserts.into_iter().map(|quad| (quad, true)));
        self.changes.extend(changes.deletes.into_iter().map(|quad| (quad, false)));
        Ok(())
    }
}

/// The net effect of changes in their order. Each really changed something, so those of a quad alternate: the first tells whether it was
/// there before, the last whether it is there after.
fn net(mut changes: Vec<(Row, bool)>) -> Run {
    changes.sort_by_key(|(quad, _)| *quad);
    let (mut inserts, mut deletes) = (Vec::new(), Vec::new());
    for of_quad in changes.chunk_by(|a, b| a.0 == b.0) {
        match (of_quad.first(), of_quad.last()) {
            (Some((quad, true)), Some((_, true))) => inserts.push(*quad),
            (Some((quad, false)), Some((_, false))) => deletes.push(*quad),
            _ => {}
        }
    }
    Run::new(inserts, deletes)
}
