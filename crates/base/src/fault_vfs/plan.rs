//! What is to fail, and when.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It fails with an input/output error; later ones work again. Half of it may have been done: of a write the first bytes, of the removal of a
    /// folder some of what is in it.
    Error,
    /// It takes effect and reports an error; later ones work again. Not for reads.
    LateError,
    /// The first sync of a file from there on fails. What it was to make durable never becomes so, though later syncs succeed
    /// and reads show it until the power goes. Syncs of folders only where they are chosen.
    LostSync,
    /// It fails, and so do the next of its kind, so many in all.
    Outage(u64),
    /// From there on nothing can be opened, created, listed or locked, and no folder synced: the process has no descriptor left.
    NoDescriptors,
    /// From there on each write takes some of the bytes only, and says so. No operation fails.
    ShortWrites,
    /// It fails for want of space, and so does every later change but removals.
    DiskFull,
    /// It and all later ones fail: the machine has stopped.
    PowerCut,
}

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Opens a file for reading.
    Open,
    /// Reads from a file.
    Read,
    /// Lists a folder.
    List,
    /// Creates or empties a file.
    Create,
    /// Opens a file for appending.
    Append,
    /// Creates a folder.
    CreateDir,
    /// Writes to a file.
    Write,
    /// Syncs a file.
    Sync,
    /// Syncs a folder.
    SyncDir,
    /// Renames a file.
    Rename,
    /// Gives a file a second name.
    Link,
    /// Removes a file.
    Remove,
    /// Removes a folder and what is in it.
    RemoveDir,
    /// Locks a file.
    Lock,
}

impl Operation {
    fn is_read(self) -> bool {
        matches!(self, Self::Open | Self::Read | Self::List)
    }

    fn is_removal(self) -> bool {
        matches!(self, Self::Remove | Self::RemoveDir)
    }

    fn needs_descriptor(self) -> bool {
        let opens = matches!(self, Self::Open | Self::Create | Self::Append | Self::Lock);
        opens || matches!(self, Self::List | Self::SyncDir | Self::RemoveDir)
    }
}

/// What becomes of an operation.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is done.
    Done,
    /// It is done in part, and says so.
    Short,
    /// It fails, perhaps half done.
    Fails(io::Error),
    /// It fails before it has done anything.
    Refused(io::Error),
    /// It is done, and reports a failure.
    DoneAndFails(io::Error),
    /// A sync fails, and later ones do not save what it was to save.
    Loses(io::Error),
}

/// A fault, where it strikes.
#[derive(Debug)]
struct Planned {
    fault: Fault,
    /// The first operation that it may strike; where it strikes one kind only, how many of these it lets pass.
    at: u64,
    /// The only kind of operation that it strikes.
    kind: Option<Operation>,
    /// How often it may strike yet.
    left: u64,
}

impl Planned {
    fn new(fault: Fault, at: u64, kind: Option<Operation>) -> Self {
        let left = match fault {
            Fault::Error | Fault::LateError | Fault::LostSync => 1,
            Fault::Outage(times) => times,
            Fault::NoDescriptors | Fault::ShortWrites | Fault::DiskFull | Fault::PowerCut => u64::MAX,
        };
        Self { fault, at, kind, left }
    }

    /// Whether it is for such an operation; `counts` tells whether the operation has a number of its own.
    fn is_for(&self, operation: Operation, counts: bool) -> bool {
        if let Some(kind) = self.kind {
            return operation == kind;
        }
        match self.fault {
            Fault::Error | Fault::Outage(_) => counts,
            Fault::LateError => counts && !operation.is_read(),
            Fault::LostSync => operation == Operation::Sync,
            Fault::NoDescriptors => operation.needs_descriptor(),
            Fault::ShortWrites => operation == Operation::Write,
            Fault::DiskFull => !operation.is_read() && !operation.is_removal(),
            Fault::PowerCut => true,
        }
    }

    /// What it makes of an operation that it is for.
    fn strike(&mut self, operation: Operation) -> Verdict {
        self.left = self.left.saturating_sub(1);
        match self.fault {
            Fault::Error => Verdict::Fails(io::Error::other("planned input/output error")),
            Fault::Outage(_) => {
                (self.kind, self.at) = (Some(operation), 0);
                Verdict::Fails(io::Error::other("planned outage"))
            }
            Fault::LateError => {
                Verdict::DoneAndFails(io::Error::other("planned error of an operation that took effect"))
            }
            Fault::LostSync => Verdict::Loses(io::Error::other("planned error of a sync")),
            Fault::NoDescriptors => Verdict::Refused(io::Error::from_raw_os_error(NO_DESCRIPTORS)),
            Fault::ShortWrites => Verdict::Short,
            Fault::DiskFull => Verdict::Fails(io::Error::from(io::ErrorKind::StorageFull)),
            Fault::PowerCut => Verdict::Refused(io::Error::other("planned power cut")),
        }
    }
}

/// `EMFILE`, on every Unix.
const NO_DESCRIPTORS: i32 = 24;

/// The faults that are planned.
#[derive(Debug)]
pub(super) struct Plan {
    operations: AtomicU64,
    reads_count: bool,
    faults: Mutex<Vec<Planned>>,
    struck: AtomicBool,
}

impl Plan {
    pub fn new(reads_count: bool) -> Self {
        Self {
            operations: AtomicU64::new(0),
            reads_count,
            faults: Mutex::default(),
            struck: AtomicBool::new(false),
        }
    }

    fn faults(&self) -> MutexGuard<'_, Vec<Planned>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, fault: Fault, at: u64, kind: Option<Operation>) {
        self.faults().push(Planned::new(fault, at, kind));
    }

    pub fn clear(&self) {
        self.faults().clear();
    }

    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    pub fn struck(&self) -> bool {
        self.struck.load(Ordering::Relaxed)
    }

    /// Counts an operation, and says what becomes of it.
    pub fn judge(&self, operation: Operation) -> Verdict {
        let mut faults = self.faults();
        let counts = self.reads_count || !operation.is_read();
        let before = self.operations.fetch_add(u64::from(counts), Ordering::Relaxed);
        // An operation without a number comes after those that have one.
        let is_due = |at: u64| if counts { before >= at } else { before > at };
        let due = faults.iter_mut().find(|planned| {
            planned.left > 0
                && planned.is_for(operation, counts)
                && (planned.kind.is_some() || is_due(planned.at))
        });
        let Some(planned) = due else { return Verdict::Done };
        if planned.kind.is_some() && planned.at > 0 {
            planned.at -= 1;
            return Verdict::Done;
        }
        self.struck.store(true, Ordering::Relaxed);
        planned.strike(operation)
    }
}
