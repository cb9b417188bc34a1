//! Estimates against counts over loads, transactions and compactions; databases without sets; damage.

use crate::check::check;
use crate::compact::{CompactOptions, compact};
use crate::crash_tests::assert_sound;
use crate::manifest::segment_folder;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::test_data::{FOLDER, open};
use crate::{LoadOptions, Source, load};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::segment::{META_FILE, STARS_FILE};
use lode_packed::{SegmentMeta, StarMember};
use lode_rdf::{NamedNode, Term};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// Subjects of two kinds, one of which has a third predicate in every fourth subject.
fn quads(from: u32, to: u32) -> String {
    let mut text = String::new();
    for i in from..to {
        let (s, kind) = (format!("<http://e/s{i}>"), if i % 2 == 0 { "Even" } else { "Odd" });
        text.push_str(&format!("{s} <{TYPE}> <http://e/{kind}> .\n"));
        if i % 2 == 0 {
            text.push_str(&format!("{s} <http://e/p> \"{i}\" .\n{s} <http://e/p> \"again {i}\" .\n"));
        } else {
            text.push_str(&format!("{s} <http://e/q> <http://e/s{}> .\n", i - 1));
        }
        if i % 4 == 0 {
            text.push_str(&format!("{s} <http://e/r> \"{}\" <http://e/g> .\n", i % 10));
        }
    }
    text
}

fn add(store: &Store, text: String, threads: usize) {
    let options = LoadOptions { threads, memory_bytes: 1 << 30, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nq", text)], options, &Arc::default()).unwrap();
}

fn member(snapshot: &Snapshot, predicate: &str, object: Option<&str>) -> StarMember {
    let id = |iri: &str| {
        let term = Term::NamedNode(NamedNode::new_unchecked(iri));
        snapshot.id_of(&term).unwrap().unwrap().to_bits()
    };
    StarMember { predicate: id(predicate), object: object.map(id) }
}

/// Subjects and rows of the star of `p` and `r`, of `p` and `q`, and of the class `Even` and `p`.
fn estimates(snapshot: &Snapshot) -> Option<[(f64, f64); 3]> {
    let predicates = ["http://e/p", "http://e/r", "http://e/q"].map(|p| member(snapshot, p, None));
    let class = [member(snapshot, TYPE, Some("http://e/Even")), predicates[0]];
    let by_predicate = snapshot.star(&predicates).unwrap()?;
    let by_class = snapshot.star(&class).unwrap()?;
    let of = |star: &lode_packed::Star, wanted| (star.subjects(wanted), star.rows(wanted));
    Some([of(&by_predicate, 0b011), of(&by_predicate, 0b101), of(&by_class, 0b11)])
}

fn segment_file(vfs: &MemVfs, name: &str) -> PathBuf {
    let store = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
    let number = store.version().manifest.segments[0].number;
    Path::new(FOLDER).join(segment_folder(number)).join(name)
}

fn bytes(vfs: &MemVfs, path: &Path) -> Vec<u8> {
    let file = vfs.open(path).unwrap();
    let mut bytes = vec![0; file.len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn write(vfs: &MemVfs, path: &Path, bytes: &[u8]) {
    let mut file = vfs.create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.flush().unwrap();
    file.sync().unwrap();
}

#[test]
fn stars_are_counted_over_loads_and_compactions() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    for part in 0..4 {
        add(&store, quads(part * 1_000, part * 1_000 + 1_000), 1);
    }
    let whole = [(1_000.0, 2_000.0), (0.0, 0.0), (2_000.0, 4_000.0)];
    let [by_predicate, apart, by_class] = estimates(&store.snapshot()).unwrap();
    assert_eq!((by_predicate, apart), (whole[0], whole[1]));
    // Only the first segment has the class predicate in its dictionary.
    assert!(by_class.0 >= whole[2].0 && by_class.0 <= 2.0 * whole[2].0, "{by_class:?}");
    compact(&store, &CompactOptions::default(), &Arc::default()).unwrap();
    assert_eq!(estimates(&store.snapshot()), Some(whole));
    let compacted = bytes(&vfs, &segment_file(&vfs, STARS_FILE));
    for threads in [1, 3] {
        let other = MemVfs::new();
        add(&open(&other), quads(0, 4_000), threads);
        assert_eq!(bytes(&other, &segment_file(&other, STARS_FILE)), compacted, "{threads} threads");
    }
    assert_sound(&vfs);
}

#[test]
fn predicates_in_different_segments_are_not_called_apart() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    add(&store, (0..100).map(|i| format!("<http://e/s{i}> <http://e/p> \"{i}\" .\n")).collect(), 1);
    add(&store, (0..100).map(|i| format!("<http://e/s{i}> <http://e/q> \"{i}\" .\n")).collect(), 1);
    let snapshot = store.snapshot();
    let members = ["http://e/p", "http://e/q"].map(|p| member(&snapshot, p, None));
    assert_eq!(snapshot.star(&members).unwrap(), None);
    compact(&store, &CompactOptions::default(), &Arc::default()).unwrap();
    let snapshot = store.snapshot();
    let members = ["http://e/p", "http://e/q"].map(|p| member(&snapshot, p, None));
    assert_eq!(snapshot.star(&members).unwrap().unwrap().subjects(0b11), 100.0);
}

#[test]
fn a_database_without_sets_opens_and_gets_them_with_a_compaction() {
    let vfs = MemVfs::new();
    add(&open(&vfs), quads(0, 200), 1);
    let path = segment_file(&vfs, META_FILE);
    let meta = SegmentMeta::decode(&bytes(&vfs, &path), META_FILE).unwrap();
    write(&vfs, &path, &SegmentMeta { characteristic_sets: None, ..meta.clone() }.encode());
    vfs.remove(&segment_file(&vfs, STARS_FILE)).unwrap();
    let store = open(&vfs);
    assert_eq!(estimates(&store.snapshot()), None);
    assert_sound(&vfs);
    compact(&store, &CompactOptions { force: true, ..CompactOptions::default() }, &Arc::default()).unwrap();
    assert_eq!(estimates(&store.snapshot()).unwrap()[0], (50.0, 100.0));
    let again = SegmentMeta::decode(&bytes(&vfs, &segment_file(&vfs, META_FILE)), META_FILE).unwrap();
    assert_eq!(SegmentMeta { origin: meta.origin.clone(), ..again }, meta);
}

#[test]
fn without_damaged_or_foreign_sets_a_database_is_read_all_the_same() {
    let vfs = MemVfs::new();
    add(&open(&vfs), quads(0, 40), 1);
    let path = segment_file(&vfs, STARS_FILE);
    let whole = bytes(&vfs, &path);
    let told = |vfs: &MemVfs| {
        assert_eq!(estimates(&open(vfs).snapshot()), None);
        let vfs: Arc<dyn Vfs> = Arc::new(vfs.clone());
        let report = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
        assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
        assert!(report.problems[0].file.ends_with(STARS_FILE), "{:?}", report.problems);
    };
    for at in (0..whole.len()).step_by(5) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        write(&vfs, &path, &damaged);
        told(&vfs);
    }
    let other = MemVfs::new();
    add(&open(&other), quads(0, 44), 1);
    write(&vfs, &path, &bytes(&other, &segment_file(&other, STARS_FILE)));
    told(&vfs);
    vfs.remove(&path).unwrap();
    told(&vfs);
    write(&vfs, &path, &whole);
    assert_sound(&vfs);
}

#[test]
fn sets_of_other_quads_are_found_by_a_check() {
    let (vfs, other) = (MemVfs::new(), MemVfs::new());
    add(&open(&vfs), quads(0, 40), 1);
    add(&open(&other), quads(0, 44), 1);
    write(&vfs, &segment_file(&vfs, STARS_FILE), &bytes(&other, &segment_file(&other, STARS_FILE)));
    // As if a program had written the sets of other quads: the description fits.
    let path = Path::new(FOLDER).join(segment_folder(1)).join(META_FILE);
    let meta = |vfs: &MemVfs| SegmentMeta::decode(&bytes(vfs, &path), META_FILE).unwrap();
    let wrong = SegmentMeta { characteristic_sets: meta(&other).characteristic_sets, ..meta(&vfs) };
    write(&vfs, &path, &wrong.encode());
    let vfs: Arc<dyn Vfs> = Arc::new(vfs);
    let report = check(&vfs, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert!(report.problems[0].file.ends_with(STARS_FILE), "{:?}", report.problems);
}
