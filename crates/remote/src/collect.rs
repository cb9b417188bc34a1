//! Garbage collection: versions that are not kept go, and later the objects that only they needed.
//!
//! It cannot know who reads a version, nor what somebody who publishes is about to name. So in a first run what no version needs is condemned (the
//! object `garbage` lists it, with the time), and only a run that comes a while later removes it: within that time a publication that is under way ends.

use crate::error::RemoteError;
use crate::folder::UPLOADS;
use crate::keys;
use crate::object::ObjectStore;
use crate::place::refuse_databases;
use crate::version::PublishedVersion;
use crate::versions;
use lode_store::load::parts::PLAN;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A longer list is none.
const LIST_BYTES_MAX: u64 = 64 << 20;

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub struct CollectOptions {
    /// So many of the newest versions, at least one; those that have a name are kept besides.
    pub keep: u64,
    /// How long what no version needs stays.
    pub grace: Duration,
}

/// What a collection did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectReport {
    /// Versions that there are.
    pub versions: u64,
    /// Versions that were removed.
    pub versions_removed: u64,
    /// Segments and logs that were removed.
    pub removed: u64,
    /// Segments and logs that no version needs, and that a later run removes.
    pub condemned: u64,
}

/// Removes versions that are not kept, and what nobody has needed for long.
///
/// # Errors
/// Where the store cannot tell what it holds, cannot be read or written, or the manifest of a version is damaged: then nobody knows what it needs.
pub fn collect(store: &dyn ObjectStore, options: &CollectOptions) -> Result<CollectReport, RemoteError> {
    refuse_databases(store)?;
    versions::newest_for_writing(store)?;
    let all = versions::list_versions(store)?;
    let Some(newest) = all.last() else { return Ok(CollectReport::default()) };
    // Who cannot ask for a list begins there.
    versions::write_copy(store, newest)?;
    let kept_from = all.len().saturating_sub(usize::try_from(options.keep.max(1)).unwrap_or(usize::MAX));
    let is_old = |at: usize, version: &PublishedVersion| at < kept_from && version.name.is_none();
    let mut report = CollectReport::default();
    for (at, version) in all.iter().enumerate() {
        if is_old(at, version) {
            store.remove(&keys::manifest(version.number))?;
            report.versions_removed += 1;
        }
    }
    // With those that were published meanwhile.
    let left = versions::list_versions(store)?;
    report.versions = left.len() as u64;
    let unneeded = unneeded(store, &left)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let before = read_list(store)?;
    let mut list = BTreeMap::new();
    for name in unneeded {
        let since = before.get(&name).copied().unwrap_or(now);
        if now.saturating_sub(since) >= options.grace.as_secs() {
            store.remove(&name)?;
            report.removed += 1;
        } else {
            list.insert(name, since);
        }
    }
    report.condemned = list.len() as u64;
    if list != before {
        write_list(store, &list)?;
    }
    Ok(report)
}

/// Names of what a collection may remove soon.
///
/// # Errors
/// Where the list cannot be read or is damaged.
pub fn condemned(store: &dyn ObjectStore) -> Result<BTreeSet<String>, RemoteError> {
    Ok(read_list(store)?.into_keys().collect())
}

/// What is there and no version needs.
fn unneeded(store: &dyn ObjectStore, versions: &[PublishedVersion]) -> Result<Vec<String>, RemoteError> {
    let segments = versions.iter().flat_map(|version| version.manifest.segments.iter().map(keys::segment));
    let logs = versions.iter().filter_map(|version| version.log.map(|log| keys::log(log.checksum)));
    let needed: BTreeSet<String> = segments.chain(logs).collect();
    let names = store.list("")?.unwrap_or_default();
    let is_ours = |name: &String| name.starts_with(keys::SEGMENT) || name.starts_with(keys::LOG);
    // What a worker has written once its load was over.
    let has_work = names.iter().any(|name| name == keys::WORK);
    let is_over = has_work && !store.list(keys::WORK)?.unwrap_or_default().iter().any(|name| name == PLAN);
    let mut unneeded: Vec<String> =
        names.into_iter().filter(|name| is_ours(name) && !needed.contains(name)).collect();
    unneeded.extend(is_over.then(|| keys::WORK.to_owned()));
    // What somebody who was killed was writing.
    unneeded
        .extend(store.list(UPLOADS)?.unwrap_or_default().into_iter().map(|name| format!("{UPLOADS}/{name}")));
    Ok(unneeded)
}

/// Since when nobody needs what.
type List = BTreeMap<String, u64>;

fn read_list(store: &dyn ObjectStore) -> Result<List, RemoteError> {
    let bytes = match store.get(keys::GARBAGE, LIST_BYTES_MAX) {
        Err(RemoteError::Missing { .. }) => return Ok(List::new()),
        found => found?,
    };
    let damaged = || {
        RemoteError::damaged(
            store.object(keys::GARBAGE),
            0,
            "not the list of a garbage collection; it may be removed",
        )
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
    let entry = |line: &str| {
        let (since, name) = line.split_once(' ')?;
        Some((name.to_owned(), since.parse().ok()?))
    };
    text.lines().map(|line| entry(line).ok_or_else(damaged)).collect()
}

fn write_list(store: &dyn ObjectStore, list: &List) -> Result<(), RemoteError> {
    let mut text = String::new();
    for (name, since) in list {
        let _ = writeln!(text, "{since} {name}");
    }
    store.put(keys::GARBAGE, &mut text.as_bytes())
}
