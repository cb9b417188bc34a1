//! The real file system, through `std::fs`: the only place in the workspace that opens files of a database.

use crate::direct::{self, DirectWriter};
use crate::file_cache;
#[cfg(target_os = "linux")]
use crate::vfs::fill;
use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

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

/// Does something that needs a descriptor, also where cached files have taken the last.
fn with_room<T>(work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    file_cache::of_process().with_room(work)
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

/// A temporary file that is read and written anywhere in it, and is not durable.
#[derive(Debug)]
pub struct ScratchFile(File);

impl ScratchFile {
    /// Creates a file in `folder`, which is made where it is missing, that has no name: it goes when it is closed.
    ///
    /// # Errors
    /// Where the file system refuses.
    pub fn unnamed(folder: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("lode-scratch-{}-{number}", std::process::id()));
        // A file that a process of the same number has left is nobody's.
        let file = Self::at(&path)?;
        fs::remove_file(&path)?;
        Ok(file)
    }

    /// Creates a file, or empties it. Whoever has made it removes it.
    ///
    /// # Errors
    /// Where the file system refuses.
    pub fn at(path: &Path) -> io::Result<Self> {
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        Ok(Self(with_room(open)?))
    }

    /// Fills `bytes` from `offset`.
    ///
    /// # Errors
    /// `UnexpectedEof` where the file ends before the bytes do; where the file cannot be read.
    pub fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    /// Writes `bytes` at `offset`; what lies between the end of the file and there is zeros.
    ///
    /// # Errors
    /// Where the file system refuses, as it does where the disk is full.
    pub fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    /// Has the system write it to the device and forget what it has of it in memory, where the system can be asked to.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn forget_pages(&self) -> io::Result<()> {
        self.0.sync_data()?;
        // What it keeps all the same makes the device seem faster.
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(&self.0, 0, None, rustix::fs::Advice::DontNeed);
        Ok(())
    }

    /// Gives the space of so many bytes back, which are zeros then.
    ///
    /// # Errors
    /// Where the file system cannot do that: all stays as it is.
    pub fn forget(&self, offset: u64, bytes: u64) -> io::Result<()> {
        forget(&self.0, offset, bytes)
    }
}

#[cfg(target_os = "linux")]
fn forget(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    Ok(fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, offset, bytes)?)
}

#[cfg(not(target_os = "linux"))]
fn forget(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
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

/// A lock on a file, given back when dropped. Meanwhile the file's folder is open, too.
#[derive(Debug)]
struct Lock {
    _folder: Arc<File>,
    _file: File,
}

/// Folders that are held open: whoever has switched to a new version must be able to make that durable, also when descriptors have
/// run out.
static HELD: Mutex<BTreeMap<PathBuf, Weak<File>>> = Mutex::new(BTreeMap::new());

fn held() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<File>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hold_parent(path: &Path) -> io::Result<Arc<File>> {
    let folder = path.parent().unwrap_or(path);
    let name = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let file = Arc::new(File::open(name)?);
    let mut held = held();
    held.retain(|_, file| file.strong_count() > 0);
    held.insert(folder.to_owned(), Arc::downgrade(&file));
    Ok(file)
}

fn writer(file: File, path: &Path) -> Box<dyn WriteFile> {
    match direct::is_asked() {
        true => Box::new(DirectWriter::new(file, path)),
        false => Box::new(RealWriter(BufWriter::with_capacity(WRITE_BUFFER_BYTES, file))),
    }
}

impl Vfs for RealVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        file_cache::refuse_special(path)?;
        let file = with_room(|| File::open(path))?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
        }
        Ok(Arc::new(RealReader { len: meta.len(), file }))
    }

    fn open_immutable(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        file_cache::of_process().open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let file = with_room(|| File::create(path))?;
        Ok(writer(file, path))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let file = File::create_new(path)?;
        Ok(writer(file, path))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        let file = with_room(|| OpenOptions::new().append(true).open(path))?;
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
        for entry in with_room(|| fs::read_dir(path))? {
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

    #[cfg(unix)]
    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let [a, b] = [fs::metadata(a)?, fs::metadata(b)?];
        Ok((a.dev(), a.ino()) == (b.dev(), b.ino()))
    }

    /// Its number and when it was made: a copy may have one of them by chance, or a number after a move to another disk.
    #[cfg(unix)]
    fn file_identity(&self, path: &Path) -> io::Result<Option<u128>> {
        use std::os::unix::fs::MetadataExt;
        let meta = fs::metadata(path)?;
        let made = meta.created().ok().and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
        Ok(made.map(|made| u128::from(meta.ino()) << 64 | (made.as_nanos() & u128::from(u64::MAX))))
    }

    #[cfg(not(unix))]
    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        fs::metadata(a).and(fs::metadata(b)).map(|_| true)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        with_room(|| fs::remove_dir_all(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let held = held().get(path).and_then(Weak::upgrade);
        match held {
            Some(folder) => folder.sync_all(),
            None => with_room(|| File::open(path))?.sync_all(),
        }
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<Option<u64>> {
        let found = rustix::fs::statvfs(folder)?;
        Ok(Some(found.f_bavail.saturating_mul(found.f_frsize)))
    }

    #[cfg(target_os = "linux")]
    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        let file = File::create(path)?;
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
            Ok(()) => file.sync_all(),
            // Not every file system can.
            Err(rustix::io::Errno::OPNOTSUPP) => fill(&mut *self.create(path)?, bytes),
            Err(error) => Err(error.into()),
        }
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        let file = with_room(|| OpenOptions::new().create(true).truncate(false).write(true).open(path))?;
        let taken = if exclusive { file.try_lock() } else { file.try_lock_shared() };
        match taken {
            Ok(()) => Ok(Box::new(Lock { _folder: hold_parent(path)?, _file: file })),
            Err(TryLockError::WouldBlock) => Err(io::Error::from(io::ErrorKind::WouldBlock)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// A path from the root on, without links where it is there.
///
/// # Errors
/// Where the working folder is not known.
pub(crate) fn whole_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path))
}

/// Whether two paths lead to one folder, as by a link or a mount.
pub(crate) fn is_same_folder(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let of = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        of(one).is_some_and(|found| of(other) == Some(found))
    }
    #[cfg(not(unix))]
    {
        let of = |path: &Path| fs::canonicalize(path).ok();
        of(one).is_some_and(|found| of(other) == Some(found))
    }
}
