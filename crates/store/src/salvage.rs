//! What to do about a log that is damaged: everything before the damage becomes segments and a new log, and the damaged file stays
//! beside them, for whoever wants to look for more. Of a log that is missing, nothing is there to stay. A damaged end mark is written again.

use crate::error::StoreError;
use crate::log::{LogEnd, mark_end, mark_file};
use crate::manifest::{Manifest, log_file};
use crate::segment_builder::copy_file;
use crate::store::{SoundStore, Store};
use crate::write_guard::WriteGuard;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a salvage did.
#[derive(Debug)]
pub enum Salvage {
    /// Nothing: the log is sound, and so is its end mark.
    Nothing,
    /// The log is sound, but its end mark was damaged: this file, which has been written again.
    EndMark(PathBuf),
    /// The log is damaged, and has been replaced.
    Log(SalvageReport),
}

/// What became of a damaged log.
#[derive(Debug)]
pub struct SalvageReport {
    /// What was wrong with the log.
    pub damage: StoreError,
    /// The damaged file, under its new name; none if it was missing.
    pub kept_as: Option<PathBuf>,
    /// Records that were kept.
    pub kept_records: u64,
    /// The version that they lead to: the last that is not given up.
    pub kept_version: u64,
    /// Records that are given up, as far as they can be counted: at least so many.
    pub lost_records: u64,
    /// Bytes that are given up.
    pub lost_bytes: u64,
    /// Quads that the database has now.
    pub quads: u64,
    /// The number of the version that holds them: behind all that the log can have had.
    pub version: u64,
}

/// Makes a database whose log is damaged or missing one that can be written again, with all that was committed before the damage. A database
/// that is killed here is as it was.
///
/// # Errors
/// Where there is no database, another process writes to it, its segments are damaged, a file cannot be read or written, or the work was
/// cancelled.
pub fn salvage(vfs: &Arc<dyn Vfs>, folder: &Path, cancel: &CancelToken) -> Result<Salvage, StoreError> {
    let SoundStore { store, last_version, found } = Store::open_sound(Arc::clone(vfs), folder)?;
    let Some(mut found) = found else { return Ok(Salvage::Nothing) };
    let manifest = store.version().manifest.clone();
    let log = folder.join(log_file(manifest.log));
    let Some(damage) = found.damage.take() else {
        return match found.mark_damage {
            Some(_) => renew_mark(&**vfs, &log, &manifest, found.end).map(Salvage::EndMark),
            None => Ok(Salvage::Nothing),
        };
    };
    let kept_as = (!found.is_missing).then(|| log.with_extension("damaged"));
    if let Some(kept_as) = &kept_as {
        keep(&**vfs, &log, kept_as)?;
        vfs.sync_dir(folder).map_err(StoreError::io(folder))?;
    }
    // The manifest names the damaged log until segments and another log have taken its place.
    drop(WriteGuard::lock_with_log(&store, cancel)?);
    let version = store.version();
    Ok(Salvage::Log(SalvageReport {
        damage,
        kept_as,
        kept_records: found.end.next_sequence,
        kept_version: last_version,
        lost_records: found.lost_records,
        lost_bytes: found.lost_bytes,
        quads: version.quads(),
        version: version.number,
    }))
}

/// Writes the end mark of a sound log again.
fn renew_mark(vfs: &dyn Vfs, log: &Path, manifest: &Manifest, end: LogEnd) -> Result<PathBuf, StoreError> {
    let length = vfs.open(log).map_err(StoreError::io(log))?.len();
    // What the mark says must be so.
    let sync = || vfs.open_append(log, length)?.sync();
    sync().map_err(StoreError::io(log))?;
    mark_end(vfs, log, manifest.database, manifest.log, end)?;
    Ok(mark_file(log))
}

/// Gives the file another name beside its own.
fn keep(vfs: &dyn Vfs, log: &Path, kept_as: &Path) -> Result<(), StoreError> {
    match vfs.hard_link(log, kept_as) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Of a salvage that did not end, or of another log that was damaged.
            let length = |path: &Path| vfs.open(path).map(|file| file.len()).map_err(StoreError::io(path));
            if length(log)? == length(kept_as)? {
                return Ok(());
            }
            Err(StoreError::Limit(format!("{} is in the way: move it elsewhere", kept_as.display())))
        }
        Err(_) => copy_file(vfs, log, kept_as),
    }
}

#[cfg(test)]
mod tests {
    //! Damage at any byte of a log, and power cuts at any operation of a salvage.
    use super::*;
    use crate::crash_tests::{assert_sound, contents};
    use crate::test_data::FOLDER;
    use crate::transaction::crash_tests::{Model, apply, commit, open};
    use lode_base::fault_vfs::{Fault, FaultVfs};
    use lode_base::mem_vfs::{CrashKind, MemVfs};

    /// The small transactions of the workload.
    const STEPS: [u64; 6] = [0, 1, 2, 4, 5, 6];

    /// A database with a log of some records, and what it held after each.
    fn database() -> (MemVfs, Vec<Model>) {
        let vfs = MemVfs::new();
        let store = Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
        let mut models = vec![Model::new()];
        for step in STEPS {
            commit(&store, step).unwrap();
            let mut next = models[models.len() - 1].clone();
            apply(&mut next, step);
            models.push(next);
        }
        (vfs, models)
    }

    fn salvaged(vfs: Arc<dyn Vfs>) -> Result<Option<SalvageReport>, StoreError> {
        match salvage(&vfs, Path::new(FOLDER), &CancelToken::default())? {
            Salvage::Nothing => Ok(None),
            Salvage::EndMark(mark) => panic!("{}", mark.display()),
            Salvage::Log(report) => Ok(Some(report)),
        }
    }

    #[test]
    fn all_before_the_damage_is_kept() {
        let (before, models) = database();
        assert!(salvaged(Arc::new(before.clone())).unwrap().is_none());
        let log = Path::new(FOLDER).join("log-000001");
        let good = before.read(&log).unwrap();
        let mut salvages = 0;
        for at in (0..good.len()).step_by(13) {
            let vfs = before.deep_copy();
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            vfs.overwrite(&log, bad.clone()).unwrap();
            match open(Arc::new(vfs.clone())).map(drop) {
                // The last record: it may as well be one that was never written wholly.
                Ok(()) => continue,
                Err(StoreError::Corruption { what, .. }) => {
                    assert!(what.contains("lode check --salvage"), "{what}");
                }
                // The header's version or number.
                Err(error) => panic!("byte {at}: {error}"),
            }
            let Some(report) = salvaged(Arc::new(vfs.clone())).unwrap() else { panic!("byte {at}") };
            salvages += 1;
            let kept = usize::try_from(report.kept_records).unwrap();
            assert!(report.kept_records + report.lost_records <= STEPS.len() as u64);
            assert_eq!(report.lost_bytes > 0, report.lost_records > 0);
            assert_eq!(contents(&vfs).unwrap(), models[kept], "byte {at}");
            assert_eq!(report.quads, models[kept].len() as u64);
            assert_eq!(report.kept_version, report.kept_records + 1);
            let kept_as = report.kept_as.unwrap();
            assert_eq!(vfs.read(&kept_as).unwrap(), bad);
            assert_sound(&vfs);
            // It can be written to, and the damaged file stays.
            let store = open(Arc::new(vfs.clone())).unwrap();
            assert_eq!(store.version().number, report.version);
            commit(&store, 7).unwrap();
            assert!(vfs.exists(&kept_as));
        }
        assert!(salvages > 5);
    }

    #[test]
    fn power_cuts() {
        let (before, models) = database();
        let log = Path::new(FOLDER).join("log-000001");
        let mut bad = before.read(&log).unwrap();
        let middle = bad.len() / 2;
        bad[middle] ^= 1;
        before.overwrite(&log, bad).unwrap();
        let counting = FaultVfs::counting(before.deep_copy(), false);
        let report = salvaged(Arc::new(counting.clone())).unwrap().unwrap();
        let kept = &models[usize::try_from(report.kept_records).unwrap()];
        for at in 0..=counting.operations() {
            let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
            let done = salvaged(Arc::new(vfs.clone())).is_ok();
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at)] {
                let after = vfs.after_crash(kind);
                let again = salvaged(Arc::new(after.clone())).unwrap();
                assert!(!(done && again.is_some()), "operation {at}");
                assert_eq!(contents(&after).unwrap(), *kept, "operation {at}");
                assert_sound(&after);
                assert!(after.exists(report.kept_as.as_ref().unwrap()));
            }
        }
    }

    #[test]
    fn of_a_missing_log_all_is_given_up() {
        for is_marked in [true, false] {
            let (before, _) = database();
            let log = Path::new(FOLDER).join("log-000001");
            before.remove(&log).unwrap();
            if !is_marked {
                before.remove(&mark_file(&log)).unwrap();
            }
            let told = |error: StoreError| {
                let text = error.to_string();
                assert!(text.contains("log is missing") && text.contains("lode check --salvage"), "{text}");
            };
            told(contents(&before).unwrap_err());
            told(open(Arc::new(before.clone())).map(drop).unwrap_err());
            let counting = FaultVfs::counting(before.deep_copy(), false);
            let report = salvaged(Arc::new(counting.clone())).unwrap().unwrap();
            let lost = if is_marked { STEPS.len() as u64 } else { 0 };
            assert_eq!((report.kept_records, report.lost_records, report.quads), (0, lost, 0));
            assert_eq!((report.kept_version, report.kept_as), (1, None));
            assert!(report.version > 1_000_000, "{}", report.version);
            for at in 0..=counting.operations() {
                let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
                let _ = salvaged(Arc::new(vfs.clone()));
                let after = vfs.after_crash(CrashKind::Torn(at));
                salvaged(Arc::new(after.clone())).unwrap();
                assert_sound(&after);
                assert_eq!(contents(&after).unwrap(), Model::new(), "operation {at}");
                commit(&open(Arc::new(after.clone())).unwrap(), 7).unwrap();
                assert_sound(&after);
            }
        }
    }

    #[test]
    fn a_damaged_end_mark_is_written_again() {
        let (before, models) = database();
        let mark = mark_file(&Path::new(FOLDER).join("log-000001"));
        let good = before.read(&mark).unwrap();
        for bad in [good[1..].to_vec(), vec![7; good.len()], vec![]] {
            before.overwrite(&mark, bad).unwrap();
            let vfs: Arc<dyn Vfs> = Arc::new(before.clone());
            let outcome = salvage(&vfs, Path::new(FOLDER), &CancelToken::default()).unwrap();
            assert!(matches!(&outcome, Salvage::EndMark(path) if *path == mark), "{outcome:?}");
            assert!(salvaged(vfs).unwrap().is_none());
            assert_sound(&before);
            assert_eq!(contents(&before).unwrap(), models[STEPS.len()]);
            // The same end, not closed.
            assert_eq!(before.read(&mark).unwrap()[16..32], good[16..32]);
            assert_ne!(before.read(&mark).unwrap()[12..16], good[12..16]);
        }
    }
}
