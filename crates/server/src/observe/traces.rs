//! Traces for a collector of OpenTelemetry: requests and their stages as spans, sent by OTLP over HTTP as JSON.
//!
//! The protocol's JSON is stable and small: to write it takes less than this file, where the crates of OpenTelemetry bring prost, tonic and a
//! client of their own. What waits to be sent has a limit; beyond it spans are dropped and counted, so that a collector that is down holds
//! nobody up.

use super::stages::Stages;
use super::trace_context::{TraceContext, new_span};
use lode_engine::web;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Requests that wait to be sent,
const WAITING_MAX: usize = 2048;
/// and that are sent at once; or as many as come in so long.
const BATCH_MAX: usize = 256;
const BATCH_EVERY: Duration = Duration::from_secs(1);
/// So long a collector may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// That it cannot be reached is told so often.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// What is below the address of a collector.
const PATH: &str = "/v1/traces";
/// Kinds of spans: within a process, and of a server.
const INTERNAL: u8 = 1;
const SERVER: u8 = 2;

/// Where traces go.
pub struct Traces {
    sender: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
    /// Of requests that are of no trace such a part is told.
    ratio: f64,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "traces ({} dropped)", self.dropped.load(Ordering::Relaxed))
    }
}

enum Message {
    Request(Box<Traced>),
    /// All before it is to be sent.
    Sent(SyncSender<()>),
}

/// A request that has ended.
pub(super) struct Traced {
    pub(super) context: TraceContext,
    pub(super) arrived: SystemTime,
    pub(super) took: Duration,
    /// The name of what it is, for people.
    pub(super) name: String,
    pub(super) status: u16,
    pub(super) error: Option<String>,
    pub(super) stages: Option<Stages>,
    /// What is known of it.
    pub(super) attributes: Vec<(&'static str, Value)>,
}

impl Traces {
    /// Sends to the collector at this address, of requests that are of no trace yet such a part (0 to 1).
    ///
    /// # Errors
    /// Where the address is none of HTTP.
    pub fn start(address: &str, ratio: f64) -> Result<Arc<Self>, String> {
        if !web::is_url(address) {
            return Err("the address of a collector begins with http:// or https://".to_owned());
        }
        let address = address.trim_end_matches('/');
        let address = if address.ends_with(PATH) { address.to_owned() } else { format!("{address}{PATH}") };
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let dropped = Arc::<AtomicU64>::default();
        let mut exporter = Exporter { address, dropped: Arc::clone(&dropped), told: None };
        std::thread::spawn(move || exporter.run(&receiver));
        Ok(Arc::new(Self { sender, dropped, ratio }))
    }

    /// Whether a request that is of no trace is told.
    pub(super) fn is_chosen(&self) -> bool {
        if self.ratio >= 1.0 {
            return true;
        }
        let mut random = [0; 4];
        let drawn = getrandom::fill(&mut random).map(|()| u32::from_le_bytes(random));
        drawn.is_ok_and(|drawn| f64::from(drawn) < self.ratio * f64::from(u32::MAX))
    }

    /// Hands over a request.
    pub(super) fn tell(&self, traced: Traced) {
        if self.sender.try_send(Message::Request(Box::new(traced))).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits a short time until all that was handed over is sent.
    pub fn flush(&self) {
        let (done, is_done) = sync_channel(1);
        if self.sender.try_send(Message::Sent(done)).is_ok() {
            let _ = is_done.recv_timeout(BATCH_EVERY);
        }
    }
}

/// What sends.
struct Exporter {
    address: String,
    dropped: Arc<AtomicU64>,
    told: Option<Instant>,
}

impl Exporter {
    /// Until nobody has anything to send any more.
    fn run(&mut self, receiver: &Receiver<Message>) {
        let mut batch: Vec<Traced> = Vec::new();
        let mut since = Instant::now();
        loop {
            let left = BATCH_EVERY.saturating_sub(since.elapsed());
            let mut waits = None;
            match receiver.recv_timeout(left) {
                Ok(Message::Request(traced)) => batch.push(*traced),
                Ok(Message::Sent(done)) => waits = Some(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.send(&batch);
                    return;
                }
            }
            if waits.is_some() || batch.len() >= BATCH_MAX || since.elapsed() >= BATCH_EVERY {
                self.send(&batch);
                batch.clear();
                since = Instant::now();
            }
            if let Some(done) = waits {
                let _ = done.try_send(());
            }
        }
    }

    fn send(&mut self, batch: &[Traced]) {
        if batch.is_empty() {
            return;
        }
        let sent = web::send_document(
            &self.address,
            "application/json",
            document(batch).to_string().as_bytes(),
            TIMEOUT,
        );
        let Err(error) = sent else { return };
        self.dropped.fetch_add(batch.len() as u64, Ordering::Relaxed);
        if self.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            self.told = Some(Instant::now());
            let dropped = self.dropped.load(Ordering::Relaxed);
            tracing::warn!("traces: {}: {error}; {dropped} requests were not told so far", self.address);
        }
    }
}

/// An `ExportTraceServiceRequest`.
fn document(batch: &[Traced]) -> Value {
    let spans: Vec<Value> = batch.iter().flat_map(Traced::spans).collect();
    let resource = [("service.name", json!("lode")), ("service.version", json!(env!("CARGO_PKG_VERSION")))];
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(&resource) },
        "scopeSpans": [{ "scope": { "name": "lode" }, "spans": spans }],
    }] })
}

impl Traced {
    /// The request, and its stages one after the other, as they were summed up: what its writer waited for the client counts as delivery.
    fn spans(&self) -> Vec<Value> {
        let context = &self.context;
        let begin = self.arrived.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut own =
            span(context, &context.span, context.parent.as_deref(), &self.name, SERVER, (begin, self.took));
        own["attributes"] = attributes(&self.attributes);
        if self.status >= 500 {
            own["status"] = json!({ "code": 2, "message": self.error.as_deref().unwrap_or_default() });
        }
        let mut all = vec![own];
        let mut at = begin;
        for (name, took) in self.stages.iter().flat_map(Stages::named).filter(|(_, took)| !took.is_zero()) {
            if let Some(id) = new_span() {
                all.push(span(context, &id, Some(&context.span), name, INTERNAL, (at, took)));
            }
            at += took;
        }
        all
    }
}

fn span(
    context: &TraceContext,
    id: &str,
    parent: Option<&str>,
    name: &str,
    kind: u8,
    (begin, took): (Duration, Duration),
) -> Value {
    json!({
        "traceId": context.trace,
        "spanId": id,
        "parentSpanId": parent.unwrap_or_default(),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": begin.as_nanos().to_string(),
        "endTimeUnixNano": (begin + took).as_nanos().to_string(),
    })
}

/// Attributes as the protocol has them: whole numbers are texts.
fn attributes(all: &[(&'static str, Value)]) -> Value {
    let typed = |value: &Value| match value {
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::Bool(value) => json!({ "boolValue": value }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    all.iter().map(|(key, value)| json!({ "key": key, "value": typed(value) })).collect()
}
