//! Makes the manifest of a database again that has lost it: from its copy, or else from what the segments say of themselves.
//!
//! What takes part in the new manifest is decided before anything is changed ([`found`], [`choose`], [`logs`]). Then whatever it does not
//! name is set aside, not removed, and it is published. What cannot be decided is told. Killed in between, it can be begun again.

mod choose;
mod found;
mod logs;

#[cfg(test)]
mod tests;

use crate::error::StoreError;
use crate::log::VERSIONS_LOST_MAX;
use crate::manifest::{
    BACKUP, MANIFEST, MANIFEST_COPY, Manifest, SET_ASIDE, SegmentEntry, log_file, log_number, log_of,
    segment_number,
};
use crate::store::{FolderLock, lock};
use choose::{Choice, choices};
use found::Found;
use lode_base::vfs::Vfs;
use logs::{Fit, FoundLog};
use std::path::{Path, PathBuf};

/// How a manifest was made again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemadeReport {
    /// Whether it is its copy; else it was made of what the segments say.
    pub is_copy: bool,
    /// Segments that it names.
    pub segments: u64,
    /// Whether it names a log.
    pub has_log: bool,
    /// What could not be decided.
    pub doubts: Vec<String>,
    /// Where what it does not name is now.
    pub set_aside: Vec<PathBuf>,
}

/// Makes the manifest of the database in `folder` again, if it is missing or damaged; `None` where it is neither. Nobody else writes
/// meanwhile.
///
/// # Errors
/// Where there are no files of a database, another process writes to it, what is left does not say what the manifest was, or a file cannot be
/// read or written.
pub fn remake_manifest(vfs: &dyn Vfs, folder: &Path) -> Result<Option<RemadeReport>, StoreError> {
    let Some(_lock) = lock_lost(vfs, folder)? else { return Ok(None) };
    let found = Found::read(vfs, folder)?;
    let mut report = RemadeReport { doubts: found.doubts.clone(), ..RemadeReport::default() };
    let manifest = match copy(vfs, folder, &found, &mut report)? {
        Some(copy) => copy,
        None => from_segments(vfs, folder, &found, &mut report)?,
    };
    report.segments = manifest.segments.len() as u64;
    report.has_log = manifest.log != 0;
    set_aside(vfs, folder, &manifest, &found, &mut report)?;
    manifest.publish_with_copy(vfs, folder)?;
    Ok(Some(report))
}

/// Locks a database without a sound manifest; `None` where it has one.
fn lock_lost(vfs: &dyn Vfs, folder: &Path) -> Result<Option<FolderLock>, StoreError> {
    let is_lost = || match Manifest::read(vfs, folder) {
        Ok(_) => Ok(false),
        Err(StoreError::NoManifest { .. } | StoreError::Corruption { .. }) => Ok(true),
        Err(error) => Err(error),
    };
    if vfs.exists(&folder.join(BACKUP)) {
        return Err(StoreError::IsBackup { path: folder.to_owned() });
    }
    if !is_lost()? {
        return Ok(None);
    }
    let lock = lock(vfs, folder)?;
    Ok(is_lost()?.then_some(lock))
}

/// The copy, if all is there that it names. It was durable before the manifest, so it is no older than what was published.
fn copy(
    vfs: &dyn Vfs,
    folder: &Path,
    found: &Found,
    report: &mut RemadeReport,
) -> Result<Option<Manifest>, StoreError> {
    let copy = match Manifest::read_copy(vfs, folder) {
        Ok(Some(copy)) => copy,
        Ok(None) => return Ok(None),
        Err(error @ StoreError::Io { .. }) => return Err(error),
        Err(error) => {
            report.doubts.push(format!("the copy of the manifest is of no use: {error}"));
            return Ok(None);
        }
    };
    let lacks = |entry: &&SegmentEntry| !found.segments.iter().any(|meta| entry.is_of(meta));
    if let Some(entry) = copy.segments.iter().find(lacks) {
        let what =
            format!("the copy of the manifest is of no use: it names {}, which is not there", entry.folder());
        report.doubts.push(what);
        return Ok(None);
    }
    if copy.log != 0 && !vfs.exists(&folder.join(log_file(copy.log))) {
        let what = format!("{} is not there: what it told is lost", log_file(copy.log));
        report.doubts.push(what);
        return Ok(None);
    }
    let log = logs::read(vfs, folder, copy.database, copy.log)?;
    let version = log.and_then(|log| log.last_version).unwrap_or(0).max(copy.version);
    for meta in found.segments.iter().filter(|meta| meta.origin.version > version) {
        report.doubts.push(format!(
            "segment {} is of version {}, but the copy of the manifest, with its log, is of version {version}: \
             it may be older than the manifest was",
            meta.origin.number, meta.origin.version
        ));
    }
    report.is_copy = true;
    Ok(Some(copy))
}

/// The manifest that fits what the segments say of themselves, and the newest log.
fn from_segments(
    vfs: &dyn Vfs,
    folder: &Path,
    found: &Found,
    report: &mut RemadeReport,
) -> Result<Manifest, StoreError> {
    let database = found
        .database
        .ok_or_else(|| undecided(folder, "no segment and no log tells which database it is"))?;
    let log = found
        .logs
        .iter()
        .max()
        .map(|number| logs::read(vfs, folder, database, *number))
        .transpose()?
        .flatten();
    let choices = choices(&found.counting(), log.as_ref().and_then(|log| log.first_version));
    if choices.is_empty() {
        let what = "the segments that are there do not fit together: some are missing or damaged";
        return Err(undecided(folder, what));
    }
    let with = |fits: &[Fit]| choices.iter().find(|choice| fits.contains(&logs::fit(choice, log.as_ref())));
    let choice = with(&[Fit::GoesOn, Fit::NoLog]).or_else(|| with(&[Fit::IsDone])).or(choices.first());
    let choice = choice.ok_or_else(|| undecided(folder, "nothing is there"))?;
    let log = match (logs::fit(choice, log.as_ref()), log) {
        (Fit::GoesOn, Some(log)) => Some(log),
        (Fit::No, Some(log)) => {
            report.doubts.push(format!(
                "{} does not fit the segments that are there: what it told is not in the database",
                log_file(log.number)
            ));
            None
        }
        _ => {
            if found.segments.iter().any(|meta| meta.origin.next_log > 1) {
                let what =
                    "no log goes on from the segments: if one did, what it told is not in the database";
                report.doubts.push(what.to_owned());
            }
            None
        }
    };
    if !is_certain(choice, log.as_ref(), found) {
        report.doubts.push(
            "the manifest was made of what the segments say: what the program was writing when it was stopped, if it was, may count \
             although it had not taken effect, wholly or in part"
                .to_owned(),
        );
    }
    Ok(manifest(database, choice, log.as_ref(), found))
}

/// Whether nothing was being written when the manifest was lost that would have led to another: the only log goes on from these segments,
/// and there are no others.
fn is_certain(choice: &Choice, log: Option<&FoundLog>, found: &Found) -> bool {
    let is_taken =
        |number| choice.segments.iter().any(|entry| entry.number == number) || found.is_kept(number);
    log.is_some_and(|log| log.first_version.is_some())
        && found.logs.len() == 1
        && found.segments.iter().all(|meta| is_taken(meta.origin.number))
}

fn undecided(folder: &Path, what: &str) -> StoreError {
    StoreError::corruption(
        &folder.join(MANIFEST),
        0,
        format!("it cannot be made again: {what}; nothing was changed"),
    )
}

fn manifest(database: u128, choice: &Choice, log: Option<&FoundLog>, found: &Found) -> Manifest {
    let most = |of: &dyn Fn(&lode_packed::segment::SegmentOrigin) -> u64| {
        found.segments.iter().map(|meta| of(&meta.origin)).max().unwrap_or(0)
    };
    let next_log = found.next_log.max(most(&|origin| origin.next_log)).max(1);
    // Above all versions that there can have been: those without a segment of their own began a log, perhaps behind lost versions.
    let after_all = most(&|origin| origin.version).max(found.snapshot_version);
    let after_all = after_all.saturating_add(next_log.saturating_mul(VERSIONS_LOST_MAX + 1));
    Manifest {
        database,
        version: log.and_then(|log| log.first_version).map_or(after_all, |first| first - 1),
        next_blank: most(&|origin| origin.next_blank).max(found.next_blank),
        next_segment: found.next_segment,
        next_log,
        log: log.map_or(0, |log| log.number),
        snapshot: None,
        // Segments do not tell: what was inferred is in its graph, as something that was not made by any rules.
        inferences: None,
        segments: choice.segments.clone(),
    }
}

/// Moves aside what the manifest does not name, nor a snapshot.
fn set_aside(
    vfs: &dyn Vfs,
    folder: &Path,
    manifest: &Manifest,
    found: &Found,
    report: &mut RemadeReport,
) -> Result<(), StoreError> {
    let is_copy = report.is_copy;
    let stays = |name: &str| {
        let is_named = |number| manifest.segments.iter().any(|entry| entry.number == number);
        match (segment_number(name), log_number(log_of(name))) {
            (Some(number), _) => is_named(number) || found.is_kept(number),
            (_, Some(number)) => manifest.log == number,
            _ => name != MANIFEST && (name != MANIFEST_COPY || is_copy),
        }
    };
    let names = vfs.list(folder).map_err(StoreError::io(folder))?;
    let aside: Vec<_> = names.iter().filter(|name| !stays(&name.to_string_lossy())).collect();
    if aside.is_empty() {
        return Ok(());
    }
    let target = folder.join(SET_ASIDE);
    vfs.create_dir_all(&target).map_err(StoreError::io(&target))?;
    for name in aside {
        let to = free_name(vfs, &target, name);
        let from = folder.join(name);
        vfs.rename(&from, &to).map_err(StoreError::io(&from))?;
        report.set_aside.push(to);
    }
    for folder in [&*target, folder] {
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    Ok(())
}

/// A name that nothing set aside before has.
fn free_name(vfs: &dyn Vfs, folder: &Path, name: &Path) -> PathBuf {
    let mut to = folder.join(name);
    for number in 2_u64.. {
        if !vfs.exists(&to) {
            break;
        }
        to = folder.join(format!("{}.{number}", name.display()));
    }
    to
}
