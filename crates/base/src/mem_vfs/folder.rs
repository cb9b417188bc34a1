//! A folder in memory: the names that are visible, those that are on the medium, and the changes between them.

use super::file::File;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum Node {
    File(File),
    Folder(FolderRef),
}

/// A folder that names share.
#[derive(Debug, Clone, Default)]
pub(super) struct FolderRef(Arc<Mutex<Folder>>);

impl FolderRef {
    pub fn new(folder: Folder) -> Self {
        Self(Arc::new(Mutex::new(folder)))
    }

    pub fn lock(&self) -> MutexGuard<'_, Folder> {
        // A panicking holder leaves plain data behind, never a broken invariant.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Names and what they stand for.
pub(super) type Names = BTreeMap<OsString, Node>;

#[derive(Debug, Default)]
pub(super) struct Folder {
    visible: Names,
    durable: Names,
    /// Since the last sync, in their order. Those that a sync which failed was to make durable are not among them.
    changes: Vec<Change>,
}

/// Names that change in one step, and what they stand for after it.
#[derive(Debug)]
pub(super) struct Change {
    /// Its place among all changes of names in the file system.
    pub number: u64,
    pub names: Vec<(OsString, Option<Node>)>,
}

impl Change {
    pub fn apply(&self, names: &mut Names) {
        for (name, node) in &self.names {
            match node {
                Some(node) => drop(names.insert(name.clone(), node.clone())),
                None => drop(names.remove(name)),
            }
        }
    }
}

impl Folder {
    /// A folder of which all is durable.
    pub fn durable(names: Names) -> Self {
        Self { durable: names.clone(), visible: names, changes: Vec::new() }
    }

    pub fn get(&self, name: &OsStr) -> Option<&Node> {
        self.visible.get(name)
    }

    pub fn visible(&self) -> &Names {
        &self.visible
    }

    /// What is on the medium, and the changes that are not there yet.
    pub fn on_medium(&self) -> (&Names, &[Change]) {
        (&self.durable, &self.changes)
    }

    pub fn change(&mut self, change: Change) {
        change.apply(&mut self.visible);
        self.changes.push(change);
    }

    pub fn sync(&mut self) {
        for change in self.changes.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    /// A sync that fails: the changes never get to the medium, but are visible until the power goes.
    pub fn fail_sync(&mut self) {
        self.changes.clear();
    }
}
