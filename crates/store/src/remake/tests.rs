//! Databases that have been through everything, without their manifest, and without its copy.

use super::*;
use crate::check::check;
use crate::clear::Graphs;
use crate::compact::{CompactOptions, compact, compact_from};
use crate::crash_tests::{contents, read_all};
use crate::load::{LoadOptions, LoadProgress, Replace, Source, load};
use crate::test_data::FOLDER;
use crate::transaction::crash_tests::{Model, commit};
use crate::{LoadError, Store, WriteOptions};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use std::sync::Arc;

fn open(vfs: Arc<dyn Vfs>) -> Result<Store, StoreError> {
    let options =
        WriteOptions { logged_changes_max: 3, memory_bytes: 1 << 20, threads: 1, ..WriteOptions::default() };
    Store::open_for_writing(vfs, Path::new(FOLDER), 1 << 16, options)
}

fn load_some(store: &Store, number: u64, replace: Option<Replace>) -> Result<(), LoadError> {
    let quads: String = (0..6)
        .map(|i| {
            let graph = if i % 2 == 0 { format!("<http://g{}>", i % 3) } else { String::new() };
            // Some terms come before those that there are, so that a compaction gives others new numbers.
            format!("<http://a{}> <http://p> \"{}\" {graph} .\n", (97 - 7 * number - i) % 90, i + number % 5)
        })
        .collect();
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, replace, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nq", quads)], options, &Arc::new(LoadProgress::default())).map(drop)
}

fn clear(store: &Store, graphs: Graphs) -> Result<(), StoreError> {
    let mut transaction = store.begin(&CancelToken::default())?;
    transaction.clear(graphs)?;
    transaction.commit().map(drop)
}

/// One of the things that are done to databases.
fn step(store: &Store, what: u64, number: u64) -> Result<(), Box<dyn std::error::Error>> {
    let cancel = CancelToken::default();
    let snapshots = || store.snapshots().unwrap_or_default();
    match what % 12 {
        0 | 1 => load_some(store, number, None)?,
        2 => load_some(
            store,
            number,
            number.is_multiple_of(2).then_some(Replace::All).or(Some(Replace::Graph)),
        )?,
        3..=5 => commit(store, number)?,
        6 => drop(compact(store, &CompactOptions::default(), &Arc::default())?),
        7 => {
            let segments = store.version().segments.len();
            if segments > 2 {
                compact_from(store, segments - 2)?;
            }
        }
        8 => clear(
            store,
            if number.is_multiple_of(2) {
                Graphs::Named
            } else {
                Graphs::One(lode_rdf::ValueId::DEFAULT_GRAPH)
            },
        )?,
        9 => drop(store.create_snapshot(&format!("s{number}"), &cancel)?),
        10 if !snapshots().is_empty() => store.drop_snapshot(&snapshots()[0].name, &cancel)?,
        10 => {}
        _ => clear(store, Graphs::All)?,
    }
    Ok(())
}

fn named_contents(vfs: &MemVfs) -> Vec<(String, Model)> {
    let store = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
    let names = store.snapshots().unwrap().into_iter().map(|snapshot| snapshot.name);
    names.map(|name| (name.clone(), read_all(&store.at(&name).unwrap()).unwrap())).collect()
}

fn assert_sound(vfs: &MemVfs, what: &str) {
    let vfs: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let report = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert_eq!(report.problems, [], "{what}");
}

fn without(before: &MemVfs, names: &[&str]) -> MemVfs {
    let vfs = before.deep_copy();
    names.iter().for_each(|name| drop(vfs.remove(&Path::new(FOLDER).join(name))));
    vfs
}

fn remade(vfs: &MemVfs) -> RemadeReport {
    remake_manifest(vfs, Path::new(FOLDER)).unwrap().unwrap()
}

/// Takes the manifest away, and the copy, too: all is as it was. Whether it is certain without the copy.
fn check_lost(before: &MemVfs, what: &str) -> bool {
    let mut is_certain = false;
    if before.files().len() <= 2 {
        return is_certain;
    }
    let (expected, named) = (contents(before).unwrap(), named_contents(before));
    for lost in [&[MANIFEST][..], &[MANIFEST, MANIFEST_COPY]] {
        let what = format!("{what}, without {lost:?}");
        let vfs = without(before, lost);
        if matches!(Manifest::read(&vfs, Path::new(FOLDER)), Err(StoreError::Missing { .. })) {
            assert!(expected.is_empty() && named.is_empty());
            return is_certain;
        }
        let has_copy = vfs.exists(&Path::new(FOLDER).join(MANIFEST_COPY));
        let report = remake_manifest(&vfs, Path::new(FOLDER)).unwrap_or_else(|error| {
            let found = Found::read(&vfs, Path::new(FOLDER)).unwrap();
            let origins: Vec<_> =
                found.segments.iter().map(|meta| (&meta.origin, meta.bases, meta.terms())).collect();
            let manifest = Manifest::read(before, Path::new(FOLDER)).unwrap().encode();
            panic!("{what}: {error}\n{origins:#?}\n{manifest}{named:?}")
        });
        let report = report.unwrap();
        assert!(!report.is_copy || lost.len() == 1, "{what}: {report:?}");
        assert_eq!(report.is_copy, has_copy, "{what}: {report:?}");
        assert!(report.doubts.is_empty() || !report.is_copy, "{what}: {report:?}");
        is_certain = report.doubts.is_empty();
        assert_eq!(contents(&vfs).unwrap(), expected, "{what}: {report:?}");
        assert_eq!(named_contents(&vfs), named, "{what}");
        assert_sound(&vfs, &what);
        // It can be written to, and no number is used twice.
        let version = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap().version().number;
        let old = Store::open(Arc::new(before.clone()), Path::new(FOLDER), 0).unwrap().version().number;
        assert!(version >= old, "{what}: {version} after {old}");
        let store = open(Arc::new(vfs.clone())).unwrap();
        load_some(&store, 8, None).unwrap();
        commit(&store, 3).unwrap();
        compact(&store, &CompactOptions::default(), &Arc::default()).unwrap();
        drop(store);
        assert_sound(&vfs, &what);
        assert!(remake_manifest(&vfs, Path::new(FOLDER)).unwrap().is_none());
    }
    is_certain
}

#[test]
fn all_is_as_it_was() {
    let (mut certain, mut doubtful) = (0, 0);
    for seed in 0..60_u64 {
        let vfs = MemVfs::new();
        let mut store = open(Arc::new(vfs.clone())).unwrap();
        let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        for number in 0..14 {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            let what = (dice >> 20) % 12;
            if let Err(error) = step(&store, what, number) {
                panic!("seed {seed}, step {number} ({what}): {error}");
            }
            if dice.is_multiple_of(5) {
                drop(store);
                store = open(Arc::new(vfs.clone())).unwrap();
            }
            match check_lost(&vfs, &format!("seed {seed}, step {number} ({what})")) {
                true => certain += 1,
                false => doubtful += 1,
            }
        }
    }
    assert!(certain > 100 && doubtful > 100, "{certain} {doubtful}");
}

#[test]
fn a_damaged_manifest_is_set_aside_and_its_copy_counts() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    load_some(&store, 1, None).unwrap();
    drop(store);
    let path = Path::new(FOLDER).join(MANIFEST);
    let expected = contents(&vfs).unwrap();
    let mut bad = vfs.read(&path).unwrap();
    bad[30] ^= 4;
    vfs.overwrite(&path, bad.clone()).unwrap();
    assert!(contents(&vfs).unwrap_err().to_string().contains("lode check --salvage"));
    let report = remade(&vfs);
    assert_eq!(report.set_aside, [Path::new(FOLDER).join("set-aside/MANIFEST")]);
    assert_eq!(vfs.read(&report.set_aside[0]).unwrap(), bad);
    assert_eq!(contents(&vfs).unwrap(), expected);
    // Once more, and nothing that was set aside before is written over.
    vfs.overwrite(&path, bad[1..].to_vec()).unwrap();
    assert_eq!(remade(&vfs).set_aside, [Path::new(FOLDER).join("set-aside/MANIFEST.2")]);
    assert_eq!(vfs.read(&report.set_aside[0]).unwrap(), bad);
}

#[test]
fn what_cannot_be_decided_is_told_and_nothing_is_removed() {
    let vfs = MemVfs::new();
    let store = open(Arc::new(vfs.clone())).unwrap();
    for number in 0..3 {
        load_some(&store, number, None).unwrap();
        commit(&store, number).unwrap();
    }
    drop(store);
    // A segment is missing: the others do not fit together.
    let lost = without(&vfs, &[MANIFEST, MANIFEST_COPY]);
    lost.remove_dir_all(&Path::new(FOLDER).join("segment-000001")).unwrap();
    let files = lost.files();
    let error = remake_manifest(&lost, Path::new(FOLDER)).unwrap_err().to_string();
    assert!(error.contains("missing or damaged") && error.contains("nothing was changed"), "{error}");
    assert_eq!(lost.files(), files);
    // The log is missing.
    let log = log_file(Manifest::read(&vfs, Path::new(FOLDER)).unwrap().log);
    let lost = without(&vfs, &[MANIFEST, MANIFEST_COPY, &log]);
    let report = remade(&lost);
    assert!(report.doubts.iter().any(|doubt| doubt.contains("no log goes on")), "{report:?}");
    let lost = without(&vfs, &[MANIFEST, &log]);
    let report = remade(&lost);
    assert!(report.doubts.iter().any(|doubt| doubt.contains("is not there")), "{report:?}");
    // A copy that is older than what is there.
    let old = vfs.read(&Path::new(FOLDER).join(MANIFEST_COPY)).unwrap();
    let store = open(Arc::new(vfs.clone())).unwrap();
    for number in 3..6 {
        load_some(&store, number, None).unwrap();
    }
    drop(store);
    let lost = without(&vfs, &[MANIFEST]);
    lost.overwrite(&Path::new(FOLDER).join(MANIFEST_COPY), old).unwrap();
    let segments = lost.files();
    let report = remade(&lost);
    assert!(!report.doubts.is_empty(), "{report:?}");
    assert!(segments.len() <= lost.files().len() + 1);
}

/// Stops a step at any operation: without both manifests there is then what was there before it or after it.
#[test]
fn a_step_that_was_stopped_has_taken_effect_or_not() {
    for what in [0, 3, 6, 7] {
        let before = MemVfs::new();
        let store = open(Arc::new(before.clone())).unwrap();
        for number in 0..4 {
            load_some(&store, number, None).unwrap();
            commit(&store, number).unwrap();
        }
        drop(store);
        let run = |vfs: Arc<dyn Vfs>| open(vfs).map_err(Into::into).and_then(|store| step(&store, what, 7));
        let counting = FaultVfs::counting(before.deep_copy(), false);
        run(Arc::new(counting.clone())).unwrap();
        let (old, new) = (contents(&before).unwrap(), contents(counting.inner()).unwrap());
        for at in 0..=counting.operations() {
            let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
            let done = run(Arc::new(vfs.clone())).is_ok();
            let after = vfs.after_crash(CrashKind::LoseAll);
            let truth = contents(&after).unwrap();
            let after = without(&after, &[MANIFEST, MANIFEST_COPY]);
            let report = remade(&after);
            let found = contents(&after).unwrap();
            assert!(found == new || (!done && found == old), "step {what}, operation {at}: {report:?}");
            assert!(found == truth || !report.doubts.is_empty(), "step {what}, operation {at}");
            assert_sound(&after, &format!("step {what}, operation {at}"));
        }
    }
}
