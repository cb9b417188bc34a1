//! Copies a file, durably.

use crate::error::StoreError;
use lode_base::vfs::Vfs;
use std::path::Path;

/// Copies a file, durably.
pub fn copy_file(vfs: &dyn Vfs, from: &Path, to: &Path) -> Result<(), StoreError> {
    const CHUNK_BYTES: u64 = 1 << 20;
    let source = vfs.open(from).map_err(StoreError::io(from))?;
    let mut target = vfs.create(to).map_err(StoreError::io(to))?;
    let mut chunk = Vec::new();
    for start in (0..source.len()).step_by(CHUNK_BYTES as usize) {
        chunk.resize((source.len() - start).min(CHUNK_BYTES) as usize, 0);
        source.read_exact_at(&mut chunk, start).map_err(StoreError::io(from))?;
        target.write_all(&chunk).map_err(StoreError::io(to))?;
    }
    target.flush().and_then(|()| target.sync()).map_err(StoreError::io(to))
}
