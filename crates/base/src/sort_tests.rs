//! Sorting against the standard library's, in memory and through files.

use crate::external_sort::{ExternalSorter, SortOptions, SortedRows};
use crate::mem_vfs::MemVfs;
use crate::radix_sort::{SortRow, radix_sort, radix_sort_mapped};
use crate::row_file::{RowFileReader, RowFileWriter};
use crate::vfs::Vfs;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

fn scrambled(count: u64, bits: u32) -> Vec<u64> {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    (0..count).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ (i << 7)) & mask).collect()
}

fn check_radix<R: SortRow>(rows: &[R], bits: u32) {
    let mut expected = rows.to_vec();
    expected.sort_unstable();
    for threads in [1, 3] {
        let mut sorted = rows.to_vec();
        radix_sort(&mut sorted, &mut Vec::new(), 0..bits, threads);
        assert_eq!(sorted, expected);
    }
}

#[test]
fn sorts_any_size_and_width() {
    for count in [0, 1, 2, 500, 513, 5_000, 70_000, 200_000] {
        for bits in [1, 7, 12, 33, 51, 64] {
            let rows = scrambled(count, bits);
            check_radix(&rows, bits);
            let wide: Vec<u128> =
                rows.iter().map(|row| u128::from(*row) << 33 | u128::from(*row >> 3)).collect();
            check_radix(&wide, 33 + bits);
        }
    }
}

#[test]
fn sorts_skewed_rows() {
    let mut rows = scrambled(100_000, 40);
    rows.extend((0..100_000).map(|i| (7 << 30) | (i * 31 % 1000)));
    check_radix(&rows, 40);
}

#[test]
fn low_bits_that_are_sorted_are_left_alone() {
    for (count, shift) in
        [(400, 9), (3_000, 4), (3_000, 30), (50_000, 20), (200_000, 0), (200_000, 35), (200_000, 40)]
    {
        let mut rows = scrambled(count, 40);
        rows.sort_by_key(|row| row & ((1 << shift) - 1));
        let mut expected = rows.clone();
        expected.sort_by_key(|row| row >> shift);
        if count <= 512 {
            expected.sort_unstable();
        }
        radix_sort(&mut rows, &mut Vec::new(), shift..40, 2);
        assert_eq!(rows, expected);
    }
}

#[test]
fn rows_are_sorted_as_they_are_made() {
    for (count, shift) in
        [(0, 0), (400, 9), (3_000, 30), (33_000, 0), (50_000, 20), (300_000, 0), (300_000, 35)]
    {
        let mut rows = scrambled(count, 40);
        // A value that a third of them have, and one that a fifth have.
        for (at, row) in rows.iter_mut().enumerate() {
            match at % 15 {
                0..5 => *row = (*row & 0xFFFF) | 7 << 36,
                5..8 => *row = (*row & 0xFFFF) | 9 << 36,
                _ => {}
            }
        }
        rows.sort_by_key(|row| row & ((1 << shift) - 1));
        let from: Vec<u64> = rows.iter().map(|row| !row).collect();
        let mut sorted = vec![1; 1000];
        radix_sort_mapped(&from, |row| !row, &mut sorted, shift..40);
        rows.sort_unstable();
        assert_eq!(sorted, rows, "{count} rows from bit {shift}");
    }
}

fn through_files(rows: &[u64], memory_bytes: usize, piece: usize) -> (Vec<u64>, MemVfs) {
    let vfs = MemVfs::new();
    let options = SortOptions {
        vfs: Arc::new(vfs.clone()),
        folder: "/".into(),
        name: "t".into(),
        bits: 0..64,
        memory_bytes,
        threads: 2,
    };
    let mut sorter = ExternalSorter::new(options, rows.len());
    for piece in rows.chunks(piece) {
        sorter.push(piece).unwrap();
    }
    let mut out = Vec::new();
    match sorter.finish().unwrap() {
        SortedRows::Memory(rows) => out = rows,
        SortedRows::Runs(mut merge) => {
            let mut block = Vec::new();
            while merge.next(&mut block).unwrap() {
                out.extend_from_slice(&block);
            }
        }
    }
    (out, vfs)
}

#[test]
fn merges_many_runs_and_cleans_up() {
    // 300 runs of 8192 rows: more than one merge takes.
    let rows = scrambled(300 * 8192 + 5, 21);
    let mut expected = rows.clone();
    expected.sort_unstable();
    expected.dedup();
    let (sorted, vfs) = through_files(&rows, 0, 100_000);
    assert_eq!(sorted.len(), expected.len());
    assert_eq!(sorted, expected);
    let left = vfs.files().len();
    assert_eq!(left, 0, "temporary files are removed");
}

#[test]
fn damaged_rows_are_noticed() {
    let vfs = MemVfs::new();
    let path = Path::new("/rows");
    let mut writer = RowFileWriter::<u64>::create(&vfs, path).unwrap();
    writer.push(&scrambled(10_000, 64)).unwrap();
    assert_eq!(writer.finish().unwrap(), 10_000);
    let good = vfs.read(path).unwrap();
    for at in [0, 2, 5, 40_000, 65_545, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        vfs.overwrite(path, bad).unwrap();
        let mut reader = RowFileReader::<u64>::open(&vfs as &dyn Vfs, path).unwrap();
        let mut rows = Vec::new();
        let result = loop {
            match reader.next(&mut rows) {
                Ok(true) => {}
                other => break other,
            }
        };
        assert!(result.is_err(), "byte {at}");
    }
}

proptest! {
    #[test]
    fn external_sort_is_a_set(rows in proptest::collection::vec(0_u64..5_000, 0..30_000), piece in 1_usize..9_000) {
        let mut expected = rows.clone();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(through_files(&rows, 0, piece).0, expected.clone());
        prop_assert_eq!(through_files(&rows, 1 << 30, piece).0, expected);
    }
}

#[test]
fn rows_that_just_fit_stay_in_memory() {
    for (rows, in_memory) in [(49_999, true), (50_000, true), (50_001, false)] {
        let vfs = MemVfs::new();
        let options = SortOptions {
            vfs: Arc::new(vfs.clone()),
            folder: Path::new("/").to_owned(),
            name: "rows".to_owned(),
            bits: 0..64,
            memory_bytes: 2 * 8 * 50_000,
            threads: 1,
        };
        let mut sorter = ExternalSorter::new(options, rows);
        scrambled(rows as u64, 64).chunks(999).for_each(|piece| sorter.push(piece).unwrap());
        let sorted = sorter.finish().unwrap();
        assert_eq!(matches!(sorted, SortedRows::Memory(_)), in_memory, "{rows}");
        assert_eq!(vfs.files().is_empty(), in_memory, "{rows}");
    }
}

#[test]
fn frames_carry_streams() {
    use crate::frame_file::{FrameReader, FrameWriter, read_frame};
    use crate::varint::write_varint;
    let vfs = MemVfs::new();
    let path = Path::new("/frames");
    let mut writer = FrameWriter::new(vfs.create(path).unwrap());
    let single = writer.frame(b"alone").unwrap();
    let start = writer.cut().unwrap();
    let mut bytes = Vec::new();
    for i in 0..50_000_u64 {
        bytes.clear();
        write_varint(&mut bytes, i * i * i);
        writer.write(&bytes).unwrap();
    }
    let end = writer.cut().unwrap();
    writer.write(b"another").unwrap();
    writer.flush().unwrap();
    let file = vfs.open(path).unwrap();
    let mut frame = Vec::new();
    assert_eq!(read_frame(&*file, single, &mut frame).unwrap(), start);
    assert_eq!(frame, b"alone");
    let mut reader = FrameReader::new(Arc::clone(&file), start, end);
    for i in 0..50_000_u64 {
        assert_eq!(reader.varint().unwrap(), i * i * i);
    }
    assert!(reader.at_end());
    assert!(reader.byte().is_err());
    // Long parts of a stream are cut into many frames.
    let long: Vec<u8> = (0..1_000_000_u32).map(|at| (at / 7) as u8).collect();
    let mut writer = FrameWriter::with_frames_of(vfs.create(Path::new("/long")).unwrap(), 1000);
    for part in [b"head".as_slice(), &long, b"tail"] {
        writer.write(part).unwrap();
    }
    let long_end = writer.cut().unwrap();
    writer.flush().unwrap();
    let mut reader = FrameReader::new(vfs.open(Path::new("/long")).unwrap(), 0, long_end);
    assert_eq!(reader.take(4).unwrap(), b"head");
    assert!((1..2000).contains(&reader.peek(usize::MAX).unwrap().len()));
    let mut out = b"before".to_vec();
    reader.fork().append_to(&mut out, long.len()).unwrap();
    assert!(out.strip_prefix(b"before") == Some(&long));
    reader.skip(long.len()).unwrap();
    assert!(reader.fork().skip(5).is_err());
    assert_eq!(reader.take(4).unwrap(), b"tail");
    assert!(reader.at_end());
    let mut reader = FrameReader::new(file, end, u64::MAX);
    assert_eq!(reader.take(7).unwrap(), b"another");
    let mut bad = vfs.read(path).unwrap();
    bad[20_000] ^= 1;
    vfs.overwrite(path, bad).unwrap();
    let mut reader = FrameReader::new(vfs.open(path).unwrap(), start, end);
    assert!((0..50_000).any(|_| reader.varint().is_err()));
}
