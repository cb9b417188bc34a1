//! Which folders the files of a database are spread over: a small text in the folder of the database, and a mark in each of the others, by which one that
//! is missing, or another one's, is told.

use crate::identity::random_identity;
use crate::real_vfs::{is_same_folder, whole_path};
use crate::vfs::Vfs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Name of the text in the folder of a database.
pub const STRIPES_FILE: &str = "stripes";
/// Its name while it is written.
pub const STRIPES_FILE_TMP: &str = "stripes.new";
/// Name of the mark in a folder.
const MARK_FILE: &str = "stripe";
/// Where the folder of the database was when it got its stripes, or was opened for writing last. That of the first folder decides.
const OWNER_FILE: &str = "owner";
/// There until the database has its list of folders, and again while it is taken apart: a folder with it holds nothing that anybody has.
const UNFINISHED_FILE: &str = "unfinished";
/// What names of own folders begin with.
const OWN_PREFIX: &str = "lode-";
const FIRST_LINE: &str = "lodestore stripes 1";
const MARK_LINE: &str = "lodestore stripe 1";
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// No file is in more folders.
pub const FOLDERS_MAX: usize = 64;
/// So many bytes are in one folder, the next in the next one: large enough that a disk with an arm spends its time reading, small enough that what
/// is read ahead in a scan is in all of them.
pub const CHUNK_BYTES: u64 = 256 << 10;
/// Chunks are no longer.
const CHUNK_BYTES_MAX: u64 = 1 << 30;

/// The folders of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeFolders {
    /// A number that no other database has.
    pub id: u128,
    /// Bytes in one folder before the next ones are in the next.
    pub chunk: u64,
    /// As the user named them, from the root of the file system on.
    pub folders: Vec<PathBuf>,
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, what.into())
}

fn damaged(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl StripeFolders {
    /// New ones for a database in `root`.
    ///
    /// # Errors
    /// `InvalidInput` where there are none or too many, one is named twice or lies in the folder of the database, or has a name that is no text.
    pub fn new(root: &Path, folders: &[PathBuf], chunk: u64) -> io::Result<Self> {
        let folders = folders.iter().map(std::path::absolute).collect::<io::Result<Vec<_>>>()?;
        let root = std::path::absolute(root)?;
        if folders.is_empty() || folders.len() > FOLDERS_MAX {
            return Err(invalid(format!("a database has from 1 to {FOLDERS_MAX} stripe folders")));
        }
        for (number, folder) in folders.iter().enumerate() {
            let shown = folder.display();
            if folder.to_str().is_none_or(|name| name.contains(['\n', '\r'])) {
                return Err(invalid(format!(
                    "the stripe folder {shown} has a name that is not one line of UTF-8"
                )));
            }
            if folders.iter().take(number).any(|other| other == folder) {
                return Err(invalid(format!("the stripe folder {shown} is named twice")));
            }
            if folder.starts_with(&root) {
                return Err(invalid(format!("the stripe folder {shown} is in the folder of the database")));
            }
        }
        Ok(Self { id: random_identity(), chunk: chunk.clamp(1, CHUNK_BYTES_MAX), folders })
    }

    fn encode(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nid {:032x}\nchunk {}\n", self.id, self.chunk);
        for folder in &self.folders {
            text += &format!("folder {}\n", folder.display());
        }
        text
    }

    fn decode(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let id = number(lines.next()?.strip_prefix("id ")?)?;
        let chunk = lines.next()?.strip_prefix("chunk ")?.parse().ok()?;
        let folders: Option<Vec<PathBuf>> =
            lines.map(|line| line.strip_prefix("folder ").map(PathBuf::from)).collect();
        let folders = folders.filter(|folders| (1..=FOLDERS_MAX).contains(&folders.len()))?;
        (1..=CHUNK_BYTES_MAX).contains(&chunk).then_some(Self { id, chunk, folders })
    }

    /// Those of the database in `root`; none where its files are in its own folder alone.
    ///
    /// # Errors
    /// `InvalidData` where the text is damaged; where it cannot be read.
    pub fn read(vfs: &dyn Vfs, root: &Path) -> io::Result<Option<Self>> {
        let path = root.join(STRIPES_FILE);
        if !vfs.exists(&path) {
            return Ok(None);
        }
        let text = read_text(vfs, &path)?;
        let found = text.as_deref().and_then(Self::decode);
        let what = "this is no list of the stripe folders of a database, or it is damaged";
        found.map(Some).ok_or_else(|| damaged(what))
    }

    /// Writes the text, durably, in place of what was there.
    ///
    /// # Errors
    /// Where the file system refuses: the old one or the new one is there then.
    pub fn write(&self, vfs: &dyn Vfs, root: &Path) -> io::Result<()> {
        let (tmp, path) = (root.join(STRIPES_FILE_TMP), root.join(STRIPES_FILE));
        write_text(vfs, &tmp, &self.encode())?;
        vfs.rename(&tmp, &path)?;
        vfs.sync_dir(root)
    }

    /// The folder of its own that the database has in a stripe folder.
    pub fn own_folder(&self, number: usize) -> PathBuf {
        self.folders.get(number).map(|folder| self.own_folder_in(folder)).unwrap_or_default()
    }

    fn own_folder_in(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{OWN_PREFIX}{:032x}", self.id))
    }

    fn mark(&self, number: usize) -> String {
        format!("{MARK_LINE}\nid {:032x}\nfolder {} of {}\n", self.id, number + 1, self.folders.len())
    }

    /// Makes the own folder in a stripe folder with its mark, durably. It is unfinished until [`StripeFolders::finish`].
    ///
    /// # Errors
    /// `AlreadyExists` where it has one: two paths then lead to one folder; where the file system refuses.
    pub fn prepare(&self, vfs: &dyn Vfs, root: &Path, number: usize) -> io::Result<()> {
        let own = self.own_folder(number);
        let Some(folder) = own.parent() else { return Ok(()) };
        let path = own.join(MARK_FILE);
        let shown = folder.display();
        if vfs.exists(&path) {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                format!("{shown} and another of the stripe folders are one folder"),
            ));
        }
        let make = || {
            vfs.create_dir_all(&own)?;
            write_text(vfs, &own.join(UNFINISHED_FILE), "")?;
            write_text(vfs, &own.join(OWNER_FILE), &format!("{}\n", whole_path(root)?.display()))?;
            write_text(vfs, &path, &self.mark(number))?;
            vfs.sync_dir(&own)?;
            vfs.sync_dir(folder)
        };
        make().map_err(|error| in_folder(&error, folder))
    }

    /// Says that the own folders are those of a database from now on: its list is there. What fails is done by who writes next.
    pub fn finish(&self, vfs: &dyn Vfs) {
        (0..self.folders.len()).for_each(|number| self.finish_one(vfs, number));
    }

    fn finish_one(&self, vfs: &dyn Vfs, number: usize) {
        let own = self.own_folder(number);
        let path = own.join(UNFINISHED_FILE);
        if vfs.exists(&path) && vfs.remove(&path).is_ok() {
            let _ = vfs.sync_dir(&own);
        }
    }

    /// Takes the stripes from a database none of whose files is in them any more. Its list goes before the folders do.
    ///
    /// # Errors
    /// Where the file system refuses: then the list is there, or what is left is removed by who makes stripe folders there next.
    pub fn dissolve(&self, vfs: &dyn Vfs, root: &Path) -> io::Result<()> {
        for number in 0..self.folders.len() {
            let own = self.own_folder(number);
            write_text(vfs, &own.join(UNFINISHED_FILE), "")?;
            vfs.sync_dir(&own)?;
        }
        vfs.remove(&root.join(STRIPES_FILE))?;
        vfs.sync_dir(root)?;
        (0..self.folders.len()).try_for_each(|number| vfs.remove_dir_all(&self.own_folder(number)))
    }

    /// Removes what was left in these folders by who was stopped before the database in `root` had its stripes, or while it lost them. For who has the
    /// lock of that database, which has no list of stripe folders. What cannot be removed stays.
    pub fn sweep_unfinished(&self, vfs: &dyn Vfs, root: &Path) {
        let Ok(root) = whole_path(root) else { return };
        for folder in &self.folders {
            for own in own_folders(vfs, folder) {
                let is_unfinished = vfs.exists(&own.join(UNFINISHED_FILE));
                if is_unfinished && owner(vfs, &own).ok().flatten().is_some_and(|owner| owner == root) {
                    let _ = vfs.remove_dir_all(&own);
                }
            }
        }
    }

    /// Fails where a stripe folder is not there, or is not the one that it should be.
    ///
    /// # Errors
    /// An error that names the folder and says what to do.
    pub fn verify(&self, vfs: &dyn Vfs, number: usize) -> io::Result<()> {
        let folder = self.folders.get(number).map(PathBuf::as_path).unwrap_or(Path::new(""));
        self.verify_at(vfs, number, folder)
    }

    fn verify_at(&self, vfs: &dyn Vfs, number: usize, folder: &Path) -> io::Result<()> {
        let (path, shown) = (self.own_folder_in(folder).join(MARK_FILE), folder.display());
        let text = match read_text(vfs, &path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(io::Error::new(
                    ErrorKind::NotFound,
                    format!(
                        "the stripe folder {shown} has no files of this database (no lode-{:032x} in it): is its disk mounted? Where it was \
                         moved, tell it with `lode stripe DATABASE --move {shown} NEW`",
                        self.id
                    ),
                ));
            }
            Err(error) => return Err(in_folder(&error, folder)),
        };
        if text.as_deref() == Some(&*self.mark(number)) {
            return Ok(());
        }
        let other = (0..self.folders.len()).find(|other| text.as_deref() == Some(&*self.mark(*other)));
        let what = match other {
            Some(other) => format!(
                "it is number {} of them, not number {}: the disks are swapped",
                other + 1,
                number + 1
            ),
            None => "its mark is damaged".to_owned(),
        };
        Err(damaged(format!("the stripe folder {shown} is not the right one: {what}")))
    }

    /// Has the files be those of the database in `root`, and of no copy of its folder: what one of two removes the other one may need.
    ///
    /// # Errors
    /// `AlreadyExists` where the folder is there still that they were of before; where the file system refuses.
    pub fn claim(&self, vfs: &dyn Vfs, of_folders: &[&dyn Vfs], root: &Path) -> io::Result<()> {
        let Some(of_first) = of_folders.first() else { return Ok(()) };
        of_folders.iter().enumerate().for_each(|(number, vfs)| self.finish_one(*vfs, number));
        let root = whole_path(root)?;
        let owner = owner(*of_first, &self.own_folder(0))?;
        match owner {
            Some(owner) if owner == root => return Ok(()),
            Some(owner) if !is_same_folder(&owner, &root) => {
                let there = Self::read(vfs, &owner).ok().flatten();
                if there.is_some_and(|there| there.id == self.id) {
                    let what = format!(
                        "this folder is a copy of the database {}, and its stripe folders have the files of that one: to have two, restore a backup \
                         (`lode restore --stripe`)",
                        owner.display()
                    );
                    return Err(io::Error::new(ErrorKind::AlreadyExists, what));
                }
            }
            _ => {}
        }
        // The first one last: it decides.
        for (number, vfs) in of_folders.iter().enumerate().rev() {
            let own = self.own_folder(number);
            let tmp = own.join(format!("{OWNER_FILE}.new"));
            write_text(*vfs, &tmp, &format!("{}\n", root.display()))?;
            vfs.rename(&tmp, &own.join(OWNER_FILE))?;
            vfs.sync_dir(&own)?;
        }
        Ok(())
    }

    /// Says that a folder is in another place now, to which its files were moved before.
    ///
    /// # Errors
    /// `InvalidInput` where `old` is none of the folders; where `new` has not its files.
    pub fn move_folder(&mut self, vfs: &dyn Vfs, old: &Path, new: &Path) -> io::Result<()> {
        let (old, new) = (std::path::absolute(old)?, std::path::absolute(new)?);
        let Some(number) = self.folders.iter().position(|folder| *folder == old) else {
            let known: Vec<String> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
            return Err(invalid(format!(
                "{} is none of the stripe folders, which are {}",
                old.display(),
                known.join(", ")
            )));
        };
        if new.to_str().is_none_or(|name| name.contains(['\n', '\r'])) {
            return Err(invalid(format!("{} is not one line of UTF-8", new.display())));
        }
        let moved = self.own_folder_in(&new);
        if !vfs.exists(&moved.join(MARK_FILE)) {
            let (own, new) = (self.own_folder_in(&old), new.display());
            let first = match vfs.exists(&own) {
                true => "the files are where they were",
                false => "they are not where they were either",
            };
            return Err(invalid(format!(
                "{new} has no files of this database, and {first}: move {} to {}, then say so again",
                own.display(),
                moved.display()
            )));
        }
        self.verify_at(vfs, number, &new)?;
        if let Some(folder) = self.folders.get_mut(number) {
            *folder = new;
        }
        Ok(())
    }
}

/// The folders of databases in a stripe folder.
pub(super) fn own_folders(vfs: &dyn Vfs, folder: &Path) -> Vec<PathBuf> {
    let is_own = |name: &PathBuf| {
        let id = name.to_str().and_then(|name| name.strip_prefix(OWN_PREFIX));
        id.is_some_and(|id| number(id).is_some())
    };
    let names = vfs.list(folder).unwrap_or_default();
    names.into_iter().filter(is_own).map(|name| folder.join(name)).collect()
}

/// Where the folder of the database is whose own folder this is; none where it does not say.
///
/// # Errors
/// Where it cannot be read.
fn owner(vfs: &dyn Vfs, own: &Path) -> io::Result<Option<PathBuf>> {
    match read_text(vfs, &own.join(OWNER_FILE)) {
        Ok(text) => Ok(text.and_then(|text| text.strip_suffix('\n').map(PathBuf::from))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whose an own folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// A database's that is there.
    OfDatabase,
    /// Nobody's: who made it, or took it apart, was stopped.
    Unfinished,
    /// That of a database that was there, and is not there now.
    Gone(PathBuf),
    /// It does not say.
    Unknown,
}

/// Whose an own folder in a stripe folder is.
pub(super) fn whose(vfs: &dyn Vfs, own: &Path) -> Whose {
    let Some(owner) = owner(vfs, own).ok().flatten() else { return Whose::Unknown };
    let id = own.file_name().and_then(|name| name.to_str()?.strip_prefix(OWN_PREFIX).and_then(number));
    match StripeFolders::read(vfs, &owner) {
        Ok(Some(list)) if Some(list.id) == id => Whose::OfDatabase,
        Ok(_) if vfs.exists(&own.join(UNFINISHED_FILE)) => Whose::Unfinished,
        Ok(_) => Whose::Gone(owner),
        Err(_) => Whose::Unknown,
    }
}

/// Whether a file in an own folder is neither a part nor any other that belongs there.
pub(super) fn is_foreign(name: &str) -> bool {
    let known = [MARK_FILE, OWNER_FILE, UNFINISHED_FILE];
    !known.contains(&name) && name.strip_suffix(".new") != Some(OWNER_FILE)
}

/// The same error, and in which stripe folder.
pub(super) fn in_folder(error: &io::Error, folder: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{error} (in the stripe folder {})", folder.display()))
}

fn number(text: &str) -> Option<u128> {
    (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

/// None where it is no text, or a very long one.
fn read_text(vfs: &dyn Vfs, path: &Path) -> io::Result<Option<String>> {
    let file = vfs.open(path)?;
    if file.len() > TEXT_BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = vec![0; file.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(String::from_utf8(bytes).ok())
}

fn write_text(vfs: &dyn Vfs, path: &Path, text: &str) -> io::Result<()> {
    let mut file = vfs.create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync()
}
