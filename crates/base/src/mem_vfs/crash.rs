//! What a power cut leaves of a file system in memory.

use super::crash_kind::{CrashKind, Dice};
use super::file::File;
use super::folder::{Change, Folder, FolderRef, Names, Node};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

/// A copy of a folder and all in it as a power cut leaves it, when so many changes of names have been made in the file system.
pub(super) fn survive(folder: &Folder, kind: CrashKind, changes: u64) -> Folder {
    let mut dice = Dice::of(kind);
    let names = match kind {
        CrashKind::LoseAll => Kept::Before(0),
        CrashKind::KeepAll => Kept::Before(changes),
        CrashKind::Torn(_) | CrashKind::Scattered(_) if dice.yes() => {
            Kept::Before(dice.roll() % (changes + 1))
        }
        CrashKind::Torn(_) | CrashKind::Scattered(_) => Kept::Any,
    };
    Crash { kind, names, dice, files: HashMap::new() }.folder(folder)
}

/// Which changes of names survive.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// Those with smaller numbers.
    Before(u64),
    /// As the dice fall.
    Any,
}

struct Crash {
    kind: CrashKind,
    names: Kept,
    dice: Dice,
    /// Files that have been copied, by the address of the original: several names may share one.
    files: HashMap<usize, File>,
}

impl Crash {
    fn folder(&mut self, folder: &Folder) -> Folder {
        let mut left = Names::new();
        for (name, node) in self.names(folder) {
            let node = match node {
                Node::File(file) => Node::File(self.file(&file)),
                Node::Folder(inner) => Node::Folder(FolderRef::new(self.folder(&inner.lock()))),
            };
            left.insert(name, node);
        }
        Folder::durable(left)
    }

    fn names(&mut self, folder: &Folder) -> Names {
        let (durable, changes) = folder.on_medium();
        let mut names = durable.clone();
        let mut lost: BTreeSet<&OsString> = BTreeSet::new();
        for change in changes {
            let follows_lost = change.names.iter().any(|(name, _)| lost.contains(name));
            if !follows_lost && self.keeps(change) {
                change.apply(&mut names);
            } else {
                lost.extend(change.names.iter().map(|(name, _)| name));
            }
        }
        names
    }

    fn keeps(&mut self, change: &Change) -> bool {
        match self.names {
            Kept::Before(number) => change.number < number,
            Kept::Any => self.dice.yes(),
        }
    }

    fn file(&mut self, file: &File) -> File {
        let (kind, dice) = (self.kind, &mut self.dice);
        let copy = || File::durable(file.bytes().survive(kind, dice));
        self.files.entry(file.address()).or_insert_with(copy).clone()
    }
}
