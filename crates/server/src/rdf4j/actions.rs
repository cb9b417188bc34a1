//! What is done in a transaction over several requests.

use super::asked::{Asked, asker, read};
use super::parameters::Parameters;
use super::{document, download};
use crate::access::{graph_rules, with_version};
use crate::body::Incoming;
use crate::data::changed;
use crate::deadline::after;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::open_transactions::Held;
use crate::query;
use crate::request::time_limit;
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::update::json;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::store::Commit;
use lode_engine::{CancelToken, GraphRules, OpenTransaction, QuadPattern, Statements, UpdateOptions};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Begins a transaction, once others have ended.
pub(super) async fn begin(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let own = state.own_iri(request.uri(), request.headers());
    let limit = state.limits.get().update_timeout;
    let _permit = state.updates.enter(after(limit)).await?;
    let cancel = CancelToken::default();
    let mut waits = Waits(Some(cancel.clone()));
    state.transactions.wait(&cancel);
    let (at, token) = (Arc::clone(&state), cancel.clone());
    let begun = blocking(move || {
        // It asks nothing by itself: each of its requests has rules of its own.
        let mut options = at.query_options(&GraphRules::nothing());
        options.cancel = token;
        Ok(at.database.begin(&options)?)
    });
    let busy = |_| HttpError::busy("another transaction has the database: try again later");
    let open = tokio::time::timeout(limit, begun).await.map_err(busy)??;
    waits.0 = None;
    let number = state.transactions.keep(open, cancel)?;
    tokio::spawn(end_in_time(Arc::downgrade(&state), number.clone()));
    let own = own.map_or_else(String::new, |own| own.as_str().trim_end_matches('/').to_owned());
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("{own}/{number}"))]).into_response())
}

/// Stops what waits to begin when its client leaves.
struct Waits(Option<CancelToken>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.iter().for_each(CancelToken::cancel);
    }
}

/// Rolls a transaction back once nobody has asked for it for long, or it is too old: a request that is on its way ends first.
async fn end_in_time(state: Weak<AppState>, number: String) {
    let mut wait = Duration::ZERO;
    loop {
        tokio::time::sleep(wait).await;
        let Some(state) = state.upgrade() else { return };
        let (idle_max, age_max) = (state.options.transaction_idle_max, state.options.transaction_age_max);
        let Some((idle, age)) = state.transactions.idle_and_age(&number) else { return };
        let left = idle_max.saturating_sub(idle).min(age_max.saturating_sub(age));
        if !left.is_zero() {
            wait = left + Duration::from_millis(10);
            continue;
        }
        let Some(ended) = state.transactions.remove(&number) else { return };
        // Whoever still sends what is to be done in it may take as long as it likes.
        let open = ended.open.lock().await.take();
        let _ = tokio::task::spawn_blocking(move || drop((open, ended))).await;
        return;
    }
}

/// One request of a transaction.
pub(super) async fn act(
    State(state): State<Arc<AppState>>,
    Path(number): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    let held = state.transactions.get(&number)?;
    let action = match *request.method() {
        Method::DELETE => "ROLLBACK".to_owned(),
        Method::PUT | Method::POST => Parameters::of_uri(request.uri())?
            .get("action")
            .ok_or_else(|| HttpError::bad_request("what is to be done? send action=ADD, DELETE, GET, QUERY, UPDATE, SIZE, PING, PREPARE, COMMIT or ROLLBACK"))?
            .to_ascii_uppercase(),
        _ => return Err(HttpError::method("PUT, POST, DELETE, OPTIONS")),
    };
    match action.as_str() {
        "ADD" => statements_of_document(state, held, Statements::Add, request).await,
        "DELETE" => statements_of_document(state, held, Statements::Remove, request).await,
        "UPDATE" => update(state, held, request).await,
        "QUERY" => {
            let Asked { parts, parameters, text } = read(&state, request).await?;
            let query = parameters.query()?;
            let within = with(&held, |open| open.snapshot()).await?;
            let asker = asker(&state, &parts, text, Some(within));
            query::answer(state, query, asker).await
        }
        "GET" => {
            let Asked { parts, parameters, .. } = read(&state, request).await?;
            let snapshot = with(&held, |open| open.snapshot()).await?;
            download::answer(state, snapshot, parameters.pattern()?, &parts).await
        }
        "SIZE" => {
            let pattern = Parameters::of_uri(request.uri())?.pattern()?;
            let granted = Granted::of_request(&request);
            let cancel = CancelToken::new(Some(granted.time(state.limits.get().timeout)));
            let rules = graph_rules();
            let count = with(&held, move |open| pattern.count(&open.snapshot()?, &rules, &cancel)).await?;
            Ok(count.to_string().into_response())
        }
        "PING" => Ok(state.options.transaction_idle_max.as_millis().to_string().into_response()),
        // All that can fail before a commit has been done then.
        "PREPARE" => with(&held, |open| open.snapshot().map(drop)).await.map(no_content),
        "COMMIT" => {
            // Another writer may have taken over since it began.
            state.check_writable()?;
            let ended = take(&state, &number, &held).await?;
            let rules = graph_rules();
            let commit = blocking(move || Ok(ended.commit_for(&rules)?)).await?;
            changed(commit.inserted, commit.deleted, commit.version);
            let version = with_version(commit.version);
            let (inserted, deleted) = (commit.inserted, commit.deleted);
            Ok(json(&format!("{{\"inserted\":{inserted},\"deleted\":{deleted}{version}}}\n")))
        }
        "ROLLBACK" => {
            let ended = take(&state, &number, &held).await?;
            let rolled_back = move || {
                drop(ended);
                Ok(())
            };
            blocking(rolled_back).await.map(no_content)
        }
        other => Err(HttpError::bad_request(format!("{other} is no action of a transaction"))),
    }
}

/// The answer to a change, which is noted.
fn noted(commit: Commit) -> Response {
    changed(commit.inserted, commit.deleted, commit.version);
    no_content(())
}

fn no_content((): ()) -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Does something in a transaction, on a blocking thread.
async fn with<T: Send + 'static>(
    held: &Arc<Held>,
    work: impl FnOnce(&mut OpenTransaction) -> Result<T, lode_engine::EngineError> + Send + 'static,
) -> Result<T, HttpError> {
    let mut open = Arc::clone(&held.open).lock_owned().await;
    let held = Arc::clone(held);
    blocking(move || {
        let done = work(open.as_mut().ok_or_else(ended)?)?;
        held.touch();
        Ok(done)
    })
    .await
}

/// Ends a transaction, which nobody finds any more.
async fn take(state: &AppState, number: &str, held: &Held) -> Result<OpenTransaction, HttpError> {
    let mut open = held.open.lock().await;
    state.transactions.remove(number);
    open.take().ok_or_else(ended)
}

fn ended() -> HttpError {
    HttpError::new(StatusCode::NOT_FOUND, "this transaction has ended")
}

/// How a request in a transaction is run; it ends with what is returned.
fn options(
    state: &AppState,
    granted: &Granted,
    limit: Duration,
    request_bytes: usize,
) -> (UpdateOptions, CancelOnDrop) {
    let cancel = CancelToken::new(Some(granted.time(limit)));
    let mut evaluation = state.query_options(&graph_rules());
    granted.apply(&mut evaluation);
    evaluation.cancel = cancel.clone();
    evaluation.request_bytes = request_bytes;
    let (load, statement_limit) = (state.options.load.clone(), state.options.statement_limit);
    let unpacked_max = Some(state.options.decoded_bytes_max);
    let options = UpdateOptions { evaluation, load, statement_limit, unpacked_max, progress: None };
    (options, CancelOnDrop(cancel))
}

async fn update(state: Arc<AppState>, held: Arc<Held>, request: Request) -> Result<Response, HttpError> {
    let Asked { parts, parameters, text } = read(&state, request).await?;
    let update = parameters.update()?;
    let limit = time_limit(update.timeout, state.limits.get().update_timeout);
    let granted = Granted::of(&parts);
    granted.check_text(&update.update)?;
    let (mut options, _left) = options(&state, &granted, limit, text.room.bytes());
    options.evaluation.set_dataset(&update.using, &update.using_named)?;
    let base = state.own_iri(&parts.uri, &parts.headers).map(lode_rdf::NamedNode::into_string);
    options.evaluation.base_iri = options.evaluation.base_iri.or(base);
    with(&held, move |open| open.update(&update.update, &options)).await?;
    drop(text);
    Ok(no_content(()))
}

/// Adds or removes statements.
async fn statements_of_document(
    state: Arc<AppState>,
    held: Arc<Held>,
    what: Statements,
    request: Request,
) -> Result<Response, HttpError> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::of_uri(&parts.uri)?;
    let (document, room) = document::read(&state, &parts, Incoming::new(body, state.shared())).await?;
    let (mut options, _left) =
        options(&state, &Granted::of(&parts), state.limits.get().update_timeout, room.bytes());
    options.evaluation.base_iri = parameters.base()?.or(options.evaluation.base_iri);
    let graphs = parameters.contexts()?;
    with(&held, move |open| open.statements(what, document, &graphs, &options)).await?;
    drop(room);
    Ok(no_content(()))
}

/// Adds a document in a transaction of its own, after all that was there is removed if it is to take its place.
pub(super) async fn add(
    state: Arc<AppState>,
    parameters: &Parameters,
    parts: &Parts,
    body: Incoming,
    replaces: bool,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let limit = state.limits.get().update_timeout;
    let (document, room) = document::read(&state, parts, body).await?;
    let (mut options, _left) = options(&state, &Granted::of(parts), limit, room.bytes());
    options.evaluation.base_iri = parameters.base()?.or(options.evaluation.base_iri);
    let graphs = parameters.contexts()?;
    let permit = state.updates.enter(after(limit)).await?;
    blocking(move || {
        let mut open = state.database.begin(&options.evaluation)?;
        if replaces {
            open.remove(&QuadPattern { graphs: graphs.clone(), ..QuadPattern::default() }, &options)?;
        }
        open.statements(Statements::Add, document, &graphs, &options)?;
        let commit = open.commit()?;
        drop((permit, room));
        Ok(commit)
    })
    .await
    .map(noted)
}

/// Removes statements in a transaction of their own.
pub(super) async fn remove(
    state: Arc<AppState>,
    pattern: QuadPattern,
    granted: Granted,
) -> Result<Response, HttpError> {
    state.check_writable()?;
    let limit = state.limits.get().update_timeout;
    let permit = state.updates.enter(after(limit)).await?;
    let (options, _left) = options(&state, &granted, limit, 0);
    blocking(move || {
        let mut open = state.database.begin(&options.evaluation)?;
        open.remove(&pattern, &options)?;
        let commit = open.commit()?;
        drop(permit);
        Ok(commit)
    })
    .await
    .map(noted)
}
