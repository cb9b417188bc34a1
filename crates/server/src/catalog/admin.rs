//! The administration of several databases: listed, made, opened, closed, renamed and dropped; and what runs in all of them.

use super::root::Root;
use super::{Entry, unknown};
use crate::admin::{Client, metrics_of_all, parameter, workers_of_server};
use crate::error::HttpError;
use crate::running::RequestReport;
use crate::update::json_of;
use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;

/// A database as the administration sees it.
#[derive(Serialize)]
struct Report {
    name: String,
    /// `open` or `closed`.
    state: &'static str,
    /// Why it is closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quads: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

impl Report {
    fn new(name: String, entry: Entry) -> Self {
        match entry {
            Entry::Closed(reason) => {
                Self { name, state: "closed", reason: Some(reason), quads: None, version: None }
            }
            Entry::Open(mounted) => {
                let snapshot = mounted.state.database.snapshot();
                let (quads, version) = (Some(snapshot.quad_count()), Some(snapshot.version_number()));
                Self { name, state: "open", reason: None, quads, version }
            }
        }
    }
}

/// All databases.
pub(super) async fn list(State(root): State<Arc<Root>>, client: Client) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    let reports = root.catalog.all().into_iter().map(|(name, entry)| Report::new(name, entry));
    json_of(&reports.collect::<Vec<_>>())
}

/// One of them.
pub(super) async fn one(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    report(&root, &name)
}

fn report(root: &Root, name: &str) -> Result<Response, HttpError> {
    let entry = root.catalog.get(name).ok_or_else(|| unknown(name))?;
    json_of(&Report::new(name.to_owned(), entry))
}

/// Makes one: `?name=NAME`.
pub(super) async fn create(
    State(root): State<Arc<Root>>,
    client: Client,
    uri: Uri,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    let name = parameter(&uri, "name")?;
    root.catalog.create(&name).await?;
    let made = [(header::LOCATION, format!("/{name}"))];
    Ok((StatusCode::CREATED, made, report(&root, &name)?).into_response())
}

/// Removes one, with all its data.
pub(super) async fn remove(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    root.catalog.drop_database(&name).await?;
    json_of(&serde_json::json!({ "dropped": name }))
}

/// Opens one that is closed.
pub(super) async fn open(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    root.catalog.reopen(&name).await?;
    report(&root, &name)
}

/// Closes one.
pub(super) async fn close(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(name): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    root.catalog.close(&name).await?;
    report(&root, &name)
}

/// Gives one another name: `?to=NAME`.
pub(super) async fn rename(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(name): Path<String>,
    uri: Uri,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    let to = parameter(&uri, "to")?;
    root.catalog.rename(&name, &to).await?;
    report(&root, &to)
}

/// A request, and whose it is.
#[derive(Serialize)]
struct Of {
    database: String,
    #[serde(flatten)]
    request: RequestReport,
}

/// All queries and updates of all databases.
pub(super) async fn queries(State(root): State<Arc<Root>>, client: Client) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    let of = |(database, request)| Of { database, request };
    let all = root.catalog.running().into_iter();
    let all = all.flat_map(|(name, running)| running.list().into_iter().map(move |one| (name.clone(), one)));
    json_of(&all.map(of).collect::<Vec<_>>())
}

/// Who runs parts of long queries.
pub(super) async fn workers(State(root): State<Arc<Root>>, client: Client) -> Result<Response, HttpError> {
    workers_of_server(&root.shared, &client)
}

/// What is counted, of the server and of each database that is open.
pub(super) async fn metrics(State(root): State<Arc<Root>>, client: Client) -> Result<Response, HttpError> {
    let open = |(name, entry)| match entry {
        Entry::Open(mounted) => Some((name, Arc::clone(&mounted.state))),
        Entry::Closed(_) => None,
    };
    metrics_of_all(&root.shared, root.catalog.all().into_iter().filter_map(open).collect(), &client).await
}

/// Stops one of them.
pub(super) async fn cancel(
    State(root): State<Arc<Root>>,
    client: Client,
    Path(id): Path<u64>,
) -> Result<Response, HttpError> {
    client.check(&root.shared)?;
    if root.catalog.running().iter().any(|(_, running)| running.cancel(id)) {
        return json_of(&serde_json::json!({ "cancelled": id }));
    }
    Err(HttpError::new(StatusCode::NOT_FOUND, format!("no request {id} is running")))
}
