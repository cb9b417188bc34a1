//! What every layer needs and no layer owns: files, checksums, integer coding, memory budgets, cancellation.

pub mod bitpack;
pub mod block_cache;
pub mod block_source;
pub mod block_work;
pub mod cancel;
pub mod checksum;
pub mod cores;
pub mod device;
pub mod device_vfs;
pub mod direct;
pub mod external_sort;
pub mod fault_vfs;
pub mod file_cache;
pub mod frame_file;
pub mod gallop;
pub mod host;
pub mod huge;
pub mod identity;
pub mod io_probe;
pub mod mem_vfs;
pub mod memory_budget;
pub mod pieces;
pub mod radix_sort;
pub mod real_vfs;
pub mod row_file;
pub mod shared_prefix;
pub mod stripes;
pub mod uncounted;
pub mod varint;
pub mod vfs;

#[cfg(test)]
mod sort_tests;
#[cfg(test)]
mod vfs_tests;
