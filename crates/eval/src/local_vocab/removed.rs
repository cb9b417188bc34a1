//! A temporary file's name, removed when dropped.

use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs as _;
use lode_scheduler::remove_soon;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Removes a file when dropped.
#[derive(Debug)]
pub struct Removed {
    path: PathBuf,
    /// How long it is.
    bytes: AtomicU64,
}

impl Removed {
    /// A name that no other file of the process has.
    pub fn in_folder(folder: &Path) -> Self {
        static FILES: AtomicU64 = AtomicU64::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("lode-terms-{}-{number}", std::process::id()));
        Self { path, bytes: AtomicU64::new(0) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It has so many bytes, or more.
    pub fn set_bytes(&self, bytes: u64) {
        self.bytes.fetch_max(bytes, Ordering::Relaxed);
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.path);
        remove_soon(*self.bytes.get_mut(), move || {
            // What stays behind is in the folder of temporary files.
            let _ = RealVfs.remove(&path);
        });
    }
}
