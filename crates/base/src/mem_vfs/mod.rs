//! A file system in memory, for tests and for tiny databases that need no disk.
//!
//! It keeps, beside what is visible, what would be left after a power cut: the bytes of a file as of its last
//! [`sync`](crate::vfs::WriteFile::sync), and the names in a folder as of its last [`sync_dir`](crate::vfs::Vfs::sync_dir).
//! [`MemVfs::after_crash`] gives a copy with only that (or with a random choice of what had not been made durable), which is what
//! crash tests reopen.

mod crash;
mod crash_kind;
mod file;
mod folder;

pub use crash_kind::CrashKind;
pub(crate) use file::MemWriter;

use crate::vfs::{ReadAt, Vfs, WriteFile};
use crash::survive;
use file::{File, FileBytes, MemReader};
use folder::{Change, Folder, FolderRef, Names, Node};
use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file system in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemVfs {
    root: FolderRef,
    /// Changes of names so far.
    changes: Arc<AtomicU64>,
    locks: Arc<Mutex<HashMap<PathBuf, LockState>>>,
}

#[derive(Debug, Default)]
struct LockState {
    exclusive: bool,
    shared: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panicking holder leaves plain data behind, never a broken invariant.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_found() -> io::Error {
    io::Error::from(ErrorKind::NotFound)
}

fn components(path: &Path) -> Vec<OsString> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => {
                parts.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts
}

impl MemVfs {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// One that holds this, all of it durable.
    fn of(root: Folder) -> Self {
        Self { root: FolderRef::new(root), ..Self::default() }
    }

    fn node(&self, path: &Path) -> io::Result<Node> {
        let mut node = Node::Folder(self.root.clone());
        for name in components(path) {
            let Node::Folder(folder) = &node else {
                return Err(io::Error::from(ErrorKind::NotADirectory));
            };
            let next = folder.lock().get(&name).cloned().ok_or_else(not_found)?;
            node = next;
        }
        Ok(node)
    }

    fn file(&self, path: &Path) -> io::Result<File> {
        match self.node(path)? {
            Node::File(file) => Ok(file),
            Node::Folder(_) => Err(io::Error::from(ErrorKind::IsADirectory)),
        }
    }

    fn folder(&self, path: &Path) -> io::Result<FolderRef> {
        match self.node(path)? {
            Node::Folder(folder) => Ok(folder),
            Node::File(_) => Err(io::Error::from(ErrorKind::NotADirectory)),
        }
    }

    /// The folder that holds `path`, and the last part of `path`.
    fn parent(&self, path: &Path) -> io::Result<(FolderRef, OsString)> {
        let mut parts = components(path);
        let name = parts.pop().ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
        let folder: PathBuf = parts.iter().collect();
        Ok((self.folder(&folder)?, name))
    }

    /// A change of names that is the next one.
    fn change<const N: usize>(&self, names: [(OsString, Option<Node>); N]) -> Change {
        Change { number: self.changes.fetch_add(1, Ordering::Relaxed), names: names.into() }
    }

    /// A copy of the file system as it would be found after a power cut now.
    #[must_use]
    pub fn after_crash(&self, kind: CrashKind) -> Self {
        Self::of(survive(&self.root.lock(), kind, self.changes.load(Ordering::Relaxed)))
    }

    /// A deep copy of the file system as it is visible now, all of it durable.
    #[must_use]
    pub fn deep_copy(&self) -> Self {
        Self::of(copy_visible(&self.root.lock()))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such file, `IsADirectory` where it is a folder.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Ok(self.file(path)?.bytes().visible().to_vec())
    }

    /// Replaces the bytes of a file, durably: damage done to order.
    ///
    /// # Errors
    ///
    /// `NotFound` where there is no such file, `IsADirectory` where it is a folder.
    pub fn overwrite(&self, path: &Path, bytes: Vec<u8>) -> io::Result<()> {
        *self.file(path)?.change() = FileBytes::durable(bytes);
        Ok(())
    }

    /// All files, with their paths from the root.
    pub fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Folder, at: &Path, out: &mut Vec<PathBuf>) {
            for (name, node) in folder.visible() {
                let path = at.join(name);
                match node {
                    Node::File(_) => out.push(path),
                    Node::Folder(inner) => walk(&inner.lock(), &path, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&self.root.lock(), Path::new("/"), &mut out);
        out
    }

    pub(crate) fn create_file(&self, path: &Path) -> io::Result<MemWriter> {
        let (folder, name) = self.parent(path)?;
        let mut folder = folder.lock();
        match folder.get(&name) {
            Some(Node::Folder(_)) => Err(io::Error::from(ErrorKind::IsADirectory)),
            Some(Node::File(file)) => {
                file.change().cut(0);
                Ok(MemWriter(file.clone()))
            }
            None => {
                let file = File::default();
                folder.change(self.change([(name, Some(Node::File(file.clone())))]));
                Ok(MemWriter(file))
            }
        }
    }

    pub(crate) fn append_to_file(&self, path: &Path, len: u64) -> io::Result<MemWriter> {
        let file = self.file(path)?;
        let mut bytes = file.change();
        let len = usize::try_from(len).ok().filter(|len| *len <= bytes.visible().len());
        bytes.cut(len.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?);
        drop(bytes);
        Ok(MemWriter(file))
    }

    /// A sync of a folder that fails, and after which later ones do not make durable what this one was to.
    pub(crate) fn fail_sync_dir(&self, path: &Path) -> io::Result<()> {
        self.folder(path)?.lock().fail_sync();
        Ok(())
    }

    /// Removes what is in a folder: all, or only every other name.
    pub(crate) fn empty_folder(&self, path: &Path, all: bool) -> io::Result<()> {
        self.empty(&self.folder(path)?, all);
        Ok(())
    }

    fn empty(&self, folder: &FolderRef, all: bool) {
        let names: Vec<(OsString, Node)> =
            folder.lock().visible().iter().map(|(name, node)| (name.clone(), node.clone())).collect();
        for (name, node) in names.into_iter().step_by(if all { 1 } else { 2 }) {
            if let Node::Folder(inner) = node {
                self.empty(&inner, true);
            }
            folder.lock().change(self.change([(name, None)]));
        }
    }
}

fn copy_visible(folder: &Folder) -> Folder {
    let copy = |node: &Node| match node {
        Node::File(file) => Node::File(File::durable(file.bytes().visible().to_vec())),
        Node::Folder(inner) => Node::Folder(FolderRef::new(copy_visible(&inner.lock()))),
    };
    let names: Names = folder.visible().iter().map(|(name, node)| (name.clone(), copy(node))).collect();
    Folder::durable(names)
}

impl Vfs for MemVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(MemReader(self.file(path)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(self.create_file(path)?))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        Ok(Box::new(self.append_to_file(path, len)?))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut at = self.root.clone();
        for name in components(path) {
            let mut folder = at.lock();
            let next = match folder.get(&name) {
                Some(Node::Folder(folder)) => folder.clone(),
                Some(Node::File(_)) => return Err(io::Error::from(ErrorKind::NotADirectory)),
                None => {
                    let made = FolderRef::default();
                    folder.change(self.change([(name, Some(Node::Folder(made.clone())))]));
                    made
                }
            };
            drop(folder);
            at = next;
        }
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.folder(path)?.lock().visible().keys().map(PathBuf::from).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        self.node(path).is_ok()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = self.parent(to)?;
        let mut folder = from_folder.lock();
        let node = folder.get(&from_name).cloned().ok_or_else(not_found)?;
        if !from_folder.is(&to_folder) {
            drop(folder);
            to_folder.lock().change(self.change([(to_name, Some(node))]));
            from_folder.lock().change(self.change([(from_name, None)]));
        } else if from_name != to_name {
            folder.change(self.change([(to_name, Some(node)), (from_name, None)]));
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let Node::File(file) = self.node(from)? else {
            return Err(io::Error::from(ErrorKind::PermissionDenied));
        };
        let (folder, name) = self.parent(to)?;
        let mut folder = folder.lock();
        if folder.get(&name).is_some() {
            return Err(io::Error::from(ErrorKind::AlreadyExists));
        }
        folder.change(self.change([(name, Some(Node::File(file)))]));
        Ok(())
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        Ok(self.file(a)?.address() == self.file(b)?.address())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let mut folder = folder.lock();
        match folder.get(&name) {
            None => Err(not_found()),
            Some(Node::Folder(_)) => Err(io::Error::from(ErrorKind::IsADirectory)),
            Some(Node::File(_)) => {
                folder.change(self.change([(name, None)]));
                Ok(())
            }
        }
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        self.empty_folder(path, true)?;
        folder.lock().change(self.change([(name, None)]));
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.folder(path)?.lock().sync();
        Ok(())
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        if !self.exists(path) {
            drop(self.create(path)?);
        }
        let key: PathBuf = components(path).iter().collect();
        let mut locks = lock(&self.locks);
        let state = locks.entry(key.clone()).or_default();
        if state.exclusive || (exclusive && state.shared > 0) {
            return Err(io::Error::from(ErrorKind::WouldBlock));
        }
        if exclusive {
            state.exclusive = true;
        } else {
            state.shared += 1;
        }
        Ok(Box::new(MemLock { locks: Arc::clone(&self.locks), key, exclusive }))
    }
}

struct MemLock {
    locks: Arc<Mutex<HashMap<PathBuf, LockState>>>,
    key: PathBuf,
    exclusive: bool,
}

impl Drop for MemLock {
    fn drop(&mut self) {
        let mut locks = lock(&self.locks);
        if let Some(state) = locks.get_mut(&self.key) {
            if self.exclusive {
                state.exclusive = false;
            } else {
                state.shared = state.shared.saturating_sub(1);
            }
        }
    }
}
