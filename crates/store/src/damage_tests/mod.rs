//! The trial of damaged databases: one file of a random database is damaged, and then everything that is read is right or an error,
//! `check` never calls it sound when anything differs, and neither opening for writing nor `salvage` makes it worse.
//!
//! `LODE_DAMAGED=1000 cargo test -p lode-store damaged_databases -- --nocapture` tries so many, and tells what came of them.

mod databases;
mod reading;

use crate::check::{CheckReport, check};
use crate::dice::Dice;
use crate::manifest::{BACKUP, MANIFEST, MANIFEST_COPY};
use crate::remake::remake_manifest;
use crate::salvage::{Salvage, salvage};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{commit, open};
use databases::{Database, Ended, backup_of};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use reading::{Reading, read};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Trials, where nobody asks for another number.
const TRIALS: usize = 36;
/// Trials of the same database.
const TRIALS_EACH: usize = 12;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    Bit,
    Byte,
    Sector(usize),
    Cut,
    Garbage,
    Swapped,
    Removed,
}

/// One damaged file.
struct Trial<'a> {
    database: &'a Database,
    vfs: MemVfs,
    path: PathBuf,
    damage: Damage,
    /// What stood there, unless nothing was changed.
    before: Vec<u8>,
    /// For messages.
    text: String,
}

impl<'a> Trial<'a> {
    /// `None` where the damage changes nothing.
    fn new(database: &'a Database, dice: &mut Dice, seed: u64) -> Option<Self> {
        let vfs = database.vfs.deep_copy();
        let path = pick(&vfs, dice);
        let damage = match dice.place(10) {
            0..=2 => Damage::Bit,
            3 => Damage::Byte,
            4 => Damage::Sector(512),
            5 => Damage::Sector(4096),
            6 => Damage::Cut,
            7 => Damage::Garbage,
            8 => Damage::Swapped,
            _ => Damage::Removed,
        };
        let before = vfs.read(&path).unwrap();
        let at = inflict(&vfs, &path, damage, dice);
        let is_changed = vfs.read(&path).ok().as_ref() != Some(&before);
        let text = format!(
            "seed {seed}, {:?}, {}, {damage:?} at {at} of {}",
            database.ended,
            path.display(),
            before.len()
        );
        is_changed.then_some(Self { database, vfs, path, damage, before, text })
    }

    fn is_log(&self) -> bool {
        let name = self.path.file_name().unwrap().to_string_lossy();
        name.starts_with("log-") && !name.contains('.')
    }

    /// A log that was written to until its process was killed may be shorter after damage, without a trace that would tell.
    fn may_be_earlier(&self) -> bool {
        self.is_log() && self.database.ended == Ended::Killed
    }

    /// Whether a reading is right where it is not an error: the current version of an earlier one if that may be.
    fn wrong(&self, found: &Reading) -> Vec<String> {
        let wrong = found.wrong(&self.database.good);
        let is_earlier = |earlier: &Reading| found.current().wrong(&earlier.current()).is_empty();
        if !wrong.is_empty() && self.may_be_earlier() && self.database.earlier.iter().any(is_earlier) {
            return Vec::new();
        }
        wrong
    }

    /// What is not damage, but told: a mark or a copy less, bytes behind the end of a log, and a log that nothing proves to be whole.
    fn is_harmless(&self, report: &CheckReport) -> bool {
        let has_copy = self.path.file_name().is_some_and(|name| name == MANIFEST_COPY);
        let is_second = has_copy || self.path.extension().is_some_and(|extension| extension == "end");
        let is_told = !report.notes.is_empty();
        let is_less = is_second && self.damage == Damage::Removed;
        let is_more = self.is_log() && self.damage == Damage::Garbage;
        // One that is cut where it ended when it had been closed before seems to have been closed there.
        (is_told && (is_less || is_more))
            || (self.may_be_earlier() && (is_told || self.damage == Damage::Cut))
    }

    fn repaired(&self, vfs: &MemVfs) -> MemVfs {
        let vfs = vfs.deep_copy();
        if !vfs.exists(&self.path) {
            vfs.create_dir_all(self.path.parent().unwrap()).unwrap();
            drop(vfs.create(&self.path).unwrap());
        }
        vfs.overwrite(&self.path, self.before.clone()).unwrap();
        vfs
    }

    /// Reads; whether anything was an error.
    fn reads(&self) -> bool {
        let found = read(&self.vfs);
        assert_eq!(self.wrong(&found), Vec::<String>::new(), "{}: wrong answers", self.text);
        !found.is_whole()
    }

    /// Checks; whether the check called it sound.
    fn checks(&self, has_errors: bool) -> bool {
        let vfs: Arc<dyn Vfs> = Arc::new(self.vfs.clone());
        let Ok(report) = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}) else {
            return false;
        };
        if report.problems.is_empty() {
            assert!(!has_errors, "{}: called sound, but gives errors", self.text);
            assert!(self.is_harmless(&report), "{}: called sound", self.text);
        }
        report.problems.is_empty()
    }

    /// Opens for writing and goes on: what could be read before can be read after, and what could not can be once the
    /// file is put back.
    fn writes(&self) -> bool {
        let vfs = self.vfs.deep_copy();
        let Ok(store) = open(Arc::new(vfs.clone())) else { return false };
        drop(store);
        if !self.may_be_earlier() {
            let found = read(&self.repaired(&vfs));
            assert_eq!(found, self.database.good, "{}: opening for writing lost something", self.text);
        }
        let before = read(&vfs);
        assert_eq!(self.wrong(&before), Vec::<String>::new(), "{}: wrong answers after opening", self.text);
        if let Ok(store) = open(Arc::new(vfs.clone())) {
            let _ = commit(&store, 1000);
        }
        assert!(!before.is_whole() || read(&vfs).is_whole(), "{}: a commit made it worse", self.text);
        true
    }

    /// Salvages; whether that gave something up.
    fn salvages(&self, was_whole: bool) -> bool {
        let vfs = self.vfs.deep_copy();
        let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let remade = remake_manifest(&vfs, Path::new(FOLDER));
        let report = salvage(&shared, Path::new(FOLDER), &CancelToken::default());
        let found = read(&vfs);
        if matches!(remade, Ok(Some(_))) {
            assert_eq!(found, self.database.good, "{}: not what it was with a new manifest", self.text);
        }
        if self.path == Path::new(FOLDER).join(MANIFEST) && !vfs.exists(&Path::new(FOLDER).join(BACKUP)) {
            assert!(found.is_whole(), "{}: the manifest was not made again: {remade:?}", self.text);
        }
        let has_salvaged = matches!(report, Ok(Salvage::Log(_)));
        if let Ok(Salvage::Log(report)) = report {
            assert!(found.current().is_whole(), "{}: salvaged, but gives errors", self.text);
            let kept = report.kept_as.and_then(|path| vfs.read(&path).ok());
            assert_eq!(kept, self.vfs.read(&self.path).ok(), "{}", self.text);
        } else {
            assert_eq!(
                self.wrong(&found),
                Vec::<String>::new(),
                "{}: wrong answers after a salvage",
                self.text
            );
            let repaired = read(&self.repaired(&vfs));
            assert_eq!(repaired, self.database.good, "{}: a salvage made it worse", self.text);
        }
        assert!(!was_whole || found.is_whole(), "{}: a salvage made it worse", self.text);
        has_salvaged
    }
}

/// The manifest of the database or of a snapshot, or its copy.
fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("MANIFEST"))
}

/// A file: more often than others one of the log, or a manifest.
fn pick(vfs: &MemVfs, dice: &mut Dice) -> PathBuf {
    let mut files = vfs.files();
    files.retain(|path| path.starts_with(FOLDER) && !vfs.read(path).unwrap().is_empty());
    let begins = ["log-", "MANIFEST", ""][dice.place(4).min(2)];
    let of_kind =
        |path: &&PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begins));
    let chosen: Vec<&PathBuf> = files.iter().filter(of_kind).collect();
    if chosen.is_empty() { &files[dice.place(files.len())] } else { chosen[dice.place(chosen.len())] }.clone()
}

/// Damages a file; where.
fn inflict(vfs: &MemVfs, path: &Path, damage: Damage, dice: &mut Dice) -> usize {
    let mut bytes = vfs.read(path).unwrap();
    let at = dice.place(bytes.len());
    match damage {
        Damage::Bit => bytes[at] ^= 1 << dice.place(8),
        Damage::Byte => bytes[at] = dice.place(256) as u8,
        Damage::Sector(size) => {
            let start = at - at % size;
            let end = bytes.len().min(start + size);
            bytes[start..end].fill(0);
        }
        Damage::Cut => bytes.truncate(at),
        Damage::Garbage => bytes.extend((0..1 + dice.place(600)).map(|_| dice.place(256) as u8)),
        Damage::Swapped => {
            let mut others = vfs.files();
            others.retain(|other| other.file_name() == path.file_name() && other != path);
            if !others.is_empty() {
                bytes = vfs.read(&others[dice.place(others.len())]).unwrap();
            }
        }
        Damage::Removed => {
            vfs.remove(path).unwrap();
            return 0;
        }
    }
    vfs.overwrite(path, bytes).unwrap();
    at
}

#[test]
fn damaged_databases() {
    let trials = std::env::var("LODE_DAMAGED").map_or(TRIALS, |text| text.parse().unwrap());
    let first: u64 = std::env::var("LODE_DAMAGED_SEED").map_or(1, |text| text.parse().unwrap());
    let mut figures: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut done, mut seed) = (0, first);
    while done < trials {
        let mut database = Database::new(seed);
        if seed.is_multiple_of(5) {
            database = backup_of(&database);
        }
        let mut dice = Dice::new(!seed);
        for _ in 0..TRIALS_EACH.min(trials - done) {
            let Some(trial) = Trial::new(&database, &mut dice, seed) else { continue };
            let has_errors = trial.reads();
            let outcomes = [
                ("read with errors", has_errors),
                ("called sound", trial.checks(has_errors)),
                ("opened for writing", trial.writes()),
                ("salvaged", trial.salvages(!has_errors)),
                ("logs and marks", trial.path.to_string_lossy().contains("log-")),
                ("manifests", is_manifest(&trial.path)),
                ("all", true),
            ];
            for (name, is_so) in outcomes {
                *figures.entry(name).or_default() += usize::from(is_so);
            }
            done += 1;
        }
        seed += 1;
    }
    println!("seeds {first} to {}: {figures:?}", seed - 1);
}

/// Every byte of a small database is covered by something.
#[test]
fn every_byte_is_covered() {
    let database = Database::new(3);
    let every = std::env::var("LODE_DAMAGED").map_or(41, |_| 1);
    for path in database.vfs.files().into_iter().filter(|path| !database.vfs.read(path).unwrap().is_empty()) {
        let good = database.vfs.read(&path).unwrap();
        for at in (0..good.len()).step_by(every) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at / every % 8);
            let vfs = database.vfs.deep_copy();
            vfs.overwrite(&path, bad).unwrap();
            let vfs: Arc<dyn Vfs> = Arc::new(vfs);
            let report = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {});
            let is_told = report.map_or(true, |report| !report.problems.is_empty());
            assert!(is_told, "{} byte {at} of {}", path.display(), good.len());
        }
    }
}
