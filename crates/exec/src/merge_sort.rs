//! Stable merge sorts that may fail: comparing terms can read the dictionary, and a long sort has to stop when its query does. Whatever
//! the comparison answers, they end and neither lose nor double an element.

use std::cmp::Ordering;

const RUN: usize = 8;
/// Elements that are sorted, and comparisons that are made in merges, between two checks: some milliseconds.
const STEP: usize = if cfg!(test) { 32 } else { 1 << 16 };

/// Sorts `values`; on an error their order is unspecified.
pub(crate) fn try_merge_sort<T: Copy, E>(
    values: &mut [T],
    mut compare: impl FnMut(T, T) -> Result<Ordering, E>,
) -> Result<(), E> {
    for run in values.chunks_mut(RUN) {
        insertion_sort(run, &mut compare)?;
    }
    merge_runs(values, RUN, &mut compare)
}

/// Sorts `values` by a comparison that cannot fail, in steps: `check` is asked between them. On an error their order is unspecified.
pub(crate) fn sort_in_steps<T: Copy, E>(
    values: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering,
    check: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    for run in values.chunks_mut(STEP) {
        check()?;
        run.sort_by(&compare);
    }
    let mut compared = 0;
    merge_runs(values, STEP, &mut |a, b| {
        compared += 1;
        if compared == STEP {
            compared = 0;
            check()?;
        }
        Ok(compare(&a, &b))
    })
}

/// Merges sorted runs of `width` elements.
fn merge_runs<T: Copy, E>(
    values: &mut [T],
    mut width: usize,
    compare: &mut impl FnMut(T, T) -> Result<Ordering, E>,
) -> Result<(), E> {
    if values.len() <= width {
        return Ok(());
    }
    let mut buffer = values.to_vec();
    while width < values.len() {
        for (from, to) in values.chunks(2 * width).zip(buffer.chunks_mut(2 * width)) {
            let (left, right) = from.split_at(width.min(from.len()));
            merge(left, right, to, compare)?;
        }
        values.copy_from_slice(&buffer);
        width *= 2;
    }
    Ok(())
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
) -> Result<(), E> {
    let (mut l, mut r) = (0, 0);
    for slot in to {
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
    Ok(())
}
