//! The work folder of a load in tasks: its plan, which tasks are done, and who is at which. All of it is files that are put where none is, in one
//! step, or replaced as a whole, so that workers need nothing else to know of each other, and what was done stays done whoever is killed.
//!
//! ```text
//! plan                         what is loaded
//! claims/map-000003.0001       somebody is at this task, for the first time
//! beats/map-000003.0001        changes while he is; whoever sees it stand still for the lease may claim the task for the next time
//! out/map-000003.0001-9f3c…/   what he writes
//! done/map-000003              which of these counts
//! failed                       why the load cannot go on
//! over                         the load is published
//! ```

use super::plan::Plan;
use super::task::Task;
use crate::error::StoreError;
use lode_base::identity::random_identity;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Nothing that is put in one step is longer: plans of a million shards are shorter.
const BYTES_MAX: u64 = 1 << 30;

/// What is in a work folder besides its plan.
pub const FILES: [&str; 7] = ["claims", "beats", "out", "done", "new", "failed", "over"];

/// Why a load cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why, for people.
    pub text: String,
    /// Whether a statement of the data is wrong.
    pub is_syntax: bool,
}

/// What the text of such a failure begins with.
const SYNTAX: &str = "syntax\n";

/// The work folder of a load.
#[derive(Debug, Clone)]
pub struct Board {
    vfs: Arc<dyn Vfs>,
    folder: PathBuf,
}

impl Board {
    /// The work folder at a path, which need not be there.
    pub fn new(vfs: &Arc<dyn Vfs>, folder: &Path) -> Self {
        Self { vfs: Arc::clone(vfs), folder: folder.to_owned() }
    }

    /// The same on the disks of this machine.
    pub fn on_disk(folder: &Path) -> Self {
        Self::new(&RealVfs::shared(), folder)
    }

    /// Its file system.
    pub fn vfs(&self) -> &Arc<dyn Vfs> {
        &self.vfs
    }

    /// Its path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The plan, if there is one.
    ///
    /// # Errors
    /// Where it cannot be read, is damaged, or of another version of the program.
    pub fn plan(&self) -> Result<Option<Plan>, StoreError> {
        let found = self.get("plan")?;
        found.map(|bytes| Plan::decode(&self.folder.join("plan"), bytes)).transpose()
    }

    /// Makes this the plan where there is none; whether that is so.
    pub(super) fn put_plan(&self, plan: &Plan) -> Result<bool, StoreError> {
        for folder in &FILES[..5] {
            let folder = self.folder.join(folder);
            self.vfs.create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        }
        self.put_if_absent("plan", &plan.encode())
    }

    /// Names of the tasks that are done.
    pub(super) fn done(&self) -> Result<Vec<String>, StoreError> {
        self.list("done")
    }

    /// The folder with what came of a task that is done.
    pub(super) fn result_of(&self, task: Task) -> Result<Option<PathBuf>, StoreError> {
        let found = self.get(&format!("done/{task}"))?;
        let name = found.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(name.map(|name| self.folder.join("out").join(name)))
    }

    /// The folder with what came of a task on which another depends.
    pub(super) fn input(&self, task: Task) -> Result<PathBuf, StoreError> {
        let missing = || StoreError::corruption(&self.folder, 0, format!("the task {task} is not done"));
        self.result_of(task)?.ok_or_else(missing)
    }

    /// Says that what is in a folder of [`Self::new_folder`] is what comes of a task, durably; whether it is, and not what another has made.
    pub(super) fn commit(&self, task: Task, folder: &Path) -> Result<bool, StoreError> {
        self.sync(folder)?;
        let out = self.folder.join("out");
        self.vfs.sync_dir(&out).map_err(StoreError::io(&out))?;
        let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
        self.put_if_absent(&format!("done/{task}"), name)
    }

    /// A new folder for what comes of a task.
    pub(super) fn new_folder(&self, claim: &str) -> Result<PathBuf, StoreError> {
        let folder = self.folder.join("out").join(format!("{claim}-{:016x}", random_identity() as u64));
        self.vfs.create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        Ok(folder)
    }

    /// Claims of all tasks.
    pub(super) fn claims(&self) -> Result<Vec<String>, StoreError> {
        self.list("claims")
    }

    /// Claims a task; whether nobody else had.
    pub(super) fn put_claim(&self, claim: &str) -> Result<bool, StoreError> {
        self.put_if_absent(&format!("claims/{claim}"), &[])
    }

    /// What whoever has this claim said last.
    pub(super) fn beat(&self, claim: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(&format!("beats/{claim}"))
    }

    /// Says that whoever has this claim is alive.
    pub(super) fn put_beat(&self, claim: &str, text: &str) -> Result<(), StoreError> {
        self.put(&format!("beats/{claim}"), text.as_bytes())
    }

    /// Why the load cannot go on, if that is so.
    ///
    /// # Errors
    /// Where that cannot be read.
    pub fn failure(&self) -> Result<Option<Failure>, StoreError> {
        let Some(bytes) = self.get("failed")? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Some(match text.strip_prefix(SYNTAX) {
            Some(text) => Failure { text: text.to_owned(), is_syntax: true },
            None => Failure { text, is_syntax: false },
        }))
    }

    /// Says why the load cannot go on.
    pub(super) fn put_failure(&self, why: &Failure) -> Result<(), StoreError> {
        let head = if why.is_syntax { SYNTAX } else { "" };
        self.put_if_absent("failed", format!("{head}{}", why.text).as_bytes()).map(drop)
    }

    /// Lets the load go on.
    pub(super) fn forget_failure(&self) -> Result<(), StoreError> {
        let path = self.folder.join("failed");
        match self.vfs.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Io { path, source: error })
            }
            _ => Ok(()),
        }
    }

    /// Whether the load is published.
    pub(super) fn is_over(&self) -> bool {
        self.vfs.exists(&self.folder.join("over"))
    }

    /// Says that the load is published.
    pub(super) fn put_over(&self) -> Result<(), StoreError> {
        self.put_if_absent("over", &[]).map(drop)
    }

    /// Removes all of it. A folder without a plan is no load, whatever else is left in it.
    ///
    /// # Errors
    /// Where the file system refuses.
    pub fn remove(&self) -> Result<(), StoreError> {
        let _ = self.vfs.remove(&self.folder.join("plan"));
        self.vfs.remove_dir_all(&self.folder).map_err(StoreError::io(&self.folder))
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.folder.join(key);
        let file = match self.vfs.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        if file.len() > BYTES_MAX {
            return Err(StoreError::corruption(&path, 0, "longer than such a file of a load can be"));
        }
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0).map_err(StoreError::io(&path))?;
        Ok(Some(bytes))
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let path = self.folder.join(folder);
        let names = self.vfs.list(&path).map_err(StoreError::io(&path))?;
        Ok(names.into_iter().filter_map(|name| name.to_str().map(str::to_owned)).collect())
    }

    /// Writes a file beside the others, durably but for its name.
    fn write_new(&self, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.folder.join("new").join(format!("{:032x}", random_identity()));
        let write = || {
            let mut file = self.vfs.create_new(&path)?;
            file.write_all(bytes)?;
            file.flush()?;
            file.sync()
        };
        write().map_err(StoreError::io(&path))?;
        Ok(path)
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.folder.join(key);
        let new = self.write_new(bytes)?;
        self.vfs.rename(&new, &path).map_err(StoreError::io(&path))
    }

    /// Of many who do this at once it is so for one: the file system gives the second name to one of them.
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let path = self.folder.join(key);
        let new = self.write_new(bytes)?;
        let linked = self.vfs.hard_link(&new, &path);
        let _ = self.vfs.remove(&new);
        match linked {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                let what = "this file system cannot give a file a second name (a hard link), without which two workers could do one task; \
                            put the work folder elsewhere (--work)";
                let source = io::Error::new(io::ErrorKind::Unsupported, what);
                return Err(StoreError::Io { path, source });
            }
            Err(source) => return Err(StoreError::Io { path, source }),
        }
        let folder = path.parent().unwrap_or(&self.folder);
        self.vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
        Ok(true)
    }

    /// Makes what is in a folder durable.
    fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        for name in self.vfs.list(folder).map_err(StoreError::io(folder))? {
            let path = folder.join(name);
            let length = self.vfs.open(&path).map_err(StoreError::io(&path))?.len();
            let mut file = self.vfs.open_append(&path, length).map_err(StoreError::io(&path))?;
            file.sync().map_err(StoreError::io(&path))?;
        }
        self.vfs.sync_dir(folder).map_err(StoreError::io(folder))
    }
}
