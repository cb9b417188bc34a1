//! `/metrics`: what is counted, and the figures of the moment, in the format of OpenMetrics 1.0, which Prometheus reads.

use super::exposition::merged;
use super::figures::{Figures, OfServer, VERSION};
use super::{Client, work};
use crate::error::HttpError;
use crate::state::{AppState, Shared};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{MemoryBudget, process};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;

/// What the answer is.
const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Values of one name.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    /// Each with its label, if it has one.
    values: Vec<(Option<(&'static str, &'static str)>, f64)>,
}

/// The figures of the moment.
#[derive(Debug, Default)]
struct Metrics(Vec<Metric>);

impl Metrics {
    fn add(&mut self, kind: MetricType, name: &'static str, help: &'static str, value: Option<f64>) {
        let values = value.map(|value| (None, value)).into_iter().collect();
        self.0.push(Metric { name, help, kind, values });
    }

    fn gauge(&mut self, name: &'static str, help: &'static str, value: impl Number) {
        self.add(MetricType::Gauge, name, help, value.number());
    }

    fn counter(&mut self, name: &'static str, help: &'static str, value: impl Number) {
        self.add(MetricType::Counter, name, help, value.number());
    }

    fn labelled(
        &mut self,
        kind: MetricType,
        (name, help, label): (&'static str, &'static str, &'static str),
        values: impl IntoIterator<Item = (&'static str, f64)>,
    ) {
        let values = values.into_iter().map(|(of, value)| (Some((label, of)), value)).collect();
        self.0.push(Metric { name, help, kind, values });
    }
}

/// What can be a value; none where nobody knows it.
trait Number {
    fn number(self) -> Option<f64>;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for bool {
    fn number(self) -> Option<f64> {
        Some(f64::from(self))
    }
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 nobody counts one by one")]
impl Number for u64 {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl Number for usize {
    fn number(self) -> Option<f64> {
        (self as u64).number()
    }
}

impl<N: Number> Number for Option<N> {
    fn number(self) -> Option<f64> {
        self.and_then(Number::number)
    }
}

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Metric { name, help, kind, values } in &self.0 {
            let mut metric = encoder.encode_descriptor(name, help, None, *kind)?;
            for (label, value) in values {
                let labels: Vec<_> = label.iter().copied().collect();
                let of_label = metric.encode_family(&labels)?;
                match kind {
                    MetricType::Counter => ConstCounter::new(*value).encode(of_label)?,
                    _ => ConstGauge::new(*value).encode(of_label)?,
                }
            }
        }
        Ok(())
    }
}

/// Those who run parts of long queries, where there are such.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn of_workers(shared: &Shared, all: &mut Metrics) {
    let Some(status) = super::workers::status(shared) else { return };
    let workers = status["workers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = |state: &str| workers.iter().filter(|worker| worker["state"] == state).count();
    let states = ["there", "away", "unknown"].map(|state| (state, count(state) as f64));
    all.labelled(MetricType::Gauge, ("lode_workers", "Those who run parts of long queries", "state"), states);
    let sum = |name: &str| workers.iter().filter_map(|worker| worker[name].as_f64()).sum::<f64>();
    let counted = [
        ("lode_workers_tasks", "Tasks that they came to the end of", "tasks"),
        ("lode_workers_rows", "Rows that they made", "rows"),
        ("lode_workers_row_bytes", "Bytes of these", "bytes"),
        ("lode_workers_exchanged_bytes", "Bytes that they took of each other", "bytes_received"),
        ("lode_workers_processor_seconds", "Time of processors for that", "processor_seconds"),
    ];
    for (name, help, field) in counted {
        all.counter(name, help, sum(field));
    }
}

/// What is of the server, whatever databases it has.
fn of_server(shared: &Shared) -> Metrics {
    let mut all = Metrics::default();
    let server = OfServer::new(shared, None);
    all.labelled(
        MetricType::Gauge,
        ("lode_build_info", "The version of the program", "version"),
        [(VERSION, 1.0)],
    );
    all.gauge("process_start_time_seconds", "When the process began, in seconds since 1970", server.started);
    all.counter(
        "process_cpu_seconds",
        "Time of processors that the process has used",
        server.processor_seconds,
    );
    all.gauge("process_open_fds", "Files that the process has open", server.open_files);
    all.gauge("process_max_fds", "Files that it may have open", server.open_files_max);
    all.gauge(
        "process_resident_memory_bytes",
        "Memory of the process that is resident",
        process::resident_bytes(),
    );
    of_pool(shared, &mut all);
    of_workers(shared, &mut all);
    all.gauge("lode_http_connections", "Connections that are open", shared.connections.len());
    let most = shared.options.connections_max;
    all.gauge("lode_http_connections_max", "Connections that may be open", most);
    let dropped = (
        "lode_log_lines_dropped",
        "Lines that a log has dropped since it could not be written fast enough",
        "log",
    );
    let logs = shared.watch.logs.all().into_iter();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let dropped_of = logs.map(|(name, log)| (name, log.dropped() as f64));
    all.labelled(MetricType::Counter, dropped, dropped_of);
    all
}

/// What is of a database.
fn of_database(figures: &Figures) -> Metrics {
    let mut all = Metrics::default();
    all.gauge("lode_ready", "Whether the server can do its work, as far as it knows", figures.server.ready);
    of_store(figures, &mut all);
    of_memory(figures, &mut all);
    of_disk(figures, &mut all);
    of_requests(figures, &mut all);
    of_link(figures, &mut all);
    all
}

fn of_inferences(figures: &Figures, all: &mut Metrics) {
    let of = figures.inferences.as_ref();
    all.gauge(
        "lode_inferences_up_to_date",
        "Whether what was inferred is what follows from the current version",
        of.map(|of| of.up_to_date),
    );
    all.gauge(
        "lode_inferences_behind_versions",
        "Versions after the one of which what was inferred is, where that is known",
        of.and_then(|of| of.behind_versions),
    );
    all.gauge(
        "lode_inferences_behind_seconds",
        "For how long there have been changes that what was inferred knows nothing of",
        of.and_then(|of| of.behind_seconds),
    );
    all.gauge(
        "lode_inferences_running",
        "Whether what was inferred is being brought up to date in the background",
        of.map(|of| of.running),
    );
    all.counter("lode_inferences_gone_on", "How often it was, by what had changed", of.map(|of| of.gone_on));
    all.counter("lode_inferences_anew", "How often it was, anew", of.map(|of| of.anew));
    all.counter(
        "lode_inferences_failures",
        "How often bringing it up to date failed",
        of.map(|of| of.failures),
    );
}

fn of_store(figures: &Figures, all: &mut Metrics) {
    let Figures { log, flush, cache, compactor, .. } = figures;
    all.gauge("lode_quads", "Quads in the current version", figures.quads);
    all.gauge("lode_version", "The number of the current version", figures.version);
    all.gauge("lode_writable", "Whether the database is open for writing", figures.writable);
    all.gauge("lode_segments", "Segments of the current version", figures.segments);
    all.gauge("lode_delta_changes", "Changes that are in no segment yet", figures.delta_changes);
    all.gauge(
        "lode_disk_full",
        "Whether the disk is so full that only what makes room is done",
        figures.disk_full,
    );
    all.counter("lode_commits", "Transactions that were written to the log", log.records);
    all.counter("lode_log_written_bytes", "Bytes that were written to logs", log.bytes);
    all.counter("lode_log_syncs", "Syncs of logs", log.syncs);
    all.counter(
        "lode_log_sync_failures",
        "Syncs of logs that failed where nobody waited for them",
        log.sync_failures,
    );
    all.gauge("lode_flush_running", "Whether changes are being written to segments", flush.running);
    all.gauge("lode_delta_fullness_percent", "How full the delta and its log are", flush.percent_full);
    all.counter("lode_flushes", "Flushes of changes to segments", flush.flushes);
    all.counter("lode_flushed_quads", "Insertions and deletions that they have written", flush.quads);
    all.counter("lode_flush_failures", "Flushes that failed", flush.failures);
    all.counter(
        "lode_commits_slowed",
        "Commits that were slowed down since changes came too fast",
        flush.slowed,
    );
    all.counter(
        "lode_commits_refused",
        "Commits that were refused since changes came too fast",
        flush.refused,
    );
    all.gauge(
        "lode_compaction_running",
        "Whether segments are being merged",
        compactor.as_ref().map(|of| of.running),
    );
    all.counter("lode_compactions", "Compactions", compactor.as_ref().map(|of| of.compactions));
    all.counter(
        "lode_compacted_segments",
        "Segments that they have merged",
        compactor.as_ref().map(|of| of.segments),
    );
    all.counter(
        "lode_compacted_quads",
        "Insertions and deletions that they have read",
        compactor.as_ref().map(|of| of.quads),
    );
    all.counter(
        "lode_compaction_failures",
        "Compactions that failed",
        compactor.as_ref().map(|of| of.failures),
    );
    of_inferences(figures, all);
    all.counter("lode_cache_hits", "Blocks that were found in the cache", cache.hits);
    all.counter("lode_cache_misses", "Blocks that had to be read", cache.misses);
    all.counter("lode_read_bytes", "Bytes of blocks that were read from files", cache.bytes_read);
    all.counter("lode_read_requests", "Requests to the device that the files are on", cache.requests);
    all.counter(
        "lode_read_merged_blocks",
        "Blocks that came with the request of another",
        cache.blocks_merged,
    );
    all.counter(
        "lode_read_ahead_blocks",
        "Blocks that were asked for before they were wanted",
        cache.blocks_ahead,
    );
    all.counter(
        "lode_read_ahead_used_blocks",
        "Of these, blocks that were wanted then",
        cache.blocks_ahead_used,
    );
    all.counter("lode_read_ahead_wasted_bytes", "Bytes read ahead that nobody wanted", cache.bytes_wasted);
    all.gauge("lode_snapshots", "Named snapshots", figures.snapshots.count);
    all.gauge(
        "lode_snapshots_damaged",
        "Named snapshots that cannot be read",
        figures.snapshots.damaged.len(),
    );
}

/// What memory is called by what takes it.
const MEMORY: (&str, &str, &str) = ("lode_memory_bytes", "Memory by what takes it", "of");

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 bytes nobody counts one by one")]
fn of_pool(shared: &Shared, all: &mut Metrics) {
    let pool = shared.options.query.memory.as_ref();
    all.gauge(
        "lode_memory_pool_max_bytes",
        "Memory that queries, updates, caches and bodies may take together",
        pool.map(MemoryBudget::limit),
    );
    all.gauge("lode_memory_pool_bytes", "Memory that they have reserved", pool.map(MemoryBudget::used));
    let peak = pool.map(MemoryBudget::peak);
    all.gauge("lode_memory_pool_peak_bytes", "The most that they had reserved", peak);
    let (bodies, encoders) = (shared.bodies.used() as f64, shared.compression.used() as f64);
    all.labelled(MetricType::Gauge, MEMORY, [("bodies", bodies), ("encoders", encoders)]);
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 bytes nobody counts one by one")]
fn of_memory(figures: &Figures, all: &mut Metrics) {
    let memory = &figures.memory;
    all.gauge("lode_cache_max_bytes", "The most that the cache of blocks keeps", figures.cache.bytes_max);
    let of = [
        ("cache", memory.cache_bytes as f64),
        ("delta", memory.delta_bytes as f64),
        ("queries", memory.query_bytes as f64),
    ];
    all.labelled(MetricType::Gauge, MEMORY, of);
}

#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 bytes nobody counts one by one")]
fn of_disk(figures: &Figures, all: &mut Metrics) {
    let disk = &figures.disk;
    all.gauge("lode_disk_free_bytes", "Bytes that are free on the database's disk", disk.free_bytes);
    all.gauge("lode_disk_size_bytes", "Bytes that this disk has", disk.total_bytes);
    all.gauge("lode_database_bytes", "Bytes of all files in the database's folder", disk.database_bytes);
    all.gauge("lode_log_bytes", "Bytes of logs among these", disk.log_bytes);
    all.gauge("lode_reserve_bytes", "Bytes of the reserve for a full disk", disk.reserve_bytes);
    all.gauge(
        "lode_snapshots_bytes",
        "Bytes of segments that only named snapshots need",
        figures.snapshots.bytes,
    );
    let indexes = disk.indexes.iter().map(|(name, bytes)| (*name, *bytes as f64));
    let others =
        [("dictionary", disk.dictionary_bytes), ("characteristic_sets", disk.characteristic_sets_bytes)];
    let others = others.map(|(name, bytes)| (name, bytes as f64));
    let parts = ("lode_index_bytes", "Bytes of each index of the current version", "index");
    all.labelled(MetricType::Gauge, parts, indexes.chain(others));
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn of_requests(figures: &Figures, all: &mut Metrics) {
    let requests = &figures.requests;
    let states = ("lode_work_now", "Queries and updates of the moment", "state");
    let now = [("running", requests.sums.running as f64), ("waiting", requests.sums.waiting as f64)];
    all.labelled(MetricType::Gauge, states, now);
    all.gauge(
        "lode_work_longest_seconds",
        "How long the oldest of them has been here",
        requests.sums.longest_seconds,
    );
}

fn of_link(figures: &Figures, all: &mut Metrics) {
    let link = figures.published.as_ref();
    all.gauge(
        "lode_published_number",
        "The number of the published version that is served, or that was published last",
        link.map(|link| link.at.number),
    );
    all.gauge(
        "lode_published_version",
        "The version of the database in it",
        link.map(|link| link.at.version),
    );
    all.gauge(
        "lode_published_epoch",
        "How often the right to publish has gone over",
        link.map(|link| link.at.epoch),
    );
    all.gauge(
        "lode_published_age_seconds",
        "Since when nobody knows whether that is the newest",
        link.and_then(|link| link.age_seconds),
    );
    all.counter(
        "lode_published_failures",
        "How often it could not be followed, or published",
        link.map(|link| link.failures),
    );
    all.gauge("lode_published_failing", "Whether that is so now", link.map(|link| link.failing));
    all.gauge(
        "lode_published_fenced",
        "Whether another writer has taken over, so that nothing may be written here",
        link.map(|link| link.fenced),
    );
}

/// All that is counted of a database, and of the server beside it.
pub(crate) async fn metrics(
    State(state): State<Arc<AppState>>,
    client: Client,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    let at = Arc::clone(&state);
    let figures = work(at, |state, _| Figures::gather(state)).await?;
    let parts = [
        (None, encoded(&state.counters.registry())?),
        (None, moment(of_server(state.shared()))?),
        (None, moment(of_database(&figures))?),
    ];
    Ok(told(&parts))
}

/// The same of all databases of a server: what is of one has its name as a label.
pub(crate) async fn metrics_of_all(
    shared: &Arc<Shared>,
    databases: Vec<(String, Arc<AppState>)>,
    client: &Client,
) -> Result<Response, HttpError> {
    client.check(shared)?;
    let mut parts =
        vec![(None, encoded(&shared.watch.counters.registry())?), (None, moment(of_server(shared))?)];
    for (name, state) in databases {
        parts.push((Some(name.clone()), encoded(&state.counters.registry())?));
        let figures = work(state, |state, _| Figures::gather(state)).await?;
        parts.push((Some(name), moment(of_database(&figures))?));
    }
    Ok(told(&parts))
}

fn told(parts: &[(Option<String>, String)]) -> Response {
    ([(header::CONTENT_TYPE, MEDIA_TYPE)], merged(parts)).into_response()
}

fn moment(metrics: Metrics) -> Result<String, HttpError> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(metrics));
    encoded(&registry)
}

fn encoded(registry: &Registry) -> Result<String, HttpError> {
    let mut text = String::new();
    let done = encode_registry(&mut text, registry);
    done.map_err(|error| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(text)
}
