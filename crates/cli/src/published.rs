//! Published databases in the place of a folder: what an address means, and where what is read of them is kept.

use crate::args::CacheArgs;
use crate::exit::wrong_usage;
use crate::number;
use anyhow::Context;
use lode_engine::store::{OpenFiles, Snapshot};
use lode_engine::{CancelToken, Database, OpenOptions};
use lode_remote::{Address, CacheOptions, Published, ReadOptions, RemoteError, RemoteSample, Wanted};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The address that stands where a folder may, if it is one.
pub fn address(place: &Path) -> anyhow::Result<Option<Address>> {
    place.to_str().map_or(Ok(None), |name| Address::of(name).map_err(usage))
}

/// Whether what stands for a folder is an address of published databases, or was to be one.
pub fn is_address(place: &Path) -> bool {
    !matches!(address(place), Ok(None))
}

/// The same where `http://` can be nothing else.
pub fn database_address(place: &Path) -> anyhow::Result<Option<Address>> {
    place.to_str().map_or(Ok(None), |name| Address::of_database(name).map_err(usage))
}

/// An address that cannot be is a mistake of the command line.
fn usage(error: RemoteError) -> anyhow::Error {
    wrong_usage(error.to_string())
}

/// A database that is only read, from its folder or from where it is published, and what of it is asked: the snapshot, or the published version, that
/// `at` names.
pub fn read(
    place: &Path,
    at: Option<&str>,
    cache: &CacheArgs,
    options: &OpenOptions,
) -> anyhow::Result<(Database, Snapshot)> {
    match address(place)? {
        Some(address) => {
            let database = open(&address, at, cache, None)?.database(options, OpenFiles::WhenRead)?;
            let snapshot = database.snapshot();
            Ok((database, snapshot))
        }
        None => {
            let database = Database::open(place, options)?;
            let snapshot = database.snapshot_at(at)?;
            Ok((database, snapshot))
        }
    }
}

/// Opens the version that `at` says, or the newest.
pub fn open(
    address: &Address,
    at: Option<&str>,
    cache: &CacheArgs,
    timeout: Option<Duration>,
) -> anyhow::Result<Published> {
    let options = ReadOptions {
        wanted: at.map_or_else(Wanted::default, Wanted::of),
        cache: cache_of(address, cache)?,
        cancel: CancelToken::new(timeout),
        ..ReadOptions::default()
    };
    Ok(Published::open(address, &options)?)
}

/// The same for databases of which some may be published.
#[cfg(feature = "cluster")]
pub fn cache_of_any(places: &[String], cache: &CacheArgs) -> anyhow::Result<Option<CacheOptions>> {
    for place in places {
        if let Some(address) = database_address(place.as_ref())?
            && let Some(options) = cache_of(&address, cache)?
        {
            return Ok(Some(options));
        }
    }
    Ok(None)
}

fn cache_of(address: &Address, cache: &CacheArgs) -> anyhow::Result<Option<CacheOptions>> {
    let folder = match (&cache.cache_dir, address) {
        (Some(folder), _) => folder.clone(),
        (None, Address::Folder(_)) => return Ok(None),
        (None, Address::Web(_) | Address::Cloud(_)) => {
            default_folder().context("there is no folder for your caches")?
        }
    };
    Ok(Some(CacheOptions { folder, bytes_max: cache.cache_dir_size as u64 }))
}

/// As the freedesktop.org specification of base directories has it.
fn default_folder() -> anyhow::Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| variable("HOME").map(|home| home.join(".cache")));
    folder.map(|folder| folder.join("lode")).ok_or_else(|| wrong_usage("name one with --cache-dir"))
}

/// What was asked of the store, as a line for people.
pub fn told(sample: &RemoteSample) -> String {
    let mut text = format!(
        "object storage: {} for {}, waited {} (all threads together); from the cache on disk: {} in {}",
        number::of(sample.requests, "request"),
        number::bytes(sample.bytes),
        number::duration(sample.wait),
        number::bytes(sample.cache_bytes),
        number::of(sample.cache_reads, "read"),
    );
    for (count, what) in [
        (sample.retries, "sent again"),
        (sample.cache_damaged, "damaged in the cache and fetched again"),
        (sample.cache_unwritten, "could not be written to the cache"),
    ] {
        if count > 0 {
            text += &format!("; {count} {what}");
        }
    }
    text
}

/// The same for programs.
pub fn as_json(sample: &RemoteSample) -> Value {
    json!({
        "requests": sample.requests,
        "bytes": sample.bytes,
        "wait_seconds": sample.wait.as_secs_f64(),
        "retries": sample.retries,
        "cache_reads": sample.cache_reads,
        "cache_bytes": sample.cache_bytes,
        "cache_damaged": sample.cache_damaged,
        "cache_unwritten": sample.cache_unwritten,
    })
}

#[cfg(test)]
mod tests {
    //! What is an address.
    use super::*;

    #[test]
    fn addresses_are_no_folders() {
        for name in ["file:///srv/db", "s3://bucket/db", "lode+https://h/db", "file://wrong"] {
            assert!(is_address(Path::new(name)), "{name}");
        }
        for name in ["my.db", "/srv/db", "http://h/db", "a:b"] {
            assert!(!is_address(Path::new(name)), "{name}");
        }
    }
}
