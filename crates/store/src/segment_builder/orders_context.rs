//! Where the orders of a new segment are written to, and with what.

use super::build_error::BuildError;
use super::layout::Layout;
use crate::error::StoreError;
use crate::progress::LoadProgress;
use crate::throttle::Throttle;
use lode_base::external_sort::SortOptions;
use lode_base::memory_budget::MemoryBudget;
use lode_base::vfs::Vfs;
use lode_packed::PackedError;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Where and how to write.
#[derive(Debug)]
pub struct OrdersContext<'a> {
    /// The file system.
    pub vfs: &'a Arc<dyn Vfs>,
    /// Folder of the new segment.
    pub segment: &'a Path,
    /// Folder for temporary files.
    pub spill: &'a Path,
    /// Threads.
    pub threads: usize,
    /// Memory for rows.
    pub memory: &'a MemoryBudget,
    /// Asked once per block.
    pub throttle: &'a Throttle,
    /// Told once per block.
    pub progress: &'a LoadProgress,
    /// How rows are packed.
    pub layout: &'a Layout,
}

impl OrdersContext<'_> {
    /// A writer's error, with the folder of its file.
    pub fn locate(&self, error: PackedError) -> BuildError {
        match error {
            PackedError::Io { path, source } => {
                StoreError::Io { path: self.segment.join(&*path), source }.into()
            }
            other => other.into(),
        }
    }

    pub fn io(&self) -> impl Fn(io::Error) -> BuildError + 'static {
        let folder = self.spill.to_owned();
        move |source| BuildError::temporary(&folder, source)
    }

    /// Options to sort rows, those equal in what is above the lowest `sorted_bits` bits coming in ascending order.
    pub fn sort_options(&self, name: String, memory_bytes: usize, sorted_bits: u32) -> SortOptions {
        SortOptions {
            vfs: Arc::clone(self.vfs),
            folder: self.spill.to_owned(),
            name,
            bits: sorted_bits..self.layout.key_bits(),
            memory_bytes,
            threads: 1,
        }
    }
}
