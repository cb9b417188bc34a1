//! What the file system shares with its readers and writers: the stripe folders, and what waits for each.

use super::folders::{StripeFolders, in_folder};
use super::lane::Lane;
use super::stub::Stub;
use crate::identity::random_identity;
use crate::memory_budget::MemoryBudget;
use crate::vfs::Vfs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// A stripe folder.
#[derive(Debug)]
pub(super) struct StripeFolder {
    /// As the user named it.
    pub path: PathBuf,
    /// That of the database in it.
    pub own: PathBuf,
    pub vfs: Arc<dyn Vfs>,
    pub reads: Arc<Lane>,
    pub writes: Arc<Lane>,
}

impl Drop for StripeFolder {
    fn drop(&mut self) {
        self.reads.close();
        self.writes.close();
    }
}

const ROOM_SUFFIX: &str = ".room";

fn room_name(name: &str) -> String {
    format!("{name}{ROOM_SUFFIX}")
}

/// The name of the file in the folder of the database for which a file in an own folder takes room.
pub(super) fn room_of(name: &str) -> Option<&str> {
    name.strip_suffix(ROOM_SUFFIX)
}

/// What the file system, its readers and its writers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub vfs: Arc<dyn Vfs>,
    pub stripes: StripeFolders,
    pub folders: Vec<Arc<StripeFolder>>,
    pub next_first: AtomicU16,
    pub memory: MemoryBudget,
}

impl Shared {
    /// Of a file that begins.
    pub fn new_stub(&self) -> Stub {
        let folders = self.folders.len() as u16;
        // One after the other begins in the next folder, so that short files are spread, too.
        let first = self.next_first.fetch_add(1, Ordering::Relaxed) % folders.max(1);
        let StripeFolders { id: set, chunk, .. } = self.stripes;
        Stub { set, name: random_identity(), len: 0, chunk, folders, first, is_durable: false }
    }

    /// Takes room in the stripe folders for a file of the folder of the database that only takes room: as much as that, all of them together.
    pub fn take_room(&self, name: &str, bytes: u64) -> io::Result<()> {
        let each = bytes.div_ceil(self.folders.len().max(1) as u64);
        for folder in &self.folders {
            let taken = folder.vfs.allocate(&folder.own.join(room_name(name)), each);
            if let Err(error) = taken {
                self.remove_room(name);
                return Err(in_folder(&error, &folder.path));
            }
        }
        Ok(())
    }

    /// Gives that back, if there is any.
    pub fn remove_room(&self, name: &str) {
        let name = room_name(name);
        for folder in &self.folders {
            let path = folder.own.join(&name);
            if folder.vfs.exists(&path) {
                let _ = folder.vfs.remove(&path);
            }
        }
    }

    /// Removes the parts of a file. What cannot be removed is swept up later.
    pub fn remove_parts(&self, stub: &Stub) {
        for folder in &self.folders {
            let _ = folder.vfs.remove(&folder.own.join(stub.part()));
        }
    }
}
