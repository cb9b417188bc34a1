//! The beginning and the end of a load whose database is a published one: nothing may be published there before, and then all that the tasks have made
//! becomes its first version, in one step. It may be begun again after a kill at any place, also behind that step.

use super::work_place::index_of;
use crate::counters::RemoteCounters;
use crate::error::RemoteError;
use crate::keys;
use crate::object::ObjectStore;
use crate::place::refuse_databases;
use crate::retry::retrying;
use crate::version::PublishedVersion;
use crate::versions;
use lode_base::cancel::CancelToken;
use lode_store::load::LoadProgress;
use lode_store::load::parts::{Board, Finished, PartsReport, Plan, begin_at, finished};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Begins a load, or goes on with one that is there; whether it goes on. `board` is that of a [`LoadPlace`](super::LoadPlace) of the same store.
///
/// # Errors
/// Where a database is published there, or another load has begun; where the store cannot be read or written.
pub fn begin_load(store: &dyn ObjectStore, board: &Board, plan: &Plan) -> Result<bool, RemoteError> {
    refuse_databases(store)?;
    Ok(begin_at(board, plan, &|there| {
        let newest = retrying(&RemoteCounters::default(), || versions::newest(store));
        match newest.map_err(lode_store::StoreError::from)? {
            Some(newest) if there.is_none_or(|plan| !is_of(&newest, plan.identity)) => {
                Err(lode_store::StoreError::from(conflict(store, &newest)).into())
            }
            _ => Ok(None),
        }
    })?)
}

/// Whether a version is of the database that a load has made.
fn is_of(version: &PublishedVersion, load: u128) -> bool {
    version.manifest.database == load
}

fn conflict(store: &dyn ObjectStore, newest: &PublishedVersion) -> RemoteError {
    let what = format!(
        "a database is published there already (version {}): a load with workers makes new ones only; load to another address",
        newest.number
    );
    RemoteError::Conflict { address: store.name().to_owned(), what }
}

/// Publishes what a load has made of which all tasks are done, and says so to its workers. Its work is the caller's to remove once they have ended.
///
/// # Errors
/// Where a task is not done, somebody has published something else there, or the store cannot be read or written. Then it may be tried again.
pub fn publish_load(
    store: &dyn ObjectStore,
    board: &Board,
    cancel: &CancelToken,
    progress: &Arc<LoadProgress>,
) -> Result<PartsReport, RemoteError> {
    let finished = finished(board, cancel, progress)?;
    let mut report = finished.report.clone();
    let version = first_version(board, &finished)?;
    let before = versions::newest_for_writing(store)?;
    report.was_published = before.is_some();
    let newest = match before {
        Some(before) => before,
        None => put_first(store, version)?,
    };
    if !is_of(&newest, finished.manifest.database) {
        return Err(conflict(store, &newest));
    }
    versions::write_copy(store, &newest)?;
    for other in &finished.others {
        // What cannot be removed now goes with the next garbage collection.
        let _ = store.remove(&keys::segment_of(*other));
    }
    board.put_over()?;
    Ok(report)
}

fn first_version(board: &Board, finished: &Finished) -> Result<PublishedVersion, RemoteError> {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let index = |attempt| index_of(&**board.vfs(), attempt);
    let indexes = finished.segments.iter().map(|segment| index(&segment.attempt));
    Ok(PublishedVersion {
        number: 1,
        epoch: 1,
        // No folder of a database: whoever goes on from here takes over.
        publisher: finished.manifest.database,
        time,
        name: None,
        version: finished.manifest.version,
        quads: finished.manifest.quads(),
        indexes: indexes.collect::<Result<_, _>>()?,
        log: None,
        prefixes: Arc::clone(&finished.prefixes),
        manifest: finished.manifest.clone(),
    })
}

/// Puts the manifest of the first version; that, or what somebody else has put there.
fn put_first(store: &dyn ObjectStore, version: PublishedVersion) -> Result<PublishedVersion, RemoteError> {
    let is_put = store.put_if_absent(&keys::manifest(version.number), version.encode().as_bytes())?;
    match is_put {
        true => Ok(version),
        false => versions::newest(store)?
            .ok_or_else(|| RemoteError::Lost { address: store.name().to_owned(), number: version.number }),
    }
}
