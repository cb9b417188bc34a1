//! Loads against a model: all kinds of terms, several files and loads, memory so short that everything spills.

use super::*;
use crate::check::check;
use crate::crash_tests::assert_sound;
use crate::dump::{DumpScope, dump_quads};
use crate::test_data::{FOLDER, Model, add_to, check_reads, contents, file, load_files, named, open};
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::real_vfs::RealVfs;
use lode_rdf::parse::StatementLimit;
use lode_rdf::{NamedNode, Quad, RdfFormat};
use proptest::prelude::*;
use std::io::Write;
use std::path::Path;

fn options(threads: usize, memory_bytes: usize) -> LoadOptions {
    LoadOptions { threads, memory_bytes, ..LoadOptions::default() }
}

fn load_text(store: &Store, name: &str, text: &str) -> Result<LoadReport, LoadError> {
    let progress = Arc::new(LoadProgress::default());
    load(store, vec![Source::bytes(name, text)], options(1, 1 << 30), &progress)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn loads_are_sets(
        loads in proptest::collection::vec(proptest::collection::vec(file(), 0..4), 1..4),
        threads in 1_usize..3,
        short in any::<bool>(),
        (wide_rows, no_lists) in any::<(bool, bool)>(),
        pick in any::<usize>(),
    ) {
        let vfs = MemVfs::new();
        let store = open(&vfs);
        let mut model = Model::new();
        for (number, files) in loads.iter().enumerate() {
            let files: Vec<(String, Vec<Quad>)> = files.iter().enumerate().map(|(at, quads)| {
                let name = format!("load{number}file{at}");
                (name.clone(), named(&name, quads))
            }).collect();
            let before = model.len();
            for (name, quads) in &files {
                add_to(&mut model, name, quads);
            }
            let read: usize = files.iter().map(|(_, quads)| quads.len()).sum();
            let memory_bytes = if short { 0 } else { 1 << 30 };
            let options = LoadOptions { wide_rows, no_lists, ..options(threads, memory_bytes) };
            let report = load_files(&store, &files, options).unwrap();
            prop_assert_eq!(report.quads, read as u64);
            prop_assert_eq!(report.added, (model.len() - before) as u64);
            prop_assert_eq!(report.added + report.duplicates + report.existing, report.quads);
        }
        prop_assert_eq!(&contents(&store.snapshot()), &model);
        check_reads(&store.snapshot(), pick);
        assert_sound(&vfs);
        // Another process sees the same.
        let again = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
        prop_assert_eq!(contents(&again.snapshot()), model);
    }
}

/// The files of the first segment but its description.
fn segment_files(vfs: &MemVfs) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(FOLDER).join(segment_folder(1));
    let read = |name: String| {
        let file = vfs.open(&folder.join(&name)).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        (name, bytes)
    };
    let names = vfs.list(&folder).unwrap().into_iter().map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "segment.meta").map(read).collect()
}

/// A quad of nearly everything there is many of: values of all kinds, predicates, graphs, blank nodes.
fn many_of_all(number: u32) -> String {
    let mixed = number.wrapping_mul(0x9E37_79B9);
    let (literal, datatype) = match number % 6 {
        0 => (format!("{}", i64::from(mixed) - 1_000_000_000), "integer"),
        1 => (format!("{}.{}E{}", 1 + mixed % 9, 1 + mixed / 9 % 1_000_000 * 10, mixed % 200), "double"),
        2 => (format!("{}.25", mixed % 90_000), "decimal"),
        3 => (format!("2{:03}-0{}-1{}", mixed % 1000, 1 + mixed % 9, mixed % 9), "date"),
        4 => (format!("{}", mixed % 60_000), "unsignedShort"),
        _ => (format!("0{mixed}"), "integer"),
    };
    let subject =
        if number.is_multiple_of(5) { format!("_:b{mixed}") } else { format!("<http://s/{}>", mixed % 999) };
    let graph = match number % 4 {
        0 => String::new(),
        1 => format!("_:g{}", number % 97),
        _ => format!("<http://g/{}>", mixed % 501),
    };
    let datatype = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
    format!("{subject} <http://p/{}> \"{literal}\"^^<{datatype}> {graph} .\n", mixed % 307)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn segments_are_the_same_with_and_without_lists(
        quads in proptest::collection::vec(0..1_000_000_u32, 0..3000),
        threads in 1_usize..3,
    ) {
        let text: String = quads.into_iter().map(many_of_all).collect();
        let mut files = Vec::new();
        for (memory_bytes, no_lists) in [(1 << 30, false), (1 << 30, true), (0, false), (0, true)] {
            let vfs = MemVfs::new();
            let options = LoadOptions { no_lists, ..options(threads, memory_bytes) };
            let source = vec![Source::bytes("x.nq", text.clone())];
            load(&open(&vfs), source, options, &Arc::default()).unwrap();
            if text.is_empty() {
                return Ok(());
            }
            files.push(segment_files(&vfs));
        }
        for others in &files[1..] {
            for (file, other) in files[0].iter().zip(others) {
                prop_assert!(file == other, "{} is not the same as {}", other.0, file.0);
            }
        }
    }
}

#[test]
fn same_files_twice_add_nothing() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    let text = "<http://a> <http://p> \"1\" .\n<http://a> <http://p> 1 .\n";
    let text = text.replace(" 1 .", " \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .");
    assert_eq!(load_text(&store, "a.nt", &text).unwrap().added, 2);
    let version = store.snapshot().version_number();
    let report = load_text(&store, "a.nt", &text).unwrap();
    assert_eq!((report.added, report.existing), (0, 2));
    assert!(report.segment.is_none());
    assert_eq!(store.snapshot().version_number(), version);
    let names = vfs.list(Path::new(FOLDER)).unwrap();
    let names: Vec<_> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    assert_eq!(names, ["LOCK", "MANIFEST", "MANIFEST.copy", "segment-000001"]);
}

#[test]
fn an_empty_load_makes_a_database() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    let report = load(&store, vec![], options(2, 1 << 30), &Arc::default()).unwrap();
    assert_eq!((report.quads, report.added), (0, 0));
    check_reads(&store.snapshot(), 0);
    assert_sound(&vfs);
}

#[test]
fn errors_name_the_place_and_change_nothing() {
    let vfs = MemVfs::new();
    let store = open(&vfs);
    load_text(&store, "good.nt", "<http://a> <http://b> <http://c> .\n").unwrap();
    let before = contents(&store.snapshot());
    let bad = "<http://a> <http://b> <http://d> .\n\n<http://a> <http://b> oops .\n";
    let error = load_text(&store, "bad.nt", bad).unwrap_err();
    let LoadError::Source(IngestError::Syntax { source_name, line, column, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!((source_name.as_str(), *line), ("bad.nt", 3));
    assert!(*column > 20, "{error}");
    let turtle = load_text(&store, "bad.ttl", "<http://a> <http://b> <http://d>, .").unwrap_err();
    assert!(matches!(turtle, LoadError::Source(IngestError::Syntax { line: 1, .. })), "{turtle}");
    assert_eq!(contents(&store.snapshot()), before);
    assert_eq!(vfs.list(Path::new(FOLDER)).unwrap().len(), 4, "nothing is left behind");
    let missing = vec![Source::path(Path::new("/no/such/file.nt"))];
    assert!(matches!(
        load(&store, missing, options(1, 0), &Arc::default()),
        Err(LoadError::Source(IngestError::Input { .. }))
    ));
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn bad_lines_can_be_set_aside() {
    let store = open(&MemVfs::new());
    let mut text = String::new();
    for i in 0..100 {
        text.push_str(&format!("<http://a/{i}> <http://b> \"x\" .\n"));
        if i % 10 == 0 {
            text.push_str(&format!("bad line {i}\n"));
        }
    }
    let quarantine = Shared::default();
    let options = LoadOptions { quarantine: Some(Box::new(quarantine.clone())), ..options(2, 1 << 30) };
    let report = load(&store, vec![Source::bytes("x.nt", text)], options, &Arc::default()).unwrap();
    assert_eq!((report.added, report.quarantined), (100, 10));
    let aside = String::from_utf8(quarantine.0.lock().unwrap().clone()).unwrap();
    assert_eq!(aside.lines().filter(|line| !line.starts_with('#')).count(), 10);
    assert!(aside.contains("x.nt:13:"), "{aside}");
}

#[test]
fn formats_graphs_and_bases() {
    let store = open(&MemVfs::new());
    let graph = Some(NamedNode::new_unchecked("http://g"));
    let base_iri = Some("http://base/".to_owned());
    let sources = vec![
        Source::bytes("a.ttl", "<x> <http://p> 1, 2 ; <http://q> [ <http://p> \"\u{e9}\"@fr ] ."),
        Source::bytes("b.trig", "<http://h> { <x> <http://p> 1 }"),
        Source::bytes("c", "<x> <http://p> 7 .").with_format(RdfFormat::Turtle),
        Source::bytes("guess", "@prefix : <http://y/> . :a :b :c ."),
    ];
    let options = LoadOptions { graph, base_iri, ..options(2, 1 << 30) };
    let report = load(&store, sources, options, &Arc::default()).unwrap();
    assert_eq!(report.added, 7);
    let snapshot = store.snapshot();
    let mut seen = Vec::new();
    let count = dump_quads(&snapshot, DumpScope::All, &CancelToken::default(), &mut |quad| {
        seen.push(quad.to_string());
        Ok(())
    });
    assert_eq!(count.unwrap(), 7);
    let one = "<http://base/x> <http://p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    assert!(seen.contains(&format!("{one} <http://g>")));
    assert!(seen.contains(&format!("{one} <http://h>")));
    let named = snapshot.named_graphs().unwrap();
    assert_eq!(named.len(), 2);
    let mut ignore = |_: lode_rdf::QuadRef<'_>| Ok(());
    let parts = [named[0], named[1]].map(|graph| {
        dump_quads(&snapshot, DumpScope::Graph(graph), &CancelToken::default(), &mut ignore).unwrap()
    });
    assert_eq!(parts.iter().sum::<u64>(), 7);
}

#[test]
fn cancelled_loads_change_nothing() {
    let store = open(&MemVfs::new());
    let options = options(2, 1 << 30);
    options.cancel.cancel();
    let source = Source::bytes("x.nt", "<http://a> <http://b> <http://c> .\n");
    let result = load(&store, vec![source], options, &Arc::default());
    assert!(matches!(result, Err(LoadError::Cancelled(_))));
    assert_eq!(store.snapshot().quad_count(), 0);
}

#[test]
fn a_store_opened_for_reading_does_not_load() {
    let vfs = MemVfs::new();
    drop(open(&vfs));
    let store = Store::open(Arc::new(vfs.clone()), Path::new(FOLDER), 0).unwrap();
    let result = load_text(&store, "x.nt", "");
    assert!(matches!(result, Err(LoadError::Store(StoreError::ReadOnly { .. }))));
}

#[test]
fn snapshots_stay_as_they_are() {
    let store = open(&MemVfs::new());
    load_text(&store, "a.nt", "<http://a> <http://b> <http://c> .\n").unwrap();
    let before = store.snapshot();
    load_text(&store, "b.nt", "<http://a> <http://b> <http://d> .\n").unwrap();
    assert_eq!(before.quad_count(), 1);
    assert_eq!(store.snapshot().quad_count(), 2);
    assert!(before.ids_are_ordered() && !store.snapshot().ids_are_ordered());
}

/// Large enough for several blocks, runs, and groups of every size, on real files.
#[test]
fn many_quads_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let store = Store::create_or_open(RealVfs::shared(), &path, 1 << 20).unwrap();
    let mut text = String::new();
    for i in 0..60_000_u32 {
        let s = i / 7;
        text.push_str(&format!("<http://example.org/s{s}> <http://example.org/p{}> ", i % 7));
        match i % 7 {
            0 => text.push_str("<http://example.org/Type>"),
            1 => text.push_str(&format!("\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", s % 100)),
            2 => text.push_str(&format!("\"label {s}\"@en")),
            3 => text.push_str(&format!("<http://example.org/s{}>", s.wrapping_mul(2_654_435_761) % 8000)),
            _ => text.push_str(&format!("\"text {} of {s}\"", i % 7)),
        }
        text.push_str(" .\n");
    }
    let source = |text: &str| vec![Source::bytes("x.nt", text)];
    for (threads, memory) in [(2, 0), (1, 1 << 30)] {
        let other = folder.path().join(format!("other{threads}"));
        let store = Store::create_or_open(RealVfs::shared(), &other, 1 << 20).unwrap();
        let report = load(&store, source(&text), options(threads, memory), &Arc::default()).unwrap();
        assert_eq!(report.added, 60_000);
    }
    let half = text.len() / 2 + text[text.len() / 2..].find('\n').unwrap() + 1;
    load(&store, source(&text[..half]), options(2, 1 << 30), &Arc::default()).unwrap();
    let report = load(&store, source(&text), options(2, 0), &Arc::default()).unwrap();
    assert_eq!(report.added + report.existing, 60_000);
    let snapshot = store.snapshot();
    assert_eq!(snapshot.quad_count(), 60_000);
    check_reads(&snapshot, 31_337);
    let report = check(&RealVfs::shared(), &path, &CancelToken::default(), &mut |_| {}).unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}

#[test]
fn a_statement_that_is_too_long_is_told_with_its_place_and_the_option() {
    let long = "x".repeat(3 << 20);
    let text = format!("<http://a> <http://b> <http://c> .\n<http://a> <http://b> \"{long}\" .\n");
    for name in ["x.nt", "x.ttl"] {
        // Unless told, it depends on the memory.
        for (memory_bytes, limit) in [(1 << 30, Some(1 << 20)), (16 << 20, None), (0, None)] {
            let store = open(&MemVfs::new());
            let statement_limit = limit.map(StatementLimit::new);
            let options = LoadOptions { statement_limit, ..options(2, memory_bytes) };
            let source = vec![Source::bytes(name, text.clone())];
            let error = load(&store, source, options, &Arc::default()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}:2:1: a ")), "{error}");
            assert!(error.contains("has more than 1048576 bytes"), "{error}");
            assert!(error.contains("--statement-bytes-max"), "{error}");
        }
        assert_eq!(load_text(&open(&MemVfs::new()), name, &text).unwrap().added, 2);
    }
}

#[test]
fn lines_longer_than_pieces_and_text_without_a_last_line_end() {
    let store = open(&MemVfs::new());
    let long = "x".repeat(3 << 20);
    let text = format!(
        "<http://a> <http://b> \"{long}\" .\n<http://a> <http://b> \"{long}y\" .\n<http://a> <http://b> 1 ."
    );
    let text = text.replace(" 1 .", " <http://c> .");
    assert_eq!(load_text(&store, "x.nt", &text).unwrap().added, 3);
    let broken = format!("<http://a> <http://b> \"{long}");
    assert!(matches!(
        load_text(&store, "x.nt", &broken),
        Err(LoadError::Source(IngestError::Syntax { line: 1, .. }))
    ));
}

/// A document of several pieces, whose prefixes change under way, and which has blank nodes with labels and without.
fn long_turtle(with_graph: bool) -> (String, u64) {
    let mut text = String::new();
    let mut quads = 0;
    for part in 0..40 {
        text.push_str(&format!("@prefix : <http://part/{part}/> .\n"));
        text.push_str(if with_graph { ":g {\n" } else { "" });
        for i in 0..300 {
            text.push_str(&format!(
                ":s{i} :p _:same, [ :q {i} ] ;\n  :r \"\"\"text . of\n@prefix : <http://no/> .\n {i}\"\"\" .\n"
            ));
            quads += 4;
        }
        text.push_str(if with_graph { "}\n" } else { "" });
    }
    (text, quads)
}

#[test]
fn one_turtle_file_is_parsed_by_all_threads() {
    for (name, with_graph) in [("x.ttl", false), ("x.trig", true)] {
        let (text, quads) = long_turtle(with_graph);
        for (threads, memory_bytes) in [(3, 0), (1, 1 << 30)] {
            let store = open(&MemVfs::new());
            let source = vec![Source::bytes(name, text.clone())];
            let report = load(&store, source, options(threads, memory_bytes), &Arc::default()).unwrap();
            assert_eq!((report.quads, report.added), (quads, quads));
            let (mut blank, mut literals) = (std::collections::HashSet::new(), 0);
            dump_quads(&store.snapshot(), DumpScope::All, &CancelToken::default(), &mut |quad| {
                blank
                    .insert(quad.object.to_string())
                    .then(|| literals += usize::from(quad.object.is_literal()));
                assert!(quad.predicate.as_str().starts_with("http://part/"));
                assert_eq!(quad.graph_name.is_default_graph(), !with_graph);
                Ok(())
            })
            .unwrap();
            blank.retain(|term| term.starts_with("_:"));
            assert_eq!((blank.len(), literals), (1 + 40 * 300, 600));
        }
    }
}

#[test]
fn errors_in_later_pieces_have_their_place() {
    let (mut text, _) = long_turtle(false);
    let lines = text.lines().count() as u64;
    text.push_str("é:x :p :o .\n:s :p :o , .");
    for threads in [1, 3] {
        let store = open(&MemVfs::new());
        let source = vec![Source::bytes("x.ttl", text.clone())];
        let error = load(&store, source, options(threads, 0), &Arc::default()).unwrap_err();
        let LoadError::Source(IngestError::Syntax { line, column, message, .. }) = &error else {
            panic!("{error}")
        };
        assert_eq!((*line, *column), (lines + 1, 1), "{error}");
        assert!(message.contains("has not been declared, at `é:x`"), "{error}");
    }
}

#[test]
fn statements_longer_than_pieces() {
    let store = open(&MemVfs::new());
    let long = "x.y . ".repeat(50_000);
    let many: Vec<String> = (0..50_000).map(|i| format!("<http://o/{i}>")).collect();
    let text = format!("<http://a> <http://b> \"{long}\" . <http://a> <http://b> {} .", many.join(" , "));
    let source = || vec![Source::bytes("x.ttl", text.clone())];
    assert_eq!(load(&store, source(), options(2, 0), &Arc::default()).unwrap().added, 50_001);
}

#[test]
fn the_progress_tells_what_was_read() {
    let store = open(&MemVfs::new());
    let progress = Arc::new(LoadProgress::default());
    let text = "<http://a> <http://b> <http://c> .\n".repeat(10);
    let sources = vec![Source::bytes("a.nt", text.clone()), Source::bytes("b.nt", text.clone())];
    let report = load(&store, sources, options(2, 1 << 30), &progress).unwrap();
    let sample = progress.sample();
    assert_eq!((sample.stage, sample.quads), (Stage::Done, 20));
    assert_eq!(sample.bytes_total, Some(2 * text.len() as u64));
    assert_eq!(sample.bytes_read, 2 * text.len() as u64);
    assert_eq!((report.added, report.duplicates), (1, 19));
    assert_eq!(sample.rows_written, 6);
}
