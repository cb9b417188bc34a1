//! What the memory that a command may take means for the process as a whole.

use lode_engine::avoid_huge_pages;

/// With less memory, huge pages are not worth what they take: some 40 MiB are resident that nobody has written to, or not any more. With
/// more, they are in what a load takes besides its tables, and save it time.
const HUGE_PAGES_BYTES_MIN: usize = 512 << 20;

/// Prepares the process for a promise to take so much memory.
pub fn keep_to(bytes: usize) {
    if bytes < HUGE_PAGES_BYTES_MIN {
        avoid_huge_pages();
    }
}
