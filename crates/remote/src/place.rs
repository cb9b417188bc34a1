//! Where nothing may be published.

use crate::error::RemoteError;
use crate::object::ObjectStore;

/// Refuses the folder of a database itself: its segments are named as published ones are, and would be collected as those are that no version needs.
///
/// # Errors
/// [`RemoteError::Address`] where a database has its files; where the store cannot be read.
pub(crate) fn refuse_databases(store: &dyn ObjectStore) -> Result<(), RemoteError> {
    const OF_DATABASES: [&str; 3] = ["MANIFEST", "MANIFEST.copy", "LOCK"];
    let names = store.list("")?.unwrap_or_default();
    if !names.iter().any(|name| OF_DATABASES.contains(&name.as_str())) {
        return Ok(());
    }
    let what = "this is the folder of a database itself: publish to a folder of its own".to_owned();
    Err(RemoteError::Address { address: store.name().to_owned(), what })
}
