//! Who asks a query: what that says of how it is run and answered, wherever it runs.

use crate::body_memory::Room;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::{negotiate, offered};
use crate::observe::Record;
use crate::request::QueryRequest;
use crate::state::AppState;
use crate::written::COLUMNS_OFFERED;
use axum::http::StatusCode;
use lode_engine::store::Snapshot;
use lode_engine::{CancelToken, GraphRules, OutputFormat, PlanWarning, PreparedQuery, QueryOptions};
use std::sync::Arc;

/// Who asks, and how to answer.
pub(crate) struct Asker {
    /// The request, where it is one.
    pub(crate) record: Option<Arc<Record>>,
    /// The formats accepted.
    pub(crate) accept: String,
    /// What relative IRIs are resolved against.
    pub(crate) base: Option<String>,
    /// The room that the request's text takes among all bodies.
    pub(crate) room: Room,
    /// The graphs that there are for who asks.
    pub(crate) graphs: GraphRules,
    /// The state to ask, instead of the current version: that of a transaction on its way.
    pub(crate) within: Option<Snapshot>,
    /// What it may take.
    pub(crate) granted: Granted,
}

impl Asker {
    /// Refuses a query that would read too much, by its plan; never who may not read all graphs.
    pub(crate) fn check_reads(&self, query: &PreparedQuery) -> Result<(), HttpError> {
        match self.graphs.reads_all() {
            true => self.granted.check_reads(query.estimated_reads()),
            false => Ok(()),
        }
    }

    /// Notes something of the request.
    pub(crate) fn note(&self, note: impl FnOnce(&Record)) {
        if let Some(record) = &self.record {
            note(record);
        }
    }
}

/// What the head of an answer tells.
pub(crate) struct Head {
    pub(crate) format: OutputFormat,
    pub(crate) warnings: Arc<[PlanWarning]>,
    /// The version that it is of, for who may know how often the database has changed.
    pub(crate) version: Option<u64>,
}

impl Head {
    /// That of a query's answer.
    pub(crate) fn new(format: OutputFormat, query: &PreparedQuery, rules: &GraphRules) -> Self {
        let version = rules.reads_all().then(|| query.version_number());
        Self { format, warnings: Arc::clone(query.warnings()), version }
    }
}

/// The options of a request's query.
pub(crate) fn options(
    state: &AppState,
    request: &QueryRequest,
    asker: &Asker,
    cancel: CancelToken,
) -> Result<QueryOptions, HttpError> {
    let mut options = state.query_options(&asker.graphs);
    options.cancel = cancel;
    options.request_bytes = asker.room.bytes();
    if let (Some(service), Some(trace)) =
        (&options.service, asker.record.as_ref().and_then(|record| record.trace()))
    {
        options.service = service.traced(&trace.traceparent()).or_else(|| options.service.clone());
    }
    options.base_iri = options.base_iri.or_else(|| asker.base.clone());
    options.bindings.clone_from(&request.bindings);
    if let Some(rules) = request.reason {
        options.set_rules(rules);
    }
    options.inferred &= !request.only_stated;
    asker.granted.apply(&mut options);
    options.set_dataset(&request.default_graphs, &request.named_graphs)?;
    Ok(options)
}

/// The format of a query's answer: the one asked for, or the best of those accepted.
pub(crate) fn format_of(
    request: &QueryRequest,
    asker: &Asker,
    query: &PreparedQuery,
) -> Result<OutputFormat, HttpError> {
    let kind = query.kind();
    let format =
        request.format.map(|format| format.of_kind(kind)).or_else(|| negotiate(Some(&asker.accept), kind));
    format.ok_or_else(|| {
        let offered = offered(kind);
        let message =
            format!("none of the accepted media types fits: offered are {offered}{COLUMNS_OFFERED}");
        HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
    })
}
