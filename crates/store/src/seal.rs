//! The last step before a new segment may be named by a manifest: its sets of predicates are counted, and everything of it is made durable.

use crate::error::StoreError;
use crate::manifest::Sign;
use lode_base::cancel::Cancelled;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use lode_packed::segment::write_stars;
use std::path::Path;

/// Writes the sets of predicates and the description of a segment whose other files are durable already, and makes them and the folders
/// durable. The description as it was written. `check` is asked for each block.
pub fn seal_segment(
    meta: SegmentMeta,
    sign: Sign,
    vfs: &dyn Vfs,
    segment: &Path,
    database: &Path,
    check: &dyn Fn() -> Result<(), Cancelled>,
) -> Result<SegmentMeta, StoreError> {
    let mut meta = meta;
    // Quads that are deleted are not those of whole subjects.
    if sign == Sign::Insertions && meta.quads() > 0 {
        let (info, mut file) = write_stars(vfs, segment, &meta, check)?;
        file.sync().map_err(StoreError::io(segment))?;
        meta.stars = Some(info);
    }
    let mut description = meta.write(vfs, segment)?;
    description.sync().map_err(StoreError::io(segment))?;
    vfs.sync_dir(segment).map_err(StoreError::io(segment))?;
    vfs.sync_dir(database).map_err(StoreError::io(database))?;
    Ok(meta)
}
