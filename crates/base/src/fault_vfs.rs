//! A file system that fails to order: the n-th operation gives an error, or is the last before the power goes.
//!
//! Crash tests run a piece of work once to count its operations, then once per operation with the failure there, and look
//! at what a new process would find.

use crate::mem_vfs::{CrashKind, MemVfs};
use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with an input/output error; later ones work again.
    Error,
    /// It fails for want of space, and so does every later change but removals.
    DiskFull,
    /// It and all later ones fail: the machine has stopped.
    PowerCut,
}

#[derive(Debug)]
struct Plan {
    operations: AtomicU64,
    fail_at: AtomicU64,
    fault: Fault,
    reads_count: bool,
    struck: AtomicBool,
}

/// A [`MemVfs`] with a fault planned.
#[derive(Debug, Clone)]
pub struct FaultVfs {
    inner: MemVfs,
    plan: Arc<Plan>,
}

impl FaultVfs {
    /// Fails at operation `fail_at` (from 0) among those that change something, and among reads too if `reads_count`.
    pub fn new(inner: MemVfs, fault: Fault, fail_at: u64, reads_count: bool) -> Self {
        let plan = Plan {
            operations: AtomicU64::new(0),
            fail_at: AtomicU64::new(fail_at),
            fault,
            reads_count,
            struck: AtomicBool::new(false),
        };
        Self { inner, plan: Arc::new(plan) }
    }

    /// Never fails, only counts.
    pub fn counting(inner: MemVfs, reads_count: bool) -> Self {
        Self::new(inner, Fault::Error, u64::MAX, reads_count)
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.plan.operations.load(Ordering::Relaxed)
    }

    /// Whether the fault has happened.
    pub fn struck(&self) -> bool {
        self.plan.struck.load(Ordering::Relaxed)
    }

    /// The file system below, as it is visible.
    pub fn inner(&self) -> &MemVfs {
        &self.inner
    }

    /// What a power cut now leaves.
    #[must_use]
    pub fn after_crash(&self, kind: CrashKind) -> MemVfs {
        self.inner.after_crash(kind)
    }
}

impl Plan {
    fn change(&self) -> io::Result<()> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        let at = self.fail_at.load(Ordering::Relaxed);
        if number < at {
            return Ok(());
        }
        let strikes = match self.fault {
            Fault::Error => number == at,
            Fault::DiskFull | Fault::PowerCut => true,
        };
        if !strikes {
            return Ok(());
        }
        self.struck.store(true, Ordering::Relaxed);
        Err(match self.fault {
            Fault::Error => io::Error::other("planned input/output error"),
            Fault::DiskFull => io::Error::from(io::ErrorKind::StorageFull),
            Fault::PowerCut => io::Error::other("planned power cut"),
        })
    }

    /// A full disk does not keep anybody from removing files.
    fn removal(&self) -> io::Result<()> {
        if self.fault == Fault::DiskFull {
            self.operations.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        }
        self.change()
    }

    fn read(&self) -> io::Result<()> {
        let off = self.fault == Fault::PowerCut && self.struck.load(Ordering::Relaxed);
        if off {
            return Err(io::Error::other("planned power cut"));
        }
        if self.reads_count { self.change() } else { Ok(()) }
    }
}

#[derive(Debug)]
struct FaultReader {
    inner: Arc<dyn ReadAt>,
    plan: Arc<Plan>,
}

impl ReadAt for FaultReader {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.plan.read()?;
        self.inner.read_exact_at(buf, offset)
    }
}

#[derive(Debug)]
struct FaultWriter {
    inner: Box<dyn WriteFile>,
    plan: Arc<Plan>,
}

impl Write for FaultWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.plan.change() {
            // A write that fails may have come half the way; it is the caller's to know that.
            if self.plan.fault != Fault::PowerCut {
                self.inner.write_all(bytes.get(..bytes.len() / 2).unwrap_or_default())?;
            }
            return Err(error);
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for FaultWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.plan.change()?;
        self.inner.sync()
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.plan.change()?;
        self.inner.sync_data()
    }
}

impl Vfs for FaultVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.plan.read()?;
        Ok(Arc::new(FaultReader { inner: self.inner.open(path)?, plan: Arc::clone(&self.plan) }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        self.plan.change()?;
        Ok(Box::new(FaultWriter { inner: self.inner.create(path)?, plan: Arc::clone(&self.plan) }))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        self.plan.change()?;
        Ok(Box::new(FaultWriter { inner: self.inner.open_append(path, len)?, plan: Arc::clone(&self.plan) }))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.plan.change()?;
        self.inner.create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.plan.read()?;
        self.inner.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.change()?;
        self.inner.rename(from, to)
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.change()?;
        self.inner.hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.plan.removal()?;
        self.inner.remove(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.plan.removal()?;
        self.inner.remove_dir_all(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.change()?;
        self.inner.sync_dir(path)
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.plan.change()?;
        self.inner.lock(path, exclusive)
    }
}
