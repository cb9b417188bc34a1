//! Loads that go on over files that are not what was written: a byte of each file is changed after each phase, and the same database comes of it, or an error
//! that says which file it is.

use super::board::Board;
use super::plan::Plan;
use super::task::{Phase, Task};
use super::tests::{
    WORK, begin_and_finish, load_each, many_values, plan_of, segment_files, shared, triple_values, work_with,
};
use super::worker::{Moment, WorkEnd};
use super::{begin, finish};
use crate::crash_tests::assert_sound;
use crate::load::error::LoadError;
use crate::test_data::open;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_rdf::Quad;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Somebody who was killed is not waited for long.
const LEASE: Duration = Duration::from_millis(4);

fn files() -> Vec<(String, Vec<Quad>)> {
    vec![("a".to_owned(), triple_values(120))]
}

/// A load in which a phase has just ended, and who worked was killed.
fn killed_behind(before: &MemVfs, plan: &Plan, phase: Phase) -> MemVfs {
    let vfs = before.deep_copy();
    begin(&open(&vfs), &Board::new(&shared(&vfs), Path::new(WORK)), plan).unwrap();
    let goes_on = |task: Task, now| !(task.phase > phase && now == Moment::Claimed);
    let end = work_with(&shared(&vfs), LEASE, &goes_on).unwrap();
    assert_eq!(end, if phase == Phase::Orders { WorkEnd::Done } else { WorkEnd::Stopped });
    vfs
}

/// Goes on with several workers.
fn go_on(vfs: &MemVfs, plan: &Plan) -> Result<(), LoadError> {
    let (store, board) = (open(vfs), Board::new(&shared(vfs), Path::new(WORK)));
    assert!(begin(&store, &board, plan)?);
    let ends: Vec<_> = std::thread::scope(|scope| {
        let work = || scope.spawn(|| work_with(&shared(vfs), LEASE, &|_, _| true));
        let workers = [work(), work()];
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    for end in ends {
        assert_eq!(end?, WorkEnd::Done);
    }
    finish(&store, &board, &CancelToken::default(), &Arc::default())?;
    board.remove()?;
    Ok(())
}

/// The file with one byte changed, cut, emptied, and with other bytes.
fn damaged(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for at in [0, bytes.len() / 3, bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let mut changed = bytes.to_vec();
        if let Some(byte) = changed.get_mut(at) {
            *byte ^= 0x10;
            all.push(changed);
        }
    }
    all.push(bytes[..bytes.len() / 2].to_vec());
    all.push(vec![0; bytes.len()]);
    all.retain(|other| other != bytes);
    all
}

fn work_files(vfs: &MemVfs) -> Vec<PathBuf> {
    vfs.files().into_iter().filter(|path| path.starts_with(WORK)).collect()
}

/// Changes each file after each phase of a load into what is there before.
fn damage_everywhere(there: &[(String, Vec<Quad>)]) {
    let before = MemVfs::new();
    load_each(&before, there);
    let plan = plan_of(&before, &files(), 2, 0, 3000);
    assert!(plan.shards.len() > 1);
    let expected = {
        let vfs = before.deep_copy();
        begin_and_finish(&shared(&vfs), &plan, LEASE).unwrap();
        segment_files(&vfs)
    };
    let (mut cases, mut again) = (0, 0);
    for phase in Phase::ALL {
        let killed = killed_behind(&before, &plan, phase);
        for path in work_files(&killed) {
            let bytes = killed.read(&path).unwrap();
            for changed in damaged(&bytes) {
                let vfs = killed.deep_copy();
                vfs.overwrite(&path, changed).unwrap();
                let what = format!("{} after {phase:?}", path.display());
                cases += 1;
                match go_on(&vfs, &plan) {
                    Ok(()) => assert!(segment_files(&vfs) == expected, "{what}"),
                    // What is loaded cannot be made again.
                    Err(error) => {
                        let text = error.to_string();
                        assert!(
                            path.ends_with("plan") && text.contains(&path.display().to_string()),
                            "{what}: {text}"
                        );
                        continue;
                    }
                }
                again += usize::from(path.starts_with(Path::new(WORK).join("out")));
                assert_sound(&vfs);
                assert!(!vfs.exists(Path::new(WORK)), "{what}");
            }
        }
    }
    assert!(cases > 300 && again > 200, "{cases} {again}");
}

#[test]
fn what_is_damaged_is_made_again() {
    damage_everywhere(&[]);
}

#[test]
fn what_is_damaged_of_a_load_into_a_database_with_data_is_made_again() {
    damage_everywhere(&[("before".to_owned(), many_values(30))]);
}

#[test]
fn what_is_missing_is_made_again_and_told() {
    let before = MemVfs::new();
    let plan = plan_of(&before, &files(), 2, 0, 3000);
    for phase in Phase::ALL {
        let killed = killed_behind(&before, &plan, phase);
        for path in work_files(&killed) {
            if !path.starts_with(Path::new(WORK).join("out")) {
                continue;
            }
            let vfs = killed.deep_copy();
            vfs.remove(&path).unwrap();
            let store = open(&vfs);
            let board = Board::new(&shared(&vfs), Path::new(WORK));
            begin(&store, &board, &plan).unwrap();
            let told = board.damages().unwrap().concat();
            let name = path.file_name().unwrap().to_string_lossy();
            assert!(told.contains(&*name) || path.ends_with("dict.lode"), "{}: {told}", path.display());
            drop(store);
            go_on(&vfs, &plan).unwrap();
            assert_sound(&vfs);
        }
    }
}

/// A disk that does not keep what is written ends the load, after a few tries.
#[test]
fn what_is_damaged_again_and_again_ends_the_load() {
    let vfs = MemVfs::new();
    let plan = plan_of(&vfs, &files(), 2, 0, 3000);
    let (board, store) = (Board::new(&shared(&vfs), Path::new(WORK)), open(&vfs));
    begin(&store, &board, &plan).unwrap();
    let times = AtomicUsize::new(0);
    let damage = |task: Task, now| {
        if task == Task::new(Phase::Read, 1) && now == Moment::Committed {
            times.fetch_add(1, Ordering::Relaxed);
            let is_its = |path: &PathBuf| path.to_string_lossy().contains("out/read-000001");
            let rows = work_files(&vfs).into_iter().filter(is_its);
            for path in rows.filter(|path| path.ends_with("worker-0.rows")) {
                let changed = damaged(&vfs.read(&path).unwrap()).swap_remove(1);
                vfs.overwrite(&path, changed).unwrap();
            }
        }
        true
    };
    let error = work_with(&shared(&vfs), LEASE, &damage).unwrap_err().to_string();
    assert!(error.contains("read-000001") && error.contains("look after the disk"), "{error}");
    assert_eq!(times.into_inner(), 4);
    assert_eq!(board.damages().unwrap().len(), 4);
    assert!(finish(&store, &board, &CancelToken::default(), &Arc::default()).is_err());
    assert_eq!(store.snapshot().quad_count(), 0);
    drop(store);
    // On another disk it goes on.
    go_on(&vfs, &plan).unwrap();
    assert_sound(&vfs);
}
