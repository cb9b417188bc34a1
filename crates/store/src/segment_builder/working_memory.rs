//! How the memory that a load or a compaction may take is shared out.

use lode_base::host;

/// What the process takes besides the tables that are counted: code, stacks, buffers of writers, what the allocator keeps for later.
pub(crate) const OVERHEAD_BYTES: usize = 144 << 20;
/// What the counted tables get at least.
const WORKING_BYTES_MIN: usize = 64 << 10;
/// Memory that a load uses unless told otherwise.
const MEMORY_BYTES_DEFAULT: usize = 2 << 30;

/// What a load or a compaction takes unless told otherwise.
pub(crate) fn memory_bytes_default() -> usize {
    let quarter = host::memory_bytes().map(|bytes| usize::try_from(bytes / 4).unwrap_or(usize::MAX));
    quarter.unwrap_or(MEMORY_BYTES_DEFAULT).min(MEMORY_BYTES_DEFAULT)
}

/// What the counted tables get. Where memory is shorter than what the rest takes, still so much that runs are not tiny.
pub(crate) fn working_bytes(memory_bytes: usize) -> usize {
    memory_bytes.saturating_sub(OVERHEAD_BYTES).max(memory_bytes / 8).max(WORKING_BYTES_MIN)
}
