//! Sorting of rows that are packed into one integer each: a scatter by the top digit into buckets the cache holds, then
//! least-significant-digit passes inside each bucket, bucket by bucket on several threads.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A row packed into one unsigned integer that compares like the row.
pub trait SortRow: Copy + Ord + Default + Debug + Send + Sync + 'static {
    /// Bytes in a file.
    const BYTES: usize;
    /// Writes the little-endian bytes; `out` has [`Self::BYTES`].
    fn store(self, out: &mut [u8]);
    /// Reads little-endian bytes; `bytes` has [`Self::BYTES`].
    fn load(bytes: &[u8]) -> Self;
    /// The `width` (at most 16) bits from bit `shift` on.
    fn digit(self, shift: u32, width: u32) -> usize;
}

macro_rules! sort_row {
    ($($integer:ty),*) => {$(
        impl SortRow for $integer {
            const BYTES: usize = size_of::<$integer>();

            fn store(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            fn load(bytes: &[u8]) -> Self {
                let mut raw = [0; size_of::<$integer>()];
                raw.copy_from_slice(bytes);
                Self::from_le_bytes(raw)
            }

            #[inline]
            fn digit(self, shift: u32, width: u32) -> usize {
                ((self >> shift) as usize) & ((1_usize << width) - 1)
            }
        }
    )*};
}
sort_row!(u64, u128);

/// Below this many rows the comparison sort wins.
const SMALL_ROWS: usize = 512;
/// Buckets of the first scatter aim at this many rows: with their scratch they fit the second-level cache.
const BUCKET_ROWS: usize = 1 << 14;
/// Digits of the passes inside a bucket.
const DIGIT_BITS: u32 = 11;
/// Most bits of the first scatter.
const SCATTER_BITS_MAX: u32 = 11;

/// Sorts `rows` by the bits in `bits`, with `scratch` as room for as many rows (its contents are lost). Bits above must be the
/// same in all rows; rows that are equal in `bits` must come in ascending order.
pub fn radix_sort<R: SortRow>(rows: &mut Vec<R>, scratch: &mut Vec<R>, bits: Range<u32>, threads: usize) {
    if rows.len() <= SMALL_ROWS {
        rows.sort_unstable();
        return;
    }
    // What it holds is overwritten, so only what it lacks is filled.
    scratch.resize(rows.len(), R::default());
    let wanted = (rows.len() / BUCKET_ROWS).max(1).ilog2();
    let scatter_bits = wanted.min(SCATTER_BITS_MAX).min(bits.end.saturating_sub(bits.start));
    if scatter_bits < 2 {
        let in_scratch = digit_passes(rows, scratch, bits);
        if in_scratch {
            std::mem::swap(rows, scratch);
        }
        return;
    }
    let rest = bits.start..bits.end - scatter_bits;
    let ends = scatter(rows, scratch, rest.end, scatter_bits);
    sort_buckets(scratch, rows, &ends, rest, threads);
    std::mem::swap(rows, scratch);
}

/// Room that [`radix_sort_mapped`] needs, for a part of all rows.
pub const MAPPED_SCRATCH_PART: usize = 4;

/// Makes of each row of `from` another, and sorts these into `to`, whose contents are lost: without a copy before they are sorted, and with room for a
/// quarter of them ([`MAPPED_SCRATCH_PART`]) instead of all. `bits` are as in [`radix_sort`].
pub fn radix_sort_mapped<R: SortRow>(from: &[R], map: impl Fn(R) -> R, to: &mut Vec<R>, bits: Range<u32>) {
    if from.len() <= 2 * BUCKET_ROWS || bits.is_empty() {
        to.clear();
        to.extend(from.iter().map(|row| map(*row)));
        return radix_sort(to, &mut Vec::new(), bits, 1);
    }
    to.resize(from.len(), R::default());
    let wanted = (from.len() / BUCKET_ROWS).ilog2();
    let scatter_bits = wanted.min(SCATTER_BITS_MAX).min(bits.end - bits.start);
    let rest = bits.start..bits.end - scatter_bits;
    let ends = scatter_mapped(from, map, to, rest.end, scatter_bits);
    let (mut scratch, mut start) = (Vec::new(), 0);
    for end in ends {
        let bucket = &mut to[start..end];
        start = end;
        if bucket.len() <= SMALL_ROWS {
            bucket.sort_unstable();
        } else if bucket.len() > from.len() / MAPPED_SCRATCH_PART {
            // A value that many rows have: they come in order.
            if !bucket.is_sorted() {
                bucket.sort_unstable();
            }
        } else {
            scratch.resize(scratch.len().max(bucket.len()), R::default());
            let scratch = &mut scratch[..bucket.len()];
            if digit_passes(bucket, scratch, rest.clone()) {
                bucket.copy_from_slice(scratch);
            }
        }
    }
}

/// Moves rows from `from` to `to`, grouped by a digit and otherwise in the order they had. Returns where each group ends.
pub fn scatter<R: SortRow>(from: &[R], to: &mut [R], shift: u32, width: u32) -> Vec<usize> {
    scatter_mapped(from, |row| row, to, shift, width)
}

fn scatter_mapped<R: SortRow>(
    from: &[R],
    map: impl Fn(R) -> R,
    to: &mut [R],
    shift: u32,
    width: u32,
) -> Vec<usize> {
    let mut ends = vec![0_usize; 1 << width];
    for row in from {
        ends[map(*row).digit(shift, width)] += 1;
    }
    let mut start = 0;
    for end in &mut ends {
        let count = *end;
        *end = start;
        start += count;
    }
    for row in from {
        let row = map(*row);
        let next = &mut ends[row.digit(shift, width)];
        to[*next] = row;
        *next += 1;
    }
    ends
}

fn sort_buckets<R: SortRow>(
    rows: &mut [R],
    scratch: &mut [R],
    ends: &[usize],
    bits: Range<u32>,
    threads: usize,
) {
    let mut buckets = Vec::with_capacity(ends.len());
    let (mut rows, mut scratch, mut start) = (rows, scratch, 0);
    for end in ends {
        let (bucket, more) = rows.split_at_mut(end - start);
        let (spare, more_scratch) = scratch.split_at_mut(end - start);
        (rows, scratch, start) = (more, more_scratch, *end);
        if bucket.len() > 1 {
            buckets.push((bucket, spare));
        }
    }
    let threads = threads.min(buckets.len());
    let queue = Mutex::new(buckets.into_iter());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((bucket, spare)) = next else { return };
            if bucket.len() <= SMALL_ROWS {
                bucket.sort_unstable();
            } else if digit_passes(bucket, spare, bits.clone()) {
                bucket.copy_from_slice(spare);
            }
        }
    };
    if threads <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
}

/// Sorts by the bits in `bits`, least significant digit first; true if the result is in `scratch`.
fn digit_passes<R: SortRow>(rows: &mut [R], scratch: &mut [R], bits: Range<u32>) -> bool {
    let count = bits.end.saturating_sub(bits.start);
    if count == 0 {
        return false;
    }
    let width = count.div_ceil(count.div_ceil(DIGIT_BITS));
    let (mut from, mut to, mut swapped) = (rows, scratch, false);
    for shift in bits.clone().step_by(width as usize) {
        let width = width.min(bits.end - shift);
        let first = from.first().map_or(0, |row| row.digit(shift, width));
        if from.iter().all(|row| row.digit(shift, width) == first) {
            continue;
        }
        scatter(from, to, shift, width);
        (from, to) = (to, from);
        swapped = !swapped;
    }
    swapped
}
