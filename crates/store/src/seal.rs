//! The last step before a new segment may be named by a manifest: everything of it is made durable.

use crate::error::StoreError;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use std::path::Path;

/// Writes the description of a segment whose other files are durable already, and makes it and the folders durable.
pub fn seal_segment(
    meta: &SegmentMeta,
    vfs: &dyn Vfs,
    segment: &Path,
    database: &Path,
) -> Result<(), StoreError> {
    let mut description = meta.write(vfs, segment)?;
    description.sync().map_err(StoreError::io(segment))?;
    vfs.sync_dir(segment).map_err(StoreError::io(segment))?;
    vfs.sync_dir(database).map_err(StoreError::io(database))
}
