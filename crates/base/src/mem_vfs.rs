//! A file system in memory, for tests and for tiny databases that need no disk.
//!
//! It keeps, beside what is visible, what would be left after a power cut: the bytes of a file as of its last
//! [`sync`](crate::vfs::WriteFile::sync), and the names in a folder as of its last [`sync_dir`](crate::vfs::Vfs::sync_dir).
//! [`MemVfs::after_crash`] gives a copy with only that (or with a random choice of what had not been made durable), which is what
//! crash tests reopen.

use crate::vfs::{ReadAt, Vfs, WriteFile};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// A file system in memory. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MemVfs {
    root: Arc<Mutex<Folder>>,
    locks: Arc<Mutex<HashMap<PathBuf, LockState>>>,
}

/// What a crash leaves of changes that were not made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// None of them.
    LoseAll,
    /// A choice of them that depends on the seed: some names, some prefix of a file's later bytes.
    Torn(u64),
    /// The same, but of a file's later bytes any small pieces, in no order: zeros, or what was there before a cut, where
    /// one is lost.
    Scattered(u64),
}

#[derive(Debug, Default)]
struct Folder {
    entries: BTreeMap<OsString, Node>,
    durable: BTreeMap<OsString, Node>,
}

/// Pieces in which the bytes of a [`CrashKind::Scattered`] file survive; smaller than any disk's, so that small files have
/// many.
const PIECE_BYTES: usize = 16;

#[derive(Debug, Default)]
struct FileBytes {
    bytes: Vec<u8>,
    /// So many of `bytes` are durable.
    synced: usize,
    /// Durable bytes behind those, which were cut off since the last sync.
    cut: Vec<u8>,
}

impl FileBytes {
    fn durable(bytes: Vec<u8>) -> Self {
        Self { synced: bytes.len(), bytes, cut: Vec::new() }
    }

    fn cut(&mut self, len: usize) {
        if len < self.synced {
            let mut cut = self.bytes.get(len..self.synced).unwrap_or_default().to_vec();
            cut.append(&mut self.cut);
            (self.synced, self.cut) = (len, cut);
        }
        self.bytes.truncate(len);
    }

    fn sync(&mut self) {
        self.synced = self.bytes.len();
        self.cut.clear();
    }

    /// What a power cut leaves.
    fn survive(&self, kind: CrashKind, dice: &mut Dice) -> Vec<u8> {
        let (kept, loose) = self.bytes.split_at(self.synced);
        let mut left = kept.to_vec();
        match kind {
            CrashKind::LoseAll => left.extend_from_slice(&self.cut),
            CrashKind::Torn(_) => {
                left.extend_from_slice(loose.get(..dice.up_to(loose.len())).unwrap_or_default());
                // The bytes may be there without the cut before them.
                if !self.cut.is_empty() && dice.yes() {
                    left.extend_from_slice(self.cut.get(left.len() - self.synced..).unwrap_or_default());
                }
            }
            CrashKind::Scattered(_) => {
                let length = dice.up_to(loose.len());
                left.extend_from_slice(loose.get(..length).unwrap_or_default());
                for (i, piece) in left.split_at_mut(self.synced).1.chunks_mut(PIECE_BYTES).enumerate() {
                    if dice.yes() {
                        let old = self.cut.iter().skip(i * PIECE_BYTES).chain(std::iter::repeat(&0));
                        piece.iter_mut().zip(old).for_each(|(byte, old)| *byte = *old);
                    }
                }
            }
        }
        left
    }
}

#[derive(Debug, Clone)]
enum Node {
    File(Arc<RwLock<FileBytes>>),
    Folder(Arc<Mutex<Folder>>),
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

    fn node(&self, path: &Path) -> io::Result<Node> {
        let mut node = Node::Folder(Arc::clone(&self.root));
        for name in components(path) {
            let Node::Folder(folder) = &node else {
                return Err(io::Error::from(ErrorKind::NotADirectory));
            };
            let next = lock(folder).entries.get(&name).cloned().ok_or_else(not_found)?;
            node = next;
        }
        Ok(node)
    }

    fn folder(&self, path: &Path) -> io::Result<Arc<Mutex<Folder>>> {
        match self.node(path)? {
            Node::Folder(folder) => Ok(folder),
            Node::File(_) => Err(io::Error::from(ErrorKind::NotADirectory)),
        }
    }

    /// The folder that holds `path`, and the last part of `path`.
    fn parent(&self, path: &Path) -> io::Result<(Arc<Mutex<Folder>>, OsString)> {
        let mut parts = components(path);
        let name = parts.pop().ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
        let folder: PathBuf = parts.iter().collect();
        Ok((self.folder(&folder)?, name))
    }

    /// A copy of the file system as it would be found after a power cut now.
    #[must_use]
    pub fn after_crash(&self, kind: CrashKind) -> Self {
        let mut dice = Dice(match kind {
            CrashKind::LoseAll => None,
            CrashKind::Torn(seed) | CrashKind::Scattered(seed) => Some(seed),
        });
        let root = survive(&lock(&self.root), kind, &mut dice);
        Self { root: Arc::new(Mutex::new(root)), locks: Arc::default() }
    }

    /// A deep copy of the file system as it is visible now, all of it durable.
    #[must_use]
    pub fn deep_copy(&self) -> Self {
        Self { root: Arc::new(Mutex::new(copy_visible(&lock(&self.root)))), locks: Arc::default() }
    }

    /// The bytes of a file.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.node(path)? {
            Node::File(file) => Ok(file.read().unwrap_or_else(PoisonError::into_inner).bytes.clone()),
            Node::Folder(_) => Err(io::Error::from(ErrorKind::IsADirectory)),
        }
    }

    /// Replaces the bytes of a file, durably: damage done to order.
    pub fn overwrite(&self, path: &Path, bytes: Vec<u8>) -> io::Result<()> {
        match self.node(path)? {
            Node::File(file) => {
                *file.write().unwrap_or_else(PoisonError::into_inner) = FileBytes::durable(bytes);
                Ok(())
            }
            Node::Folder(_) => Err(io::Error::from(ErrorKind::IsADirectory)),
        }
    }

    /// All files, with their paths from the root.
    pub fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Folder, at: &Path, out: &mut Vec<PathBuf>) {
            for (name, node) in &folder.entries {
                let path = at.join(name);
                match node {
                    Node::File(_) => out.push(path),
                    Node::Folder(inner) => walk(&lock(inner), &path, out),
                }
            }
        }
        let mut out = Vec::new();
        walk(&lock(&self.root), Path::new("/"), &mut out);
        out
    }
}

/// The dice of a torn crash (SplitMix64); none: everything that is not durable is lost.
struct Dice(Option<u64>);

impl Dice {
    fn roll(&mut self) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn yes(&mut self) -> bool {
        self.roll() >> 63 == 1
    }

    /// From 0 to `most`.
    fn up_to(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() % (most as u64 + 1)).unwrap_or(0)
    }
}

fn survive(folder: &Folder, kind: CrashKind, dice: &mut Dice) -> Folder {
    let names: BTreeSet<&OsString> = folder.entries.keys().chain(folder.durable.keys()).collect();
    let mut entries = BTreeMap::new();
    for name in names {
        let source = if dice.yes() { &folder.entries } else { &folder.durable };
        let Some(node) = source.get(name) else { continue };
        let kept = match node {
            Node::File(file) => {
                let left = file.read().unwrap_or_else(PoisonError::into_inner).survive(kind, dice);
                Node::File(Arc::new(RwLock::new(FileBytes::durable(left))))
            }
            Node::Folder(inner) => Node::Folder(Arc::new(Mutex::new(survive(&lock(inner), kind, dice)))),
        };
        entries.insert(name.clone(), kept);
    }
    Folder { durable: entries.clone(), entries }
}

fn copy_visible(folder: &Folder) -> Folder {
    let mut entries = BTreeMap::new();
    for (name, node) in &folder.entries {
        let copy = match node {
            Node::File(file) => {
                let bytes = file.read().unwrap_or_else(PoisonError::into_inner).bytes.clone();
                Node::File(Arc::new(RwLock::new(FileBytes::durable(bytes))))
            }
            Node::Folder(inner) => Node::Folder(Arc::new(Mutex::new(copy_visible(&lock(inner))))),
        };
        entries.insert(name.clone(), copy);
    }
    Folder { durable: entries.clone(), entries }
}

#[derive(Debug)]
struct MemReader(Arc<RwLock<FileBytes>>);

impl ReadAt for MemReader {
    fn len(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let file = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let eof = || io::Error::from(ErrorKind::UnexpectedEof);
        let start = usize::try_from(offset).map_err(|_| eof())?;
        let end = start.checked_add(buf.len()).ok_or_else(eof)?;
        buf.copy_from_slice(file.bytes.get(start..end).ok_or_else(eof)?);
        Ok(())
    }
}

#[derive(Debug)]
struct MemWriter(Arc<RwLock<FileBytes>>);

impl Write for MemWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl WriteFile for MemWriter {
    fn sync(&mut self) -> io::Result<()> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).sync();
        Ok(())
    }
}

impl Vfs for MemVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        match self.node(path)? {
            Node::File(file) => Ok(Arc::new(MemReader(file))),
            Node::Folder(_) => Err(io::Error::from(ErrorKind::IsADirectory)),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let (folder, name) = self.parent(path)?;
        let mut folder = lock(&folder);
        if let Some(Node::Folder(_)) = folder.entries.get(&name) {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        }
        if let Some(Node::File(file)) = folder.entries.get(&name) {
            file.write().unwrap_or_else(PoisonError::into_inner).cut(0);
            return Ok(Box::new(MemWriter(Arc::clone(file))));
        }
        let file = Arc::new(RwLock::new(FileBytes::default()));
        folder.entries.insert(name, Node::File(Arc::clone(&file)));
        Ok(Box::new(MemWriter(file)))
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        let Node::File(file) = self.node(path)? else {
            return Err(io::Error::from(ErrorKind::IsADirectory));
        };
        let mut bytes = file.write().unwrap_or_else(PoisonError::into_inner);
        let len = usize::try_from(len).ok().filter(|len| *len <= bytes.bytes.len());
        bytes.cut(len.ok_or_else(|| io::Error::from(ErrorKind::UnexpectedEof))?);
        drop(bytes);
        Ok(Box::new(MemWriter(file)))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut at = Arc::clone(&self.root);
        for name in components(path) {
            let next = match lock(&at).entries.entry(name).or_insert_with(|| Node::Folder(Arc::default())) {
                Node::Folder(folder) => Arc::clone(folder),
                Node::File(_) => return Err(io::Error::from(ErrorKind::NotADirectory)),
            };
            at = next;
        }
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(lock(&*self.folder(path)?).entries.keys().map(PathBuf::from).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        self.node(path).is_ok()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_folder, from_name) = self.parent(from)?;
        let (to_folder, to_name) = self.parent(to)?;
        let node = lock(&from_folder).entries.get(&from_name).cloned().ok_or_else(not_found)?;
        lock(&to_folder).entries.insert(to_name.clone(), node);
        if !(Arc::ptr_eq(&from_folder, &to_folder) && from_name == to_name) {
            lock(&from_folder).entries.remove(&from_name);
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let Node::File(file) = self.node(from)? else {
            return Err(io::Error::from(ErrorKind::PermissionDenied));
        };
        let (folder, name) = self.parent(to)?;
        let mut folder = lock(&folder);
        if folder.entries.contains_key(&name) {
            return Err(io::Error::from(ErrorKind::AlreadyExists));
        }
        folder.entries.insert(name, Node::File(file));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let mut folder = lock(&folder);
        match folder.entries.get(&name) {
            None => Err(not_found()),
            Some(Node::Folder(_)) => Err(io::Error::from(ErrorKind::IsADirectory)),
            Some(Node::File(_)) => {
                folder.entries.remove(&name);
                Ok(())
            }
        }
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let mut folder = lock(&folder);
        match folder.entries.get(&name) {
            None => Err(not_found()),
            Some(Node::File(_)) => Err(io::Error::from(ErrorKind::NotADirectory)),
            Some(Node::Folder(_)) => {
                folder.entries.remove(&name);
                Ok(())
            }
        }
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let folder = self.folder(path)?;
        let mut folder = lock(&folder);
        folder.durable = folder.entries.clone();
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
