//! The store's mutable state: which files make up the current version, how new ones get there, and what a reader sees.

pub mod activity;
pub mod error;
pub mod manifest;
mod scan;
pub mod snapshot;
pub mod store;
mod version;

pub use activity::{Activity, ActivitySample};
pub use error::StoreError;
pub use snapshot::{Scan, Snapshot};
pub use store::Store;
