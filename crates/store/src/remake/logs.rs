//! The newest log of a database that has lost its manifest, and whether it goes on from what segments hold.

use crate::error::StoreError;
use crate::log::{Changes, salvage};
use crate::manifest::log_file;
use crate::remake::choose::Choice;
use lode_base::vfs::Vfs;
use std::path::Path;

/// What a log tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLog {
    /// Its number.
    pub number: u64,
    /// The version of its first record.
    pub first_version: Option<u64>,
    /// The version of the last that is sound.
    pub last_version: Option<u64>,
}

/// How a log fits segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// There is none.
    NoLog,
    /// It goes on from them.
    GoesOn,
    /// All that it tells is in them.
    IsDone,
    /// Neither.
    No,
}

/// Reads a log; none where its number is 0. Damage ends it here, as it will when it is salvaged.
pub fn read(
    vfs: &dyn Vfs,
    folder: &Path,
    database: u128,
    number: u64,
) -> Result<Option<FoundLog>, StoreError> {
    if number == 0 {
        return Ok(None);
    }
    let path = folder.join(log_file(number));
    let mut log = FoundLog { number, first_version: None, last_version: None };
    salvage(vfs, &path, database, number, &mut |record| {
        let version = Changes::decode(&record, &path)?.version;
        log.first_version.get_or_insert(version);
        log.last_version = Some(version);
        Ok(())
    })?;
    Ok(Some(log))
}

/// Whether a log goes on from some segments.
pub fn fit(choice: &Choice, log: Option<&FoundLog>) -> Fit {
    let Some(log) = log else { return Fit::NoLog };
    match (log.first_version, log.last_version) {
        (Some(_), _) if log.number < choice.log_from => Fit::No,
        (Some(first), _) if first > choice.version => Fit::GoesOn,
        (_, Some(last)) if last <= choice.version => Fit::IsDone,
        (None, None) => Fit::GoesOn,
        _ => Fit::No,
    }
}
