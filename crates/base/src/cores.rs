//! How many threads run at once on this machine.

use std::sync::OnceLock;
use std::thread::available_parallelism;

/// The cores that this process may use, at least 1. Asked of the system once: on Linux that means to read files.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, usize::from))
}
