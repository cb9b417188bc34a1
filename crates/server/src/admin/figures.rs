//! Figures of the moment, gathered once for all who ask for them: as JSON, and as metrics.

use super::{Client, work};
use crate::error::HttpError;
use crate::health::hindrance;
use crate::link::LinkFigures;
use crate::running::RunningSums;
use crate::state::{AppState, Shared};
use crate::update::json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use lode_engine::UpkeeperStatus;
use lode_engine::store::{CompactorState, DiskUse, Snapshot, Store, StoreError, stripe_folders};
use lode_engine::{Order, process};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The version of the program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// So many files of a database are looked at, at most.
const FILES_MAX: usize = 100_000;

/// All of them.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    pub(super) server: OfServer,
    pub(super) quads: u64,
    pub(super) version: u64,
    pub(super) writable: bool,
    pub(super) segments: usize,
    pub(super) delta_changes: usize,
    pub(super) delta_bytes: usize,
    pub(super) disk_full: bool,
    pub(super) log: OfLog,
    pub(super) flush: OfFlushes,
    pub(super) snapshots: OfSnapshots,
    pub(super) cache: OfCache,
    pub(super) compactor: Option<OfCompactor>,
    /// What was inferred; none where there are no rules.
    pub(super) inferences: Option<OfInferences>,
    pub(super) memory: OfMemory,
    pub(super) disk: OfDisk,
    pub(super) requests: OfRequests,
    /// Where the database is published, if this server follows that or publishes there.
    pub(super) published: Option<LinkFigures>,
    /// Who runs parts of long queries, if somebody does.
    pub(super) workers: Option<serde_json::Value>,
    /// Lines that logs have dropped, by their names.
    pub(super) dropped_log_lines: BTreeMap<&'static str, u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfServer {
    pub(super) version: &'static str,
    /// Seconds since 1970.
    pub(super) started: Option<f64>,
    pub(super) uptime_seconds: f64,
    pub(super) ready: bool,
    /// Why it is not.
    pub(super) reason: Option<String>,
    pub(super) processor_seconds: Option<f64>,
    pub(super) open_files: Option<u64>,
    pub(super) open_files_max: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfLog {
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) syncs: u64,
    pub(super) sync_failures: u64,
    pub(super) cut_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct OfFlushes {
    pub(super) running: bool,
    pub(super) percent_full: u64,
    pub(super) flushes: u64,
    pub(super) quads: u64,
    pub(super) failures: u64,
    /// Why the last one failed.
    pub(super) error: Option<String>,
    pub(super) slowed: u64,
    pub(super) refused: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct OfSnapshots {
    pub(super) count: usize,
    pub(super) bytes: u64,
    pub(super) damaged: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfCache {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes: u64,
    pub(super) bytes_max: usize,
    /// Requests to the device that the files are on, and what was asked for before it was wanted.
    pub(super) requests: u64,
    pub(super) blocks_merged: u64,
    pub(super) blocks_ahead: u64,
    pub(super) blocks_ahead_used: u64,
    pub(super) bytes_wasted: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct OfCompactor {
    pub(super) running: bool,
    pub(super) compactions: u64,
    pub(super) segments: u64,
    pub(super) quads: u64,
    pub(super) failures: u64,
    /// Why the last one failed.
    pub(super) error: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfInferences {
    pub(super) up_to_date: bool,
    /// The version of which they are all that follows, if that is known,
    pub(super) of_version: Option<u64>,
    /// and versions that came after it;
    pub(super) behind_versions: Option<u64>,
    /// for how long there have been such; none where nobody brings them up to date in the background.
    pub(super) behind_seconds: Option<f64>,
    /// Whether they are being brought up to date in the background,
    pub(super) running: bool,
    /// how often they were, going on from what there was,
    pub(super) gone_on: u64,
    /// and anew,
    pub(super) anew: u64,
    /// how often something else became of the data meanwhile,
    pub(super) overtaken: u64,
    /// how long the last time took,
    pub(super) last_seconds: Option<f64>,
    /// and how often it failed.
    pub(super) failures: u64,
    /// Why the last time did.
    pub(super) error: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct OfMemory {
    pub(super) resident_bytes: Option<u64>,
    pub(super) resident_bytes_max: Option<u64>,
    /// What all that is below share; none where each query has its own.
    pub(super) pool_bytes_max: Option<usize>,
    pub(super) pool_bytes: Option<usize>,
    pub(super) pool_bytes_peak: Option<usize>,
    pub(super) cache_bytes: u64,
    pub(super) delta_bytes: usize,
    pub(super) query_bytes: usize,
    pub(super) body_bytes: usize,
    pub(super) encoder_bytes: usize,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct OfDisk {
    pub(super) free_bytes: Option<u64>,
    pub(super) total_bytes: Option<u64>,
    /// All files in the database's folder,
    pub(super) database_bytes: u64,
    /// of these logs,
    pub(super) log_bytes: u64,
    /// and the reserve.
    pub(super) reserve_bytes: u64,
    /// Of the current version, each index, the dictionaries, and which predicates subjects have together.
    pub(super) indexes: BTreeMap<&'static str, u64>,
    pub(super) dictionary_bytes: u64,
    pub(super) characteristic_sets_bytes: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct OfRequests {
    #[serde(flatten)]
    pub(super) sums: RunningSums,
    pub(super) connections: usize,
    pub(super) connections_max: usize,
}

impl Figures {
    /// Gathers them; reads the database's folder.
    pub(crate) fn gather(state: &AppState) -> Result<Self, StoreError> {
        let store = state.database.store();
        let (snapshot, flush) = (store.snapshot(), store.flush_status());
        let (cache, log) = (store.cache_counters(), store.log_counters());
        let (sums, reads) = (state.running.sums(), store.read_counters());
        let delta_bytes = snapshot.delta_bytes();
        Ok(Self {
            server: of_server(state),
            quads: snapshot.quad_count(),
            version: snapshot.version_number(),
            writable: store.is_writable(),
            segments: snapshot.segment_count(),
            delta_changes: snapshot.delta_changes(),
            delta_bytes,
            disk_full: store.is_disk_full(),
            log: OfLog {
                records: log.records,
                bytes: log.bytes,
                syncs: log.syncs,
                sync_failures: store.sync_failures(),
                cut_bytes: store.found_log().map_or(0, |found| found.end.ignored_bytes),
            },
            flush: OfFlushes {
                running: flush.is_running,
                percent_full: flush.fullness,
                flushes: flush.flushes,
                quads: flush.quads,
                failures: flush.failures,
                error: flush.failing,
                slowed: flush.slowed,
                refused: flush.refused,
            },
            snapshots: OfSnapshots {
                count: store.snapshots()?.len(),
                bytes: store.snapshot_bytes()?,
                damaged: store.damaged_snapshots()?,
            },
            cache: OfCache {
                hits: cache.hits,
                misses: cache.misses,
                bytes_read: cache.bytes_read,
                bytes: cache.bytes_held,
                bytes_max: store.cache_bytes_max(),
                requests: reads.requests,
                blocks_merged: reads.merged,
                blocks_ahead: reads.ahead_blocks,
                blocks_ahead_used: reads.ahead_hits,
                bytes_wasted: reads.wasted_bytes,
            },
            compactor: of_compactor(state),
            inferences: of_inferences(state, &snapshot),
            memory: of_memory(state, cache.bytes_held, delta_bytes, sums.memory_bytes),
            disk: of_disk(store, &DiskUse::of(&snapshot)),
            requests: OfRequests {
                sums,
                connections: state.connections.len(),
                connections_max: state.options.connections_max,
            },
            published: state.link.as_ref().map(|link| link.figures()),
            workers: super::workers::status(state.shared()),
            dropped_log_lines: state
                .watch
                .logs
                .all()
                .into_iter()
                .map(|(name, log)| (name, log.dropped()))
                .collect(),
        })
    }
}

fn of_server(state: &AppState) -> OfServer {
    OfServer::new(state.shared(), hindrance(state))
}

impl OfServer {
    /// Those of the process; and why it cannot do its work, if so.
    pub(super) fn new(shared: &Shared, reason: Option<String>) -> Self {
        Self {
            version: VERSION,
            started: process::start_seconds(),
            uptime_seconds: shared.started.elapsed().as_secs_f64(),
            ready: reason.is_none(),
            reason,
            processor_seconds: process::processor_seconds(),
            open_files: process::open_files(),
            open_files_max: process::open_files_max(),
        }
    }
}

fn of_compactor(state: &AppState) -> Option<OfCompactor> {
    let status = state.compactor.as_ref()?.status();
    Some(OfCompactor {
        running: matches!(status.state, CompactorState::Compacting { .. }),
        compactions: status.compactions,
        segments: status.segments_merged,
        quads: status.quads_merged,
        failures: status.failures,
        error: status.last_error,
    })
}

fn of_inferences(state: &AppState, snapshot: &Snapshot) -> Option<OfInferences> {
    if !snapshot.has_inferences() {
        return None;
    }
    let (version, of_version) = (snapshot.version_number(), snapshot.inferred_version());
    let up_to_date = of_version == Some(version);
    let status = state.upkeeper.as_ref().map(|upkeeper| upkeeper.status());
    let behind = |status: &UpkeeperStatus| match up_to_date {
        true => 0.0,
        false => status.behind.map_or(0.0, |behind| behind.as_secs_f64()),
    };
    let behind_seconds = status.as_ref().map(behind);
    let status = status.unwrap_or_default();
    Some(OfInferences {
        up_to_date,
        of_version,
        // Numbers of versions may be left out, as after a crash.
        behind_versions: of_version.map(|_| if up_to_date { 0 } else { snapshot.commits_in_memory() }),
        behind_seconds,
        running: status.is_running,
        gone_on: status.gone_on,
        anew: status.anew,
        overtaken: status.overtaken,
        last_seconds: status.last.map(|last| last.as_secs_f64()),
        failures: status.failures,
        error: status.last_error,
    })
}

fn of_memory(state: &AppState, cache_bytes: u64, delta_bytes: usize, query_bytes: usize) -> OfMemory {
    let pool = state.options.query.memory.as_ref();
    OfMemory {
        resident_bytes: process::resident_bytes(),
        resident_bytes_max: process::peak_resident_bytes(),
        pool_bytes_max: pool.map(|pool| pool.limit()),
        pool_bytes: pool.map(|pool| pool.used()),
        pool_bytes_peak: pool.map(|pool| pool.peak()),
        cache_bytes,
        delta_bytes,
        query_bytes,
        body_bytes: state.bodies.used(),
        encoder_bytes: state.compression.used(),
    }
}

fn of_disk(store: &Store, of_version: &DiskUse) -> OfDisk {
    let disk = process::disk_bytes(store.folder());
    let mut sums = OfDisk {
        free_bytes: disk.map(|(free, _)| free),
        total_bytes: disk.map(|(_, total)| total),
        indexes: Order::ALL.map(Order::name).into_iter().zip(of_version.permutation_bytes).collect(),
        dictionary_bytes: of_version.dictionary_bytes,
        characteristic_sets_bytes: of_version.characteristic_sets_bytes,
        ..OfDisk::default()
    };
    let mut left = FILES_MAX;
    add_files(store.folder(), &mut sums, &mut left);
    if let Ok(Some(stripes)) = stripe_folders(&**store.vfs(), store.folder()) {
        (0..stripes.folders.len())
            .for_each(|number| add_files(&stripes.own_folder(number), &mut sums, &mut left));
    }
    sums
}

/// Adds what is in a folder and those below it; what goes while it is looked at is not there.
fn add_files(folder: &Path, sums: &mut OfDisk, left: &mut usize) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            add_files(&entry.path(), sums, left);
            continue;
        }
        let (name, bytes) = (entry.file_name(), meta.len());
        sums.database_bytes += bytes;
        if name == "reserve" {
            sums.reserve_bytes += bytes;
        } else if name.to_str().is_some_and(|name| name.starts_with("log-")) {
            sums.log_bytes += bytes;
        }
    }
}

/// The figures as JSON.
pub(crate) async fn stats(State(state): State<Arc<AppState>>, client: Client) -> Result<Response, HttpError> {
    client.check(&state)?;
    let figures = work(state, |state, _| Figures::gather(state)).await?;
    let text = serde_json::to_string(&figures);
    let text = text.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(json(&(text + "\n")))
}
