//! Permutations against sorted rows in memory, and damaged files.

use super::*;
use crate::error::PackedError;
use lode_base::cancel::CancelToken;
use lode_base::mem_vfs::MemVfs;
use lode_base::vfs::Vfs;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

type Row = [u64; 4];

fn columns(rows: &[Row]) -> [Vec<u64>; 4] {
    std::array::from_fn(|c| rows.iter().map(|row| row[c]).collect())
}

fn file(rows: &[Row], order: Order, pieces: usize) -> (MemVfs, PermutationInfo) {
    let vfs = MemVfs::default();
    let mut writer = PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), order);
    // Both ways to give rows do the same.
    for (number, piece) in rows.chunks(pieces).enumerate() {
        if number % 2 == 0 {
            let columns = columns(piece);
            writer.push(columns.each_ref().map(Vec::as_slice)).unwrap();
        } else {
            writer.push_id_rows(piece).unwrap();
        }
    }
    let info = writer.finish().unwrap();
    (vfs, info)
}

fn open(vfs: &MemVfs) -> Result<Permutation> {
    Permutation::open(vfs.open(Path::new("p")).unwrap(), "p", Arc::new(BlockCache::new(1 << 20)))
}

fn built(rows: &[Row], pieces: usize) -> Permutation {
    let (vfs, info) = file(rows, Order::Spog, pieces);
    let permutation = open(&vfs).unwrap();
    assert_eq!(permutation.info(), info);
    assert_eq!(info.rows, rows.len() as u64);
    permutation
}

/// A few thousand rows with runs, ascending stretches and mixed kinds, over several blocks.
fn sample(count: u64) -> Vec<Row> {
    let kinds = [0x10_u64 << 56, 0x20 << 56, 0x30 << 56 | 1 << 55, 0x48 << 56];
    let mut rows: Vec<Row> = (0..count)
        .map(|i| {
            let subject = i / 7;
            let predicate = (0x10 << 56) + [3, 900, 17, 5, 70_000, 8, 12][(i % 7) as usize];
            let object =
                kinds[(i % 4) as usize] + i * i * 7919 % 5003 * if i % 4 == 3 { 86_400_000 } else { 1 };
            [
                (0x10 << 56) + 100_000 + subject,
                predicate,
                object,
                if i % 11 == 0 { (0x10 << 56) + 4 } else { 1 },
            ]
        })
        .collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

fn scan(permutation: &Permutation, rows: Range<u64>, mask: u8, batch: usize) -> [Vec<u64>; 4] {
    let mut cursor = permutation.cursor(rows, mask);
    let mut out: [Vec<u64>; 4] = Default::default();
    while cursor.next(batch, &mut out).unwrap() > 0 {}
    out
}

#[test]
fn empty_file() {
    let permutation = built(&[], 1);
    assert_eq!(permutation.range(&[]).unwrap(), 0..0);
    assert_eq!(permutation.range(&[1, 2]).unwrap(), 0..0);
    assert_eq!(permutation.lower_bound(&[5], 0..9).unwrap(), 0);
    assert_eq!(permutation.distinct(&[]).unwrap(), 0);
    assert!(permutation.split(0..0, 4).unwrap().is_empty());
    assert_eq!(scan(&permutation, 0..10, 15, 4), <[Vec<u64>; 4]>::default());
    permutation.verify(&CancelToken::default(), &mut |_| {}).unwrap();
    assert!(permutation.row(0).is_err());
}

#[test]
fn many_blocks_scan_and_verify() {
    let rows = sample(40_000);
    let permutation = built(&rows, 5000);
    assert!(permutation.blocks() >= 4);
    assert_eq!(scan(&permutation, 0..u64::MAX, 15, 4096), columns(&rows));
    assert_eq!(scan(&permutation, 100..20_000, 15, 77), columns(&rows[100..20_000]));
    let masked = scan(&permutation, 8000..9000, 0b0101, 100);
    let expected = columns(&rows[8000..9000]);
    assert_eq!(masked, [expected[0].clone(), vec![], expected[2].clone(), vec![]]);
    let mut seen = 0;
    permutation.verify(&CancelToken::default(), &mut |rows| seen += rows).unwrap();
    assert_eq!(seen, rows.len() as u64);
    for row in [0, 1, 8191, 8192, 39_999] {
        assert_eq!(permutation.row(row).unwrap(), rows[row as usize]);
    }
    let mut next = 0;
    for block in 0..permutation.blocks() {
        let bounds = permutation.block_bounds(block).unwrap().unwrap();
        assert_eq!(bounds.rows.start, next);
        next = bounds.rows.end;
        let inside = &rows[bounds.rows.start as usize..bounds.rows.end as usize];
        assert_eq!(bounds.first, inside[0]);
        for c in 0..4 {
            assert_eq!(bounds.min[c], inside.iter().map(|r| r[c]).min().unwrap());
            assert_eq!(bounds.max[c], inside.iter().map(|r| r[c]).max().unwrap());
        }
    }
    assert_eq!(next, rows.len() as u64);
}

#[test]
fn splits_are_at_block_boundaries() {
    let permutation = built(&sample(60_000), 60_000);
    let cuts = permutation.split(10..59_000, 4).unwrap();
    assert!(cuts.len() >= 2 && cuts.len() <= 3, "{cuts:?}");
    assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]));
    for cut in cuts {
        let block = permutation.block_of(cut).unwrap().unwrap();
        assert_eq!(permutation.block_bounds(block).unwrap().unwrap().rows.start, cut);
    }
}

#[test]
fn cancelling_stops_verification() {
    let cancel = CancelToken::default();
    cancel.cancel();
    let result = built(&sample(100), 100).verify(&cancel, &mut |_| {});
    assert!(matches!(result, Err(PackedError::Cancelled(_))));
}

#[test]
fn unsorted_rows_are_refused() {
    for rows in [[[1, 1, 1, 1], [1, 1, 1, 1]], [[2, 0, 0, 0], [1, 9, 9, 9]]] {
        let mut writer =
            PermutationWriter::new(MemVfs::default().create(Path::new("p")).unwrap(), Order::Spog);
        let columns = columns(&rows);
        writer.push(columns.each_ref().map(Vec::as_slice)).unwrap();
        assert!(matches!(writer.finish(), Err(PackedError::Unsorted { entry: 1, .. })));
    }
}

#[test]
fn fingerprints_agree_across_orders() {
    let rows = sample(3000);
    let infos: Vec<PermutationInfo> = Order::ALL
        .into_iter()
        .map(|order| {
            let mut permuted: Vec<Row> =
                rows.iter().map(|row| order.positions().map(|position| row[position as usize])).collect();
            permuted.sort_unstable();
            file(&permuted, order, 1000).1
        })
        .collect();
    assert!(infos.iter().all(|info| info.fingerprint == infos[0].fingerprint));
}

/// Everything a reader can be asked, against the sorted rows.
fn compare_with_model(rows: &[Row], permutation: &Permutation, keys: &[Row]) {
    for key in keys {
        for length in 0..=4 {
            let prefix = &key[..length];
            let start = rows.partition_point(|row| &row[..length] < prefix) as u64;
            let end = rows.partition_point(|row| &row[..length] <= prefix) as u64;
            let range = permutation.range(prefix).unwrap();
            assert_eq!(range.end - range.start, end - start, "{prefix:?}");
            if start < end {
                assert_eq!(range, start..end);
            }
            if length > 0 {
                assert_eq!(permutation.lower_bound(prefix, 0..u64::MAX).unwrap(), start, "{prefix:?}");
            }
            if length < 4 {
                let under = &rows[start as usize..end as usize];
                let distinct: BTreeSet<u64> = under.iter().map(|row| row[length]).collect();
                assert_eq!(permutation.distinct(prefix).unwrap(), distinct.len() as u64, "{prefix:?}");
            }
        }
    }
}

fn seek_like_the_model(rows: &[Row], permutation: &Permutation, keys: &[(Row, usize, usize)]) {
    let mut cursor = permutation.cursor(0..rows.len() as u64, 0b1111);
    let mut at = 0;
    for (key, length, take) in keys {
        cursor.seek(&key[..*length]).unwrap();
        at = at.max(rows.partition_point(|row| row[..*length] < key[..*length]));
        assert_eq!(cursor.position(), at as u64);
        let mut out: [Vec<u64>; 4] = Default::default();
        let got = cursor.next(*take, &mut out).unwrap();
        let expected = &rows[at..rows.len().min(at + take)];
        assert_eq!(got, expected.len());
        assert_eq!(out, columns(expected));
        at += got;
    }
}

fn value() -> impl Strategy<Value = u64> {
    prop_oneof![0..6_u64, (0..3000_u64).prop_map(|v| (0x10 << 56) + v), (0..9_u64).prop_map(|v| v << 40)]
}

fn row() -> impl Strategy<Value = Row> {
    [0..40_u64, 0..5_u64, 0..u64::MAX, 0..2_u64]
        .prop_flat_map(|[s, p, _, g]| value().prop_map(move |o| [(0x10 << 56) + s, p * 1000, o, g]))
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    proptest::collection::btree_set(row(), 0..1500).prop_map(|set| set.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn reads_like_the_model(rows in rows(), absent in proptest::collection::vec(row(), 1..8), pick in any::<usize>()) {
        let permutation = built(&rows, 300);
        let mut keys = absent;
        keys.extend(rows.get(pick % rows.len().max(1)));
        keys.push([u64::MAX; 4]);
        keys.push([0; 4]);
        compare_with_model(&rows, &permutation, &keys);
    }

    #[test]
    fn seeks_like_the_model(
        rows in rows(),
        mut keys in proptest::collection::vec((row(), 1_usize..=4, 0_usize..50), 1..20),
        sorted in any::<bool>(),
    ) {
        if sorted {
            keys.sort_unstable();
        }
        seek_like_the_model(&rows, &built(&rows, 4000), &keys);
    }
}

#[test]
fn large_files_read_like_the_model() {
    let rows = sample(50_000);
    let permutation = built(&rows, 9999);
    let mut keys: Vec<Row> = rows.iter().step_by(1777).copied().collect();
    keys.extend(rows.iter().step_by(3331).map(|row| row.map(|v| v.wrapping_add(1))));
    keys.extend([8191, 8192, 16383, 16384].map(|i| rows[i]));
    compare_with_model(&rows, &permutation, &keys);
    let seeks: Vec<(Row, usize, usize)> =
        rows.iter().step_by(977).enumerate().map(|(i, row)| (*row, 1 + i % 4, i % 300)).collect();
    seek_like_the_model(&rows, &permutation, &seeks);
}

/// A file of many small blocks, and so of several pages of the index.
fn file_of_pages(rows: &[Row]) -> (MemVfs, PermutationInfo) {
    let vfs = MemVfs::default();
    let mut writer = PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), Order::Spog);
    for block in rows.chunks(3) {
        writer.push_id_rows(block).unwrap();
        writer.flush().unwrap();
    }
    let info = writer.finish().unwrap();
    assert_eq!(info.blocks, rows.len().div_ceil(3) as u64);
    (vfs, info)
}

#[test]
fn several_pages_read_like_the_model() {
    // The last page full, and not.
    for count in [2 * 3 * PERMUTATION_PAGE_BLOCKS, 4000] {
        let rows = &sample(5000)[..count];
        let (vfs, info) = file_of_pages(rows);
        let permutation = open(&vfs).unwrap();
        assert_eq!(permutation.info(), info);
        let mut keys: Vec<Row> = rows.iter().step_by(77).copied().collect();
        keys.extend(rows.iter().step_by(331).map(|row| row.map(|v| v.wrapping_add(1))));
        let page = 3 * PERMUTATION_PAGE_BLOCKS;
        keys.extend([page - 1, page, page + 1, 2 * page - 1].map(|i| rows[i]));
        compare_with_model(rows, &permutation, &keys);
        for step in [1, 40, 977] {
            let seeks: Vec<(Row, usize, usize)> =
                rows.iter().step_by(step).enumerate().map(|(i, row)| (*row, 1 + i % 4, i % 3)).collect();
            seek_like_the_model(rows, &permutation, &seeks);
        }
        assert_eq!(scan(&permutation, 0..u64::MAX, 15, 100), columns(rows));
        for row in [0, page - 1, page, count - 1] {
            assert_eq!(permutation.row(row as u64).unwrap(), rows[row]);
            assert_eq!(permutation.block_of(row as u64).unwrap(), Some(row / 3));
        }
        assert_eq!(permutation.block_bounds(permutation.blocks()).unwrap(), None);
        assert_eq!(permutation.verify(&CancelToken::default(), &mut |_| {}).unwrap(), info);
    }
}

#[test]
fn pages_are_read_when_they_are_needed() {
    let rows = &sample(5000)[..4000];
    let (vfs, info) = file_of_pages(rows);
    let permutation = open(&vfs).unwrap();
    let read = || permutation.0.cache.counters().bytes_read;
    assert!(read() < 500, "{} of {}", read(), info.bytes);
    let none = permutation.index_bytes();
    permutation.row(2000).unwrap();
    let one = permutation.index_bytes();
    let page = PERMUTATION_PAGE_BLOCKS * (size_of::<BlockEntry>() + size_of::<page::Sums>());
    assert!(one > none + page && one < none + page + 500);
    assert_eq!(permutation.distinct(&[]).unwrap(), info.distinct_first);
    assert_eq!(permutation.index_bytes(), one);
}

#[test]
fn damage_to_pages_is_noticed() {
    let rows = &sample(5000)[..4000];
    let (vfs, info) = file_of_pages(rows);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("p")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let permutation = open(&vfs).unwrap();
    for page in 0..3 {
        let (place, _) = permutation.index().unwrap().place(page);
        for at in place.step_by(101) {
            bytes[at as usize] ^= 16;
            assert!(read_all(&bytes, rows).is_err(), "byte {at}");
            bytes[at as usize] ^= 16;
        }
    }
}

#[test]
fn golden_file() {
    let (vfs, info) = file(&[[1, 2, 3, 4], [1, 2, 5, 1], [7, 2, 3, 4]], Order::Spog, 3);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("p")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, include_str!("../../tests/golden/permutation.hex").trim());
}

#[test]
fn another_version_is_told() {
    let (vfs, info) = file(&sample(30), Order::Spog, 30);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("p")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    let version = bytes.len() - 20;
    bytes[version] = 3;
    vfs.create(Path::new("p")).unwrap().write_all(&bytes).unwrap();
    assert!(matches!(open(&vfs), Err(PackedError::Version { found: 3, supported: 4, .. })));
}

/// Opens and reads everything; `Ok` only if all of it is as it was written.
fn read_all(bytes: &[u8], rows: &[Row]) -> Result<()> {
    let vfs = MemVfs::default();
    let mut file = vfs.create(Path::new("p")).unwrap();
    file.write_all(bytes).unwrap();
    drop(file);
    let permutation = open(&vfs)?;
    let mut cursor = permutation.cursor(0..u64::MAX, 15);
    let mut out: [Vec<u64>; 4] = Default::default();
    while cursor.next(100, &mut out)? > 0 {}
    assert_eq!(out, columns(rows), "damage gave a wrong answer");
    permutation.verify(&CancelToken::default(), &mut |_| {})?;
    Ok(())
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    let rows = sample(300);
    let (vfs, info) = file(&rows, Order::Spog, 300);
    let mut bytes = vec![0; info.bytes as usize];
    vfs.open(Path::new("p")).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    read_all(&bytes, &rows).unwrap();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(read_all(&bytes, &rows).is_err(), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    for cut in 0..bytes.len() {
        assert!(read_all(&bytes[..cut], &rows).is_err(), "cut at {cut}");
    }
}

/// Blocks that are copied, between others and rows of which some are left out, give what writing all rows gives.
#[test]
fn copied_blocks() {
    let rows = sample(70_000);
    let source = built(&rows, 10_000);
    assert!(source.blocks() > 8);
    // Of each block: all its rows as they are, some of them as rows, or none.
    for plan in 0..3_usize.pow(5) {
        let vfs = MemVfs::default();
        let mut writer = PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), Order::Spog);
        let mut expected: Vec<Row> = Vec::new();
        for block in 0..source.blocks() {
            let range = source.block_bounds(block).unwrap().unwrap().rows;
            let of_block = &rows[range.start as usize..range.end as usize];
            match plan / 3_usize.pow(block as u32 % 5) % 3 {
                0 => {
                    writer.push_block(&source, block).unwrap();
                    expected.extend_from_slice(of_block);
                }
                1 => {
                    let some: Vec<Row> = of_block.iter().step_by(97).copied().collect();
                    writer.push_id_rows(&some).unwrap();
                    expected.extend(some);
                }
                _ => {}
            }
        }
        let info = writer.finish().unwrap();
        let copy = open(&vfs).unwrap();
        assert_eq!(copy.verify(&CancelToken::default(), &mut |_| {}).unwrap(), info, "plan {plan}");
        let (whole, _) = file(&expected, Order::Spog, 1000);
        let whole = open(&whole).unwrap().info();
        let same = |info: PermutationInfo| (info.rows, info.fingerprint, info.distinct_first);
        assert_eq!(same(info), same(whole), "plan {plan}");
        if plan % 41 == 0 {
            assert_eq!(scan(&copy, 0..copy.rows(), 0b1111, 1000), columns(&expected), "plan {plan}");
        }
    }
}

#[test]
fn copied_blocks_must_come_in_order() {
    let source = built(&sample(30_000), 10_000);
    let vfs = MemVfs::default();
    let mut writer = PermutationWriter::new(vfs.create(Path::new("p")).unwrap(), Order::Spog);
    writer.push_block(&source, 1).unwrap();
    assert!(matches!(writer.push_block(&source, 0), Err(PackedError::Unsorted { .. })));
    assert!(matches!(writer.push_block(&source, 99), Err(PackedError::Corruption { .. })));
}

#[test]
fn what_is_kept_of_an_index_counts_in_the_pool_of_the_cache() {
    use lode_base::block_cache::CacheMemory;
    use lode_base::memory_budget::MemoryBudget;
    let rows = sample(40_000);
    let (vfs, _) = file(&rows, Order::Spog, 10_000);
    let pool = MemoryBudget::new(64 << 20);
    // A cache that keeps no blocks.
    let cache = BlockCache::sharing(&CacheMemory { pool: Some(pool.clone()), ..CacheMemory::default() });
    let permutation = Permutation::open(vfs.open(Path::new("p")).unwrap(), "p", cache).unwrap();
    let opened = pool.used();
    assert!(opened > 0);
    permutation.row(20_000).unwrap();
    let with_page = pool.used();
    assert!(with_page >= opened + permutation.blocks() * size_of::<BlockEntry>(), "{opened} {with_page}");
    assert!(with_page.abs_diff(permutation.index_bytes()) < 1000, "{with_page}");
    permutation.row(30_000).unwrap();
    assert_eq!(pool.used(), with_page);
    drop(permutation);
    assert_eq!(pool.used(), 0);
}
