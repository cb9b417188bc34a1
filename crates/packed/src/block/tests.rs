//! Blocks: columns that depend on each other, golden bytes of their codecs, and damaged bytes whose checksum would be right.

use super::*;
use proptest::prelude::*;

type Row = [u64; 4];

fn columns(rows: &[Row]) -> [Vec<u64>; 4] {
    std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect())
}

fn encode(order: Order, rows: &[Row]) -> Vec<u8> {
    let columns = columns(rows);
    let columns = columns.each_ref().map(Vec::as_slice);
    let mut out = Vec::new();
    BlockEncoder::new(order).encode(&columns.map(ColumnValues::of), &mut out);
    out
}

fn open(bytes: &[u8]) -> Result<Block, Damage> {
    Ok(Block::open(Arc::new(ParsedBlock::parse(bytes.to_vec())?)))
}

fn round_trip(order: Order, rows: &[Row]) -> Vec<u8> {
    let bytes = encode(order, rows);
    let mut block = open(&bytes).unwrap();
    assert_eq!(block.rows(), rows.len());
    for (c, expected) in columns(rows).iter().enumerate() {
        let mut out = Vec::new();
        block.decode(c, 0..rows.len(), &mut out).unwrap();
        assert_eq!(&out, expected, "column {c}");
        for mini in 0..rows.len().div_ceil(MINI_ROWS) {
            assert_eq!(block.first(c, mini), Ok(expected[mini * MINI_ROWS]));
        }
    }
    bytes
}

/// The codec byte of each column, and the bytes of each column.
fn parts(bytes: &[u8]) -> [&[u8]; 4] {
    let mut at = 18;
    std::array::from_fn(|c| {
        let length = u32::from_le_bytes(bytes[2 + 4 * c..6 + 4 * c].try_into().unwrap()) as usize;
        at += length;
        &bytes[at - length..at]
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const IRI: u64 = 0x10 << 56;
const INTEGER: u64 = (0x30 << 56) | 1 << 55;
const DATE: u64 = 0x48 << 56;

/// Subjects with the same four predicates, whose objects are a type, a link, a number and a date.
fn subjects(count: u64) -> Vec<Row> {
    let row = |s: u64, p: u64, o: u64| [IRI + 1000 + s, IRI + p, o, 1];
    let one = |s: u64| {
        let (link, number, day) = (5000 + s / 4, s * s * 7919 % 97, s * s % 301);
        [
            row(s, 3, IRI + 77),
            row(s, 900, IRI + link),
            row(s, 70_001, INTEGER + number),
            row(s, 70_002, DATE + day * 86_400_000),
        ]
    };
    (0..count).flat_map(one).collect()
}

#[test]
fn golden_phrases_and_classes() {
    let rows = subjects(64);
    let bytes = round_trip(Order::Spog, &rows);
    let [_, predicates, objects, graphs] = parts(&bytes);
    // Codec 4; 4 values: the least, then 17 bits each for what the others are above it: 0, 897, 69998, 69999. One phrase:
    // its end (4, in 14 bits) and its codes 0 1 2 3 (10 bits each). 64 phrase numbers of 0 bits. Two mini-blocks, which
    // begin in the phrases 0 and 32 (14 bits) at place 0 (6 bits).
    let expected = "04 04 0300000000000010 11 00000207b8457c8b08 01 0400 000420c000 40 00 00000800 0000";
    assert_eq!(hex(predicates), expected.replace(' ', ""));
    // Codec 5, by column 1. 3 kinds with base, stride and number of codes: IRIs from 77, integers from 0, dates from day 0.
    // 4 classes with widths and marks: 0 bits; 4 bits, local; 7 bits; 9 bits. Their bases, 13 bits each. Two mini-blocks of
    // 78 bytes.
    let expected = "05 01 03 4d00000000000010 01 cb26 0000000000008030 01 61 0000000000000048 80b89929 ab02 \
                    04 40c44749 0060672e4dd609 4e00 4e00";
    let expected = expected.replace(' ', "");
    assert_eq!(hex(objects)[..expected.len()], expected);
    assert_eq!(objects.len(), expected.len() / 2 + 2 * 78);
    assert_eq!(hex(graphs), "000100000000000000");
}

#[test]
fn objects_of_other_orders() {
    let mut rows = subjects(3000);
    rows.truncate(BLOCK_ROWS);
    for order in Order::ALL {
        let mut permuted: Vec<Row> = rows
            .iter()
            .map(|[s, p, o, g]| order.positions().map(|position| [*s, *p, *o, *g][position as usize]))
            .collect();
        permuted.sort_unstable();
        let bytes = round_trip(order, &permuted);
        assert!(bytes.len() < rows.len() * 3, "{} bytes in {}", bytes.len(), order.name());
    }
}

fn values() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0..50_u64).prop_map(|v| IRI + v * v),
        (0..400_u64).prop_map(|v| INTEGER + v),
        (0..400_u64).prop_map(|v| DATE + v * 86_400_000),
        any::<u64>(),
    ]
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let subject = (0..20_usize, proptest::collection::vec(values(), 1..12));
    proptest::collection::vec(subject, 1..60).prop_map(|subjects| {
        let mut rows = Vec::new();
        for (s, (shape, objects)) in subjects.into_iter().enumerate() {
            for (i, object) in objects.into_iter().enumerate() {
                let predicate = IRI + 1000 * ((i + shape / 4) as u64);
                rows.push([IRI + s as u64, predicate, object, (shape % 2) as u64]);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        rows
    })
}

fn read_everything(bytes: &[u8]) {
    let Ok(mut block) = open(bytes) else { return };
    let rows = block.rows();
    for column in 0..4 {
        let _ = block.decode(column, 0..rows, &mut Vec::new());
        for mini in 0..=rows.div_ceil(MINI_ROWS) {
            let _ = block.first(column, mini);
        }
        let _ = block.value(column, rows - 1);
    }
    let _ = block.lower_bound(&[IRI + 3, IRI + 2000, IRI], 0..rows);
    let _ = block.upper_bound(&[IRI + 3, IRI + 2000], 0..rows);
}

proptest! {
    #[test]
    fn any_rows_round_trip(rows in rows()) {
        round_trip(Order::Spog, &rows);
        let mut permuted: Vec<Row> = rows.iter().map(|[s, p, o, g]| [*s, *o, *p, *g]).collect();
        permuted.sort_unstable();
        round_trip(Order::Sopg, &permuted);
    }

    #[test]
    fn damaged_blocks_are_read_without_panic(
        rows in rows(),
        flips in proptest::collection::vec(any::<usize>(), 1..4),
        cut in any::<usize>(),
    ) {
        let mut bytes = encode(Order::Spog, &rows);
        read_everything(&bytes[..cut % bytes.len()]);
        for flip in flips {
            let bit = flip % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        read_everything(&bytes);
    }
}

#[test]
fn every_flipped_bit_is_read_without_panic() {
    let mut bytes = encode(Order::Spog, &subjects(80));
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        read_everything(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}
