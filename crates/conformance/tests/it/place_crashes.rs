//! Power cuts, errors and full disks at every operation of making an index of geometries: afterwards there is none, or a whole one, and nothing of the database is lost.

use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::vfs::Vfs;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{PlacesOptions, Store, StoreError, check, index_places};
use lode_geo::vocabulary::WKT_LITERAL;
use lode_geo::window::{Search, Test};
use lode_geo::{Unit, read};
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "/db";
const GEOMETRIES: usize = 300;

fn open(vfs: &MemVfs) -> Store {
    Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap()
}

fn database() -> MemVfs {
    let vfs = MemVfs::new();
    let place = |n: usize| {
        format!("<http://e/{n}> <http://e/p> \"POINT({} {})\"^^<{WKT_LITERAL}> .\n", n % 90, n / 90)
    };
    let text: String = (0..GEOMETRIES).map(place).collect();
    let sources = vec![Source::bytes("all.nt", text)];
    load(&open(&vfs), sources, LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    vfs
}

fn index(vfs: &FaultVfs) -> Result<u64, StoreError> {
    let store = Store::open_existing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16, Default::default())?;
    let options = PlacesOptions { memory_bytes: 1 << 20, force: true, cancel: CancelToken::default() };
    index_places(&store, &options).map(|report| report.geometries)
}

/// How many geometries are near a place by the index; none where there is no index.
fn found(vfs: &MemVfs) -> Option<usize> {
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let report = check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let snapshot = open(vfs).snapshot();
    assert_eq!(snapshot.quad_count(), GEOMETRIES as u64);
    let place = read::literal("POINT(7 1)", WKT_LITERAL).unwrap();
    let near = Search::new(place, false, Test::Distance { most: 1000.0, unit: Unit::METRE }).unwrap();
    snapshot.place_candidates(&near, &CancelToken::default()).unwrap().map(|ids| ids.len())
}

#[test]
fn power_cuts_leave_no_index_or_a_whole_one() {
    let before = database();
    assert_eq!(found(&before), None);
    let counting = FaultVfs::counting(before.deep_copy(), false);
    assert_eq!(index(&counting).unwrap(), GEOMETRIES as u64);
    assert_eq!(found(counting.inner()), Some(1));
    let mut outcomes = [0, 0];
    for again in [false, true] {
        // Also while an index is made that is there.
        let before = if again { counting.inner() } else { &before };
        for at in 0..=counting.operations() {
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0x5A5A)] {
                let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
                let done = index(&vfs);
                let left = found(&vfs.after_crash(kind));
                assert!(left.is_none_or(|found| found == 1), "{left:?} after a power cut at {at}");
                assert!(left.is_some() || done.is_err(), "lost at {at}");
                outcomes[usize::from(left.is_some())] += 1;
            }
        }
    }
    assert!(outcomes[0] > 10 && outcomes[1] > 10, "{outcomes:?}");
}

#[test]
fn errors_and_full_disks_leave_no_index_or_a_whole_one() {
    let before = database();
    let operations = |reads_count| {
        let counting = FaultVfs::counting(before.deep_copy(), reads_count);
        index(&counting).unwrap();
        counting.operations()
    };
    for (fault, reads_count) in [(Fault::Error, true), (Fault::DiskFull, false)] {
        for at in 0..operations(reads_count) {
            let vfs = FaultVfs::new(before.deep_copy(), fault, at, reads_count);
            let done = index(&vfs).is_ok();
            let left = found(vfs.inner());
            assert!(
                left.is_none_or(|found| found == 1) && (left.is_some() || !done),
                "{left:?} {fault:?} at {at}"
            );
        }
    }
}
