//! What is counted of requests, for `/metrics`. All labels have values of this program, so no client can make more of them.

use super::stages::{Stages, WorkKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// The upper bounds of the classes of times, in seconds.
const SECONDS: [f64; 17] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
    role: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WorkLabels {
    kind: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StageLabels {
    kind: &'static str,
    stage: &'static str,
}

/// A histogram of times.
fn times() -> Histogram {
    Histogram::new(SECONDS)
}

type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// A request, as it is counted.
pub(super) struct Counted {
    pub(super) route: &'static str,
    pub(super) status: u16,
    pub(super) role: &'static str,
    pub(super) took: Duration,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
}

/// A query, an update, an upload or a download, as it is counted.
pub(super) struct CountedWork {
    pub(super) kind: WorkKind,
    pub(super) result: &'static str,
    pub(super) stages: Stages,
    pub(super) rows: u64,
    pub(super) spilled_bytes: u64,
}

/// The counters.
#[derive(Debug)]
pub(crate) struct Counters {
    requests: Family<RequestLabels, Counter>,
    times: Times<RouteLabels>,
    in_flight: Gauge,
    bytes_in: Counter,
    bytes_out: Counter,
    work: Family<WorkLabels, Counter>,
    stages: Times<StageLabels>,
    rows: Counter,
    spilling_queries: Counter,
    spilled_bytes: Counter,
    slow: Counter,
    failed_logins: Counter,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            times: Family::new_with_constructor(times),
            in_flight: Gauge::default(),
            bytes_in: Counter::default(),
            bytes_out: Counter::default(),
            work: Family::default(),
            stages: Family::new_with_constructor(times),
            rows: Counter::default(),
            spilling_queries: Counter::default(),
            spilled_bytes: Counter::default(),
            slow: Counter::default(),
            failed_logins: Counter::default(),
        }
    }
}

impl Counters {
    /// All of them, with names and meanings.
    pub(crate) fn registry(&self) -> Registry {
        let mut all = Registry::with_prefix("lode");
        all.register("http_requests", "Requests that were answered, or given up", self.requests.clone());
        let times = "Time from a request's head to the last byte of its answer";
        all.register("http_request_duration_seconds", times, self.times.clone());
        all.register("http_requests_in_flight", "Requests that are being answered", self.in_flight.clone());
        all.register("http_request_bytes", "Bytes of requests' bodies, as they came", self.bytes_in.clone());
        all.register(
            "http_response_bytes",
            "Bytes of answers' bodies, as they were sent",
            self.bytes_out.clone(),
        );
        all.register(
            "work",
            "Queries, updates, uploads and downloads, by what became of them",
            self.work.clone(),
        );
        let stages = "Time of each stage: until there was a place (wait), to parse and plan (plan), to compute and write the answer \
                      (execute), and until the client had taken it (deliver)";
        all.register("work_stage_seconds", stages, self.stages.clone());
        all.register("query_rows", "Rows and triples of queries' answers", self.rows.clone());
        let spilling = "Queries that wrote to temporary files";
        all.register("query_spills", spilling, self.spilling_queries.clone());
        let spilled = "Bytes that queries wrote to temporary files";
        all.register("query_spilled_bytes", spilled, self.spilled_bytes.clone());
        all.register("slow_work", "Queries and updates that went to the slow-query log", self.slow.clone());
        all.register(
            "failed_logins",
            "Requests with a name, password or token that was refused",
            self.failed_logins.clone(),
        );
        all
    }

    pub(super) fn in_flight(&self, more: i64) {
        self.in_flight.inc_by(more);
    }

    pub(super) fn slow(&self) {
        self.slow.inc();
    }

    /// A login was refused.
    pub(crate) fn failed_login(&self) {
        self.failed_logins.inc();
    }

    pub(super) fn count(&self, request: &Counted) {
        let &Counted { route, status, role, took, bytes_in, bytes_out } = request;
        self.requests.get_or_create(&RequestLabels { route, status, role }).inc();
        self.times.get_or_create(&RouteLabels { route }).observe(took.as_secs_f64());
        self.bytes_in.inc_by(bytes_in);
        self.bytes_out.inc_by(bytes_out);
    }

    pub(super) fn count_work(&self, work: &CountedWork) {
        let kind = work.kind.name();
        self.work.get_or_create(&WorkLabels { kind, result: work.result }).inc();
        for (stage, time) in work.stages.named() {
            self.stages.get_or_create(&StageLabels { kind, stage }).observe(time.as_secs_f64());
        }
        self.rows.inc_by(work.rows);
        if work.spilled_bytes > 0 {
            self.spilling_queries.inc();
            self.spilled_bytes.inc_by(work.spilled_bytes);
        }
    }
}
