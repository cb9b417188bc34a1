//! Random databases for the trial: loads, updates, deletions, compactions, snapshots; closed, killed when idle, or killed in
//! the middle of it.

use super::reading::{Reading, read};
use crate::compact::{CompactOptions, compact};
use crate::dice::Dice;
use crate::load::{LoadOptions, LoadProgress, Source, load};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{commit, open};
use crate::{BackupOptions, BackupProgress, Graphs, Store};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How the last process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Closed,
    /// It was killed some time after its last commit.
    KilledIdle,
    /// It was killed right after its last commit.
    Killed,
}

/// A database, and what it holds.
pub struct Database {
    pub vfs: MemVfs,
    pub ended: Ended,
    pub good: Reading,
    /// What it held before, after each commit to its log: all that a killed log may be shortened to without a trace.
    pub earlier: Vec<Reading>,
}

/// Quads of many kinds, some hundred; some of them again and again.
fn text(dice: &mut Dice) -> String {
    let mut text = String::new();
    let count = if dice.place(12) == 0 { 9000 } else { 1 + dice.place(150) };
    for _ in 0..count {
        let (s, p, o) = (dice.place(count), dice.place(5), dice.place(40));
        let subject =
            if s.is_multiple_of(7) { format!("_:b{s}") } else { format!("<http://example.org/things/{s}>") };
        let object = match dice.place(7) {
            0 => format!("\"{o}\"^^<http://www.w3.org/2001/XMLSchema#integer>"),
            1 => format!("\"text {o} {}\"", "long ".repeat(o)),
            2 => format!("\"{o}\"@en"),
            3 => format!("\"{o}\"^^<http://example.org/type>"),
            4 => format!("<<( _:b{o} <http://example.org/p> \"{o}\" )>>"),
            _ => format!("<http://example.org/things/{o}>"),
        };
        let graph = if dice.place(3) == 0 {
            format!("<http://example.org/graph/{}>", dice.place(4))
        } else {
            String::new()
        };
        let _ = writeln!(text, "{subject} <http://example.org/p{p}> {object} {graph} .");
    }
    text
}

fn step(store: &Store, dice: &mut Dice, number: u64) {
    let cancel = CancelToken::default();
    match dice.place(12) {
        0..=2 => {
            let options = LoadOptions { threads: 1, memory_bytes: 64 << 20, ..LoadOptions::default() };
            let source = Source::bytes("x.nq", text(dice));
            load(store, vec![source], options, &Arc::new(LoadProgress::default())).unwrap();
        }
        3 => {
            compact(store, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
        }
        4 => {
            store.create_snapshot(&format!("s{number}"), &cancel).unwrap();
        }
        5 if dice.place(3) == 0 => {
            let mut transaction = store.begin(&cancel).unwrap();
            transaction.clear(Graphs::Named).unwrap();
            transaction.commit().unwrap();
        }
        // Every fourth is too large for the log.
        _ => commit(store, number).unwrap(),
    }
}

impl Database {
    pub fn new(seed: u64) -> Self {
        let (vfs, mut dice) = (MemVfs::new(), Dice::new(seed));
        let ended = [Ended::Closed, Ended::KilledIdle, Ended::Killed][dice.place(3)];
        let mut store = open(Arc::new(vfs.clone())).unwrap();
        let mut earlier = vec![read(&vfs)];
        let steps = 3 + dice.place(12);
        // The last ones are commits, so that there is a log.
        for number in 0..steps + 3 {
            if dice.place(6) == 0 {
                drop(store);
                store = open(Arc::new(vfs.clone())).unwrap();
            }
            if number < steps {
                step(&store, &mut dice, number as u64)
            } else {
                commit(&store, 4 * number as u64).unwrap()
            }
            if ended == Ended::Killed {
                earlier.push(read(&vfs));
            }
        }
        if ended == Ended::KilledIdle {
            let wait = store.writer().unwrap().sync_if_due().unwrap().unwrap_or(Duration::ZERO);
            std::thread::sleep(wait);
            assert_eq!(store.writer().unwrap().sync_if_due().unwrap(), None);
        }
        if ended == Ended::Closed {
            drop(store);
            Self { good: read(&vfs), vfs, ended, earlier }
        } else {
            let left = vfs.deep_copy();
            drop(store);
            Self { good: read(&left), vfs: left, ended, earlier }
        }
    }
}

/// A backup of the database, in the place of one.
pub fn backup_of(database: &Database) -> Database {
    let vfs: Arc<dyn lode_base::vfs::Vfs> = Arc::new(database.vfs.clone());
    let (cancel, progress) = (CancelToken::default(), BackupProgress::default());
    let copy = MemVfs::new();
    crate::backup(&vfs, Path::new(FOLDER), Path::new("/copy"), &BackupOptions::default(), &cancel, &progress)
        .unwrap();
    for path in
        database.vfs.files().iter().filter_map(|path| path.strip_prefix("/copy").ok().map(Path::to_owned))
    {
        let to = Path::new(FOLDER).join(&path);
        lode_base::vfs::Vfs::create_dir_all(&copy, to.parent().unwrap()).unwrap();
        drop(lode_base::vfs::Vfs::create(&copy, &to).unwrap());
        copy.overwrite(&to, database.vfs.read(&Path::new("/copy").join(&path)).unwrap()).unwrap();
    }
    lode_base::vfs::Vfs::remove_dir_all(&database.vfs, Path::new("/copy")).unwrap();
    Database { good: read(&copy), vfs: copy, ended: Ended::Closed, earlier: Vec::new() }
}
