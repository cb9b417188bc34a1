//! A call: its body, its place among the short queries, and its time.

use crate::access::graph_rules;
use crate::body::{Incoming, Whole};
use crate::body_memory::Room;
use crate::error::HttpError;
use crate::observe::Record;
use crate::protocol::body_coding;
use crate::running::{RequestKind, Ticket, cancelled_error};
use crate::state::{AppState, CancelOnDrop, blocking};
use axum::extract::Request;
use lode_engine::QueryOptions;
use lode_rdf::NamedNode;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// The longest body: a text of this length is none that a person writes.
const BODY_BYTES_MAX: usize = 2 << 20;
/// A call waits for its place, and works, so long together at most. It has 40 ms for its work.
const TIME_MAX: Duration = Duration::from_secs(2);
/// What reading a text takes, in bytes for each of its own.
const BYTES_A_BYTE: usize = 32;
/// What candidates and their texts take besides.
const BYTES: usize = 4 << 20;

/// What has a text.
pub(super) trait Asked: DeserializeOwned + Send + 'static {
    fn text(&self) -> &str;
}

impl Asked for String {
    fn text(&self) -> &str {
        self
    }
}

/// What is asked.
pub(super) struct Call<T> {
    asked: T,
    base: Option<String>,
    ticket: Ticket,
    record: Option<Arc<Record>>,
    _room: Room,
}

impl<T: Asked> Call<T> {
    /// Reads a body.
    pub async fn read(state: &Arc<AppState>, request: Request) -> Result<Self, HttpError> {
        let (parts, body) = request.into_parts();
        let body = Incoming::new(body, state.shared());
        let body = match body_coding(&parts.headers) {
            Ok(coding) => body.decoded(coding),
            Err(error) => return body.refuse(&parts.headers, error).await,
        };
        let Whole { bytes, room } = body.collect(BODY_BYTES_MAX).await?;
        let asked = serde_json::from_slice(&bytes).map_err(|error| {
            HttpError::bad_request(format!("the body is not the JSON that is expected: {error}"))
        })?;
        let request = Request::from_parts(parts, axum::body::Body::empty());
        Ok(Self { _room: room, ..Self::of(state, &request, asked) })
    }

    /// One without a body.
    pub fn of(state: &Arc<AppState>, request: &Request, asked: T) -> Self {
        let record = Record::current();
        let client = crate::guard::peer(request);
        let ticket = state.running.enter(RequestKind::Query, asked.text(), client, TIME_MAX);
        let base = state.own_iri(request.uri(), request.headers()).map(NamedNode::into_string);
        Self { asked, base, ticket, record, _room: Room::default() }
    }

    /// Does it on a blocking thread, once there is a place among the short queries.
    pub async fn run<R: Send + 'static>(
        self,
        state: &Arc<AppState>,
        work: impl FnOnce(&AppState, &T, &QueryOptions) -> Result<R, HttpError> + Send + 'static,
    ) -> Result<R, HttpError> {
        let permit = tokio::select! {
            permit = state.short_queries.enter(self.ticket.deadline()) => permit?,
            () = self.ticket.cancelled() => return Err(cancelled_error()),
        };
        let cancel = self.ticket.begin();
        let _left = CancelOnDrop(cancel.clone());
        if let Some(record) = &self.record {
            record.note_begun();
        }
        let (state, rules) = (Arc::clone(state), graph_rules());
        blocking(move || {
            let mut options = state.query_options(&rules);
            options.cancel = cancel;
            options.base_iri = options.base_iri.or_else(|| self.base.clone());
            let bytes = self.asked.text().len().saturating_mul(BYTES_A_BYTE).saturating_add(BYTES);
            let _room =
                options.memory.as_ref().map(|memory| memory.reserve(bytes)).transpose().map_err(|_| {
                    HttpError::busy("there is no memory for this text at the moment: try again later")
                })?;
            let result = work(&state, &self.asked, &options);
            drop(permit);
            result.map_err(|error| self.ticket.explain(error))
        })
        .await
    }
}
