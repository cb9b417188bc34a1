//! Everything that can be read of a database, each way by itself, so that what fails in one is not hidden by another.

use crate::dump::{DumpScope, dump_lines};
use crate::snapshot::Snapshot;
use crate::test_data::FOLDER;
use crate::{Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_packed::Order;
use lode_rdf::ValueId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

/// What one way of reading gave; `None` if it gave an error.
pub type Answer = Option<BTreeSet<String>>;

/// What each way of reading gave.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading(BTreeMap<String, Answer>);

impl Reading {
    fn add<E: Debug>(&mut self, name: String, answer: Result<BTreeSet<String>, E>) {
        self.0.insert(name, answer.ok());
    }

    /// Ways whose answer is another than in `good`: neither the same nor an error. A snapshot that is not listed counts.
    pub fn wrong(&self, good: &Self) -> Vec<String> {
        let is_wrong = |(name, right): (&String, &Answer)| match self.0.get(name) {
            Some(Some(found)) => Some(found) != right.as_ref(),
            Some(None) => false,
            // What comes before it was an error.
            None => {
                !["open", "snapshots", snapshot_of(name)].iter().any(|way| self.0.get(*way) == Some(&None))
            }
        };
        good.0.iter().filter(|entry| is_wrong(*entry)).map(|(name, _)| name.clone()).collect()
    }

    /// Whether there is no error.
    pub fn is_whole(&self) -> bool {
        self.0.values().all(Option::is_some)
    }

    /// Only what concerns the current version.
    pub fn current(&self) -> Self {
        let entries = self.0.iter().filter(|(name, _)| !name.starts_with("snapshot"));
        Self(entries.map(|(name, answer)| (name.clone(), answer.clone())).collect())
    }
}

/// The snapshot to which a way of reading belongs.
fn snapshot_of(name: &str) -> &str {
    name.split_once(':').map_or("open", |(snapshot, _)| snapshot)
}

/// Reads all that there is.
pub fn read(vfs: &MemVfs) -> Reading {
    let mut reading = Reading::default();
    let store = match Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20) {
        Ok(store) => store,
        Err(error) => {
            reading.add("open".to_owned(), Err(error));
            return reading;
        }
    };
    read_version(&store.snapshot(), "", &mut reading);
    match snapshots(&store) {
        Err(error) => reading.add("snapshots".to_owned(), Err(error)),
        Ok(snapshots) => {
            reading.add::<StoreError>("snapshots".to_owned(), Ok(snapshots.clone()));
            for snapshot in &snapshots {
                let name = format!("snapshot {snapshot}");
                match store.at(snapshot) {
                    Err(error) => reading.add(name, Err(error)),
                    Ok(version) => read_version(&version, &format!("{name}:"), &mut reading),
                }
            }
        }
    }
    reading
}

/// Names of all, also of those that are known to be damaged.
fn snapshots(store: &Store) -> Result<BTreeSet<String>, StoreError> {
    let mut names: BTreeSet<String> = store.damaged_snapshots()?.into_iter().collect();
    names.extend(store.snapshots()?.into_iter().map(|snapshot| snapshot.name));
    Ok(names)
}

fn read_version(snapshot: &Snapshot, name: &str, reading: &mut Reading) {
    for order in Order::ALL {
        reading.add(format!("{name}{order:?}"), rows(snapshot, order));
    }
    let mut text = Vec::new();
    let dumped = dump_lines(snapshot, DumpScope::All, &CancelToken::default(), &mut text);
    let lines = || String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
    reading.add(format!("{name}dump"), dumped.map(|_| lines()));
    reading.add(format!("{name}terms"), terms(snapshot));
    let count = BTreeSet::from([snapshot.quad_count().to_string()]);
    reading.add::<StoreError>(format!("{name}count"), Ok(count));
}

/// Rows of an order, their numbers by first column as the index tells them among them.
fn rows(snapshot: &Snapshot, order: Order) -> Result<BTreeSet<String>, StoreError> {
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut scan = snapshot.scan(order, &[], 0b1111)?;
    while scan.next(1000, &mut columns)? > 0 {}
    let mut rows = BTreeSet::new();
    for row in 0..columns[0].len() {
        rows.insert(format!("{:?}", columns.each_ref().map(|column| column[row])));
    }
    for first in columns[0].iter().step_by(1 + columns[0].len() / 10) {
        rows.insert(format!("{first:?}: {}", snapshot.count(order, &[*first])?));
    }
    Ok(rows)
}

/// Terms of all ids in use, each looked up again.
fn terms(snapshot: &Snapshot) -> Result<BTreeSet<String>, StoreError> {
    let mut columns: [Vec<ValueId>; 4] = Default::default();
    let mut scan = snapshot.scan(Order::Spog, &[], 0b1111)?;
    while scan.next(1000, &mut columns)? > 0 {}
    let ids: BTreeSet<ValueId> = columns.iter().flatten().copied().collect();
    let mut terms = BTreeSet::new();
    for id in ids.into_iter().filter(|id| *id != ValueId::DEFAULT_GRAPH) {
        let term = snapshot.term(id)?;
        terms.insert(format!("{id:?} {term} {:?}", snapshot.id_of(&term)?));
    }
    Ok(terms)
}
