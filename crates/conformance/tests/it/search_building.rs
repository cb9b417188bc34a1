//! Indexes of words are the same with little memory and much, with one thread and several; and what a killed process has left of one is removed.

use crate::index_crashes::{FOLDER, WORDS, open, words_options as options};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
use lode_engine::store::{StoreError, WordsOptions, index_words};
use std::path::Path;
use std::sync::Arc;

#[test]
fn little_memory_is_an_error_and_cancelling_ends_it() {
    let vfs = WORDS.database();
    let store = open(&vfs);
    assert!(matches!(index_words(&store, &options(1 << 10)), Err(StoreError::WordsTooMany { .. })));
    let cancelled = options(1 << 20);
    cancelled.cancel.cancel();
    assert!(index_words(&store, &cancelled).is_err());
    assert_eq!(index_words(&store, &options(1 << 16)).unwrap().texts, WORDS.triples as u64);
}

#[test]
fn an_index_is_the_same_however_it_is_made() {
    let vfs = MemVfs::new();
    let word = |n: usize| {
        ["fox", "Foxes", "café", "run", "running", "日本", "Weltanschauungsdebatten", "Häuser"][n % 8]
    };
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
    for (memory_bytes, threads) in [(1 << 26, 3), (1 << 15, 1), (1 << 16, 1), (1 << 17, 2), (1 << 18, 4)] {
        assert!(made(memory_bytes, threads) == first, "{memory_bytes} {threads}");
    }
}

#[test]
fn few_words_are_made_by_many_threads() {
    for texts in
        ["", "\"!!!\" , \"--\" , \"...\"", "\"fox\"", "\"fox sea\" , \"sea run\" , \"!\"", "1 , true"]
    {
        let vfs = MemVfs::new();
        let objects = if texts.is_empty() { "<http://e/o>" } else { texts };
        let sources = vec![Source::bytes("all.ttl", format!("<http://e/s> <http://e/p> {objects} ."))];
        load(&open(&vfs), sources, LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
        for threads in [1, 2, 3, 8, 64] {
            let options = WordsOptions { threads, ..options(1 << 26) };
            let report = index_words(&open(&vfs), &options).unwrap();
            assert_eq!(report.texts, texts.matches('"').count() as u64 / 2, "{texts} {threads}");
        }
    }
}

#[test]
fn what_a_killed_process_has_left_is_removed_by_the_next() {
    let vfs = WORDS.database();
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
