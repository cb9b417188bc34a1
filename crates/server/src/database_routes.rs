//! The addresses of a database.

use crate::compress::compress;
use crate::error::HttpError;
use crate::protocol::{Takes, protocol};
use crate::state::AppState;
use crate::{admin, api, data, described, guard, health, kept_routes, page, page_files, shacl, why};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{any, get, post};
use std::sync::Arc;

/// All addresses of a database, those of `root` among them, without the outermost layer.
pub(crate) fn database_router(state: &Arc<AppState>, root: Router<Arc<AppState>>) -> Router {
    let public = root
        .route("/.well-known/void", get(described::void))
        .route("/health/live", get(health::live))
        .route("/$/ping", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/page/session.json", get(page_files::session))
        .route("/page/{name}", get(page_files::file))
        .route("/sparql", any(both))
        .route("/query", any(queries))
        .route("/update", any(updates))
        .route("/shacl", post(shacl::validate))
        .route("/why", get(why::explain))
        .route("/api/complete", post(api::complete))
        .route("/api/hover", post(api::hover))
        .route("/api/format", post(api::formatted))
        .route("/api/check", post(api::check))
        .route("/api/prefixes", get(api::prefixes))
        .route("/data", any(data::serve))
        .route("/data/", any(data::serve))
        .route("/data/{*path}", any(data::serve));
    let snapshots = get(admin::snapshots).post(admin::create_snapshot).delete(admin::drop_snapshot);
    let inferences = get(admin::inferences).post(admin::materialise).delete(admin::drop_inferences);
    let admin = Router::new()
        .route("/admin/stats", get(admin::stats))
        .route("/metrics", get(admin::metrics))
        .route("/admin/queries", get(admin::queries))
        .route("/admin/queries/{id}", get(admin::query_plan).delete(admin::cancel_query))
        .route("/admin/workers", get(admin::workers))
        .route("/admin/compact", post(admin::compact))
        .route("/admin/materialise", inferences)
        .route("/admin/snapshots", snapshots)
        .route("/admin/backup", post(admin::backup));
    public
        .merge(admin)
        .merge(kept_routes::routes())
        .fallback(page::not_found)
        .method_not_allowed_fallback(page::other_method)
        .layer(from_fn_with_state(Arc::clone(state), compress))
        .layer(from_fn_with_state(Arc::clone(state), guard::let_in))
        .with_state(Arc::clone(state))
}

async fn both(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Both).await
}

async fn queries(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Queries).await
}

async fn updates(state: State<Arc<AppState>>, request: Request) -> Result<Response, HttpError> {
    protocol(state.0, request, Takes::Updates).await
}
