//! Insertions and deletions as they were asked for, and what remains of them once they are compared with what is there.

use crate::delta::{ChangeSet, Row};
use lode_rdf::ValueId;

/// One change of one quad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    quad: Row,
    is_insertion: bool,
}

impl Change {
    /// An insertion.
    pub fn insert(quad: [ValueId; 4]) -> Self {
        Self { quad: quad.map(ValueId::to_bits), is_insertion: true }
    }

    /// A deletion.
    pub fn delete(quad: [ValueId; 4]) -> Self {
        Self { quad: quad.map(ValueId::to_bits), is_insertion: false }
    }

    /// Whether it is one.
    pub fn is_insertion(&self) -> bool {
        self.is_insertion
    }

    /// The quad.
    pub fn quad(&self) -> Row {
        self.quad
    }

    /// The same change of the quad with other ids.
    pub fn with_ids(self, id: impl FnMut(u64) -> u64) -> Self {
        Self { quad: self.quad.map(id), ..self }
    }
}

/// The last change of each quad, sorted by quad.
pub fn last_of_each(mut changes: Vec<Change>) -> Vec<Change> {
    // Stable: the changes of a quad stay in order.
    changes.sort_by_key(Change::quad);
    let mut last: Vec<Change> = Vec::with_capacity(changes.len());
    for change in changes {
        match last.last_mut() {
            Some(before) if before.quad == change.quad => *before = change,
            _ => last.push(change),
        }
    }
    last
}

/// Sorts changes of different quads, and what is known of each.
pub fn sorted<T: Copy>(changes: Vec<Change>, known: Vec<T>) -> (Vec<Change>, Vec<T>) {
    if changes.is_sorted() {
        return (changes, known);
    }
    let mut both: Vec<(Change, T)> = changes.into_iter().zip(known).collect();
    both.sort_unstable_by_key(|(change, _)| *change);
    both.into_iter().unzip()
}

/// The change set of the changes (sorted, one of each quad) that change something, given which quads are visible.
pub fn effective(changes: &[Change], visible: &[bool]) -> ChangeSet {
    let (mut inserts, mut deletes) = (Vec::new(), Vec::new());
    for (change, visible) in changes.iter().zip(visible) {
        match (change.is_insertion, visible) {
            (true, false) => inserts.push(change.quad),
            (false, true) => deletes.push(change.quad),
            _ => {}
        }
    }
    ChangeSet::new(inserts, deletes)
}
