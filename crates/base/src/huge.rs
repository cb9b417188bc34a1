//! Large buffers on huge pages: fewer page faults when they are first written, fewer misses of the address translation
//! when they are read at random. Both are main costs of a bulk load.
//!
//! The kernel is only advised. Where it has no huge pages, or on other systems, these are buffers like any other.

#![expect(unsafe_code, reason = "advice about memory is given by address")]

/// Bytes of a huge page on the systems this is tuned for.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Lets this process have no huge pages from now on, neither here nor from its allocator (which asks for them for all that it takes from
/// the system): for who has promised to take little memory. With huge pages what is touched anywhere becomes resident by the 2 MiB, and what
/// the allocator keeps for later stays so.
pub fn avoid() {
    // Where it is not allowed, or there are none, more memory is taken.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}

/// An empty vector with room for `capacity` values.
pub fn with_capacity<T>(capacity: usize) -> Vec<T> {
    let values = Vec::with_capacity(capacity);
    advise(&values);
    values
}

/// A vector of `count` zeros. Of integers none is written: memory comes zeroed, and is first touched by who uses it.
pub fn zeros<T: Clone + Default>(count: usize) -> Vec<T> {
    let values = vec![T::default(); count];
    advise(&values);
    values
}

/// Asks for huge pages under the whole ones of a vector's capacity. Advice that is refused changes nothing.
fn advise<T>(values: &Vec<T>) {
    let start = values.as_ptr() as usize;
    let end = start + values.capacity() * size_of::<T>();
    let (first, last) = (start.next_multiple_of(HUGE_PAGE_BYTES), end & !(HUGE_PAGE_BYTES - 1));
    if first < last {
        let pages = values.as_ptr().wrapping_byte_add(first - start);
        advise_pages(pages.cast_mut().cast(), last - first);
    }
}

#[cfg(target_os = "linux")]
fn advise_pages(start: *mut std::ffi::c_void, length: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: the range lies inside memory that the caller's vector owns, and this advice changes how memory is
    // backed, never what it holds.
    let _ = unsafe { madvise(start, length, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise_pages(_start: *mut std::ffi::c_void, _length: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_all_sizes_hold_what_is_written() {
        for bytes in [0, 1, HUGE_PAGE_BYTES - 1, HUGE_PAGE_BYTES, 5 * HUGE_PAGE_BYTES + 7] {
            let mut values: Vec<u8> = with_capacity(bytes);
            assert!(values.is_empty() && values.capacity() >= bytes);
            values.extend((0..bytes).map(|i| i as u8));
            assert!(values.iter().enumerate().all(|(i, value)| *value == i as u8));
            assert_eq!(zeros::<u64>(bytes / 8), vec![0; bytes / 8]);
        }
    }
}
