//! `--direct`: files past the memory of the system, and what is told where that cannot be.

use crate::talk::say;
use lode_engine::read_and_write_directly;

/// Has the process read and write files of databases directly, if that is wanted.
pub fn use_if(is_wanted: bool) {
    if is_wanted {
        read_and_write_directly(|path, error| {
            say!(
                "--direct: the file system of {} cannot read and write past the memory of the system ({error}); files there are read and written as usual",
                path.display()
            );
        });
    }
}
