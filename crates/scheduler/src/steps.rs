//! Long work on arrays in steps, between which a query can stop: what goes over a hundred million values at once takes longer than one who
//! cancels wants to wait.

use crate::turns::breathe;
use lode_base::cancel::{CancelToken, Cancelled};
use std::ops::Range;

/// Values that are copied, compared with their neighbour or looked at in one step: well under a millisecond, some milliseconds where each
/// page of what is written is touched first.
const STEP: usize = if cfg!(any(test, feature = "short-steps")) { 32 } else { 1 << 16 };

/// The ranges of `0..len` that are one step each, and a look at `cancel` before each.
#[inline]
pub fn steps(len: usize, cancel: &CancelToken) -> impl Iterator<Item = Result<Range<usize>, Cancelled>> + '_ {
    (0..len).step_by(STEP).map(move |start| {
        breathe();
        cancel.check().map(|()| start..len.min(start + STEP))
    })
}

/// `number(0)`, `number(1)`... up to `len`.
///
/// # Errors
///
/// Where the query was cancelled.
pub fn collect<T>(
    len: usize,
    cancel: &CancelToken,
    number: impl Fn(usize) -> T,
) -> Result<Vec<T>, Cancelled> {
    let mut values = Vec::with_capacity(len);
    for step in steps(len, cancel) {
        values.extend(step?.map(&number));
    }
    Ok(values)
}

/// Appends all of `from`.
///
/// # Errors
///
/// Where the query was cancelled.
pub fn append<T: Copy>(to: &mut Vec<T>, from: &[T], cancel: &CancelToken) -> Result<(), Cancelled> {
    to.reserve(from.len());
    for step in steps(from.len(), cancel) {
        to.extend_from_slice(&from[step?]);
    }
    Ok(())
}

/// Whether `is` holds for all of `values`.
///
/// # Errors
///
/// Where the query was cancelled.
pub fn all<T: Copy>(values: &[T], cancel: &CancelToken, is: impl Fn(T) -> bool) -> Result<bool, Cancelled> {
    for step in steps(values.len(), cancel) {
        if !values[step?].iter().copied().all(&is) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Keeps, of neighbours that are the `same`, the first, after `merge` has put the later one into it.
///
/// # Errors
///
/// Where the query was cancelled.
pub fn dedup_by<T: Copy>(
    values: &mut Vec<T>,
    cancel: &CancelToken,
    same: impl Fn(&T, &T) -> bool,
    merge: impl Fn(&mut T, T),
) -> Result<(), Cancelled> {
    let mut kept = 0;
    for step in steps(values.len(), cancel) {
        for at in step? {
            let value = values[at];
            if kept > 0 && same(&values[kept - 1], &value) {
                merge(&mut values[kept - 1], value);
            } else {
                values[kept] = value;
                kept += 1;
            }
        }
    }
    values.truncate(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{STEP, all, append, collect, dedup_by, steps};
    use lode_base::cancel::CancelToken;

    #[test]
    fn steps_make_up_the_whole() {
        let token = CancelToken::default();
        for len in [0, 1, STEP - 1, STEP, STEP + 1, 5 * STEP + 7] {
            let numbers = collect(len, &token, |n| n).unwrap();
            assert_eq!(numbers, (0..len).collect::<Vec<_>>());
            let mut twice = numbers.clone();
            append(&mut twice, &numbers, &token).unwrap();
            assert_eq!(twice, (0..len).chain(0..len).collect::<Vec<_>>());
            assert_eq!(all(&numbers, &token, |n| n + 1 < len), Ok(len == 0));
            assert_eq!(all(&numbers, &token, |n| n < len), Ok(true));
            let mut halves: Vec<(usize, usize)> = numbers.iter().map(|n| (n / 2, 1)).collect();
            dedup_by(&mut halves, &token, |a, b| a.0 == b.0, |a, b| a.1 += b.1).unwrap();
            assert_eq!(halves.len(), len.div_ceil(2));
            assert_eq!(halves.iter().map(|(_, n)| n).sum::<usize>(), len);
            assert!(steps(len, &token).all(|step| step.is_ok_and(|step| step.len() <= STEP)));
        }
    }

    #[test]
    fn a_cancelled_step_is_the_last() {
        let token = CancelToken::default();
        let mut done = 0;
        for step in steps(10 * STEP, &token) {
            let Ok(step) = step else { break };
            done += step.len();
            if done == 3 * STEP {
                token.cancel();
            }
        }
        assert_eq!(done, 3 * STEP);
        let values = vec![1; 2 * STEP];
        assert!(collect(1, &token, |n| n).is_err() && append(&mut Vec::new(), &values, &token).is_err());
        assert!(all(&values, &token, |_| true).is_err());
        assert!(dedup_by(&mut values.clone(), &token, |_, _| true, |_, _| ()).is_err());
    }
}
