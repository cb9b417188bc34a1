//! The programs' allocator, and how soon it gives back to the system what is free.

#![expect(unsafe_code, reason = "the allocator's options are set by its functions in C")]

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use std::ffi::c_long;
use std::time::Duration;

/// The option's number in the library's enumeration: how many milliseconds free memory is kept for who needs some next.
const PURGE_DELAY: mi_option_t = 15;
/// So many times as long large pieces are kept.
const ARENA_PURGE_MULT: mi_option_t = 24;

/// Has free memory given back after this time. By default that is a second, in which a query can fill as much again.
pub fn give_back_after(time: Duration) {
    let milliseconds = c_long::try_from(time.as_millis()).unwrap_or(c_long::MAX);
    // SAFETY: options are numbers that the library reads atomically; it ignores numbers of options that it has not.
    unsafe { mi_option_set(PURGE_DELAY, milliseconds) }
}

/// Has large pieces given back as soon as others: by default they are kept ten times as long, such as what a table was before it grew.
pub fn give_back_large_ones_as_soon() {
    // SAFETY: as above.
    unsafe { mi_option_set(ARENA_PURGE_MULT, 1) }
}

/// Gives back what is free now: in pages of this thread, and all that is in none.
pub fn give_back() {
    // SAFETY: it may be called at any time, and frees nothing that is in use.
    unsafe { mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libmimalloc_sys::mi_option_get;

    #[test]
    fn the_option_is_the_delay() {
        // SAFETY: as above.
        let delay = || unsafe { mi_option_get(PURGE_DELAY) };
        // The default, which tells that the enumeration has not changed, unless another test was first.
        assert!([1000, 100, 10].contains(&delay()), "{}", delay());
        give_back_after(Duration::from_millis(100));
        assert_eq!(delay(), 100);
        // SAFETY: as above.
        let times = || unsafe { mi_option_get(ARENA_PURGE_MULT) };
        assert!([10, 1].contains(&times()), "{}", times());
        give_back_large_ones_as_soon();
        assert_eq!(times(), 1);
    }
}
