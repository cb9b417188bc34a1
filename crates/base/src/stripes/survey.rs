//! What is in the stripe folders of a database, and what of it belongs to nobody: for who checks it, and wants to know what takes the room of a disk.

use super::folders::StripeFolders;
use super::own_folder::{UNFINISHED_FILE, id_of, is_foreign, making_folders, own_folders, was_never_made};
use super::owner;
use super::shared::{StripeFolder, room_of};
use super::stub::is_part_name;
use crate::vfs::Vfs;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Whose an own folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// A database's that is there.
    OfDatabase,
    /// That of a database whose list of stripe folders is damaged or lost.
    ListDamaged(PathBuf),
    /// Nobody's: who made it, or took it apart, was stopped.
    Unfinished,
    /// That of a database that was there, and is not there now.
    Gone(PathBuf),
    /// What says it is damaged.
    MarkDamaged,
    /// It does not say.
    Unsaid,
    /// It cannot be read.
    Unknown,
}

/// What is in one stripe folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderSurvey {
    /// As the user named it.
    pub folder: PathBuf,
    /// That of the database in it.
    pub own: PathBuf,
    /// Parts of files of the database.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Parts that no file has.
    pub lost_parts: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Whether the mark that tells whose they are is damaged,
    pub is_owner_damaged: bool,
    /// or is not there.
    pub is_owner_missing: bool,
    /// Other files among them.
    pub foreign: Vec<PathBuf>,
    /// Folders of other databases in the stripe folder, and whose they are.
    pub others: Vec<(PathBuf, Whose)>,
}

/// Looks at one folder. `is_there` says whether a file is in the folder of the database itself.
pub(super) fn survey(
    folder: &StripeFolder,
    known: &BTreeSet<String>,
    is_there: &dyn Fn(&str) -> bool,
) -> io::Result<FolderSurvey> {
    let StripeFolder { path, own, vfs, .. } = folder;
    let mut found = FolderSurvey { folder: path.clone(), own: own.clone(), ..FolderSurvey::default() };
    for name in vfs.list(own)? {
        let path = own.join(&name);
        let name = name.to_string_lossy();
        let is_room = room_of(&name).is_some_and(is_there);
        if is_part_name(&name) || room_of(&name).is_some() {
            // One that went meanwhile takes no room.
            let bytes = vfs.open_immutable(&path).map_or(0, |file| file.len());
            let is_known = is_room || known.contains(&*name);
            let (count, sum) = match is_known {
                true => (&mut found.parts, &mut found.bytes),
                false => (&mut found.lost_parts, &mut found.lost_bytes),
            };
            *count += u64::from(!is_room);
            *sum += bytes;
        } else if is_foreign(&name) {
            found.foreign.push(path);
        }
    }
    let mark = owner::text(&**vfs, own)?;
    found.is_owner_missing = mark.is_none();
    found.is_owner_damaged = mark.is_some_and(|text| owner::decode(&text).is_none());
    let others = own_folders(&**vfs, path).into_iter().filter(|other| other != own);
    found.others = others.map(|other| (other.clone(), whose(&**vfs, &other))).collect();
    let begun = making_folders(&**vfs, path).into_iter();
    found.others.extend(begun.map(|begun| (begun, Whose::Unfinished)));
    Ok(found)
}

/// Whose an own folder in a stripe folder is.
fn whose(vfs: &dyn Vfs, own: &Path) -> Whose {
    if was_never_made(vfs, own) {
        return Whose::Unfinished;
    }
    let owner = match owner::text(vfs, own) {
        Ok(Some(text)) => owner::decode(&text),
        Ok(None) => return Whose::Unsaid,
        Err(_) => return Whose::Unknown,
    };
    let Some(owner) = owner else { return Whose::MarkDamaged };
    let id = own.file_name().and_then(|name| name.to_str()).and_then(id_of);
    match StripeFolders::read_or_lost(vfs, &owner) {
        Ok(Some(list)) if list.id == id.unwrap_or_default() => Whose::OfDatabase,
        Ok(_) if vfs.exists(&own.join(UNFINISHED_FILE)) => Whose::Unfinished,
        Ok(_) => Whose::Gone(owner),
        Err(error) if error.kind() == ErrorKind::InvalidData => Whose::ListDamaged(owner),
        Err(_) => Whose::Unknown,
    }
}
