//! What is in the stripe folders of a database, and what of it belongs to nobody: for who checks it, and wants to know what takes the room of a disk.

use super::folders::{Whose, is_foreign, own_folders, whose};
use super::shared::{StripeFolder, room_of};
use super::stub::is_part_name;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

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
    let others = own_folders(&**vfs, path).into_iter().filter(|other| other != own);
    found.others = others.map(|other| (other.clone(), whose(&**vfs, &other))).collect();
    Ok(found)
}
