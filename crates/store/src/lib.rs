//! The store's mutable state: which files make up the current version, how new ones get there, and what a reader sees.

pub mod snapshot;

pub use snapshot::{Scan, Snapshot, StoreError};
