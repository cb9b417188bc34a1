//! A file system that fails to order: the n-th operation gives an error, or is the last before the power goes.
//!
//! Crash tests run a piece of work once to count its operations, then once per operation with the failure there, and look
//! at what a new process would find.

mod plan;

pub use plan::{Fault, Operation};

use crate::device::Device;
use crate::mem_vfs::{CrashKind, MemVfs, MemWriter};
use crate::vfs::{ReadAt, Vfs, WriteFile};
use plan::{Plan, Verdict};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A [`MemVfs`] with faults planned.
#[derive(Debug, Clone)]
pub struct FaultVfs {
    inner: MemVfs,
    plan: Arc<Plan>,
}

impl FaultVfs {
    /// Fails at operation `fail_at` (from 0) among those that change something, and among reads too if `reads_count`.
    pub fn new(inner: MemVfs, fault: Fault, fail_at: u64, reads_count: bool) -> Self {
        let vfs = Self::counting(inner, reads_count);
        vfs.fail_at(fault, fail_at);
        vfs
    }

    /// Never fails, only counts, until a fault is planned.
    pub fn counting(inner: MemVfs, reads_count: bool) -> Self {
        Self { inner, plan: Arc::new(Plan::new(reads_count)) }
    }

    /// Plans one more fault. Where several are due at an operation, the one that was planned first strikes.
    pub fn fail_at(&self, fault: Fault, operation: u64) {
        self.plan.add(fault, operation, None);
    }

    /// Plans a fault that strikes the next operations of a kind, and no others.
    pub fn fail_next(&self, fault: Fault, kind: Operation) {
        self.fail_nth(fault, kind, 0);
    }

    /// The same, after so many operations of the kind.
    pub fn fail_nth(&self, fault: Fault, kind: Operation, after: u64) {
        self.plan.add(fault, after, Some(kind));
    }

    /// Nothing fails any more. What is lost stays lost.
    pub fn mend(&self) {
        self.plan.clear();
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.plan.operations()
    }

    /// Whether a fault has happened.
    pub fn struck(&self) -> bool {
        self.plan.struck()
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

    /// Does an operation that is done wholly or not at all.
    fn operate<T>(&self, operation: Operation, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        operate(&self.plan, operation, work)
    }

    fn writer(&self, inner: MemWriter) -> Box<dyn WriteFile> {
        Box::new(FaultWriter { inner, plan: Arc::clone(&self.plan) })
    }
}

fn operate<T>(plan: &Plan, operation: Operation, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match plan.judge(operation) {
        Verdict::Done | Verdict::Short => work(),
        Verdict::Fails(error) | Verdict::Refused(error) | Verdict::Loses(error) => Err(error),
        Verdict::DoneAndFails(error) => work().and(Err(error)),
    }
}

#[derive(Debug)]
struct FaultReader {
    inner: Arc<dyn ReadAt>,
    plan: Arc<Plan>,
}

impl ReadAt for FaultReader {
    fn device(&self) -> Device {
        self.inner.device()
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        operate(&self.plan, Operation::Read, || self.inner.read_exact_at(buf, offset))
    }
}

#[derive(Debug)]
struct FaultWriter {
    inner: MemWriter,
    plan: Arc<Plan>,
}

impl Write for FaultWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        match self.plan.judge(Operation::Write) {
            Verdict::Done => self.inner.write(bytes),
            Verdict::Short => self.inner.write(bytes.get(..bytes.len().div_ceil(2)).unwrap_or_default()),
            Verdict::Refused(error) => Err(error),
            // A write that fails may have come half the way; it is the caller's to know that.
            Verdict::Fails(error) | Verdict::Loses(error) => self.inner.write_all(half).and(Err(error)),
            Verdict::DoneAndFails(error) => self.inner.write_all(bytes).and(Err(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl WriteFile for FaultWriter {
    fn sync(&mut self) -> io::Result<()> {
        match self.plan.judge(Operation::Sync) {
            Verdict::Done | Verdict::Short => self.inner.sync(),
            Verdict::Fails(error) | Verdict::Refused(error) => Err(error),
            Verdict::DoneAndFails(error) => self.inner.sync().and(Err(error)),
            Verdict::Loses(error) => {
                self.inner.fail_sync();
                Err(error)
            }
        }
    }
}

impl Vfs for FaultVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let inner = self.operate(Operation::Open, || self.inner.open(path))?;
        Ok(Arc::new(FaultReader { inner, plan: Arc::clone(&self.plan) }))
    }

    fn device(&self) -> Device {
        self.inner.device()
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(self.writer(self.operate(Operation::Create, || self.inner.create_file(path))?))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        Ok(self.writer(self.operate(Operation::Append, || self.inner.append_to_file(path, len))?))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.operate(Operation::CreateDir, || self.inner.create_dir_all(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.operate(Operation::List, || self.inner.list(path))
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate(Operation::Rename, || self.inner.rename(from, to))
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operate(Operation::Link, || self.inner.hard_link(from, to))
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        self.inner.is_same_file(a, b)
    }

    fn file_identity(&self, path: &Path) -> io::Result<Option<u128>> {
        self.inner.file_identity(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operate(Operation::Remove, || self.inner.remove(path))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        match self.plan.judge(Operation::RemoveDir) {
            Verdict::Fails(error) => self.inner.empty_folder(path, false).and(Err(error)),
            Verdict::Refused(error) | Verdict::Loses(error) => Err(error),
            Verdict::DoneAndFails(error) => self.inner.remove_dir_all(path).and(Err(error)),
            Verdict::Done | Verdict::Short => self.inner.remove_dir_all(path),
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        match self.plan.judge(Operation::SyncDir) {
            Verdict::Loses(error) => self.inner.fail_sync_dir(path).and(Err(error)),
            Verdict::Fails(error) | Verdict::Refused(error) => Err(error),
            Verdict::DoneAndFails(error) => self.inner.sync_dir(path).and(Err(error)),
            Verdict::Done | Verdict::Short => self.inner.sync_dir(path),
        }
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.operate(Operation::Lock, || self.inner.lock(path, exclusive))
    }
}
