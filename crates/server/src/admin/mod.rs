//! What the one who runs the server wants to know and to do: only for clients on this machine, or for those who know the token.

mod backup;
mod exposition;
mod figures;
mod materialise;
mod metrics;
mod queries;
mod snapshots;
mod workers;

pub(crate) use backup::backup;
pub(crate) use figures::stats;
pub(crate) use materialise::{drop_inferences, inferences, materialise};
pub(crate) use metrics::{metrics, metrics_of_all};
pub(crate) use queries::{cancel as cancel_query, list as queries, plan as query_plan};
pub(crate) use snapshots::{create as create_snapshot, list as snapshots, remove as drop_snapshot};
pub(crate) use workers::{told as workers_of_server, workers};

use crate::access::{Identity, Operation, Role};
use crate::error::HttpError;
use crate::listener::Peer;
use crate::network::ThroughStranger;
use crate::origin::{is_of, is_sure};
use crate::state::{AppState, CancelOnDrop, Shared, blocking};
use crate::update::json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::Response;
use lode_engine::store::{CompactOptions, Store, compact as compact_store, room_to_compact};
use lode_engine::{CancelToken, EngineError};
use std::sync::Arc;

/// Makes one segment of all, while others read and write; the answer comes when that is done.
pub(crate) async fn compact(
    State(state): State<Arc<AppState>>,
    client: Client,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    state.check_writable()?;
    let report = work(Arc::clone(&state), |state, cancel| {
        let options = CompactOptions { cancel: cancel.clone(), ..CompactOptions::default() };
        compact_store(state.database.store(), &options, &Arc::default())
    })
    .await
    .map_err(|error| with_room(error, state.database.store()))?;
    Ok(json(&format!(
        "{{\"compacted\":{},\"segments\":{},\"quads\":{}}}\n",
        report.segment.is_some(),
        report.segments,
        report.quads
    )))
}

/// An error of a compaction; on a full disk with how much room is needed, and how much there is.
fn with_room(mut error: HttpError, store: &Store) -> HttpError {
    if error.status == StatusCode::INSUFFICIENT_STORAGE {
        let (needed, free) = room_to_compact(store);
        let free = free.map(|free| format!(", and {free} are free")).unwrap_or_default();
        error.message += &format!("; a compaction writes some {needed} bytes beside what there is{free}");
    }
    error
}

/// Who asks, as far as the server can tell.
pub(crate) struct Client {
    identity: Identity,
    peer: Peer,
    /// Whether it may be elsewhere although its connection is of this machine.
    through: ThroughStranger,
    headers: HeaderMap,
}

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpError> {
        let unknown = || HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the client's address is unknown");
        let peer = parts.extensions.get::<Peer>().copied().ok_or_else(unknown)?;
        let identity = parts.extensions.get().cloned().unwrap_or_default();
        let through = parts.extensions.get().copied().unwrap_or(ThroughStranger(false));
        Ok(Self { identity, peer, through, headers: parts.headers.clone() })
    }
}

impl Client {
    /// Refuses whoever has no business here.
    pub(crate) fn check(&self, state: &Shared) -> Result<(), HttpError> {
        let refused = |message| Err(HttpError::new(StatusCode::FORBIDDEN, message));
        if self.identity.role == Some(Role::Admin) || state.access.has_users() {
            return state.access.check(&self.identity, Operation::Administer);
        }
        match &state.options.admin_token {
            Some(_) => {
                let message = "send the administration's token: Authorization: Bearer TOKEN";
                Err(HttpError::new(StatusCode::UNAUTHORIZED, message))
            }
            // A name may be given to this machine's address by anybody, a web page of theirs included.
            None if self.peer.is_local() && self.through.0 => refused(
                "the administration answers on the server's own machine only, and this request came through a proxy that is not trusted \
                 (lode serve --trusted-proxy)",
            ),
            None if self.peer.is_local() && !self.is_for_sure_host() => refused(
                "without a token the administration answers to localhost or an IP number only, not to a name",
            ),
            None if self.is_of_listed_page(state) => refused(
                "pages of other origins need the administration's token (Authorization: Bearer TOKEN), and this server has none",
            ),
            None if self.peer.is_local() => Ok(()),
            None => refused(
                "the administration answers on the server's own machine only: ask there, or have the server started with a token (lode serve --admin-token TOKEN)",
            ),
        }
    }
}

impl Client {
    fn host(&self) -> Option<&str> {
        self.headers.get(header::HOST).and_then(|host| host.to_str().ok())
    }

    /// Whether a page of elsewhere asks, of those that --cors lets in.
    fn is_of_listed_page(&self, state: &Shared) -> bool {
        let origin = self.headers.get(header::ORIGIN);
        let is_own = origin.zip(self.host()).is_some_and(|(origin, host)| is_of(origin, host));
        !is_own && state.origins.is_listed(&self.headers)
    }

    /// Whether the request says by number, or not at all, whom it is for.
    fn is_for_sure_host(&self) -> bool {
        self.headers.get(header::HOST).is_none() || self.host().is_some_and(is_sure)
    }
}

/// Work on a blocking thread, cancelled when its client leaves or the server is to stop.
async fn work<T: Send + 'static, E: Into<EngineError> + 'static>(
    state: Arc<AppState>,
    work: impl FnOnce(&AppState, &CancelToken) -> Result<T, E> + Send + 'static,
) -> Result<T, HttpError> {
    let cancel = CancelToken::default();
    let _left = CancelOnDrop(cancel.clone());
    let mut stopping = state.stopping.clone();
    let token = cancel.clone();
    let done = blocking(move || work(&state, &token).map_err(|error| error.into().into()));
    tokio::pin!(done);
    tokio::select! {
        result = &mut done => return result,
        _ = stopping.wait_for(|stopping| *stopping) => {}
    }
    cancel.cancel();
    done.await
}

/// The value of a parameter that must be there, once.
pub(crate) fn parameter(uri: &Uri, name: &str) -> Result<String, HttpError> {
    let parameters = form_urlencoded::parse(uri.query().unwrap_or("").as_bytes());
    let mut values = parameters.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value),
        (None, _) => Err(HttpError::bad_request(format!("the parameter '{name}' is missing"))),
        (Some(_), Some(_)) => {
            Err(HttpError::bad_request(format!("more than one '{name}': send exactly one")))
        }
    }
}

/// Whether a parameter is there that needs no value.
fn flag(uri: &Uri, name: &str) -> bool {
    form_urlencoded::parse(uri.query().unwrap_or("").as_bytes()).any(|(key, _)| key == name)
}
