//! Sorts that may fail: comparing terms can read the dictionary, and a long sort has to stop when its query does. Whatever
//! the comparison answers, they end and, unless there is an error, neither lose nor double an element.

use std::cmp::Ordering;

const RUN: usize = 8;
/// Elements that are sorted, merged or copied between two checks: some milliseconds, also where each comparison misses the caches.
const STEP: usize = if cfg!(any(test, feature = "short-steps")) { 32 } else { 1 << 14 };

/// Numbers that are sorted at once, or put where they belong between two checks.
const NUMBERS: usize = if cfg!(any(test, feature = "short-steps")) { 32 } else { 1 << 16 };
const BUCKET_BITS: u32 = 8;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Sorts `values`; on an error some may be lost, others there twice.
///
/// # Errors
///
/// What `compare` returns.
pub fn try_merge_sort<T: Copy, E>(
    values: &mut [T],
    mut compare: impl FnMut(T, T) -> Result<Ordering, E>,
) -> Result<(), E> {
    for run in values.chunks_mut(RUN) {
        insertion_sort(run, &mut compare)?;
    }
    merge_runs(values, RUN, &mut compare, &|| Ok(()))
}

/// Sorts `values` by a comparison that cannot fail, in steps: `check` is asked between them. On an error some may be lost, others there twice.
///
/// # Errors
///
/// What `check` returns.
pub fn sort_in_steps<T: Copy, E>(
    values: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering,
    check: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    for run in values.chunks_mut(STEP) {
        check()?;
        run.sort_by(&compare);
    }
    merge_runs(values, STEP, &mut |a, b| Ok(compare(&a, &b)), &check)
}

/// Sorts `values` by a number, in place and in steps; equal ones come in any order. On an error some may be lost, others there twice.
///
/// What is too much for one step is put into buckets by the leading bits in which the numbers differ (McIlroy et al., "Engineering Radix
/// Sort", 1993).
///
/// # Errors
///
/// What `check` returns.
pub fn sort_by_number<T: Copy, E>(
    values: &mut [T],
    number: impl Fn(&T) -> u64 + Copy,
    check: &impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    check()?;
    if values.len() <= NUMBERS {
        values.sort_unstable_by_key(number);
        return Ok(());
    }
    let (mut least, mut greatest, mut is_sorted) = (u64::MAX, 0, true);
    for part in values.chunks(NUMBERS) {
        check()?;
        for value in part {
            let number = number(value);
            is_sorted &= number >= greatest;
            (least, greatest) = (least.min(number), greatest.max(number));
        }
    }
    if is_sorted {
        return Ok(());
    }
    let shift = (u64::BITS - (greatest - least).leading_zeros()).saturating_sub(BUCKET_BITS);
    let bucket = |value: &T| usize::try_from((number(value) - least) >> shift).unwrap_or(0) % BUCKETS;
    let ends = into_buckets(values, bucket, check)?;
    let mut start = 0;
    for end in ends {
        if shift > 0 {
            sort_by_number(&mut values[start..end], number, check)?;
        }
        start = end;
    }
    Ok(())
}

/// Puts values of one bucket side by side, lower ones first; where each bucket ends.
fn into_buckets<T: Copy, E>(
    values: &mut [T],
    bucket: impl Fn(&T) -> usize,
    check: &impl Fn() -> Result<(), E>,
) -> Result<[usize; BUCKETS], E> {
    let mut ends = [0; BUCKETS];
    for part in values.chunks(NUMBERS) {
        check()?;
        part.iter().for_each(|value| ends[bucket(value)] += 1);
    }
    // Where the next value of each bucket goes.
    let mut next = [0; BUCKETS];
    let mut end = 0;
    for (next, count) in next.iter_mut().zip(&mut ends) {
        *next = end;
        end += *count;
        *count = end;
    }
    let mut moved = 0_usize;
    for own in 0..BUCKETS {
        while next[own] < ends[own] {
            if moved.is_multiple_of(NUMBERS) {
                check()?;
            }
            moved += 1;
            let other = bucket(&values[next[own]]);
            values.swap(next[own], next[other]);
            next[other] += 1;
        }
    }
    Ok(ends)
}

/// Merges sorted runs of `width` elements.
fn merge_runs<T: Copy, E>(
    values: &mut [T],
    mut width: usize,
    compare: &mut impl FnMut(T, T) -> Result<Ordering, E>,
    check: &impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    if values.len() <= width {
        return Ok(());
    }
    let mut buffer = Vec::with_capacity(values.len());
    for part in values.chunks(STEP) {
        check()?;
        buffer.extend_from_slice(part);
    }
    let (mut from, mut to) = (values, buffer.as_mut_slice());
    let mut in_buffer = false;
    while width < from.len() {
        for (from, to) in from.chunks(2 * width).zip(to.chunks_mut(2 * width)) {
            let (left, right) = from.split_at(width.min(from.len()));
            merge(left, right, to, compare, check)?;
        }
        std::mem::swap(&mut from, &mut to);
        in_buffer = !in_buffer;
        width *= 2;
    }
    if in_buffer { copy(from, to, check) } else { Ok(()) }
}

fn insertion_sort<T: Copy, E>(
    run: &mut [T],
    compare: &mut impl FnMut(T, T) -> Result<Ordering, E>,
) -> Result<(), E> {
    for i in 1..run.len() {
        let mut j = i;
        while j > 0 && compare(run[j], run[j - 1])? == Ordering::Less {
            run.swap(j, j - 1);
            j -= 1;
        }
    }
    Ok(())
}

fn merge<T: Copy, E>(
    left: &[T],
    right: &[T],
    to: &mut [T],
    compare: &mut impl FnMut(T, T) -> Result<Ordering, E>,
    check: &impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    if let (Some(last), Some(first)) = (left.last(), right.first())
        && compare(*first, *last)? != Ordering::Less
    {
        let (to_left, to_right) = to.split_at_mut(left.len());
        copy(left, to_left, check)?;
        return copy(right, to_right, check);
    }
    let (mut l, mut r) = (0, 0);
    for step in to.chunks_mut(STEP) {
        check()?;
        for slot in step {
            let take_right = match (left.get(l), right.get(r)) {
                (Some(a), Some(b)) => compare(*b, *a)? == Ordering::Less,
                (None, _) => true,
                (_, None) => false,
            };
            let (list, next) = if take_right { (right, &mut r) } else { (left, &mut l) };
            if let Some(value) = list.get(*next) {
                *slot = *value;
            }
            *next += 1;
        }
    }
    Ok(())
}

fn copy<T: Copy, E>(from: &[T], to: &mut [T], check: &impl Fn() -> Result<(), E>) -> Result<(), E> {
    for (from, to) in from.chunks(STEP).zip(to.chunks_mut(STEP)) {
        check()?;
        to.copy_from_slice(from);
    }
    Ok(())
}
