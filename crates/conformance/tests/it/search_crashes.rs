//! Power cuts, errors and full disks at every operation of making an index: afterwards there is none, or a whole one, and nothing of the database is lost.

use lode_base::cancel::CancelToken;
use lode_base::fault_vfs::{Fault, FaultVfs};
use lode_base::mem_vfs::{CrashKind, MemVfs};
use lode_base::memory_budget::MemoryBudget;
use lode_base::vfs::Vfs;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{Store, StoreError, WordsOptions, check, index_words};
use lode_text::{Dialect, Prepared};
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "/db";
const TEXTS: usize = 40;

fn open(vfs: &MemVfs) -> Store {
    Store::create_or_open(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 20).unwrap()
}

fn database() -> MemVfs {
    let vfs = MemVfs::new();
    let text: String =
        (0..TEXTS).map(|n| format!("<http://e/{n}> <http://e/p> \"a fox and {n}\" .\n")).collect();
    let sources = vec![Source::bytes("all.nt", text)];
    load(&open(&vfs), sources, LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    vfs
}

fn options(memory_bytes: usize) -> WordsOptions {
    WordsOptions { memory_bytes, threads: 2, force: true, cancel: CancelToken::default() }
}

fn index(vfs: &FaultVfs) -> Result<u64, StoreError> {
    let store = Store::open_existing(Arc::new(vfs.clone()), Path::new(FOLDER), 1 << 16, Default::default())?;
    index_words(&store, &options(1 << 20)).map(|report| report.texts)
}

/// How many texts the index finds; none where there is no index.
fn found(vfs: &MemVfs) -> Option<usize> {
    let shared: Arc<dyn Vfs> = Arc::new(vfs.clone());
    let report = check(&shared, Path::new(FOLDER), &CancelToken::default(), &mut |_| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    let query = Prepared::parse("fox", Dialect::Lucene).unwrap();
    let snapshot = open(vfs).snapshot();
    assert_eq!(snapshot.quad_count(), TEXTS as u64);
    let hits = snapshot.text_hits(&query, &MemoryBudget::unlimited(), &CancelToken::default()).unwrap()?;
    assert!(hits.is_exact);
    Some(hits.iter().count())
}

#[test]
fn power_cuts_leave_no_index_or_a_whole_one() {
    let before = database();
    assert_eq!(found(&before), None);
    let counting = FaultVfs::counting(before.deep_copy(), false);
    assert_eq!(index(&counting).unwrap(), TEXTS as u64);
    assert_eq!(found(counting.inner()), Some(TEXTS));
    let mut outcomes = [0, 0];
    for again in [false, true] {
        // Also while an index is made that is there.
        let before = if again { counting.inner() } else { &before };
        for at in 0..=counting.operations() {
            for kind in [CrashKind::LoseAll, CrashKind::Torn(at), CrashKind::Torn(at ^ 0x5A5A)] {
                let vfs = FaultVfs::new(before.deep_copy(), Fault::PowerCut, at, false);
                let done = index(&vfs);
                let left = found(&vfs.after_crash(kind));
                assert!(left.is_none_or(|texts| texts == TEXTS), "{left:?} after a power cut at {at}");
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
                left.is_none_or(|texts| texts == TEXTS) && (left.is_some() || !done),
                "{left:?} {fault:?} at {at}"
            );
        }
    }
}

#[test]
fn little_memory_is_an_error_and_cancelling_ends_it() {
    let vfs = database();
    let store = open(&vfs);
    assert!(matches!(index_words(&store, &options(1 << 10)), Err(StoreError::WordsTooMany { .. })));
    let cancelled = options(1 << 20);
    cancelled.cancel.cancel();
    assert!(index_words(&store, &cancelled).is_err());
    assert_eq!(index_words(&store, &options(1 << 16)).unwrap().texts, TEXTS as u64);
}

#[test]
fn an_index_is_the_same_however_it_is_made() {
    let vfs = MemVfs::new();
    let word = |n: usize| ["fox", "Foxes", "café", "run", "running", "日本", "sea", "Häuser"][n % 8];
    let text: String = (0..8 * 8 * 8 * 8)
        .map(|n| {
            let words = [word(n), word(n / 8), word(n / 64), word(n / 512)].join(" ");
            let tag = ["", "@en", "@de"][n % 3];
            format!("<http://e/{n}> <http://e/p> \"{words}\"{tag} .\n")
        })
        .collect();
    let sources = vec![Source::bytes("all.nt", text)];
    load(&open(&vfs), sources, LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
    let store = open(&vfs);
    let made = |memory_bytes, threads| {
        let options = WordsOptions { threads, ..options(memory_bytes) };
        index_words(&store, &options).unwrap();
        let folder = Path::new(FOLDER).join("segment-000001");
        let files = vfs.list(&folder).unwrap();
        assert!(!files.iter().any(|file| file.extension().is_some_and(|end| end == "rows")), "{files:?}");
        ["words-3.lode", "words-3.perm"].map(|name| {
            let file = vfs.open(&folder.join(name)).unwrap();
            let mut bytes = vec![0; usize::try_from(file.len()).unwrap()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        })
    };
    let first = made(1 << 26, 1);
    // Little memory: rows go to files.
    for (memory_bytes, threads) in [(1 << 26, 3), (1 << 16, 1), (1 << 17, 2), (1 << 18, 4)] {
        assert!(made(memory_bytes, threads) == first, "{memory_bytes} {threads}");
    }
}

#[test]
fn what_a_killed_process_has_left_is_removed_by_the_next() {
    let vfs = database();
    let store = open(&vfs);
    index_words(&store, &options(1 << 20)).unwrap();
    let folder = Path::new(FOLDER).join("segment-000001");
    let sorted = || {
        let mut files = vfs.list(&folder).unwrap();
        files.sort();
        files
    };
    let whole = sorted();
    let left =
        ["words.lode.new", "words.perm.new", "words-1.rows", "words-rows-3.rows", "words.new", "rows.new"];
    for name in left {
        vfs.create(&folder.join(name)).unwrap().sync().unwrap();
    }
    assert_eq!(sorted().len(), whole.len() + left.len());
    let again = WordsOptions { force: false, ..options(1 << 20) };
    assert_eq!(index_words(&store, &again).unwrap().segments, 0);
    assert_eq!(sorted(), whole);
}
