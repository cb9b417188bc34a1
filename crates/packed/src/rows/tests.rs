//! Packed rows against the same quads as columns of ids: the files must be the same, byte for byte.

use super::*;
use crate::PermutationWriter;
use crate::format::BLOCK_ROWS;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use proptest::prelude::*;
use std::path::Path;

const IRI: u64 = 0x10 << 56;
const STRING: u64 = 0x20 << 56;
const TYPED: u64 = 0x50 << 56;
const SHIFT: u32 = 6;
/// Terms of each stretch but the listed one, and the length of that.
const COUNT: u64 = 1000;

/// IRIs, strings, inline values (numbers and days), other literals.
fn terms() -> (CodeIds, Vec<u64>) {
    let mut codes = CodeIds::new(SHIFT);
    let mut all = Vec::new();
    let mut stretch = |codes: &mut CodeIds, kind: u64| {
        let start = all.last().map_or(0, |last: &u64| last + 1).next_multiple_of(1 << SHIFT);
        all.extend(start..start + COUNT);
        codes.extend(start + COUNT, (kind + 5).wrapping_sub(start));
    };
    stretch(&mut codes, IRI);
    stretch(&mut codes, STRING);
    let start = (all.last().unwrap() + 1).next_multiple_of(1 << SHIFT);
    let inline = |i: u64| if i < COUNT / 2 { (0x30 << 56) + i * i } else { (0x48 << 56) + i * 86_400_000 };
    codes.extend_list(start, (0..COUNT).map(inline).collect());
    all.extend(start..start + COUNT);
    let start = (start + COUNT).next_multiple_of(1 << SHIFT);
    codes.extend(start + COUNT, TYPED.wrapping_sub(start));
    all.extend(start..start + COUNT);
    (codes, all)
}

/// Files and infos of quads, given as fields, written as packed rows and as ids.
fn check<R: PackedRow>(order: Order, quads: &[[u64; 4]], codes: &RowCodes<'_>) {
    let (spog, shape) = (codes.shape(Order::Spog), codes.shape(order));
    let mut rows: Vec<R> = quads.iter().map(|quad| R::pack(*quad, spog.shifts)).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut sums = RowSums::default();
    sums.add(&rows, codes);
    rows.iter_mut().for_each(|row| *row = spog.reshape(*row, &shape));
    rows.sort_unstable();
    let vfs = MemVfs::default();
    let writer = |name: &str| PermutationWriter::new(vfs.create(Path::new(name)).unwrap(), order);
    let (mut by_rows, mut by_ids) = (writer("rows"), writer("ids"));
    for block in rows.chunks(BLOCK_ROWS) {
        by_rows.push_rows(block, codes).unwrap();
        let columns = order.positions().map(|position| {
            let fields = block.iter().map(|row| shape.fields(*row)[position as usize]);
            fields.map(|field| codes.id(position, field)).collect::<Vec<u64>>()
        });
        by_ids.push(columns.each_ref().map(Vec::as_slice)).unwrap();
    }
    let (info, _) = by_rows.finish_rows(&sums).unwrap().expect("the same quads");
    assert_eq!(info, by_ids.finish().unwrap());
    let bytes = |name: &str| {
        let file = vfs.open(Path::new(name)).unwrap();
        let mut bytes = vec![0; info.bytes as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    };
    assert_eq!(bytes("rows"), bytes("ids"));
}

fn check_all(quads: &[[u64; 4]]) {
    let (terms, _) = terms();
    let predicates: Vec<u64> = (0..40).map(|i| IRI + 5 + i * i).collect();
    let graphs = [1, IRI + 7, IRI + 8, IRI + 900];
    let codes = RowCodes {
        widths: [13, 6, 13, 2],
        subjects: &terms,
        predicates: ColumnIds::Places(&predicates),
        objects: &terms,
        graphs: ColumnIds::Places(&graphs),
    };
    for order in Order::ALL {
        check::<u64>(order, quads, &codes);
        check::<u128>(order, quads, &codes);
    }
    // The same predicates and graphs as the codes of terms.
    let by_code =
        |list: &[u64], id: u64| if list[id as usize] == 1 { 0 } else { list[id as usize] - IRI - 5 };
    let (graphs_of, first) = terms.behind(1);
    let quads: Vec<[u64; 4]> = quads
        .iter()
        .map(|[s, p, o, g]| {
            let graph = if *g == 0 { 0 } else { by_code(&graphs, *g) + first };
            [*s, by_code(&predicates, *p), *o, graph]
        })
        .collect();
    let codes = RowCodes {
        widths: [13, 13, 13, 13],
        predicates: ColumnIds::Terms(&terms),
        graphs: ColumnIds::Terms(&graphs_of),
        ..codes
    };
    Order::ALL.into_iter().for_each(|order| check::<u64>(order, &quads, &codes));
}

/// Subjects of `predicates` each, whose objects depend on the predicate.
fn subjects(count: u64, predicates: u64) -> Vec<[u64; 4]> {
    let (_, all) = terms();
    let object = |s: u64, p: u64| all[((p * 977 + s * s * 31 % 113) % all.len() as u64) as usize];
    (0..count)
        .flat_map(|s| (0..predicates).map(move |p| [all_subject(s), p, object(s, p), s % 17 / 15]))
        .collect()
}

fn all_subject(number: u64) -> u64 {
    number % COUNT
}

#[test]
fn whole_blocks_are_the_same() {
    check_all(&subjects(900, 23));
    check_all(&subjects(1000, 1));
    check_all(&subjects(3, 40));
}

#[test]
fn wrong_quads_are_noticed() {
    let (terms, all) = terms();
    let codes = RowCodes {
        widths: [13, 6, 13, 2],
        subjects: &terms,
        predicates: ColumnIds::Places(&[IRI + 5, IRI + 6]),
        objects: &terms,
        graphs: ColumnIds::Places(&[1]),
    };
    let shape = codes.shape(Order::Spog);
    let rows: Vec<u64> =
        (0..50).map(|i| u64::pack([i, i % 2, all[i as usize * 70], 0], shape.shifts)).collect();
    let mut sums = RowSums::default();
    sums.add(&rows, &codes);
    let vfs = MemVfs::default();
    let writer = || PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), Order::Spog);
    let mut others = rows.clone();
    // A predicate changes sides.
    others[3] = u64::pack([3, 0, all[210], 0], shape.shifts);
    others[4] = u64::pack([4, 1, all[280], 0], shape.shifts);
    for (rows, same) in [(&rows[..], true), (&others, false), (&rows[1..], false)] {
        let mut writer = writer();
        writer.push_rows(rows, &codes).unwrap();
        assert_eq!(writer.finish_rows(&sums).unwrap().is_some(), same);
    }
    others.swap(10, 11);
    let mut writer = writer();
    let error = writer.push_rows(&others, &codes).unwrap_err();
    assert!(matches!(error, crate::PackedError::Unsorted { entry: 11, .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_quads_are_the_same(
        fields in proptest::collection::vec(any::<[u16; 4]>(), 1..400),
        ranges in any::<[u16; 4]>(),
    ) {
        let (_, all) = terms();
        let [s, p, o, g] = ranges.map(u64::from);
        let quads: Vec<[u64; 4]> = fields.iter().map(|quad| {
            let [a, b, c, d] = quad.map(u64::from);
            [a % (s % COUNT + 1), b % (p % 40 + 1), all[(c % (o % all.len() as u64 + 1)) as usize], d % (g % 4 + 1)]
        }).collect();
        check_all(&quads);
    }
}
