//! Tests of the parts of a load, each against something simple.

use super::arena::Arena;
use super::interner::{Interner, KeyBatch};
use super::predicate_cache::PredicateCache;
use super::run::{ClassTerms, Run, Spill, TermStore};
use super::run_rows::{ClosedRows, DEFAULT_GRAPH, FRAME_ROWS, Rows};
use super::term_cursor::TermCursor;
use super::term_sort::sort_terms;
use crate::segment_builder::{
    Class, ClassCounts, InlineValues, Layout, NameFields, PackedRow, TermCodes, TermIndex,
};
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use lode_packed::{Order, Position};
use lode_rdf::{Kind, ValueId};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Keys that share long prefixes, contain each other, and end in zeros.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"http://example.org/".to_vec()),
        Just(vec![0; 8]),
        Just(vec![0]),
        proptest::collection::vec(0_u8..3, 0..12),
    ];
    proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn terms() -> impl Strategy<Value = Vec<(Class, Vec<u8>)>> {
    proptest::collection::vec(
        (0_u64..8).prop_map(Class::from_bits).prop_flat_map(|class| (Just(class), key())),
        0..400,
    )
}

fn intern_all(terms: &[(Class, Vec<u8>)], batch_terms: usize) -> (Interner, Vec<u32>) {
    let mut interner = Interner::default();
    let (mut batch, mut numbers, mut all) = (KeyBatch::default(), Vec::new(), Vec::new());
    for part in terms.chunks(batch_terms.max(1)) {
        batch.clear();
        for (class, key) in part {
            batch.push(*class, key);
        }
        interner.intern(&mut batch, &mut numbers).unwrap();
        all.extend_from_slice(&numbers);
    }
    (interner, all)
}

proptest! {
    #[test]
    fn equal_terms_get_equal_numbers(terms in terms(), batch in 1_usize..50) {
        let (mut interner, numbers) = intern_all(&terms, batch);
        let mut known = HashMap::new();
        for (term, number) in terms.iter().zip(&numbers) {
            let next = known.len() as u32;
            prop_assert_eq!(*known.entry(term.clone()).or_insert(next), *number);
            prop_assert_eq!(interner.intern_one(term.0, &term.1), Ok(*number));
        }
        prop_assert_eq!(interner.terms() as usize, known.len());
    }

    #[test]
    fn terms_sort_by_class_and_key(terms in terms()) {
        let (interner, _) = intern_all(&terms, 256);
        let sorted = sort_terms(interner.arena(), interner.terms() as usize);
        let found: Vec<(Class, Vec<u8>)> = sorted.terms.iter().map(|term| {
            let header = interner.arena().header(term.position);
            (header.class(), interner.arena().key_of(term.position, header).to_vec())
        }).collect();
        let expected: Vec<(Class, Vec<u8>)> =
            terms.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn runs_are_read_between_bounds(terms in terms(), picks in any::<[usize; 2]>(), cuts in any::<[u8; 2]>()) {
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
        let mut spill = Spill::create(&vfs, Path::new("/"), 0, 0, true).unwrap();
        for _ in 0..2 {
            let (mut interner, _) = intern_all(&terms, 64);
            spill.add(&mut interner, &mut Rows::default()).unwrap();
        }
        for mut run in spill.finish().unwrap() {
            for class in Class::ALL {
                let all = read(&run, class);
                // Keys, fronts of keys, and none.
                let bounds = [0, 1].map(|at| {
                    let key = all.get(picks[at] % all.len().max(1)).map(|term| term.0.clone()).unwrap_or_default();
                    let length = if cuts[at] % 4 == 0 { usize::from(cuts[at]) / 8 } else { key.len() };
                    key[..length.min(key.len()).min(256)].to_vec()
                });
                let [from, until] = bounds;
                let until = (cuts[1] != 1).then_some(until);
                let is_within = |key: &Vec<u8>| *key >= from && until.as_ref().is_none_or(|until| key < until);
                let expected: Vec<_> = all.iter().filter(|term| is_within(&term.0)).cloned().collect();
                let marks = run.marks[class as usize].clone();
                let TermStore::File { classes, .. } = &mut run.store else { panic!("in memory") };
                let whole = classes[class as usize].clone();
                let (frames, from, until) = (whole.frames.clone(), from.clone(), until.clone());
                classes[class as usize] = ClassTerms::between(frames, &marks, from, until);
                let found = read(&run, class);
                let TermStore::File { classes, .. } = &mut run.store else { panic!("in memory") };
                classes[class as usize] = whole;
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn runs_read_back_from_memory_and_files(terms in terms()) {
        let in_memory = Run::in_memory(intern_all(&terms, 64).0, Rows::default());
        let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
        let mut spill = Spill::create(&vfs, Path::new("/"), 0, 0, false).unwrap();
        let (mut interner, _) = intern_all(&terms, 64);
        // Two runs in one file.
        spill.add(&mut interner, &mut Rows::default()).unwrap();
        prop_assert_eq!(interner.terms(), 0);
        let (mut interner, _) = intern_all(&terms, 64);
        spill.add(&mut interner, &mut Rows::default()).unwrap();
        let spilled = spill.finish().unwrap();
        for class in Class::ALL {
            let expected = read(&in_memory, class);
            for run in &spilled {
                prop_assert_eq!(&read(run, class), &expected);
            }
        }
    }

    #[test]
    fn codes_keep_order_and_come_back(
        counts in proptest::collection::vec(0_u64..3000, 8),
        old in 0_u64..100,
        graphs in 0_usize..5,
        lists in any::<[bool; 2]>(),
        fields in proptest::collection::vec(any::<[u64; 4]>(), 1..50),
    ) {
        let mut class_counts = ClassCounts { blank_base: 77, ..ClassCounts::default() };
        class_counts.counts.copy_from_slice(&counts);
        class_counts.counts[Class::OpenTriple as usize] = 0;
        class_counts.counts[Class::Iri as usize] += 10;
        class_counts.old = [old; Class::COUNT];
        let kind = |i: u64| if i < 1000 { Kind::Integer } else { Kind::Double };
        let inline = (0..counts[Class::Inline as usize]).map(|i| ValueId::new(kind(i), i * i * i).to_bits());
        class_counts.inline = InlineValues::new(if lists[0] { usize::MAX } else { 500 });
        let inline: Vec<TermIndex> = inline.map(|id| class_counts.inline.push(id)).collect();
        let all = class_counts.counts;
        let codes = TermCodes::new(class_counts);
        let mut last = None;
        let mut by_code = Vec::new();
        for class in Class::ALL {
            for number in 0..all[class as usize] {
                let inline = if class == Class::Inline { inline.get(number as usize) } else { None };
                let code = codes.code(inline.copied().unwrap_or(TermIndex::new(class, number)));
                let id = codes.id(code);
                prop_assert!(last < Some((code, id)) && last.is_none_or(|(_, before)| before < id));
                last = Some((code, id));
                by_code.push(code);
            }
        }
        let iri = |i: u64| codes.code(TermIndex::new(Class::Iri, i));
        let (predicates, names) = ((0..7).map(iri).collect::<Vec<_>>(), (0..graphs as u64).map(iri).collect::<Vec<_>>());
        let nodes = by_code.iter().filter(|code| **code <= iri(all[Class::Iri as usize] - 1)).count() as u64;
        let quads: Vec<[u64; 4]> = fields.iter().map(|[s, p, o, g]| [
            by_code[(s % nodes) as usize], p % 7, by_code[(*o % by_code.len() as u64) as usize], g % (graphs as u64 + 1),
        ]).collect();
        let layout = match lists[1] {
            true => Layout::new(codes, predicates.clone(), names.clone()),
            false => Layout::with_names(codes, None, None),
        };
        let field = |list: &NameFields, names: &[u64], at: u64| list.field(names[at as usize], &layout.terms);
        let quads: Vec<[u64; 4]> = quads.into_iter().map(|[s, p, o, g]| [
            layout.terms.resource(s),
            field(&layout.predicates, &predicates, p),
            o,
            if g == 0 { 0 } else { field(&layout.graphs, &names, g - 1) },
        ]).collect();
        if layout.key_bits() <= 64 {
            check_shapes::<u64>(&layout, &quads)?;
        }
        check_shapes::<u128>(&layout, &quads)?;
    }

    #[test]
    fn rows_come_back_from_files(
        quads in proptest::collection::vec((0_u32..50, 0_u32..5, 0_u32..50, proptest::option::of(0_u32..3)), 0..100),
    ) {
        let mut rows = Rows::default();
        for (s, p, o, g) in &quads {
            rows.push(*s, *p, *o, g.unwrap_or(DEFAULT_GRAPH));
        }
        let (predicates, graphs) = rows.number_predicates_and_graphs(50);
        let vfs = MemVfs::new();
        let mut file = lode_base::frame_file::FrameWriter::new(vfs.create(Path::new("/rows")).unwrap());
        let range = rows.spill(&mut file).unwrap();
        file.flush().unwrap();
        let mut closed = ClosedRows::File { file: vfs.open(Path::new("/rows")).unwrap(), range };
        let mut found = Vec::new();
        while let Some(chunk) = closed.next().unwrap() {
            for (row, [subject, predicate, object]) in chunk.terms.iter().enumerate() {
                let graph = chunk.graph.get(row).filter(|graph| **graph != DEFAULT_GRAPH);
                found.push((
                    *subject,
                    predicates[*predicate as usize],
                    *object,
                    graph.map(|graph| graphs[*graph as usize]),
                ));
            }
        }
        prop_assert_eq!(found, quads);
    }
}

fn read(run: &Run, class: Class) -> Vec<(Vec<u8>, u32)> {
    let mut cursor = TermCursor::new(&run.store, class, 0);
    let (mut terms, mut scratch) = (Vec::new(), Vec::new());
    while cursor.advance().unwrap() {
        terms.push((cursor.key(&mut scratch).unwrap().to_vec(), cursor.number()));
    }
    terms
}

/// Keys that are longer than what a cursor holds of them, and differ in front of, at and behind its end.
fn long_keys() -> Vec<(Class, Vec<u8>)> {
    let mut keys = Vec::new();
    for length in [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 20_000, 300_000] {
        for last in [&b""[..], b"a", b"b", b"ba"] {
            keys.push((Class::Iri, [vec![b'x'; length], last.to_vec()].concat()));
        }
        if length > 0 {
            let mut key = vec![b'x'; length];
            key[length / 2] = b'y';
            keys.push((Class::Iri, key));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

#[test]
fn long_keys_are_compared_and_read_without_being_held() {
    let keys = long_keys();
    let vfs: Arc<dyn Vfs> = Arc::new(MemVfs::new());
    let mut spill = Spill::create(&vfs, Path::new("/"), 0, 0, false).unwrap();
    for _ in 0..2 {
        spill.add(&mut intern_all(&keys, 64).0, &mut Rows::default()).unwrap();
    }
    let in_memory = Run::in_memory(intern_all(&keys, 64).0, Rows::default());
    let mut runs = spill.finish().unwrap();
    runs.push(in_memory);
    let mut scratch = Vec::new();
    for head_bytes in [0, 5000, 1 << 20] {
        let mut firsts =
            runs.iter().map(|run| TermCursor::new(&run.store, Class::Iri, head_bytes)).collect::<Vec<_>>();
        for (_, key) in &keys {
            for first in &mut firsts {
                assert!(first.advance().unwrap());
                assert!(first.key(&mut scratch).unwrap() == key, "{} bytes", key.len());
            }
            for second in &runs {
                let mut second = TermCursor::new(&second.store, Class::Iri, head_bytes);
                for (_, other) in &keys {
                    assert!(second.advance().unwrap());
                    for first in &firsts {
                        assert_eq!(first.compare(&second).unwrap(), key.cmp(other));
                    }
                }
            }
        }
        assert!(firsts.iter_mut().all(|first| !first.advance().unwrap()));
    }
}

fn check_shapes<R: PackedRow>(layout: &Layout, quads: &[[u64; 4]]) -> Result<(), TestCaseError> {
    let spog = layout.shape(Order::Spog);
    for order in Order::ALL {
        let shape = layout.shape(order);
        let mut rows: Vec<(R, [u64; 4])> = quads
            .iter()
            .map(|quad| {
                let row = spog.reshape(R::pack(*quad, spog.shifts), &shape);
                (row, order.positions().map(|position| layout.id(position, quad[position as usize])))
            })
            .collect();
        for (row, quad) in rows.iter().map(|(row, _)| *row).zip(quads) {
            prop_assert_eq!(shape.fields(row), *quad);
        }
        rows.sort_unstable();
        prop_assert!(rows.is_sorted_by_key(|(_, ids)| *ids), "rows sort like their ids");
    }
    let graphs = quads.iter().map(|quad| layout.id(Position::G, quad[3]));
    prop_assert!(graphs.zip(quads).all(|(id, quad)| (id == 1) == (quad[3] == 0)));
    Ok(())
}

#[test]
fn terms_of_any_length() {
    let mut arena = Arena::default();
    let keys: Vec<Vec<u8>> = [0, 1, 7, 8, 9, 100_000, 3 << 20, 1, (1 << 20) - 8, (1 << 20) - 7]
        .map(|length| vec![7; length])
        .into();
    let mut positions = Vec::new();
    for (number, key) in (0_u32..).zip(&keys) {
        positions.push(arena.push(number, Class::String, key).unwrap());
    }
    for (number, (key, position)) in (0_u32..).zip(keys.iter().zip(&positions)) {
        let header = arena.header(*position);
        assert_eq!((header.number(), header.length()), (number, key.len()));
        assert_eq!(arena.key_of(*position, header), key);
    }
    let mut seen = Vec::new();
    arena.for_each(&mut |position, _| seen.push(position));
    assert_eq!(seen, positions);
    assert!(arena.bytes() >= keys.iter().map(Vec::len).sum());
    arena.clear();
    assert_eq!(arena.push(0, Class::Iri, b"again").map(|at| arena.header(at).length()), Some(5));
    assert!(arena.push(0, Class::Iri, &vec![0; super::arena::TERM_BYTES_MAX + 1]).is_none());
}

#[test]
fn graphs_may_begin_in_the_middle_of_a_chunk() {
    let mut rows = Rows::default();
    for i in 0..FRAME_ROWS as u32 + 10 {
        rows.push(i % 5, 1, 2, if i == 7 { 3 } else { DEFAULT_GRAPH });
    }
    let (predicates, graphs) = rows.number_predicates_and_graphs(5);
    assert_eq!((predicates, graphs), (vec![1], vec![3]));
    let chunks = rows.take();
    assert_eq!(chunks[0].graph.iter().filter(|graph| **graph != DEFAULT_GRAPH).count(), 1);
    assert_eq!(chunks[0].graph.len(), FRAME_ROWS);
    assert!(chunks[1].graph.is_empty());
}

#[test]
fn predicates_are_remembered_until_they_are_too_many() {
    let mut cache = PredicateCache::default();
    assert_eq!(cache.get(b""), None);
    assert!(cache.wants());
    cache.put(b"http://p", 7);
    assert_eq!(cache.get(b"http://p"), Some(7));
    assert_eq!(cache.get(b"http://q"), None);
    for i in 0..10_000 {
        let key = format!("http://p/{i}");
        if cache.get(key.as_bytes()).is_none() && cache.wants() {
            cache.put(key.as_bytes(), i);
        }
    }
    assert!(!cache.wants());
    cache.clear();
    assert!(cache.wants());
    assert_eq!(cache.get(b"http://p"), None);
}
