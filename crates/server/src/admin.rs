//! What the one who runs the server wants to know: only for clients on this machine, or for those who know the token.

use crate::error::HttpError;
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::update::json;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use lode_engine::store::{CompactOptions, CompactorState, compact as compact_store};
use lode_engine::{CancelToken, EngineError};
use std::net::SocketAddr;
use std::sync::Arc;

/// Figures of the moment.
pub(crate) async fn stats(
    State(state): State<Arc<AppState>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    check(&state, client, &headers)?;
    let store = state.database.store();
    let snapshot = store.snapshot();
    let (cache, log) = (store.cache_counters(), store.log_counters());
    let compactor = state.options.compactor.as_ref().map(|compactor| {
        let status = compactor.status();
        let running = matches!(status.state, CompactorState::Compacting { .. });
        format!(
            "{{\"running\":{running},\"compactions\":{},\"quads\":{},\"failures\":{}}}",
            status.compactions, status.quads_merged, status.failures
        )
    });
    Ok(json(&format!(
        "{{\"quads\":{},\"version\":{},\"writable\":{},\"segments\":{},\"delta_changes\":{},\
         \"log\":{{\"records\":{},\"bytes\":{},\"syncs\":{}}},\
         \"cache\":{{\"hits\":{},\"misses\":{},\"bytes\":{}}},\"compactor\":{}}}\n",
        snapshot.quad_count(),
        snapshot.version_number(),
        store.is_writable(),
        snapshot.segment_count(),
        snapshot.delta_changes(),
        log.records,
        log.bytes,
        log.syncs,
        cache.hits,
        cache.misses,
        cache.bytes_held,
        compactor.as_deref().unwrap_or("null"),
    )))
}

/// Makes one segment of all, while others read and write; the answer comes when that is done.
pub(crate) async fn compact(
    State(state): State<Arc<AppState>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    check(&state, client, &headers)?;
    state.check_writable()?;
    let cancel = CancelToken::default();
    let _left = CancelOnDrop(cancel.clone());
    let report = blocking(move || {
        let options = CompactOptions { cancel, ..CompactOptions::default() };
        let report = compact_store(state.database.store(), &options, &Arc::default());
        report.map_err(|error| EngineError::from(error).into())
    })
    .await?;
    Ok(json(&format!(
        "{{\"compacted\":{},\"segments\":{},\"quads\":{}}}\n",
        report.segment.is_some(),
        report.segments,
        report.quads
    )))
}

fn check(state: &AppState, client: SocketAddr, headers: &HeaderMap) -> Result<(), HttpError> {
    let refused = |message| Err(HttpError::new(StatusCode::FORBIDDEN, message));
    if headers.contains_key(header::ORIGIN) {
        return refused("the administration does not answer to web pages");
    }
    match &state.options.admin_token {
        Some(token) => {
            let given = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
            if given.is_some_and(|given| is_equal(given, format!("Bearer {token}").as_bytes())) {
                return Ok(());
            }
            let message = "send the token of --admin-token: Authorization: Bearer TOKEN";
            Err(HttpError::new(StatusCode::UNAUTHORIZED, message))
        }
        None if client.ip().to_canonical().is_loopback() => Ok(()),
        None => refused("the administration answers on this machine only, unless there is an --admin-token"),
    }
}

/// Compares in a time that tells nothing of where the difference is.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}
