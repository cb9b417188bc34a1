//! A temporary file without a name: its space goes with it, also where the process is killed.

use lode_base::real_vfs::ScratchFile;
use lode_scheduler::remove_soon;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file. What it takes is given back soon after it is dropped.
#[derive(Debug)]
pub struct TemporaryFile {
    /// `None` only while it is dropped.
    file: Option<ScratchFile>,
    /// How long it is.
    bytes: AtomicU64,
}

impl TemporaryFile {
    /// An empty one in a folder, which is made where it is missing.
    pub fn in_folder(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: Some(ScratchFile::unnamed(folder)?), bytes: AtomicU64::new(0) })
    }

    fn file(&self) -> io::Result<&ScratchFile> {
        self.file.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Fills `bytes` from `offset`.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.file()?.read_exact_at(bytes, offset)
    }

    /// Writes `bytes` at `offset`.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file()?.write_all_at(bytes, offset)?;
        self.bytes.fetch_max(offset + bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let file = self.file.take();
        remove_soon(*self.bytes.get_mut(), move || drop(file));
    }
}
