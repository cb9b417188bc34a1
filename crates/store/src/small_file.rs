//! Small files that are read and replaced as a whole: each is the old one or the new one at any time.

use crate::error::StoreError;
use lode_base::vfs::Vfs;
use std::path::Path;

/// What a file has, of so many bytes at most; none where there is no file.
pub(crate) fn read_file(vfs: &dyn Vfs, path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, StoreError> {
    if !vfs.exists(path) {
        return Ok(None);
    }
    let reader = vfs.open(path).map_err(StoreError::io(path))?;
    let bytes = usize::try_from(reader.len()).unwrap_or(usize::MAX);
    if bytes > bytes_max {
        return Err(StoreError::Limit(format!("{}: it has more than {bytes_max} bytes", path.display())));
    }
    let mut text = vec![0; bytes];
    reader.read_exact_at(&mut text, 0).map_err(StoreError::io(path))?;
    Ok(Some(text))
}

/// Replaces a file in a folder, durably.
pub(crate) fn replace_file(vfs: &dyn Vfs, folder: &Path, name: &str, text: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(name);
    let new = path.with_extension("new");
    let mut file = vfs.create(&new).map_err(StoreError::io(&new))?;
    file.write_all(text).map_err(StoreError::io(&new))?;
    file.sync().map_err(StoreError::io(&new))?;
    drop(file);
    vfs.rename(&new, &path).map_err(StoreError::io(&path))?;
    vfs.sync_dir(folder).map_err(StoreError::io(folder))
}
