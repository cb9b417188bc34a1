//! Work that is a long query by its place, its time, its memory and what may be read, and asks more than one query: validation, explanations.

use crate::access::graph_rules;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::listener::Peer;
use crate::observe::{Record, WorkKind};
use crate::request::time_limit;
use crate::running::{RequestKind, Ticket, cancelled_error};
use crate::seat::Seat;
use crate::state::AppState;
use axum::http::StatusCode;
use lode_engine::{CancelToken, DefaultGraph, GraphRules, QueryOptions};
use std::sync::Arc;
use std::time::Duration;

/// Such work, with its place among the long queries.
pub(crate) struct LongQuery {
    pub(crate) state: Arc<AppState>,
    pub(crate) cancel: CancelToken,
    pub(crate) granted: Granted,
    pub(crate) graphs: GraphRules,
    record: Option<Arc<Record>>,
    ticket: Ticket,
    /// That it has asked for.
    timeout: Option<Duration>,
    _seat: Arc<Seat>,
}

impl LongQuery {
    /// Waits for a place. `text` is what people are shown of it.
    pub(crate) async fn enter(
        state: Arc<AppState>,
        client: Peer,
        granted: Granted,
        timeout: Option<Duration>,
        text: &str,
    ) -> Result<Self, HttpError> {
        let record = Record::current();
        let limit = granted.time(time_limit(timeout, state.limits.get().timeout));
        if let Some(record) = &record {
            record.note_work(WorkKind::Query, text);
        }
        let ticket = state.running.enter(RequestKind::Query, text, client, limit);
        let place = tokio::select! {
            place = state.queries.enter(ticket.deadline()) => place?,
            () = ticket.cancelled() => return Err(cancelled_error()),
        };
        let cancel = ticket.begin();
        let seat = Seat::long(place, &state.queries);
        Ok(Self { state, cancel, granted, graphs: graph_rules(), record, ticket, timeout, _seat: seat })
    }

    /// On its blocking thread: it begins now.
    pub(crate) fn note_begun(&self) {
        if let Some(record) = &self.record {
            record.note_begun();
        }
    }

    /// How its queries are run, over the default graph, the union of all, or a named one.
    pub(crate) fn query_options(&self, graph: &str) -> Result<QueryOptions, HttpError> {
        let mut query = self.state.query_options(&self.graphs);
        query.cancel = self.cancel.clone();
        query.service = None;
        self.granted.apply(&mut query);
        match graph {
            "default" => {}
            "union" => query.default_graph = DefaultGraph::Union,
            name => query.set_dataset(&[name.to_owned()], &[])?,
        }
        Ok(query)
    }

    /// The error to tell, where one ended it.
    pub(crate) fn explain(&self, error: HttpError) -> HttpError {
        let limit = self.state.limits.get().timeout;
        let told = self.granted.timed(self.ticket.explain(error), self.timeout, limit);
        if let Some(record) = self
            .record
            .as_ref()
            .filter(|_| self.ticket.is_cancelled() && told.status == StatusCode::SERVICE_UNAVAILABLE)
        {
            record.note_cancelled();
        }
        told
    }
}
