//! Immutable files that are open without holding a descriptor each: a process may have fewer descriptors than a database has files.
//!
//! A [`FileCache`] keeps the descriptors of up to so many files; where a further one is read, one that was not read lately is closed, and
//! opened again when it is. A descriptor that stays open keeps a file readable that another process has removed; one that was closed
//! does not. So nothing is closed before there is need, and a file that is gone, or is another one, is an error of its own kind
//! ([`io::ErrorKind::StaleNetworkFileHandle`]), upon which a reader can begin again with the version of the moment.
//!
//! A read takes the file's own lock, shared, and no other; that of the cache only where a file is opened or closed.

use crate::direct;
use crate::vfs::ReadAt;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock, TryLockError, Weak};

/// What a process needs besides sockets and cached files: standard streams, logs, files that are written, the poller.
const OTHER_FILES: u64 = 32;
/// Of what is left, so much is for cached files; the rest is for sockets and temporary files.
const CACHED_SHARE: u64 = 2;
/// Files that are cached at least.
const FILES_MIN: u64 = 8;
/// Files that are closed at once where the process has no descriptor left.
const CLOSED_AT_ONCE: usize = 16;
/// How often an operation is tried again after files were closed: other threads take descriptors, too.
const ATTEMPTS: usize = 16;

/// Descriptors of immutable files, up to so many.
#[derive(Debug)]
pub struct FileCache {
    files_max: usize,
    /// Files with a descriptor, the one to look at first where one is to be closed at the front. Also files that nobody has any more.
    open: Mutex<VecDeque<Weak<CachedFile>>>,
    /// Of those in `open`: how many nobody has any more, about.
    gone: AtomicUsize,
}

/// The cache of this process, of half the descriptors that it may have.
pub fn of_process() -> &'static Arc<FileCache> {
    static CACHE: LazyLock<Arc<FileCache>> = LazyLock::new(|| FileCache::new(files_max(descriptors_max())));
    &CACHE
}

/// Raises the number of files that this process may have open to the most that the system lets it have.
pub fn raise_descriptor_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // Where that is not allowed, the cache makes do with what there is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn descriptors_max() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn files_max(descriptors: u64) -> usize {
    let files = descriptors.saturating_sub(OTHER_FILES) / CACHED_SHARE;
    usize::try_from(files.max(FILES_MIN)).unwrap_or(usize::MAX)
}

/// Refuses what is neither a file nor a folder: opening a pipe would wait for whoever writes to it.
pub(crate) fn refuse_special(path: &Path) -> io::Result<()> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "is no ordinary file, but a pipe, a socket or a device"))
}

impl FileCache {
    /// A cache that keeps the descriptors of about `files_max` files.
    pub fn new(files_max: usize) -> Arc<Self> {
        Arc::new(Self { files_max, open: Mutex::default(), gone: AtomicUsize::new(0) })
    }

    /// Opens a file that nobody changes any more.
    ///
    /// # Errors
    ///
    /// `IsADirectory` where it is a folder; else where it cannot be opened.
    pub fn open(self: &Arc<Self>, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        refuse_special(path)?;
        let file = self.with_room(|| File::open(path))?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
        }
        direct::make_direct(&file, path);
        let cached = Arc::new_cyclic(|me| CachedFile {
            cache: Arc::clone(self),
            me: Weak::clone(me),
            path: path.to_owned(),
            identity: Identity::of(&meta),
            file: RwLock::new(Some(file)),
            was_read: AtomicBool::new(false),
        });
        self.keep(&cached.me);
        Ok(cached)
    }

    /// Does something that needs a descriptor; where there is none left, closes files and tries again.
    ///
    /// # Errors
    ///
    /// What `work` fails with; a lack of descriptors only where no file is left to be closed, or it comes again and
    /// again.
    pub fn with_room<T>(&self, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
        for _ in 1..ATTEMPTS {
            match work() {
                Err(error) if is_without_descriptor(&error) && self.close(CLOSED_AT_ONCE) > 0 => {}
                result => return result,
            }
        }
        work()
    }

    /// How many files have a descriptor.
    pub fn open_files(&self) -> usize {
        self.lock().iter().filter(|file| file.strong_count() > 0).count()
    }

    /// Closes up to `count` files that nobody reads at the moment, and tells how many.
    pub fn close(&self, count: usize) -> usize {
        // Closed when the lock is free again.
        let closed = evict(&mut self.lock(), count);
        closed.len()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Weak<CachedFile>>> {
        // A panic of another holder leaves the list whole: every step of it is panic-free.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a file has got a descriptor, and closes others where there are too many.
    fn keep(&self, file: &Weak<CachedFile>) {
        let mut open = self.lock();
        open.push_back(Weak::clone(file));
        if self.gone.load(Ordering::Relaxed) > open.len() / 2 {
            self.gone.store(0, Ordering::Relaxed);
            open.retain(|file| file.strong_count() > 0);
        }
        let too_many = open.len().saturating_sub(self.files_max);
        let closed = evict(&mut open, too_many);
        drop(open);
        drop(closed);
    }
}

/// Takes up to `count` files out of the list, those first that were not read since they were looked at last.
fn evict(open: &mut VecDeque<Weak<CachedFile>>, count: usize) -> Vec<Option<File>> {
    let mut closed = Vec::new();
    // A first look may clear a mark, the second finds it cleared; a file that is being read stays.
    let mut looks = 2 * open.len();
    while closed.len() < count && looks > 0 {
        looks -= 1;
        let Some(entry) = open.pop_front() else { break };
        let Some(file) = entry.upgrade() else {
            closed.push(None);
            continue;
        };
        let was_read = file.was_read.swap(false, Ordering::Relaxed);
        match file.file.try_write() {
            Ok(mut descriptor) if !was_read => closed.push(descriptor.take()),
            Err(TryLockError::Poisoned(poisoned)) => closed.push(poisoned.into_inner().take()),
            _ => open.push_back(entry),
        }
    }
    closed
}

fn is_without_descriptor(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// What tells one file from another of the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    number: u64,
    len: u64,
}

impl Identity {
    fn of(meta: &Metadata) -> Self {
        Self { device: meta.dev(), number: meta.ino(), len: meta.len() }
    }
}

/// A file that has a descriptor, or gets one when it is read.
#[derive(Debug)]
struct CachedFile {
    cache: Arc<FileCache>,
    me: Weak<Self>,
    path: PathBuf,
    identity: Identity,
    /// Locked, shared, by those who read.
    file: RwLock<Option<File>>,
    /// Whether it was read since the cache looked at it last.
    was_read: AtomicBool,
}

impl CachedFile {
    fn reopen(&self) -> io::Result<File> {
        let file = self.cache.with_room(|| File::open(&self.path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => stale("is not there any more"),
            _ => error,
        })?;
        if Identity::of(&file.metadata()?) != self.identity {
            return Err(stale("is another one than it was"));
        }
        direct::make_direct(&file, &self.path);
        Ok(file)
    }

    /// Keeps the descriptor, unless somebody else was faster.
    fn keep(&self, file: File) {
        let mut descriptor = self.file.write().unwrap_or_else(PoisonError::into_inner);
        if descriptor.is_none() {
            *descriptor = Some(file);
            drop(descriptor);
            self.cache.keep(&self.me);
        }
    }
}

fn stale(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::StaleNetworkFileHandle, format!("the file {what}"))
}

impl ReadAt for CachedFile {
    fn len(&self) -> u64 {
        self.identity.len
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let descriptor = self.file.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*descriptor {
            // Most often it is marked: then nobody else's processor has to hear of it.
            if !self.was_read.load(Ordering::Relaxed) {
                self.was_read.store(true, Ordering::Relaxed);
            }
            return read_exact_at(file, buf, offset);
        }
        drop(descriptor);
        let file = self.reopen()?;
        read_exact_at(&file, buf, offset)?;
        self.keep(file);
        Ok(())
    }
}

fn read_exact_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<()> {
    if direct::is_asked() {
        direct::read_exact_at(file, buf, offset)
    } else {
        file.read_exact_at(buf, offset)
    }
}

impl Drop for CachedFile {
    fn drop(&mut self) {
        if self.file.get_mut().is_ok_and(|file| file.is_some()) {
            self.cache.gone.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
