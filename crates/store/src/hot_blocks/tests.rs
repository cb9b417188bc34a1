//! A list is read as it was written or not at all, and reading by it changes nothing but what is in the cache.

use super::*;
use crate::test_data::{FOLDER, load_files, open, rows};
use crate::{CompactOptions, LoadOptions, LoadProgress, compact};
use lode_base::device_vfs::{DeviceModel, DeviceVfs};
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_packed::Order;
use lode_rdf::{GraphName, Literal, NamedNode, Quad, Term, ValueId};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn quads(range: std::ops::Range<u32>) -> Vec<Quad> {
    let iri = |text: String| NamedNode::new(format!("http://example.org/{text}")).unwrap();
    let quad = |number: u32| {
        let noise = number.wrapping_mul(0x9E37_79B1);
        let text = Literal::new_simple_literal(format!("text {noise:x} {number} {:x}", noise.rotate_left(9)));
        Quad::new(iri(format!("{number:07}")), iri("text".to_owned()), text, GraphName::DefaultGraph)
    };
    range.map(quad).collect()
}

/// Two segments.
pub(crate) fn built() -> MemVfs {
    let vfs = MemVfs::default();
    let store = open(&vfs);
    for range in [0..40_000, 30_000..70_000] {
        let files = vec![(format!("from{}", range.start), quads(range))];
        let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() };
        load_files(&store, &files, options).unwrap();
    }
    vfs
}

fn on(vfs: Arc<dyn Vfs>, cache_bytes: usize) -> Store {
    Store::open(vfs, Path::new(FOLDER), cache_bytes).unwrap()
}

/// Some rows here and there, and their terms.
pub(crate) fn read(store: &Store) -> Vec<Term> {
    let snapshot = store.snapshot();
    let mut terms = Vec::new();
    for number in (0..70_000).step_by(4999) {
        let iri = Term::from(NamedNode::new(format!("http://example.org/{number:07}")).unwrap());
        let id = snapshot.id_of(&iri).unwrap().unwrap();
        for row in rows(&snapshot, Order::Spog, &[id]) {
            terms.extend(row[..3].iter().map(|id: &ValueId| snapshot.term(*id).unwrap()));
        }
    }
    terms
}

fn list_of(vfs: &MemVfs) -> HotBlocks {
    let store = on(Arc::new(vfs.clone()), 64 << 20);
    read(&store);
    store.hot_blocks()
}

fn never() -> CancelToken {
    CancelToken::default()
}

proptest! {
    #[test]
    fn a_list_is_as_it_was_written_and_damage_is_found(
        parts in prop::collection::vec((any::<u128>(), 0_u8..18, prop::collection::btree_set(any::<u64>(), 0..20)), 0..6),
        damage in (any::<prop::sample::Index>(), 1_u8..),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let part = |(identity, number, blocks): (u128, u8, std::collections::BTreeSet<u64>)| {
            let part = CachedPart::of_number(number)?;
            let blocks = blocks.into_iter().filter(|block| *block < u64::MAX).collect();
            Some(HotPart { identity, part, blocks })
        };
        let list = HotBlocks(parts.into_iter().filter_map(part).collect());
        let bytes = list.encode();
        prop_assert_eq!(HotBlocks::decode(&bytes), Some(list));
        prop_assert_eq!(HotBlocks::decode(&bytes[..cut.index(bytes.len())]), None);
        let mut damaged = bytes;
        let at = damage.0.index(damaged.len());
        damaged[at] ^= damage.1;
        prop_assert_eq!(HotBlocks::decode(&damaged), None);
        // With a checksum that fits, too.
        let mut hostile = MAGIC.to_vec();
        hostile.extend(noise);
        let sum = checksum(&hostile);
        hostile.extend_from_slice(&sum.to_le_bytes());
        HotBlocks::decode(&hostile);
    }
}

#[test]
fn numbers_of_parts_stay() {
    let parts = (0..=255_u8).filter_map(|number| Some((number, CachedPart::of_number(number)?)));
    let parts: Vec<_> = parts.inspect(|(number, part)| assert_eq!(part.number(), *number)).collect();
    assert_eq!(parts.len(), Order::COUNT + 2);
    assert_eq!(
        (parts[3].1, parts[7], parts[8]),
        (CachedPart::Rows(Order::Posg), (16, CachedPart::Terms), (17, CachedPart::Filters))
    );
}

#[test]
fn what_was_hot_is_hot_again() {
    let vfs = built();
    let list = list_of(&vfs);
    assert!(list.len() > 20, "{}", list.len());
    for model in [
        None,
        Some(DeviceModel::INSTANT),
        Some(DeviceModel { latency: std::time::Duration::ZERO, ..DeviceModel::DISK }),
    ] {
        let inner: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let device: Arc<dyn Vfs> = match model {
            Some(model) => Arc::new(DeviceVfs::new(inner, model)),
            None => inner,
        };
        let store = on(device, 64 << 20);
        let report = store.warm(&list, &never()).unwrap();
        assert_eq!((report.blocks, report.passed_over, report.is_full), (list.len() as u64, 0, false));
        assert_eq!(store.hot_blocks(), list);
        let before = store.cache_counters();
        assert_eq!(read(&store), read(&open(&vfs)));
        assert_eq!(store.cache_counters().misses, before.misses);
        let again = store.warm(&list, &never()).unwrap();
        assert_eq!((again.blocks, again.known), (0, list.len() as u64));
        if model == Some(DeviceModel::INSTANT) {
            assert!(store.read_counters().merged > 0);
        }
    }
}

#[test]
fn nothing_that_is_in_the_cache_goes() {
    let vfs = built();
    let all = {
        let store = on(Arc::new(vfs.clone()), 64 << 20);
        rows(&store.snapshot(), Order::Spog, &[]);
        rows(&store.snapshot(), Order::Ospg, &[]);
        store.hot_blocks()
    };
    let store = on(Arc::new(vfs), 1 << 20);
    read(&store);
    let before: Vec<_> = store.cache().keys();
    let report = store.warm(&all, &never()).unwrap();
    assert!(report.is_full && report.blocks < all.len() as u64, "{report:?}");
    let after = store.cache().keys();
    assert!(before.iter().all(|key| after.contains(key)));
    assert!(store.cache_counters().bytes_held <= 1 << 20);
}

#[test]
fn all_can_be_read_though_nothing_is_kept() {
    let vfs = built();
    let store = on(Arc::new(vfs.clone()), 0);
    let mut list = store.all_blocks();
    let mut bytes = 0;
    let report = store.read_through(&list, &never(), &mut |more| bytes += more).unwrap();
    assert!(report.blocks == 0 && report.bytes == bytes, "{report:?}");
    let files: usize = vfs
        .files()
        .iter()
        .filter(|file| file.to_string_lossy().contains("segment-"))
        .map(|file| vfs.read(file).unwrap().len())
        .sum();
    assert!(bytes as usize > files * 9 / 10 && (bytes as usize) < files, "{bytes} of {files}");
    list.retain(&|part| part == CachedPart::Rows(Order::Posg));
    let some = store.read_through(&list, &never(), &mut |_| {}).unwrap();
    assert!(some.bytes > 0 && some.bytes < bytes / 3);
}

#[test]
fn blocks_of_other_segments_and_numbers_that_there_are_not_are_passed_over() {
    let vfs = built();
    let list = list_of(&vfs);
    let wrong: Vec<HotPart> =
        list.0.iter().map(|part| HotPart { blocks: vec![5_000_000, u64::MAX - 1], ..part.clone() }).collect();
    let store = on(Arc::new(vfs.clone()), 64 << 20);
    let report = store.warm(&HotBlocks(wrong.clone()), &never()).unwrap();
    assert_eq!((report.blocks, report.passed_over), (0, 2 * wrong.len() as u64));
    let writer = open(&vfs);
    compact(&writer, &CompactOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    drop(writer);
    let report = on(Arc::new(vfs), 64 << 20).warm(&list, &never()).unwrap();
    assert_eq!((report.blocks, report.passed_over), (0, list.len() as u64));
}

#[test]
fn damage_is_passed_over_and_told_to_who_needs_it() {
    let vfs = built();
    let list = list_of(&vfs);
    let path = Path::new(FOLDER).join("segment-000001").join("spog.perm");
    let mut bytes = vfs.read(&path).unwrap();
    let end = bytes.len() / 2;
    bytes[100..end].iter_mut().for_each(|byte| *byte ^= 0x55);
    vfs.overwrite(&path, bytes).unwrap();
    let store = on(Arc::new(vfs), 64 << 20);
    let report = store.warm(&list, &never()).unwrap();
    assert!(report.passed_over > 0 && report.blocks > 0, "{report:?}");
    let snapshot = store.snapshot();
    let mut scan = snapshot.scan(Order::Spog, &[], 0b1111).unwrap();
    assert!(scan.next(1, &mut Default::default()).is_err());
}

#[test]
fn who_is_called_off_ends() {
    let vfs = built();
    let list = list_of(&vfs);
    let token = never();
    token.cancel();
    assert!(on(Arc::new(vfs), 64 << 20).warm(&list, &token).is_err());
}

#[test]
fn a_saved_list_is_the_old_or_the_new_one_whatever_fails() {
    let (old, new) = (HotBlocks(Vec::new()), |store: &Store| {
        read(store);
        store.hot_blocks()
    });
    for fault in [Fault::Error, Fault::LateError, Fault::LostSync, Fault::DiskFull, Fault::PowerCut] {
        for at in 0..12 {
            let vfs = FaultVfs::counting(built_once().deep_copy(), false);
            let store = Store::open_existing(
                Arc::new(vfs.clone()),
                Path::new(FOLDER),
                64 << 20,
                crate::WriteOptions::default(),
            )
            .unwrap();
            store.save_hot_blocks(&old).unwrap();
            let new = new(&store);
            vfs.fail_at(fault, vfs.operations() + at);
            let saved = store.save_hot_blocks(&new);
            let struck = vfs.struck();
            vfs.mend();
            for state in [
                vfs.inner().deep_copy(),
                vfs.after_crash(CrashKind::LoseAll),
                vfs.after_crash(CrashKind::KeepAll),
                vfs.after_crash(CrashKind::Torn(at)),
            ] {
                let found = on(Arc::new(state), 1 << 20).saved_hot_blocks().unwrap();
                assert!(found.as_ref() == Some(&old) || found.as_ref() == Some(&new), "{fault:?} at {at}");
                if saved.is_ok() && !struck {
                    assert_eq!(found, Some(new.clone()));
                }
            }
            if !struck {
                break;
            }
        }
    }
}

fn built_once() -> &'static MemVfs {
    static BUILT: std::sync::OnceLock<MemVfs> = std::sync::OnceLock::new();
    BUILT.get_or_init(built)
}

#[test]
fn a_file_that_is_no_list_counts_as_none() {
    let vfs = built();
    let path: PathBuf = Path::new(FOLDER).join(HOT_BLOCKS);
    let store = on(Arc::new(vfs.clone()), 1 << 20);
    assert_eq!(store.saved_hot_blocks().unwrap(), None);
    for bytes in [&b""[..], b"x", b"LODEHOT1", b"LODEHOT2________"] {
        vfs.create(&path).unwrap().write_all(bytes).unwrap();
        assert_eq!(store.saved_hot_blocks().unwrap(), None);
    }
    assert!(store.save_hot_blocks(&HotBlocks::default()).is_err());
}
