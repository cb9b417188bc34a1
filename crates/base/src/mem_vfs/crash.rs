//! What a power cut leaves of a file system in memory.

use super::file::File;
use super::folder::{Change, Folder, FolderRef, Names, Node};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;

/// What a crash leaves of changes that were not made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKind {
    /// None of them.
    LoseAll,
    /// All of them.
    KeepAll,
    /// A choice of them that depends on the seed. Of a file's later bytes, a prefix. Of changed names, either all up to some moment, as
    /// journaling file systems have it, or any of them, as POSIX allows: two changes of one name keep their order, and a
    /// rename is whole or not at all.
    Torn(u64),
    /// The same, but of a file's later bytes any small pieces, in no order: zeros, or what was there before a cut, where
    /// one is lost.
    Scattered(u64),
}

/// A copy of a folder and all in it as a power cut leaves it, when so many changes of names have been made in the file system.
pub(super) fn survive(folder: &Folder, kind: CrashKind, changes: u64) -> Folder {
    let mut dice = Dice(match kind {
        CrashKind::LoseAll | CrashKind::KeepAll => None,
        CrashKind::Torn(seed) | CrashKind::Scattered(seed) => Some(seed),
    });
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

/// The dice of a torn crash (SplitMix64); none: they always fall on 0.
pub(super) struct Dice(Option<u64>);

impl Dice {
    fn roll(&mut self) -> u64 {
        let Some(state) = &mut self.0 else { return 0 };
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn yes(&mut self) -> bool {
        self.roll() >> 63 == 1
    }

    /// From 0 to `most`.
    pub fn up_to(&mut self, most: usize) -> usize {
        usize::try_from(self.roll() % (most as u64 + 1)).unwrap_or(0)
    }
}
