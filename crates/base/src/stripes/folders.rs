//! Which folders the files of a database are spread over: a small text in the folder of the database, and a mark in each of the others, by which one that
//! is missing, or another one's, is told.

use super::own_folder::{
    MARK_FILE, OWN_PREFIX, UNFINISHED_FILE, id_of, making_folder, number, own_folders, remove_own_folder,
    was_never_made,
};
use super::owner;
use super::stub;
use super::texts::{read_text, seal, unseal, write_text};
use crate::identity::random_identity;
use crate::real_vfs::{is_same_folder, whole_path};
use crate::vfs::Vfs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Name of the text in the folder of a database.
pub const STRIPES_FILE: &str = "stripes";
/// Its name while it is written.
pub const STRIPES_FILE_TMP: &str = "stripes.new";
const FIRST_LINE: &str = "lodestore stripes 2";
/// That of lists without a checksum, as they were before.
const FIRST_LINE_UNSEALED: &str = "lodestore stripes 1";
const MARK_LINE: &str = "lodestore stripe 1";
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

fn list_is(state: &str) -> io::Error {
    damaged(format!(
        "the list of the stripe folders of the database is {state}; `lode stripe DATABASE DIR...` with the folders that it had writes it again"
    ))
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
        seal(text)
    }

    fn decode(text: &str) -> Option<Self> {
        let is_unsealed = text.strip_prefix(FIRST_LINE_UNSEALED).is_some_and(|rest| rest.starts_with('\n'));
        let text = if is_unsealed { text } else { unseal(text)? };
        let mut lines = text.strip_suffix('\n')?.split('\n');
        if lines.next()? != if is_unsealed { FIRST_LINE_UNSEALED } else { FIRST_LINE } {
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
        found.map(Some).ok_or_else(|| list_is("damaged"))
    }

    /// The same, where the list may be lost: what tells is that files are elsewhere. All of them are looked at, if there is no list.
    ///
    /// # Errors
    /// As [`Self::read`], and `InvalidData` where the list is lost.
    pub fn read_or_lost(vfs: &dyn Vfs, root: &Path) -> io::Result<Option<Self>> {
        let found = Self::read(vfs, root)?;
        if found.is_none() && stub::is_in(vfs, root, true) {
            return Err(list_is("missing"));
        }
        Ok(found)
    }

    /// The stripes of the database in `root`, by the marks in these folders, whatever their order: for who has lost the list. None unless the own folders
    /// of one database, that in `root`, are all there.
    pub fn of_marks(vfs: &dyn Vfs, root: &Path, folders: &[PathBuf]) -> Option<Self> {
        let root = whole_path(root).ok()?;
        let folders = folders.iter().map(std::path::absolute).collect::<io::Result<Vec<_>>>().ok()?;
        let of_root = |own: &PathBuf| owner::of(vfs, own).is_some_and(|owner| owner == root);
        let id = |own: PathBuf| own.file_name()?.to_str().and_then(id_of);
        let ids = own_folders(vfs, folders.first()?).into_iter().filter(of_root).filter_map(id);
        let of_id = |id| {
            let mut found = Self { id, chunk: CHUNK_BYTES, folders: folders.clone() };
            let place = |number| folders.iter().find(|folder| found.verify_at(vfs, number, folder).is_ok());
            let places: Option<Vec<PathBuf>> =
                (0..folders.len()).map(|number| place(number).cloned()).collect();
            found.folders = places?;
            Some(found)
        };
        let mut found = ids.filter_map(of_id);
        found.next().filter(|_| found.next().is_none())
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
            let root = whole_path(root)?;
            // It has its name only once it says whose it is.
            let making = making_folder(folder, &root);
            if vfs.exists(&making) {
                vfs.remove_dir_all(&making)?;
            }
            vfs.create_dir_all(&making)?;
            write_text(vfs, &making.join(UNFINISHED_FILE), "")?;
            owner::write(vfs, &making, &root)?;
            write_text(vfs, &making.join(MARK_FILE), &self.mark(number))?;
            vfs.sync_dir(&making)?;
            vfs.rename(&making, &own)?;
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
        (0..self.folders.len()).try_for_each(|number| remove_own_folder(vfs, &self.own_folder(number)))
    }

    /// Removes what was left in these folders by who was stopped before the database in `root` had its stripes, or while it lost them. For who has the
    /// lock of that database, which has no list of stripe folders. What cannot be removed stays.
    pub fn sweep_unfinished(&self, vfs: &dyn Vfs, root: &Path) {
        let Ok(root) = whole_path(root) else { return };
        for folder in &self.folders {
            let making = making_folder(folder, &root);
            if vfs.exists(&making) {
                let _ = vfs.remove_dir_all(&making);
            }
            for own in own_folders(vfs, folder) {
                let is_unfinished = vfs.exists(&own.join(UNFINISHED_FILE));
                let is_of_root = || owner::of(vfs, &own).is_some_and(|owner| owner == root);
                if is_unfinished && is_of_root() || was_never_made(vfs, &own) {
                    let _ = remove_own_folder(vfs, &own);
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
        of_folders.iter().enumerate().for_each(|(number, vfs)| self.finish_one(*vfs, number));
        let root = whole_path(root)?;
        let mark = |(number, vfs): (usize, &&dyn Vfs)| owner::text(*vfs, &self.own_folder(number));
        let marks = of_folders.iter().enumerate().map(mark).collect::<io::Result<Vec<_>>>()?;
        // The first that is sound decides.
        let owner = marks.iter().flatten().find_map(|text| owner::decode(text));
        if let Some(owner) = owner.filter(|owner| *owner != root && !is_same_folder(owner, &root)) {
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
        // The first one last, since it decides.
        for (number, (vfs, text)) in of_folders.iter().zip(marks).enumerate().rev() {
            if text.is_none_or(|text| text != owner::encode(&root)) {
                owner::replace(*vfs, &self.own_folder(number), &root)?;
            }
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

/// The same error, and in which stripe folder.
pub(super) fn in_folder(error: &io::Error, folder: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{error} (in the stripe folder {})", folder.display()))
}
