//! The database facade: open, load, query, update, dump, check. Everything above (endpoint, command line, tests) goes through it.
//!
//! ```
//! use lode_engine::store::load::{LoadOptions, LoadProgress, Source, load};
//! use lode_engine::{Database, OpenOptions, QueryOptions, QueryResults, UpdateOptions};
//! use lode_rdf::RdfFormat;
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! // Open, or make, a database in a folder.
//! let database = Database::create_or_open(&folder.path().join("people.db"), &OpenOptions::default())?;
//!
//! // Load: any number of documents become one segment, or nothing changes.
//! let turtle = "@prefix : <http://example.org/> . :ada :born 1815 . :grace :born 1906 .";
//! let source = Source::bytes("people.ttl", turtle).with_format(RdfFormat::Turtle);
//! let progress = Arc::new(LoadProgress::default());
//! load(database.store(), vec![source], LoadOptions::default(), &progress)?;
//!
//! // A snapshot is the version of the moment, whatever comes later.
//! let before = database.snapshot();
//!
//! // Update: all operations of a request, or none.
//! let request = "PREFIX : <http://example.org/> INSERT DATA { :kurt :born 1906 }";
//! let report = database.update(request, &UpdateOptions::default())?;
//! assert_eq!((report.inserted, report.deleted), (1, 0));
//!
//! // Query the current version.
//! let text = "SELECT ?who { ?who <http://example.org/born> 1906 } ORDER BY ?who";
//! let options = QueryOptions::default();
//! let QueryResults::Solutions(mut solutions) = database.query(text, &options)? else { panic!("a SELECT") };
//! let rows = solutions.collect_rows()?;
//! assert_eq!(rows.len(), 2);
//! assert_eq!(rows[0][0].as_ref().map(ToString::to_string), Some("<http://example.org/grace>".into()));
//!
//! // And the same of the version before.
//! let query = database.prepare_at(before, text, &options)?;
//! let QueryResults::Solutions(mut solutions) = query.run()? else { panic!("a SELECT") };
//! assert_eq!(solutions.collect_rows()?.len(), 1);
//! # Ok(())
//! # }
//! ```

mod always;
mod caches;
mod columns;
mod database;
mod dataset;
mod description;
mod elsewhere;
mod error;
mod format;
mod graph_rules;
mod hints;
mod inferred;
pub mod interrupt;
mod load_allow;
mod materialise;
mod options;
mod plan_cache;
mod quad_cursor;
mod quad_pattern;
mod query;
mod reasoning;
pub mod registry;
mod repeatable;
pub mod report;
mod results;
mod rows;
mod service;
mod stripes;
mod table;
#[cfg(test)]
mod testing;
mod text_memory;
mod tls;
mod update;
pub mod web;
mod why;
mod write;
mod xml_characters;

pub use columns::{Columns, IdRows};
pub use database::Database;
use database::files_of;
pub use description::{Description, Figures};
pub use elsewhere::{Elsewhere, Planned, Spread, Told};
pub use error::EngineError;
pub use format::{ColumnContainer, ColumnForm, OutputFormat, ResultKind};
pub use graph_rules::{GraphPattern, GraphRules, GraphSet, INFERRED_GRAPH};
pub use inferred::inferred_graph;
pub use load_allow::LoadAllow;
pub use materialise::{
    CaughtUp, KeptInferences, MaterialiseOptions, MaterialiseProgress, MaterialiseReport, RuleReport,
    RuleSource, Upkeeper, UpkeeperOptions, UpkeeperStatus,
};
pub use options::{DefaultGraph, OpenOptions, QueryOptions};
pub use quad_cursor::Quads;
pub use quad_pattern::QuadPattern;
pub use query::{PreparedQuery, query_variables};
pub use reasoning::{Reasoning, SchemaRule, SchemaRules};
pub use repeatable::is_repeatable;
pub use report::WarningReport;
pub use results::{QueryResults, Solutions, TermBatch, Triples};
pub use service::{HttpService, HttpServiceOptions};
pub use stripes::{
    StripeState, clear_unfinished_restore, move_stripe, remove_database, stripe_database, stripe_folders,
    stripe_states,
};
pub use table::{Table, TableOptions};
pub use update::{
    Document, DocumentBody, INFERENCES_STALE, OpenTransaction, Statements, UpdateOptions, UpdateProgress,
    UpdateReport, UploadCondition, UploadOptions, UploadReport, UploadTarget,
};
pub use why::{
    Consistency, Contradiction, Explanation, Goal, Nearest, Proof, RuleName, Statement, Step, WhyOptions,
};
pub use write::{write_results, write_results_with};

pub use lode_base::block_source::{ReadPolicy, SourceCounters};
pub use lode_base::cancel::{CancelToken, Cancelled};
pub use lode_base::device_vfs::DeviceModel;
pub use lode_base::direct::use_in_process as read_and_write_directly;
pub use lode_base::file_cache::raise_descriptor_limit;
/// What local devices can do.
pub mod io_probe {
    pub use lode_base::device::Device;
    pub use lode_base::io_probe::{ProbeCell, ProbeLimits, SIZES, device_of, probe_folder};
}
/// What the process takes of the machine, for who watches it.
pub mod process {
    pub use lode_base::host::{
        disk_bytes, open_files, open_files_max, peak_resident_bytes, processor_seconds, resident_bytes,
        start_seconds,
    };
}
pub use lode_base::host::{memory_bytes as machine_memory_bytes, resident_bytes};
pub use lode_base::huge::avoid as avoid_huge_pages;
pub use lode_base::memory_budget::{MemoryBudget, OutOfBudget, Reservation};
pub use lode_base::uncounted::{Process, idle, when_idle};
pub use lode_exec::service::{
    ReadyAnswer, ServiceAnswer, ServiceError, ServiceHandler, ServiceRequest, ServiceRows,
};
pub use lode_exec::wait_for_removals;
pub use lode_exec::{Again, Distinct, ExecError, VisitTerm};
pub use lode_packed::Order;
pub use lode_sparql::parse::hints::{Hint, HintKind};
pub use lode_sparql::plan::DatasetOverride;
pub use lode_sparql::rules::RuleSet;
pub use lode_sparql::{ParseError, PlanWarning};
pub use lode_store as store;

/// Keeps what was measured of the device that a database is on, for all that open it from then on.
///
/// # Errors
/// Where the file cannot be written: then it is as it was.
pub fn keep_device(folder: &std::path::Path, device: &io_probe::Device) -> Result<(), EngineError> {
    Ok(lode_store::keep_device(&lode_base::real_vfs::RealVfs, folder, device)?)
}

/// Reads and verifies the database in a folder; see [`lode_store::check()`].
///
/// # Errors
/// Where a file cannot be read, at the first that is damaged, or where the check was cancelled.
pub fn check_database(
    folder: &std::path::Path,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(u64),
) -> Result<lode_store::CheckReport, EngineError> {
    Ok(lode_store::check_all_folders(&lode_base::real_vfs::RealVfs::shared(), folder, cancel, progress)?)
}

/// Makes a folder a backup of a database that is not open here; see [`lode_store::backup()`].
///
/// # Errors
/// Where there is no database, the target is neither new nor empty nor a backup of it, a file cannot be read or written, or the backup was
/// cancelled.
pub fn backup_database(
    database: &std::path::Path,
    target: &std::path::Path,
    options: &lode_store::BackupOptions,
    cancel: &CancelToken,
    progress: &lode_store::BackupProgress,
) -> Result<lode_store::BackupReport, EngineError> {
    let vfs = files_of(database)?;
    Ok(lode_store::backup(&vfs, database, target, options, cancel, progress)?)
}

/// Makes a database of a backup; see [`lode_store::restore()`].
///
/// # Errors
/// Where there is no whole backup, the folder of the database is not empty, a file cannot be read, is damaged or cannot be written, or the work
/// was cancelled.
pub fn restore_database(
    backup: &std::path::Path,
    database: &std::path::Path,
    options: &lode_store::BackupOptions,
    cancel: &CancelToken,
    progress: &lode_store::BackupProgress,
) -> Result<lode_store::BackupReport, EngineError> {
    let vfs = lode_store::striped(&files_of(backup)?, database)?;
    Ok(lode_store::restore(&vfs, backup, database, options, cancel, progress)?)
}

/// Makes the manifest of a database again that has lost it; see [`lode_store::remake_manifest()`].
///
/// # Errors
/// Like [`lode_store::remake_manifest()`].
pub fn remake_manifest(folder: &std::path::Path) -> Result<Option<lode_store::RemadeReport>, EngineError> {
    Ok(lode_store::remake_manifest(&*files_of(folder)?, folder)?)
}

/// Makes a database whose log is damaged or missing one that can be written again; see [`lode_store::salvage()`].
///
/// # Errors
/// Like [`lode_store::salvage()`].
pub fn salvage_database(
    folder: &std::path::Path,
    cancel: &CancelToken,
) -> Result<lode_store::Salvage, EngineError> {
    Ok(lode_store::salvage(&files_of(folder)?, folder, cancel)?)
}
