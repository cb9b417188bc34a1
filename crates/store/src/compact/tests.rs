//! Compactions against a model: all kinds of terms, several segments, groups larger than what is read at once.

use super::*;
use crate::crash_tests::assert_sound;
use crate::dump::{DumpScope, dump_lines};
use crate::segment_builder::BuildError;
use crate::snapshot::Snapshot;
use crate::test_data::{FOLDER, Model, add_to, check_reads, contents, file, load_files, named, open};
use crate::version::Version;
use crate::{LoadOptions, Source, load};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::SegmentMeta;
use lode_rdf::Quad;
use proptest::prelude::*;
use std::path::Path;

fn options(threads: usize, memory_bytes: usize) -> CompactOptions {
    CompactOptions { threads, memory_bytes, ..CompactOptions::default() }
}

/// All lines of a dump, sorted: blank nodes by their numbers, which a compaction keeps.
fn lines(snapshot: &Snapshot) -> Vec<String> {
    let mut text = Vec::new();
    dump_lines(snapshot, DumpScope::All, &CancelToken::default(), &mut text).unwrap();
    let mut lines: Vec<String> = String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn load_all(store: &Store, loads: &[Vec<Vec<Quad>>], model: &mut Model, first: usize) {
    for (number, files) in loads.iter().enumerate() {
        let files: Vec<(String, Vec<Quad>)> = files
            .iter()
            .enumerate()
            .map(|(at, quads)| {
                let name = format!("load{}file{at}", first + number);
                (name.clone(), named(&name, quads))
            })
            .collect();
        for (name, quads) in &files {
            add_to(model, name, quads);
        }
        let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() };
        load_files(store, &files, options).unwrap();
    }
}

fn names(vfs: &MemVfs) -> Vec<String> {
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    names.iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn nothing_changes_but_the_files(
        loads in proptest::collection::vec(proptest::collection::vec(file(), 1..3), 1..7),
        later in proptest::collection::vec(proptest::collection::vec(file(), 1..3), 0..3),
        threads in 1_usize..4,
        short in any::<bool>(),
        in_rounds in any::<bool>(),
        pick in any::<usize>(),
    ) {
        let vfs = MemVfs::new();
        let store = open(&vfs);
        let mut model = Model::new();
        let options = options(threads, if short { 0 } else { 1 << 30 });
        let budget = if in_rounds { MergeBudget::none() } else { MergeBudget::new(options.memory_bytes, threads) };
        for (round, loads) in [&loads, &later].into_iter().enumerate() {
            load_all(&store, loads, &mut model, 100 * round);
            let before = store.snapshot();
            let expected = lines(&before);
            let progress = LoadProgress::default();
            let report = compact_and(&store, &options, budget, &progress, &mut || {}).unwrap();
            let after = store.snapshot();
            prop_assert_eq!(report.quads, model.len() as u64);
            prop_assert!(report.rounds < report.segments.max(2));
            prop_assert!(in_rounds || short || report.rounds <= 1);
            prop_assert_eq!(report.segment.is_some(), report.segments > 1);
            prop_assert!(after.ids_are_ordered());
            prop_assert!(after.version().segments.len() <= 1);
            prop_assert_eq!(&lines(&after), &expected);
            prop_assert_eq!(&contents(&after), &model);
            check_reads(&after, pick);
            // Who reads the version before still can, and only then its files go.
            prop_assert_eq!(lines(&before), expected);
            drop(before);
            let last = after.version().manifest.segments.last().map(|entry| entry.folder());
            let mut left = vec!["LOCK".to_owned(), "MANIFEST".to_owned()];
            left.extend((after.version_number() > 0).then(|| "MANIFEST.copy".to_owned()));
            left.extend(last);
            prop_assert_eq!(names(&vfs), left);
            assert_sound(&vfs);
            let again = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
            prop_assert_eq!(&contents(&again.snapshot()), &model);
        }
    }
}

/// `count` quads about things from `first` on: shared predicates and classes, and more than one block.
fn load_range(store: &Store, first: u32, count: u32) {
    let mut text = String::new();
    for i in first..first + count {
        let (s, x) = (i / 5, i.wrapping_mul(2_654_435_761) % 10_000);
        text.push_str(&format!("<http://example.org/{}/s{s}> <http://example.org/p{}> ", s % 7, i % 5));
        match i % 5 {
            0 => text.push_str("<http://example.org/Class>"),
            1 => text.push_str(&format!("\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", x % 100)),
            2 => text.push_str(&format!("\"label {x}\"@en")),
            3 => text.push_str(&format!("<http://example.org/{}/s{x}>", x % 7)),
            _ => text.push_str(&format!("\"text {x}\"")),
        }
        text.push_str(if i % 3 == 0 { " <http://example.org/g> .\n" } else { " .\n" });
    }
    let options = LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() };
    load(store, vec![Source::bytes("x.nq", text)], options, &Arc::default()).unwrap();
}

#[test]
fn many_quads_become_the_segment_of_a_single_load() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    // Ranges out of order, so that dictionaries interleave.
    for first in [10_000, 0, 5_000, 15_000] {
        load_range(&store, first, 5_000);
    }
    let expected = lines(&store.snapshot());
    let single = open(&MemVfs::new());
    load_range(&single, 0, 20_000);
    let loaded = single.version().segments[0].segment.meta().clone();
    for memory_bytes in [800 << 10, 1 << 30] {
        let options = CompactOptions { force: true, ..options(2, memory_bytes) };
        let segment = compact(&store, &options, &Arc::default()).unwrap().segment.unwrap();
        let segment = SegmentMeta { origin: loaded.origin.clone(), ..segment };
        assert_eq!(segment, loaded, "byte for byte what one load makes");
        assert_eq!(lines(&store.snapshot()), expected);
    }
    check_reads(&store.snapshot(), 4711);
    assert_sound(&vfs);
}

#[test]
fn rows_of_two_words_are_merged_in_memory_too() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_range(&store, 0, 3_000);
    // Blank nodes with large numbers: a quad does not fit 64 bits any more.
    store.writer().unwrap().take_blanks(1 << 40);
    load_range(&store, 2_000, 3_000);
    load(
        &store,
        vec![Source::bytes("x.nt", "_:a <http://p> _:b .\n")],
        LoadOptions { threads: 1, memory_bytes: 1 << 30, ..LoadOptions::default() },
        &Arc::default(),
    )
    .unwrap();
    let expected = lines(&store.snapshot());
    let mut metas = Vec::new();
    for memory_bytes in [1 << 30, 0] {
        let options = CompactOptions { force: true, ..options(2, memory_bytes) };
        let meta = compact(&store, &options, &Arc::default()).unwrap().segment.unwrap();
        metas.push(SegmentMeta { origin: Default::default(), ..meta });
        assert_eq!(lines(&store.snapshot()), expected);
    }
    assert_eq!(metas[0], metas[1], "the same bytes as by merging each order by itself");
    assert_sound(&vfs);
}

#[test]
fn one_segment_is_left_alone_unless_forced() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    let empty = compact(&store, &options(1, 1 << 30), &Arc::default()).unwrap();
    assert_eq!((empty.segments, empty.segment), (0, None));
    let force = CompactOptions { force: true, ..options(1, 1 << 30) };
    assert_eq!(compact(&store, &force, &Arc::default()).unwrap().segment, None);
    load_range(&store, 0, 100);
    let version = store.snapshot().version_number();
    let report = compact(&store, &options(1, 1 << 30), &Arc::default()).unwrap();
    assert_eq!((report.segments, report.segment), (1, None));
    assert_eq!(store.snapshot().version_number(), version);
    let report = compact(&store, &force, &Arc::default()).unwrap();
    assert_eq!(report.segment.unwrap().bytes(), report.bytes_before);
    assert_eq!(names(&vfs), ["LOCK", "MANIFEST", "MANIFEST.copy", "segment-000002"]);
}

/// A full compaction of a version, with so much memory for its tables.
fn compaction<'a>(
    store: &'a Store,
    version: &'a Version,
    throttle: &'a Throttle,
    progress: &'a LoadProgress,
    working_bytes: usize,
) -> Compaction<'a> {
    let options = CompactOptions::default();
    let compaction = Compaction::new(store, version, 0, &options, throttle, progress);
    Compaction { threads: 1, working_bytes, ..compaction }
}

#[test]
fn what_stops_it_changes_nothing() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_range(&store, 0, 40_000);
    load_range(&store, 20_000, 40_000);
    let (before, files) = (lines(&store.snapshot()), names(&vfs));
    let cancelled = options(2, 1 << 30);
    cancelled.cancel.cancel();
    assert!(matches!(
        compact(&store, &cancelled, &Arc::default()),
        Err(CompactError::Build(BuildError::Cancelled(_)))
    ));
    let (throttle, progress) = (Throttle::full(&CancelToken::default()), LoadProgress::default());
    // Less memory than the numbers of the terms need.
    let short = compaction(&store, &store.version(), &throttle, &progress, 1000).run();
    assert!(matches!(short, Err(CompactError::Build(BuildError::Memory { .. }))), "{short:?}");
    assert_eq!(names(&vfs), files);
    assert_eq!(lines(&store.snapshot()), before);
    let reader = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
    assert!(compact(&reader, &options(2, 1 << 30), &Arc::default()).is_err());
}

#[test]
fn a_quad_in_two_segments_is_noticed() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_range(&store, 0, 50);
    load_range(&store, 100, 50);
    // The same segment twice, with its terms numbered on: what a damaged manifest may say.
    let mut manifest = store.version().manifest.clone();
    let twin = Version::open(
        store.vfs(),
        Path::new(FOLDER),
        manifest.clone(),
        &Arc::new(lode_packed::BlockCache::new(0)),
        &[],
    )
    .unwrap();
    manifest.segments.push(manifest.segments[1].clone());
    let mut segments = twin.segments.to_vec();
    segments.push(segments[1].clone());
    let version = Arc::new(Version { manifest, segments: segments.into(), ..twin });
    let (throttle, progress) = (Throttle::full(&CancelToken::default()), LoadProgress::default());
    assert!(compaction(&store, &version, &throttle, &progress, 1 << 30).run().is_err());
    assert_eq!(names(&vfs), ["LOCK", "MANIFEST", "MANIFEST.copy", "segment-000001", "segment-000002"]);
}
