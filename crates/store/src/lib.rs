//! The store's mutable state: which files make up the current version, how new ones get there, and what a reader sees.

pub mod activity;
#[cfg(test)]
mod aside_tests;
mod asking;
pub mod backup;
mod characteristic_sets;
pub mod check;
mod chores;
mod clear;
mod commit_check;
pub mod compact;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod damage_tests;
mod database_folders;
mod delta;
#[cfg(test)]
mod device_tests;
#[cfg(test)]
mod dice;
mod distinct;
#[cfg(test)]
mod doubt_tests;
pub mod dump;
pub mod error;
#[cfg(test)]
mod failed_log_tests;
mod fair_lock;
mod flush;
mod flusher;
mod follow;
mod hot_blocks;
mod index_files;
mod io_profile;
mod kept_files;
mod kept_indexes;
mod kept_prefixes;
mod last_prefixes;
mod layer_merge;
pub mod load;
pub mod log;
#[cfg(test)]
mod log_end_tests;
mod log_rewrite;
mod maintenance;
pub mod manifest;
mod named_snapshots;
#[cfg(test)]
mod open_many_tests;
mod places;
pub mod progress;
mod publication;
mod recovery;
mod remake;
mod room;
mod salvage;
mod scan;
mod scan_rows;
mod segment_builder;
#[cfg(test)]
mod simulation;
mod small_file;
pub mod snapshot;
mod snapshot_catalog;
#[cfg(test)]
mod stale_tests;
pub mod stats;
pub mod store;
mod stripe_check;
mod stripes;
mod term_search;
#[cfg(test)]
mod test_data;
mod throttle;
mod transaction;
mod version;
mod warmer;
mod word_files;
mod words;
mod write_guard;
mod write_options;
mod write_stall;
mod writer;

pub use activity::{Activity, ActivitySample};
pub use backup::{
    BackupOptions, BackupProgress, BackupReport, KEPT_PREFIXES, Original, OriginalFile, OriginalLog,
    OriginalSegment, backup, restore,
};
pub use check::{CheckReport, Problem, Remedy, check};
pub use clear::Graphs;
pub use commit_check::{CommitCheck, Proposed};
pub use compact::{
    BackgroundOptions, CompactError, CompactOptions, CompactReport, Compactor, CompactorState,
    CompactorStatus, KeepFewReport, OrderDamage, compact, keep_few, room_to_compact,
};
pub use database_folders::DatabaseFolders;
pub use distinct::Distinct;
pub use dump::{DumpError, DumpOptions, DumpScope, dump_graph, dump_lines, dump_quads};
pub use error::{SnapshotProblem, StoreError};
pub use follow::Course;
pub use hot_blocks::{HotBlocks, WarmReport};
pub use io_profile::{keep_device, kept_device};
pub use kept_prefixes::{encode_prefixes, prefixes_in};
pub use last_prefixes::KeptPrefixes;
pub use load::{LoadError, LoadOptions, LoadReport, Source, load};
pub use lode_packed::CachedPart;
pub use lode_packed::SegmentMeta;
pub use lode_packed::index_parts;
pub use lode_packed::segment::META_FILE;
pub use log::{Durability, Log};
pub use maintenance::{Maintenance, Tell};
#[cfg(feature = "geo")]
pub use places::{Nearest, NoGeometry, PlacesOptions, PlacesReport, drop_places, index_places, keeps_places};
pub use progress::{LoadProgress, ProgressSample, Stage};
pub use publication::{frozen_version, publisher};
pub use recovery::{FoundLog, OpenFiles};
pub use remake::{RemadeReport, remake_manifest};
pub use salvage::{Salvage, SalvageReport, salvage};
pub use segment_builder::BuildError;
pub use snapshot::{Scan, Snapshot};
pub use snapshot_catalog::NamedSnapshot;
pub use stats::{DiskUse, StoreStats};
pub use store::Store;
pub use stripe_check::check_all_folders;
pub use stripes::{clear_unfinished_restore, move_stripe, stripe, stripe_folders, striped};
pub use transaction::{CommitUpkeep, Present, Published, Savepoint, Transaction};
pub use warmer::Warmer;
pub use words::{
    BestTexts, RowsOf, TextHits, TextScope, WordsOf, WordsOptions, WordsReport, drop_words, index_words,
    keep_words_of, keeps_words, words_of,
};
pub use write_guard::Commit;
pub use write_options::WriteOptions;
pub use writer::FlushStatus;
