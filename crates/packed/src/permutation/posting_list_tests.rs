//! What share of the lists of subjects of a predicate and an object would be smaller, or faster to intersect, as bitmaps: a program that tells
//! numbers of a database, not a test. `LODE_LISTS=DB/segment-000001 cargo test --workspace --lib posting_lists -- --ignored --nocapture`.

use super::{Permutation, Result};
use lode_base::block_cache::BlockCache;
use lode_base::real_vfs::RealVfs;
use lode_base::vfs::Vfs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A list of (P, O).
#[derive(Default)]
struct List {
    subjects: Vec<u64>,
    /// Its part of the bytes of the columns of subjects.
    bytes: f64,
}

/// Bytes of a Roaring bitmap: for each 65,536 numbers an array, bits or runs, whichever is smallest, and 8 bytes of head.
fn roaring_bytes(subjects: &[u64]) -> usize {
    let chunks = subjects.chunk_by(|a, b| a >> 16 == b >> 16);
    let bytes = |chunk: &[u64]| {
        let runs = chunk.chunk_by(|a, b| a + 1 == *b).count();
        8 + (2 * chunk.len()).min(8192).min(2 + 4 * runs)
    };
    chunks.map(bytes).sum()
}

/// Bits from the first to the last.
fn dense_bytes(subjects: &[u64]) -> usize {
    let (Some(first), Some(last)) = (subjects.first(), subjects.last()) else { return 0 };
    ((last - first) / 8 + 1) as usize
}

#[derive(Default, Clone, Copy)]
struct Class {
    lists: u64,
    rows: u64,
    bytes: f64,
    roaring: f64,
    roaring_wins: u64,
    rows_of_wins: u64,
    saved: f64,
    dense_wins: u64,
}

#[derive(Default)]
struct Found {
    classes: [Class; 8],
    /// The longest.
    longest: Vec<Vec<u64>>,
}

impl Found {
    fn add(&mut self, list: List) {
        let rows = list.subjects.len();
        if rows == 0 {
            return;
        }
        let class = &mut self.classes[(rows.ilog2() / 3).min(7) as usize];
        let roaring = roaring_bytes(&list.subjects) as f64;
        class.lists += 1;
        class.rows += rows as u64;
        class.bytes += list.bytes;
        class.roaring += roaring;
        if roaring < list.bytes {
            class.roaring_wins += 1;
            class.rows_of_wins += rows as u64;
            class.saved += list.bytes - roaring;
        }
        class.dense_wins += u64::from((dense_bytes(&list.subjects) as f64) < list.bytes);
        if rows > 4096 {
            self.longest.push(list.subjects);
            self.longest.sort_by_key(|list| std::cmp::Reverse(list.len()));
            self.longest.truncate(8);
        }
    }
}

fn look(permutation: &Permutation) -> Result<Found> {
    let mut found = Found::default();
    let (mut list, mut at) = (List::default(), [u64::MAX; 2]);
    let mut columns: [Vec<u64>; 4] = Default::default();
    for number in 0..permutation.blocks() {
        let (_, parsed) = permutation.block(number)?;
        // Rows less one, then the lengths of the columns.
        let length: [u8; 4] = parsed.stored()[2 + 2 * 4..][..4].try_into().unwrap();
        columns.iter_mut().for_each(Vec::clear);
        permutation.decode(number, &parsed, &mut columns)?;
        let each = f64::from(u32::from_le_bytes(length)) / columns[0].len() as f64;
        for ((predicate, object), subject) in columns[0].iter().zip(&columns[1]).zip(&columns[2]) {
            let key = [*predicate, *object];
            if key != at {
                found.add(std::mem::take(&mut list));
                at = key;
            }
            list.bytes += each;
            // One subject may be in several graphs.
            if list.subjects.last() != Some(subject) {
                list.subjects.push(*subject);
            }
        }
    }
    found.add(list);
    Ok(found)
}

/// Words of bits, from the first to the last of both.
fn bits(subjects: &[u64], first: u64, last: u64) -> Vec<u64> {
    let mut words = vec![0; ((last - first) / 64 + 1) as usize];
    for subject in subjects.iter().filter(|subject| (first..=last).contains(*subject)) {
        words[((subject - first) / 64) as usize] |= 1 << ((subject - first) % 64);
    }
    words
}

fn merge(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        both += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    both
}

/// The least of some times, in nanoseconds.
fn least(mut work: impl FnMut() -> usize) -> (f64, usize) {
    let mut least = (f64::MAX, 0);
    for _ in 0..5 {
        let start = Instant::now();
        let found = std::hint::black_box(work());
        least = (least.0.min(start.elapsed().as_nanos() as f64), found);
    }
    least
}

fn intersect(lists: &[Vec<u64>]) {
    println!("| rows | rows | in both | merged, ns | bits, ns | words |\n|--:|--:|--:|--:|--:|--:|");
    for (number, a) in lists.iter().enumerate() {
        for b in &lists[number + 1..] {
            let (first, last) = (a[0].max(b[0]), a[a.len() - 1].min(b[b.len() - 1]));
            if first > last {
                continue;
            }
            let (x, y) = (bits(a, first, last), bits(b, first, last));
            let (merged, expected) = least(|| merge(a, b));
            let (anded, both) = least(|| x.iter().zip(&y).map(|(x, y)| (x & y).count_ones() as usize).sum());
            assert_eq!(both, expected);
            println!("| {} | {} | {both} | {merged:.0} | {anded:.0} | {} |", a.len(), b.len(), x.len());
        }
    }
}

#[test]
fn bitmaps_are_as_large_as_is_said() {
    // 8 of a head, and two bytes a number; one run; bits.
    assert_eq!(roaring_bytes(&[1, 5, 9]), 8 + 6);
    assert_eq!(roaring_bytes(&(0..70_000).collect::<Vec<_>>()), 2 * (8 + 6));
    assert_eq!(roaring_bytes(&(0..30_000).map(|n| n * 2).collect::<Vec<_>>()), 8 + 8192);
    assert_eq!(dense_bytes(&[8, 16]), 2);
    assert_eq!(merge(&[1, 2, 5, 9], &[2, 3, 9, 10]), 2);
}

#[test]
#[ignore = "tells numbers of a database that LODE_LISTS names"]
fn posting_lists() {
    let Some(folder) = std::env::var_os("LODE_LISTS").map(PathBuf::from) else { return };
    let file = RealVfs.open(&folder.join("posg.perm")).unwrap();
    let permutation = Permutation::open(file, "posg.perm", Arc::new(BlockCache::new(1 << 20))).unwrap();
    let found = look(&permutation).unwrap();
    println!("file: {} bytes, {} rows", permutation.info().bytes, permutation.rows());
    println!(
        "| rows of a list | lists | rows | bytes now | as Roaring | Roaring is smaller | rows of these | saved | bits are smaller |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (number, class) in found.classes.iter().enumerate().filter(|(_, class)| class.lists > 0) {
        println!(
            "| from {} | {} | {} | {:.0} | {:.0} | {} | {} | {:.0} | {} |",
            1_u64 << (3 * number),
            class.lists,
            class.rows,
            class.bytes,
            class.roaring,
            class.roaring_wins,
            class.rows_of_wins,
            class.saved,
            class.dense_wins
        );
    }
    intersect(&found.longest);
}
