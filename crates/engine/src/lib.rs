//! The database facade: open, load, query, update, dump, check. Everything above (endpoint, command line, tests) goes through it.

mod database;
mod dataset;
mod error;
mod format;
mod load_allow;
mod options;
mod query;
mod results;
mod service;
mod table;
mod update;
pub mod web;
mod write;

pub use database::Database;
pub use error::EngineError;
pub use format::{OutputFormat, ResultKind};
pub use load_allow::LoadAllow;
pub use options::{DefaultGraph, OpenOptions, QueryOptions};
pub use query::PreparedQuery;
pub use results::{QueryResults, Solutions, Triples};
pub use service::HttpService;
pub use table::TableOptions;
pub use update::{
    Document, DocumentBody, UpdateOptions, UpdateProgress, UpdateReport, UploadOptions, UploadReport,
    UploadTarget,
};
pub use write::write_results;

pub use lode_base::cancel::{CancelToken, Cancelled};
pub use lode_exec::ExecError;
pub use lode_exec::context::{ServiceHandler, ServiceRows};
pub use lode_packed::Order;
pub use lode_sparql::plan::DatasetOverride;
pub use lode_store as store;

/// Reads and verifies the database in a folder; see [`lode_store::check()`].
pub fn check_database(
    folder: &std::path::Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(u64),
) -> Result<lode_store::CheckReport, EngineError> {
    Ok(lode_store::check(&lode_base::real_vfs::RealVfs::shared(), folder, cancel, progress)?)
}
