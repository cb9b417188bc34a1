//! Logs that failed and could not be replaced at once: what their files hold and nobody acknowledged never comes after another version.

use crate::crash_tests::{assert_sound, contents, read_all};
use crate::transaction::crash_tests::{Model, apply, commit, open};
use crate::write_guard::WriteGuard;
use crate::{LoadOptions, Source, Store, load};
use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs, Operation};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use std::sync::Arc;

/// A store whose log holds nothing but a record that was not acknowledged, and which could not begin another. What it holds.
fn store_without_log(vfs: &FaultVfs) -> (Store, Model) {
    let store = open(Arc::new(vfs.clone())).unwrap();
    // Too large for the log, which is empty then.
    let (large, small) = (3, 4);
    let mut model = Model::new();
    commit(&store, large).unwrap();
    apply(&mut model, large);
    vfs.fail_next(Fault::Error, Operation::Sync);
    commit(&store, small).unwrap_err();
    vfs.fail_next(Fault::Error, Operation::Create);
    commit(&store, small).unwrap_err();
    assert_eq!(read_all(&store.snapshot()).unwrap(), model);
    (store, model)
}

fn add(store: &Store, model: &mut Model) {
    let options = LoadOptions { threads: 1, ..LoadOptions::default() };
    let line = "<http://a> <http://p> <http://b> .\n";
    load(store, vec![Source::bytes("x.nt", line)], options, &Arc::default()).unwrap();
    model.insert("<http://b> <http://a> <http://p> ".to_owned());
}

#[test]
fn a_load_comes_after_a_new_log() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    let (store, mut model) = store_without_log(&vfs);
    add(&store, &mut model);
    for after in [vfs.inner().deep_copy(), vfs.after_crash(CrashKind::LoseAll)] {
        assert_eq!(contents(&after).unwrap(), model);
        assert_sound(&after);
        commit(&open(Arc::new(after.clone())).unwrap(), 4).unwrap();
        let mut more = model.clone();
        apply(&mut more, 4);
        assert_eq!(contents(&after).unwrap(), more);
    }
}

#[test]
fn all_that_is_in_segments_has_a_new_log() {
    let vfs = FaultVfs::counting(MemVfs::new(), false);
    let (store, model) = store_without_log(&vfs);
    let given_up = store.version().manifest.log;
    let cancel = CancelToken::default();
    WriteGuard::lock(&store, &cancel).unwrap().settle(&cancel).unwrap();
    assert!(store.version().manifest.log > given_up);
    let settled = store.version().number;
    // Once is enough.
    WriteGuard::lock(&store, &cancel).unwrap().settle(&cancel).unwrap();
    assert_eq!(store.version().number, settled);
    for kind in [CrashKind::LoseAll, CrashKind::KeepAll] {
        let after = vfs.after_crash(kind);
        assert_eq!(contents(&after).unwrap(), model);
        assert_sound(&after);
    }
}
