//! Named snapshots, backups, compactions and readers beside the writers: what is kept stays what it was.

use super::book::{Contents, states};
use super::workload::{Done, assert_no_damage, read, told, told_of_compaction, undamaged};
use crate::compact::{CompactOptions, compact};
use crate::crash_tests::read_all;
use crate::dice::Dice;
use crate::load::LoadProgress;
use crate::test_data::FOLDER;
use crate::write_guard::WriteGuard;
use crate::{BackupOptions, BackupProgress, Store, StoreError};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const BACKUP: &str = "/backup";

/// What is known of something that is kept.
#[derive(Debug)]
enum Kept {
    /// It is there; what is in it, where it could be read.
    There(Option<Contents>),
    /// It may be there, or another that should have replaced it.
    InDoubt,
    Gone,
}

#[derive(Debug, Default)]
pub struct Keeper {
    /// By name.
    snapshots: BTreeMap<String, Kept>,
    backup: Option<Kept>,
}

impl Keeper {
    /// Does something.
    pub fn step(&mut self, store: &Store, dice: &mut Dice) -> Done {
        match dice.below(8) {
            0 | 1 => self.create_snapshot(store),
            2 => self.drop_snapshot(store, dice),
            3 => self.back_up(store, dice),
            4 | 5 => compact_all(store),
            6 => flush(store),
            _ => read_twice(store),
        }
    }

    fn create_snapshot(&mut self, store: &Store) -> Done {
        let name = format!("s{}", self.snapshots.len());
        let created = told(store.create_snapshot(&name, &CancelToken::default()));
        let kept = if created.is_ok() { Kept::There(contents_at(store, &name).ok()) } else { Kept::InDoubt };
        self.snapshots.insert(name, kept);
        created
    }

    fn drop_snapshot(&mut self, store: &Store, dice: &mut Dice) -> Done {
        let is_there = |kept: &Kept| !matches!(kept, Kept::Gone);
        let there: Vec<&String> =
            self.snapshots.iter().filter(|(_, kept)| is_there(kept)).map(|(name, _)| name).collect();
        let chosen = there.get(dice.below(there.len() as u64) as usize).map(|name| (*name).clone());
        let Some(name) = chosen else { return Ok(()) };
        let (kept, dropped) = match store.drop_snapshot(&name, &CancelToken::default()) {
            Ok(()) => (Kept::Gone, Ok(())),
            // One that was not made after all.
            Err(StoreError::Snapshot { .. }) => (Kept::InDoubt, Ok(())),
            Err(error) => (Kept::InDoubt, told(Err::<(), _>(error))),
        };
        self.snapshots.insert(name, kept);
        dropped
    }

    fn back_up(&mut self, store: &Store, dice: &mut Dice) -> Done {
        let options = BackupOptions { link: dice.one_in(2), check: dice.one_in(2) };
        let done = told(store.backup(
            Path::new(BACKUP),
            &options,
            &CancelToken::default(),
            &BackupProgress::default(),
        ));
        let found = || undamaged(Store::open(Arc::clone(store.vfs()), Path::new(BACKUP), 0)).ok();
        self.backup = match (&done, &self.backup) {
            (Ok(()), _) => Some(Kept::There(found().and_then(|copy| read(&copy)))),
            // The one before, a new one, or none yet.
            (Err(_), Some(Kept::There(_))) => Some(Kept::There(None)),
            (Err(_), _) => Some(Kept::InDoubt),
        };
        done
    }

    /// Panics where something that was kept is not there, or not what it was. After a power cut, what was in doubt is so no longer.
    pub fn check(&mut self, vfs: &MemVfs, is_power_cut: bool) {
        let Ok(store) = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16) else {
            assert!(
                !self.snapshots.values().any(|kept| matches!(kept, Kept::There(_))),
                "snapshots are gone"
            );
            return;
        };
        for (name, kept) in &mut self.snapshots {
            check_kept(kept, contents_at(&store, name), is_power_cut, name);
        }
        if let Some(backup) = &mut self.backup {
            let found = Store::open(Arc::new(vfs.clone()), Path::new(BACKUP), 1 << 16);
            let found = found.and_then(|copy| read_all(&copy.snapshot()));
            check_kept(backup, found, is_power_cut, BACKUP);
        }
    }
}

fn contents_at(store: &Store, name: &str) -> Result<Contents, StoreError> {
    let contents = undamaged(read_all(&store.at(name)?))?;
    states(&contents);
    Ok(contents)
}

/// Compares what is found with what was kept; if it `settles` that, it is from now on what was found.
fn check_kept(kept: &mut Kept, found: Result<Contents, StoreError>, settles: bool, what: &str) {
    match (&*kept, &found) {
        (Kept::There(Some(contents)), Ok(found)) => assert_eq!(contents, found, "{what} has changed"),
        (Kept::There(None) | Kept::InDoubt, Ok(found)) => drop(states(found)),
        (Kept::Gone, Ok(_)) => panic!("{what} is back"),
        (Kept::There(_), Err(error)) => panic!("{what} is lost: {error}"),
        (Kept::InDoubt | Kept::Gone, Err(error)) => assert_no_damage(error),
    }
    if settles {
        *kept = found.map_or(Kept::Gone, |found| Kept::There(Some(found)));
    }
}

fn compact_all(store: &Store) -> Done {
    let options = CompactOptions { threads: 1, ..CompactOptions::default() };
    told_of_compaction(compact(store, &options, &Arc::new(LoadProgress::default())))
}

/// Makes segments of all that is in the log.
fn flush(store: &Store) -> Done {
    let cancel = CancelToken::default();
    told(WriteGuard::lock(store, &cancel).and_then(|guard| guard.settle(&cancel)))
}

/// A snapshot does not change, and another process can read at any time.
fn read_twice(store: &Store) -> Done {
    let snapshot = store.snapshot();
    let first = undamaged(read_all(&snapshot));
    let other = undamaged(Store::open(Arc::clone(store.vfs()), Path::new(FOLDER), 0));
    let other = other.and_then(|store| undamaged(read_all(&store.snapshot())));
    let second = undamaged(read_all(&snapshot));
    [&first, &other, &second].into_iter().flatten().for_each(|contents| drop(states(contents)));
    if let (Ok(first), Ok(second)) = (&first, &second) {
        assert_eq!(first, second, "a snapshot has changed");
    }
    told(first.and(other).and(second))
}
