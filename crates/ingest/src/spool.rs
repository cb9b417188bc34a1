//! A document that is read twice: first to see whether it is right as a whole, then for its quads. What the first reader takes is kept, in
//! memory if it is short, else in a temporary file.

use crate::error::IngestError;
use lode_base::vfs::{ReadAt, Vfs, WriteFile};
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Documents up to this long stay in memory.
const MEMORY_BYTES_MAX: usize = if cfg!(test) { 200 } else { 512 << 10 };
/// How much is read of the file at a time.
const READ_BYTES: usize = 64 << 10;

/// Keeps what is read through it.
pub(crate) struct Spool<'s> {
    inner: Box<dyn Read + Send>,
    vfs: &'s Arc<dyn Vfs>,
    path: PathBuf,
    memory: Vec<u8>,
    file: Option<Box<dyn WriteFile>>,
    /// Why it cannot be kept.
    failed: Option<io::Error>,
}

impl<'s> Spool<'s> {
    /// Reads `inner`; `path` is where a temporary file may be.
    pub(crate) fn new(inner: Box<dyn Read + Send>, vfs: &'s Arc<dyn Vfs>, path: PathBuf) -> Self {
        Self { inner, vfs, path, memory: Vec::new(), file: None, failed: None }
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > MEMORY_BYTES_MAX {
            if self.file.is_none() {
                self.file = Some(self.vfs.create(&self.path)?);
            }
            if let Some(file) = &mut self.file {
                file.write_all(&self.memory)?;
                self.memory.clear();
            }
        }
        Ok(())
    }

    /// Why what was read could not be kept, if that is so.
    pub(crate) fn check(&mut self) -> Result<(), IngestError> {
        match self.failed.take() {
            Some(error) => Err(IngestError::temporary(&self.path, error)),
            None => Ok(()),
        }
    }

    /// What was read, from its beginning.
    pub(crate) fn read_again(mut self) -> Result<SpoolReader<'s>, IngestError> {
        let failed = |error| IngestError::temporary(&self.path, error);
        let Some(mut file) = self.file.take() else {
            return Ok(SpoolReader::Memory(Cursor::new(self.memory)));
        };
        file.write_all(&self.memory).and_then(|()| file.flush()).map_err(failed)?;
        drop(file);
        let file = self.vfs.open(&self.path).map_err(failed)?;
        Ok(SpoolReader::File(FileReader {
            file,
            at: 0,
            buffer: Cursor::default(),
            vfs: self.vfs,
            path: self.path.clone(),
        }))
    }
}

impl Read for Spool<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let Err(error) = self.keep(buffer.get(..read).unwrap_or_default()) {
            self.failed = Some(error);
            return Err(io::Error::other("a temporary file cannot be written"));
        }
        Ok(read)
    }
}

/// Reads what was kept.
pub(crate) enum SpoolReader<'s> {
    Memory(Cursor<Vec<u8>>),
    File(FileReader<'s>),
}

/// Reads a temporary file, and removes it at the end.
pub(crate) struct FileReader<'s> {
    file: Arc<dyn ReadAt>,
    at: u64,
    buffer: Cursor<Vec<u8>>,
    vfs: &'s Arc<dyn Vfs>,
    path: PathBuf,
}

impl Read for SpoolReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let reader = match self {
            Self::Memory(memory) => return memory.read(buffer),
            Self::File(reader) => reader,
        };
        if reader.buffer.position() == reader.buffer.get_ref().len() as u64 {
            let left = usize::try_from(reader.file.len() - reader.at).unwrap_or(usize::MAX);
            let mut bytes = std::mem::take(reader.buffer.get_mut());
            bytes.resize(left.min(READ_BYTES), 0);
            reader.file.read_exact_at(&mut bytes, reader.at)?;
            reader.at += bytes.len() as u64;
            reader.buffer = Cursor::new(bytes);
        }
        reader.buffer.read(buffer)
    }
}

impl Drop for FileReader<'_> {
    fn drop(&mut self) {
        // If it stays, the folder goes at the load's end.
        let _ = self.vfs.remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    //! Short and long documents, read twice.
    use super::*;
    use lode_base::mem_vfs::MemVfs;
    use std::path::Path;

    #[test]
    fn what_was_read_is_read_again() {
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
        vfs.create_dir_all(Path::new("f")).unwrap();
        for length in [0, 1, 199, 200, 201, 300_000] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let path = Path::new("f/document").to_owned();
            let mut spool = Spool::new(Box::new(Cursor::new(bytes.clone())), &vfs, path.clone());
            io::copy(&mut spool, &mut io::sink()).unwrap();
            spool.check().unwrap();
            let mut again = Vec::new();
            spool.read_again().unwrap().read_to_end(&mut again).unwrap();
            assert!(again == bytes, "{length}");
            assert!(!vfs.exists(&path));
        }
    }
}
