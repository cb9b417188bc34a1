//! Vectored, read-only query execution: plans become operators over batches of ids.

pub mod aggregate;
pub mod batch;
pub mod context;
pub mod error;
pub mod exists;
pub mod expr;
pub mod local_vocab;

pub use batch::Batch;
pub use context::QueryContext;
pub use error::ExecError;
