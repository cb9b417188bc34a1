//! Work on large slices, cut into pieces for several threads: sorting in place, and one result for each part.

use std::sync::{Mutex, PoisonError};

/// Fewer are sorted at once.
const PIECE: usize = if cfg!(test) {
    8
} else if cfg!(debug_assertions) {
    64
} else {
    128 << 10
};

/// Sorts on up to `threads` threads, whatever their number to the same order. `check` is asked again and again whether to go on; where it says no, the order is any.
/// Sorted stretches are made use of.
///
/// # Errors
/// What `check` says.
pub fn sort<T: Ord + Send, E: Send>(
    rows: &mut [T],
    threads: usize,
    check: &(dyn Fn() -> Result<(), E> + Sync),
) -> Result<(), E> {
    check()?;
    if rows.len() > PIECE && !rows.is_sorted() {
        let (low, high) = rows.split_at_mut(rows.len() / 2);
        if threads > 1 {
            let done = std::thread::scope(|scope| {
                let other = scope.spawn(|| sort(high, threads / 2, check));
                let own = sort(low, threads - threads / 2, check);
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                own.and(other)
            });
            done?;
        } else {
            sort(low, 1, check)?;
            sort(high, 1, check)?;
        }
    }
    // Of two sorted stretches: a merge.
    rows.sort();
    Ok(())
}

/// What `work` makes of each part, in their order, on up to `threads` threads.
pub fn each<T: Send, R: Send>(parts: Vec<T>, threads: usize, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    let threads = threads.min(parts.len());
    if threads <= 1 {
        return parts.into_iter().map(work).collect();
    }
    let mut results: Vec<Option<R>> = parts.iter().map(|_| None).collect();
    let waiting = Mutex::new(parts.into_iter().zip(&mut results));
    let take_all = || {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((part, result)) = next else { return };
            *result = Some(work(part));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(take_all);
        }
        take_all();
    });
    drop(waiting);
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    proptest! {
        #[test]
        fn however_many_threads_sort_the_order_is_that_of_the_library(
            mut rows in prop::collection::vec(0_u16..300, 0..400),
            sorted in 0_usize..400,
            threads in 1_usize..6,
        ) {
            let sorted = sorted.min(rows.len());
            rows[..sorted].sort_unstable();
            let mut expected = rows.clone();
            expected.sort_unstable();
            sort(&mut rows, threads, &|| Ok::<_, Infallible>(())).unwrap();
            prop_assert_eq!(rows, expected);
        }

        #[test]
        fn each_part_has_its_result(parts in prop::collection::vec(0_u32..1000, 0..40), threads in 0_usize..6) {
            let expected: Vec<u32> = parts.iter().map(|part| part * 2).collect();
            prop_assert_eq!(each(parts, threads, &|part| part * 2), expected);
        }
    }

    #[test]
    fn sorting_ends_where_it_is_told_to() {
        for threads in [1, 2, 5] {
            let asked = AtomicUsize::new(0);
            let check = || if asked.fetch_add(1, Ordering::Relaxed) < 3 { Ok(()) } else { Err("enough") };
            let mut rows: Vec<u32> = (0..1000).rev().collect();
            assert_eq!(sort(&mut rows, threads, &check), Err("enough"));
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..1000), "none is lost");
        }
    }
}
