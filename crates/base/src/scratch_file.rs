//! A temporary file that is read and written anywhere in it. Whoever has made it removes it.

use crate::file_cache;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The file, which is not durable.
#[derive(Debug)]
pub struct ScratchFile(File);

impl ScratchFile {
    /// Creates a file, or empties it.
    pub fn create(path: &Path) -> io::Result<Self> {
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        Ok(Self(file_cache::of_process().with_room(open)?))
    }

    /// Fills `bytes` from `offset`; `UnexpectedEof` where the file ends before.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    /// Writes `bytes` at `offset`; what lies between the end of the file and there is zeros.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
}
