//! The store's mutable state: which files make up the current version, how new ones get there, and what a reader sees.

pub mod activity;
pub mod backup;
pub mod check;
mod clear;
pub mod compact;
#[cfg(test)]
mod crash_tests;
mod delta;
pub mod dump;
pub mod error;
mod existing;
mod flush;
mod gate;
pub mod load;
pub mod log;
pub mod manifest;
mod merge_scan;
mod named;
mod pace;
mod recovery;
mod relog;
mod salvage;
mod scan;
mod seal;
pub mod snapshot;
mod stars;
pub mod stats;
pub mod store;
#[cfg(test)]
mod test_data;
mod transaction;
mod version;
mod writer;

pub use activity::{Activity, ActivitySample};
pub use backup::{BackupOptions, BackupProgress, BackupReport, backup, restore};
pub use check::{CheckReport, Problem, check};
pub use clear::Graphs;
pub use compact::{
    BackgroundOptions, CompactOptions, CompactReport, Compactor, CompactorState, CompactorStatus, compact,
};
pub use dump::{DumpError, DumpScope, dump_graph, dump_lines, dump_quads};
pub use error::{SnapshotProblem, StoreError};
pub use load::{LoadError, LoadOptions, LoadProgress, LoadReport, ProgressSample, Source, Stage, load};
pub use log::{Durability, Log};
pub use named::NamedSnapshot;
pub use salvage::{SalvageReport, salvage};
pub use snapshot::{Scan, Snapshot};
pub use stats::StoreStats;
pub use store::Store;
pub use transaction::Transaction;
pub use writer::{Commit, WriteOptions};
