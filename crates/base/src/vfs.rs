//! All files go through [`Vfs`]: the real one, one in memory (tests, tiny databases), and one that fails on purpose (crash tests).

use crate::device::Device;
use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file open for positioned reads from many threads.
pub trait ReadAt: Send + Sync + Debug {
    /// Length in bytes.
    fn len(&self) -> u64;
    /// Whether the file has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Fills `buf` from `offset`; `UnexpectedEof` where the file ends before.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` where the file ends before `buf` is full; else where the file system refuses to read.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
    /// What is known of the device that it is on.
    fn device(&self) -> Device {
        Device::LOCAL
    }
    /// Whether so many bytes from `offset` on are in memory, though the file as a whole may be far away.
    fn is_near(&self, _offset: u64, _bytes: usize) -> bool {
        false
    }
    /// Hears that what follows `from` will be read soon, in sequence, up to `end` at most.
    fn will_read(&self, _from: u64, _end: u64) {}
}

/// A file that is written to its end: a new one, or one that is appended to.
pub trait WriteFile: Write + Send + Debug {
    /// Makes all bytes written so far durable.
    ///
    /// # Errors
    ///
    /// Where the file system refuses. What was to be made durable may then be lost, and a later sync need not write
    /// it.
    fn sync(&mut self) -> io::Result<()>;
    /// The same, but what nobody needs in order to read the bytes (times of the file) need not be durable.
    ///
    /// # Errors
    ///
    /// As [`WriteFile::sync`].
    fn sync_data(&mut self) -> io::Result<()> {
        self.sync()
    }
}

/// A file system.
pub trait Vfs: Send + Sync + Debug {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such file; else where the file system refuses.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>>;
    /// Opens a file that nobody changes any more, to be read now and then for long: it holds no descriptor for ever. Where the file was
    /// removed or replaced meanwhile, a read may fail with `StaleNetworkFileHandle`.
    ///
    /// # Errors
    ///
    /// As [`Vfs::open`].
    fn open_immutable(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.open(path)
    }
    /// What is known of the device that its files are on, without opening one.
    fn device(&self) -> Device {
        Device::LOCAL
    }
    /// Creates a file, or empties it.
    ///
    /// # Errors
    ///
    /// `NotFound` where its folder is missing; else where the file system refuses.
    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>>;
    /// Creates a file; `AlreadyExists` where there is one.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where there is such a file; else as [`Vfs::create`].
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        if self.exists(path) {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        self.create(path)
    }
    /// Opens an existing file, cuts it to `len` bytes, and appends to it without gathering small pieces; `UnexpectedEof`
    /// where it has fewer bytes. The cut is durable after the next sync.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such file, `UnexpectedEof` where it is shorter than `len`; else where the file
    /// system refuses.
    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>>;
    /// Creates a folder and those above it; fine where it exists.
    ///
    /// # Errors
    ///
    /// Where one of the names is a file, or the file system refuses.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Names of the files and folders in a folder, sorted.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such folder; else where the file system refuses.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// Whether there is such a file or folder.
    fn exists(&self, path: &Path) -> bool;
    /// Replaces `to` by `from`, atomically.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no `from`; else where the file system refuses. Then both are as they were.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, `to`; `AlreadyExists` where there is such a file. Not every file system can, nor across two
    /// of them: then the bytes have to be copied.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where there is a `to`, `Unsupported` where the file system has no second names; else where it
    /// refuses.
    fn hard_link(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
    /// Whether two paths are names of one file. Where that cannot be told they may be, and count as such.
    ///
    /// # Errors
    ///
    /// Where one of them cannot be looked at.
    fn is_same_file(&self, _a: &Path, _b: &Path) -> io::Result<bool> {
        Ok(false)
    }
    /// What tells a file from all copies of it, wherever these are; none where the file system does not tell.
    ///
    /// # Errors
    ///
    /// Where it cannot be looked at.
    fn file_identity(&self, _path: &Path) -> io::Result<Option<u128>> {
        Ok(None)
    }
    /// Removes a file.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such file; else where the file system refuses.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and all in it.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such folder; else where the file system refuses. Some of what is in it may be
    /// gone then.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes creations, renames and removals in a folder durable. Where a file in it is locked, this needs no further descriptor.
    ///
    /// # Errors
    ///
    /// Where the file system refuses: the changes may then be lost.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Bytes that files in a folder may still take; none where that cannot be told.
    ///
    /// # Errors
    ///
    /// Where the file system does not answer.
    fn free_bytes(&self, _folder: &Path) -> io::Result<Option<u64>> {
        Ok(None)
    }
    /// Makes a file that takes so many bytes on the disk, whatever is in it.
    ///
    /// # Errors
    ///
    /// `StorageFull` where the disk has no room; else where the file system refuses.
    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        fill(&mut *self.create(path)?, bytes)
    }
    /// Has the files outside the folder of a database, if there are any, be those of this folder. For who has the lock of it, before he writes.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` where they are those of another folder, of which this one is a copy; else where the file system refuses.
    fn claim(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Removes what is left of files in the folder of a database that are gone. For who has the lock of it, before he writes.
    ///
    /// # Errors
    ///
    /// Where the file system refuses, or a file cannot be read: some of it may be left then.
    fn sweep(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Takes the exclusive (or a shared) lock on a file, creating it; `WouldBlock` where another process has it.
    ///
    /// # Errors
    ///
    /// `WouldBlock` where another process has the lock; else where the file system refuses.
    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>>;
}

/// Writes zeros to a file, durably.
pub(crate) fn fill(file: &mut dyn WriteFile, bytes: u64) -> io::Result<()> {
    let zeros = [0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let some = left.min(zeros.len() as u64);
        file.write_all(&zeros[..some as usize])?;
        left -= some;
    }
    file.sync()
}
