//! The real file system, through `std::fs`: the only place in the workspace that opens files of a database.

use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writers hand over whole blocks; smaller pieces (headers, footers) are gathered up to this many bytes.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

/// The operating system's file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealVfs;

impl RealVfs {
    /// The file system, shared.
    pub fn shared() -> Arc<dyn Vfs> {
        Arc::new(Self)
    }
}

#[derive(Debug)]
struct RealReader {
    file: File,
    len: u64,
}

impl ReadAt for RealReader {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)
    }
}

#[derive(Debug)]
struct RealWriter(BufWriter<File>);

impl Write for RealWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl WriteFile for RealWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.flush()?;
        self.0.get_ref().sync_data()
    }
}

/// Appends, each write as it comes.
#[derive(Debug)]
struct RealAppender(File);

impl Write for RealAppender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for RealAppender {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

impl Vfs for RealVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
        }
        Ok(Arc::new(RealReader { len: meta.len(), file }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let file = File::create(path)?;
        Ok(Box::new(RealWriter(BufWriter::with_capacity(WRITE_BUFFER_BYTES, file))))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        let file = OpenOptions::new().append(true).open(path)?;
        let found = file.metadata()?.len();
        if found < len {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if found > len {
            file.set_len(len)?;
        }
        Ok(Box::new(RealAppender(file)))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            names.push(PathBuf::from(entry?.file_name()));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        let taken = if exclusive { file.try_lock() } else { file.try_lock_shared() };
        match taken {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::WouldBlock)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
