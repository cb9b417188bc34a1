//! Files of a database spread over several folders, each on a disk of its own: a [`StripedVfs`] is a file system above another one. What is written below
//! the folder of a database is cut into chunks, which go to its stripe folders in turn; in its place stands a stub. All else goes on as it is: files that
//! are short, and those that lie in the folder of the database itself (manifest, log, lock), are there.
//!
//! A file has parts of a name of its own, durable before its stub says so. So a rename moves the stub alone, in one step, and where a stub is
//! replaced or removed its parts go when that is durable. Parts that no stub names are left over where a process or the power ended in between;
//! who has the database for writing sweeps them up.

mod folders;
mod lane;
mod own_folder;
mod owner;
mod reader;
mod shared;
mod stub;
mod survey;
mod texts;
mod writer;

pub use folders::{CHUNK_BYTES, FOLDERS_MAX, STRIPES_FILE, STRIPES_FILE_TMP, StripeFolders};
pub use own_folder::remove_own_folder;
pub use survey::{FolderSurvey, Whose};

use crate::device::Device;
use crate::memory_budget::MemoryBudget;
use crate::vfs::{ReadAt, Vfs, WriteFile};
use lane::Lane;
use reader::{PartReader, StripedReader, together};
use shared::{Shared, StripeFolder, room_of};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use stub::{Stub, is_part_name, part_name};
use writer::StripedWriter;

/// For what is read ahead of those who read in sequence.
const AHEAD_BYTES_MAX: usize = 32 << 20;

/// A file system with one database in it whose files are striped.
#[derive(Debug, Clone)]
pub struct StripedVfs {
    root: PathBuf,
    shared: Arc<Shared>,
}

impl StripedVfs {
    /// What `vfs` has, with the database in `root`; `vfs` itself where that is not striped.
    ///
    /// # Errors
    /// Where a stripe folder is missing, or is not the right one; where the list of them is damaged or cannot be read.
    pub fn of(vfs: &Arc<dyn Vfs>, root: &Path) -> io::Result<Arc<dyn Vfs>> {
        match StripeFolders::read(&**vfs, root)? {
            None => Ok(Arc::clone(vfs)),
            Some(stripes) => Ok(Arc::new(Self::new(vfs, root, stripes, |_| Arc::clone(vfs))?)),
        }
    }

    /// The database in `root`, the files of whose stripe folders are in file systems of their own.
    ///
    /// # Errors
    /// Where a stripe folder is missing, or is not the right one.
    pub fn new(
        vfs: &Arc<dyn Vfs>,
        root: &Path,
        stripes: StripeFolders,
        of_folder: impl Fn(usize) -> Arc<dyn Vfs>,
    ) -> io::Result<Self> {
        let open = |(number, path): (usize, &PathBuf)| {
            let vfs = of_folder(number);
            stripes.verify(&*vfs, number)?;
            let (reads, writes) = (Lane::new(vfs.device().parallel), Lane::new(1));
            let own = stripes.own_folder(number);
            Ok(Arc::new(StripeFolder { path: path.clone(), own, vfs, reads, writes }))
        };
        let folders = stripes.folders.iter().enumerate().map(open).collect::<io::Result<Vec<_>>>()?;
        let (next_first, memory) = (AtomicU16::new(0), MemoryBudget::new(AHEAD_BYTES_MAX));
        let vfs = Arc::clone(vfs);
        let shared = Arc::new(Shared { vfs, stripes, folders, next_first, memory });
        Ok(Self { root: root.to_owned(), shared })
    }

    /// The folders.
    pub fn folders(&self) -> &StripeFolders {
        &self.shared.stripes
    }

    /// What is in each stripe folder, and what of it belongs to nobody.
    ///
    /// # Errors
    /// Where a folder cannot be read, or a stub is damaged.
    pub fn survey(&self) -> io::Result<Vec<FolderSurvey>> {
        let known = self.known_parts()?;
        let survey =
            |folder| survey::survey(folder, &known, &|room| self.inner().exists(&self.root.join(room)));
        self.shared.folders.iter().map(|folder| survey(folder)).collect()
    }

    /// Names of the parts of all files that there are.
    fn known_parts(&self) -> io::Result<BTreeSet<String>> {
        let mut stubs = Vec::new();
        self.stubs_in(&self.root, &mut stubs)?;
        Ok(stubs.into_iter().map(|(_, stub)| part_name(stub.name)).collect())
    }

    fn inner(&self) -> &dyn Vfs {
        &*self.shared.vfs
    }

    /// The name of a file in the folder of the database itself.
    fn name_in_root<'a>(&self, path: &'a Path) -> Option<&'a str> {
        if path.parent() == Some(&*self.root) { path.file_name()?.to_str() } else { None }
    }

    /// Whether a file of this path may be striped: it is in a folder below that of the database.
    fn is_below(&self, path: &Path) -> bool {
        path.strip_prefix(&self.root).is_ok_and(|rest| rest.components().nth(1).is_some())
    }

    /// The stub of a file; none where it is not striped, or is not there.
    fn stub(&self, path: &Path) -> io::Result<Option<Stub>> {
        if !self.is_below(path) {
            return Ok(None);
        }
        match self.inner().open(path) {
            Ok(file) => Stub::read(&*file, self.shared.stripes.id),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The stubs in a folder and those below it.
    fn stubs_in(&self, folder: &Path, found: &mut Vec<(PathBuf, Stub)>) -> io::Result<()> {
        for name in self.inner().list(folder)? {
            let path = folder.join(name);
            match self.inner().open(&path) {
                Ok(file) if self.is_below(&path) => {
                    found.extend(Stub::read(&*file, self.shared.stripes.id)?.map(|stub| (path, stub)));
                }
                Ok(_) => {}
                // It went meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => self.stubs_in(&path, found).map_err(|_| error)?,
            }
        }
        Ok(())
    }

    fn open_with(
        &self,
        path: &Path,
        open: impl Fn(&dyn Vfs, &Path) -> io::Result<Arc<dyn ReadAt>>,
    ) -> io::Result<Arc<dyn ReadAt>> {
        let file = open(self.inner(), path)?;
        let Some(stub) =
            (if self.is_below(path) { Stub::read(&*file, self.shared.stripes.id)? } else { None })
        else {
            return Ok(file);
        };
        if usize::from(stub.folders) != self.shared.folders.len() {
            let what = format!("its parts are in {} stripe folders", stub.folders);
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        let open_part = |(number, folder): (usize, &Arc<StripeFolder>)| {
            let bytes = stub.part_bytes(number);
            if bytes == 0 {
                return Ok(None);
            }
            let path = folder.own.join(stub.part());
            let file = open(&*folder.vfs, &path).map_err(|error| match error.kind() {
                ErrorKind::NotFound => part_error(&path, "is missing"),
                kind => io::Error::new(kind, format!("{}: {error}", path.display())),
            })?;
            if file.len() < bytes {
                return Err(part_error(&path, &format!("has {} bytes of {bytes}", file.len())));
            }
            let (lane, folder) = (Arc::clone(&folder.reads), folder.path.clone());
            Ok(Some(Arc::new(PartReader { file, lane, folder })))
        };
        let parts: io::Result<Vec<_>> = self.shared.folders.iter().enumerate().map(open_part).collect();
        match parts {
            Ok(parts) => Ok(Arc::new(StripedReader::new(stub, parts, self.shared.memory.clone()))),
            // It was removed meanwhile, and its parts with it.
            Err(_) if !self.inner().exists(path) => Err(io::Error::from(ErrorKind::NotFound)),
            Err(error) => Err(error),
        }
    }

    /// Removes the parts of stubs that are gone, once that is durable.
    fn remove_parts_of(&self, gone: &[Stub], folder: &Path) {
        let is_durable = gone.iter().any(|stub| stub.is_durable);
        if is_durable && self.inner().sync_dir(folder).is_err() {
            // Swept up later.
            return;
        }
        gone.iter().for_each(|stub| self.shared.remove_parts(stub));
    }

    fn writer(&self, path: &Path, file: Box<dyn WriteFile>) -> Box<dyn WriteFile> {
        Box::new(StripedWriter::new(&self.shared, path, file))
    }
}

fn part_error(path: &Path, what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("its part {} {what}", path.display()))
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

impl Vfs for StripedVfs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.open_with(path, |vfs, path| vfs.open(path))
    }

    fn open_immutable(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.open_with(path, |vfs, path| vfs.open_immutable(path))
    }

    fn device(&self) -> Device {
        let folders = &self.shared.folders;
        let device = folders.first().map_or(Device::LOCAL, |folder| folder.vfs.device());
        together(device, folders.len(), self.shared.stripes.chunk)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        if !self.is_below(path) {
            return self.inner().create(path);
        }
        if let Ok(Some(_)) = self.stub(path) {
            self.remove(path)?;
        }
        Ok(self.writer(path, self.inner().create(path)?))
    }

    fn create_new(&self, path: &Path) -> io::Result<Box<dyn WriteFile>> {
        let file = self.inner().create_new(path)?;
        Ok(if self.is_below(path) { self.writer(path, file) } else { file })
    }

    fn open_append(&self, path: &Path, len: u64) -> io::Result<Box<dyn WriteFile>> {
        if self.stub(path)?.is_some() {
            return Err(io::Error::new(ErrorKind::Unsupported, "nothing is appended to a striped file"));
        }
        self.inner().open_append(path, len)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner().create_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner().list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.inner().exists(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.is_below(from) && !self.is_below(to) && self.stub(from).is_ok_and(|stub| stub.is_some()) {
            return Err(io::Error::from(ErrorKind::CrossesDevices));
        }
        let replaced = if from == to { None } else { self.stub(to).ok().flatten() };
        self.inner().rename(from, to)?;
        if let Some(stub) = replaced {
            self.remove_parts_of(&[stub], parent(to));
        }
        Ok(())
    }

    fn hard_link(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.stub(from)?.is_some() {
            return Err(io::Error::from(ErrorKind::Unsupported));
        }
        self.inner().hard_link(from, to)
    }

    fn is_same_file(&self, a: &Path, b: &Path) -> io::Result<bool> {
        self.inner().is_same_file(a, b)
    }

    fn file_identity(&self, path: &Path) -> io::Result<Option<u128>> {
        self.inner().file_identity(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let stub = self.stub(path).ok().flatten();
        self.inner().remove(path)?;
        if let Some(stub) = stub {
            self.remove_parts_of(&[stub], parent(path));
        }
        if let Some(name) = self.name_in_root(path) {
            self.shared.remove_room(name);
        }
        Ok(())
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        if !path.starts_with(&self.root) {
            return self.inner().remove_dir_all(path);
        }
        let mut stubs = Vec::new();
        // What cannot be looked at is swept up later.
        let _ = self.stubs_in(path, &mut stubs);
        // Where some of it is left, so are all parts.
        self.inner().remove_dir_all(path)?;
        let gone: Vec<Stub> = stubs.into_iter().map(|(_, stub)| stub).collect();
        self.remove_parts_of(&gone, parent(path));
        if path == self.root {
            for folder in &self.shared.folders {
                let _ = remove_own_folder(&*folder.vfs, &folder.own);
            }
        }
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner().sync_dir(path)
    }

    fn free_bytes(&self, folder: &Path) -> io::Result<Option<u64>> {
        let own = self.inner().free_bytes(folder)?;
        if !folder.starts_with(&self.root) {
            return Ok(own);
        }
        let mut least = None;
        for folder in &self.shared.folders {
            let Some(free) = folder.vfs.free_bytes(&folder.own)? else { return Ok(own) };
            least = Some(least.map_or(free, |least: u64| least.min(free)));
        }
        // All of them have as much of what is written.
        let striped = least.map(|least| least.saturating_mul(self.shared.folders.len() as u64));
        Ok(own.map(|own| striped.map_or(own, |striped| striped.min(own))))
    }

    /// Takes as much on the disks of the stripe folders together.
    fn allocate(&self, path: &Path, bytes: u64) -> io::Result<()> {
        if let Some(name) = self.name_in_root(path) {
            self.shared.take_room(name, bytes)?;
        }
        self.inner().allocate(path, bytes)
    }

    fn lock(&self, path: &Path, exclusive: bool) -> io::Result<Box<dyn Send + Sync>> {
        self.inner().lock(path, exclusive)
    }

    fn claim(&self, folder: &Path) -> io::Result<()> {
        if folder != self.root {
            return Ok(());
        }
        let of_folders: Vec<&dyn Vfs> = self.shared.folders.iter().map(|folder| &*folder.vfs).collect();
        self.shared.stripes.claim(self.inner(), &of_folders, folder)
    }

    fn sweep(&self, folder: &Path) -> io::Result<()> {
        if folder != self.root {
            return Ok(());
        }
        let known = self.known_parts()?;
        for folder in &self.shared.folders {
            for name in folder.vfs.list(&folder.own)? {
                let is_lost = name.to_str().is_some_and(|name| match room_of(name) {
                    Some(file) => !self.inner().exists(&self.root.join(file)),
                    None => is_part_name(name) && !known.contains(name),
                });
                if is_lost {
                    folder.vfs.remove(&folder.own.join(name))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
