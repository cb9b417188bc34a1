//! The addresses of kept queries: they are listed, shown, kept, removed, and run.

mod change;
mod run;

use crate::state::AppState;
use axum::Router;
use axum::routing::get;
use std::sync::Arc;

/// The addresses.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    let one = get(run::run).post(run::run).put(change::put).delete(change::remove);
    Router::new()
        .route("/queries", get(change::list))
        .route("/queries/{id}", one)
        .route("/queries/{id}/text", get(change::text))
}
