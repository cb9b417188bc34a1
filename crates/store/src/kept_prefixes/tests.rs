//! What is kept, what is not, and what becomes of it when the power fails.

use super::{PREFIXES_MAX, declaration, is_fit};
use crate::backup::KEPT_PREFIXES;
use crate::load::{LoadOptions, LoadProgress, Source, load};
use crate::store::Store;
use crate::write_options::WriteOptions;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use std::path::Path;
use std::sync::Arc;

const FOLDER: &str = "/db";

fn store(vfs: &Arc<MemVfs>) -> Store {
    let vfs: Arc<dyn Vfs> = vfs.clone();
    Store::open_for_writing(vfs, Path::new(FOLDER), 1 << 20, WriteOptions::default()).unwrap()
}

fn load_turtle(store: &Store, name: &str, text: &str) {
    let source = Source::bytes(name, text.to_owned());
    load(store, vec![source], LoadOptions::default(), &Arc::new(LoadProgress::default())).unwrap();
}

fn kept(store: &Store) -> Vec<(String, String)> {
    store.prefixes().to_vec()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, iri)| ((*name).to_owned(), (*iri).to_owned())).collect()
}

#[test]
fn loads_keep_prefixes_and_the_first_counts() {
    let vfs = Arc::new(MemVfs::default());
    let store = self::store(&vfs);
    assert!(kept(&store).is_empty());
    load_turtle(
        &store,
        "a.ttl",
        "@prefix e: <http://e/> . @prefix : <http://d/> . e:a :b e:c . PREFIX late: <urn:x:> e:a :c 1 .",
    );
    let first = pairs(&[("", "http://d/"), ("e", "http://e/"), ("late", "urn:x:")]);
    assert_eq!(kept(&store), first);
    // Another one of the name stays out; N-Triples have none; a load that adds nothing changes nothing.
    load_turtle(&store, "b.trig", "PREFIX e: <http://other/> PREFIX f: <http://f/> GRAPH e:g { e:a f:b 1 }");
    load_turtle(&store, "c.nt", "<http://n/a> <http://n/b> <http://n/c> .\n");
    load_turtle(&store, "d.ttl", "PREFIX g: <http://g/>\n");
    let all = pairs(&[("", "http://d/"), ("e", "http://e/"), ("f", "http://f/"), ("late", "urn:x:")]);
    assert_eq!(kept(&store), all);
    drop(store);
    assert_eq!(kept(&self::store(&vfs)), all);
}

#[test]
fn many_pieces_of_a_file_are_as_one() {
    let mut text = String::from("@prefix a: <http://a/> .\n");
    for number in 0..80_000 {
        if number == 70_000 {
            text += "@prefix a: <http://late/> . @prefix b: <http://b/> .\n";
        }
        text += &format!("a:s{number} a:p a:o{number} .\n");
    }
    let store = store(&Arc::new(MemVfs::default()));
    load_turtle(&store, "many.ttl", &text);
    assert_eq!(kept(&store), pairs(&[("a", "http://a/"), ("b", "http://b/")]));
}

#[test]
fn a_file_that_is_missing_or_something_else_does_no_harm() {
    let vfs = Arc::new(MemVfs::default());
    let path = Path::new(FOLDER).join(KEPT_PREFIXES);
    for text in [
        &b"\xFF\xFE"[..],
        b"PREFIX a: <http://a/>\nPREFIX a: <http://again/>\nPREFIX bad name: <http://b/>\nnonsense\nPREFIX c: <no iri>\nPREFIX d: <http://d/",
        b"",
    ] {
        drop(store(&vfs));
        let mut file = vfs.create(&path).unwrap();
        file.write_all(text).unwrap();
        drop(file);
        let store = store(&vfs);
        let found = kept(&store);
        assert!(found.is_empty() || found == pairs(&[("a", "http://again/")]) || found == pairs(&[("a", "http://a/")]), "{found:?}");
        // Another triple each time: a load that adds nothing keeps nothing.
        load_turtle(&store, "a.ttl", &format!("@prefix e: <http://e/> . e:a e:b {} .", text.len()));
        assert!(kept(&store).contains(&("e".to_owned(), "http://e/".to_owned())));
        drop(store);
        vfs.remove(&path).unwrap();
    }
    assert!(kept(&store(&vfs)).is_empty());
}

#[test]
fn there_are_not_too_many() {
    let store = store(&Arc::new(MemVfs::default()));
    let names: Vec<String> = (0..2 * PREFIXES_MAX).map(|number| format!("p{number}")).collect();
    store.keep_prefixes(names.iter().map(|name| (name.as_str(), "http://e/")));
    assert_eq!(store.prefixes().len(), PREFIXES_MAX);
    let before = store.prefixes();
    store.keep_prefixes([("another", "http://e/")]);
    assert_eq!(store.prefixes(), before);
}

#[test]
fn names_that_every_syntax_takes() {
    for name in ["", "a", "dc-terms", "a.b", "é"] {
        assert!(is_fit(name, "http://e/"), "{name}");
    }
    for (name, iri) in [
        ("a.", "http://e/"),
        ("1a", "http://e/"),
        ("a b", "http://e/"),
        ("a\n", "http://e/"),
        ("_a", "http://e/"),
        ("a", "e"),
        ("a", "http://e/ >"),
    ] {
        assert!(!is_fit(name, iri), "{name} {iri}");
    }
    assert_eq!(declaration("PREFIX : <http://e/>"), Some(("", "http://e/")));
    assert_eq!(declaration("@prefix : <http://e/> ."), None);
}
