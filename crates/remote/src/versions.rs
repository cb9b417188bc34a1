//! Which versions are published, and which is the newest.
//!
//! Where a store tells what it holds, its list decides. A web server does not: there the copy of the newest manifest is where to begin, and the numbers
//! behind it are asked for, since who publishes writes the copy last.

use crate::error::RemoteError;
use crate::keys;
use crate::object::ObjectStore;
use crate::version::{BYTES_MAX, PublishedVersion};
use std::fmt;

/// Where somebody publishes very fast, a reader is content with a version that was the newest when it began.
const STEPS_MAX: u64 = 64;
/// Between a list and a read, garbage collection may have removed what was listed.
const ATTEMPTS: usize = 5;

/// Which version is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// The newest.
    #[default]
    Newest,
    /// The one of this number.
    Number(u64),
    /// The newest of those that have this name.
    Name(String),
    /// The newest of those that have this version of the database, as long as not many have been published since.
    OfDatabase(u64),
}

impl Wanted {
    /// What a text means: a number, or a name.
    pub fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number)
    }

    /// Whether it is this version; of the newest that is not known.
    fn is(&self, version: &PublishedVersion) -> bool {
        match self {
            Self::Newest => false,
            Self::Number(number) => version.number == *number,
            Self::Name(name) => version.name.as_ref() == Some(name),
            Self::OfDatabase(number) => version.version == *number,
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => f.write_str("newest"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
            Self::OfDatabase(number) => write!(f, "with version {number} of the database"),
        }
    }
}

/// The version of a number; none where there is none.
///
/// # Errors
/// Where the manifest cannot be read, is damaged, or of another version of the format.
pub fn read(store: &dyn ObjectStore, number: u64) -> Result<Option<PublishedVersion>, RemoteError> {
    let key = keys::manifest(number);
    let bytes = match store.get(&key, BYTES_MAX) {
        Err(RemoteError::Missing { .. }) => return Ok(None),
        found => found?,
    };
    let (object, version) = (store.object(&key), PublishedVersion::decode(&bytes, &store.object(&key))?);
    if version.number != number {
        return Err(RemoteError::damaged(object, 0, format!("the manifest of version {}", version.number)));
    }
    Ok(Some(version))
}

/// Numbers of all versions, ascending; none where the store does not tell.
///
/// # Errors
/// Where the store cannot be asked.
pub fn numbers(store: &dyn ObjectStore) -> Result<Option<Vec<u64>>, RemoteError> {
    let names = store.list(keys::MANIFESTS)?;
    Ok(names.map(|names| {
        let mut numbers: Vec<u64> = names.iter().filter_map(|name| keys::manifest_number(name)).collect();
        numbers.sort_unstable();
        numbers
    }))
}

/// The newest version; none where nothing is published.
///
/// # Errors
/// Where the store cannot be read; where the newest manifest is damaged, since an older version would be a wrong answer.
pub fn newest(store: &dyn ObjectStore) -> Result<Option<PublishedVersion>, RemoteError> {
    for _ in 0..ATTEMPTS {
        let Some(numbers) = numbers(store)? else { return newest_of_copy(store) };
        // Who was told of a publication must find it, also where somebody has removed its manifest: the copy, which is written after it, has all
        // of it. A copy that cannot be read tells nothing.
        match (numbers.last(), copy(store).unwrap_or_default()) {
            (last, Some(copy)) if last.is_none_or(|last| *last < copy.number) => {
                return after(store, copy).map(Some);
            }
            (None, _) => return Ok(None),
            (Some(number), _) => {
                if let Some(found) = read(store, *number)? {
                    return Ok(Some(found));
                }
            }
        }
    }
    Err(RemoteError::Missing { object: store.object(keys::MANIFESTS) })
}

/// The newest version, for who is about to publish after it or to remove older ones. Its manifest is put back where somebody has removed it.
///
/// # Errors
/// As [`newest`]; where the store cannot be written.
pub fn newest_for_writing(store: &dyn ObjectStore) -> Result<Option<PublishedVersion>, RemoteError> {
    let advised = |error| match error {
        RemoteError::Damaged { object, offset, what } => {
            let what = format!(
                "{what}; nothing is published after a damaged manifest: `lode check {}` says what to do",
                store.name()
            );
            RemoteError::Damaged { object, offset, what }
        }
        other => other,
    };
    let Some(found) = newest(store).map_err(advised)? else { return Ok(None) };
    if numbers(store)?.is_some_and(|numbers| numbers.binary_search(&found.number).is_err()) {
        // Whoever else has put it back has put the same.
        store.put_if_absent(&keys::manifest(found.number), found.encode().as_bytes())?;
    }
    Ok(Some(found))
}

fn newest_of_copy(store: &dyn ObjectStore) -> Result<Option<PublishedVersion>, RemoteError> {
    let Some(copy) = copy(store)? else { return Ok(None) };
    after(store, copy).map(Some)
}

/// The copy of the newest manifest, which may be that of one before.
///
/// # Errors
/// As [`newest`].
pub fn copy(store: &dyn ObjectStore) -> Result<Option<PublishedVersion>, RemoteError> {
    match store.get(keys::LATEST, BYTES_MAX) {
        Err(RemoteError::Missing { .. }) => Ok(None),
        found => PublishedVersion::decode(&found?, &store.object(keys::LATEST)).map(Some),
    }
}

/// The newest of the versions that follow one without a gap, or that one.
///
/// # Errors
/// As [`newest`].
pub fn after(
    store: &dyn ObjectStore,
    mut version: PublishedVersion,
) -> Result<PublishedVersion, RemoteError> {
    for _ in 0..STEPS_MAX {
        match read(store, version.number.saturating_add(1)) {
            Ok(Some(next)) => version = next,
            Ok(None) => break,
            // So some servers say that there is nothing.
            Err(RemoteError::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(version)
}

/// The version that is wanted.
///
/// # Errors
/// [`RemoteError::Unpublished`] where nothing is published, [`RemoteError::NoVersion`] where this is not; else as [`newest`].
pub fn find(store: &dyn ObjectStore, wanted: &Wanted) -> Result<PublishedVersion, RemoteError> {
    let found = match wanted {
        Wanted::Newest => newest(store)?,
        Wanted::Number(number) => read(store, *number)?,
        Wanted::Name(name) => {
            list_versions(store)?.into_iter().rfind(|version| version.name.as_ref() == Some(name))
        }
        Wanted::OfDatabase(version) => of_database(store, *version)?,
    };
    if let Some(found) = found {
        return Ok(found);
    }
    let address = store.name().to_owned();
    match newest(store)? {
        // Its manifest was removed, and its copy is there.
        Some(newest) if wanted.is(&newest) => Ok(newest),
        Some(newest) => {
            let found = numbers(store)?.unwrap_or_else(|| vec![newest.number]);
            let (first, last) = (found.first().unwrap_or(&newest.number), newest.number);
            let found = if *first == last { format!("{last}") } else { format!("{first} to {last}") };
            Err(RemoteError::NoVersion { address, wanted: wanted.to_string(), found })
        }
        None => Err(unpublished(store)),
    }
}

/// The newest with this version of the database: from the newest backwards, over those that are gone.
fn of_database(store: &dyn ObjectStore, version: u64) -> Result<Option<PublishedVersion>, RemoteError> {
    let Some(newest) = newest(store)? else { return Ok(None) };
    let last = newest.number;
    if newest.version == version {
        return Ok(Some(newest));
    }
    for number in (last.saturating_sub(STEPS_MAX)..last).rev() {
        let found = read(store, number)?.filter(|found| found.version == version);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// What is said where nothing is published.
fn unpublished(store: &dyn ObjectStore) -> RemoteError {
    let address = store.name().to_owned();
    let names = store.list("").ok().flatten().unwrap_or_default();
    let is_web = ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    let what = match names.iter().any(|name| name == "MANIFEST") {
        true => " (it is the folder of a database, which is read as such, without file://)".to_owned(),
        // There nothing can be written.
        false if is_web => {
            "; `lode publish DB file:///FOLDER` makes one in the folder that the web server serves there"
                .to_owned()
        }
        false => format!("; `lode publish DB {address}` makes one"),
    };
    RemoteError::Unpublished { address, what }
}

/// All versions that there are, ascending: of a web server the newest only.
///
/// # Errors
/// As [`newest`].
pub fn list_versions(store: &dyn ObjectStore) -> Result<Vec<PublishedVersion>, RemoteError> {
    let Some(numbers) = numbers(store)? else { return Ok(newest(store)?.into_iter().collect()) };
    // Those that garbage collection removes meanwhile are none.
    numbers.into_iter().filter_map(|number| read(store, number).transpose()).collect()
}

/// Makes the copy that of the newest manifest, which is at least this one, and tells which that is. Of several who do this at once, the last leaves the newest.
///
/// # Errors
/// Where the store cannot be read or written.
pub fn write_copy(
    store: &dyn ObjectStore,
    version: &PublishedVersion,
) -> Result<PublishedVersion, RemoteError> {
    let mut newest = version.clone();
    loop {
        store.put(keys::LATEST, &mut newest.encode().as_bytes())?;
        match self::newest(store)? {
            Some(found) if found.number > newest.number => newest = found,
            _ => return Ok(newest),
        }
    }
}
