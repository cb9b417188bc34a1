//! Queries are listed, shown, kept and removed.

use super::run::{absent, base};
use crate::access::Identity;
use crate::admin::Client;
use crate::body::Incoming;
use crate::error::HttpError;
use crate::kept::{KeptQuery, Kind, Parameter, Runner, is_reserved};
use crate::limits::RoleLimits;
use crate::protocol::body_coding;
use crate::request::content_type;
use crate::state::{AppState, blocking};
use crate::update::json_of;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{CancelToken, query_variables};
use serde::Serialize;
use std::sync::Arc;

/// The longest text of one.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// The longest description, and default of a parameter.
const WORDS_BYTES_MAX: usize = 4 << 10;
/// The most parameters of one.
const PARAMETERS_MAX: usize = 64;
/// The longest name of a query, and of a parameter.
const NAME_BYTES_MAX: usize = 64;
const QUERY: &str = "application/sparql-query";

/// A query for who may run it.
#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    role: Runner,
    #[serde(skip_serializing_if = "str::is_empty")]
    limits: &'a str,
    parameters: &'a [Parameter],
}

impl<'a> Listed<'a> {
    fn new(id: &'a str, kept: &'a KeptQuery) -> Self {
        let KeptQuery { description, role, limits, parameters, .. } = kept;
        Self { id, description, role: *role, limits, parameters }
    }
}

/// Those that one may run.
pub(super) async fn list(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let identity = request.extensions().get::<Identity>().cloned().unwrap_or_default();
    let all = state.kept.now(state.database.store(), state.memory())?;
    let own = all.iter().filter(|(_, kept)| kept.role.includes(&identity));
    json_of(&own.map(|(id, kept)| Listed::new(id, kept)).collect::<Vec<_>>())
}

/// The text of one.
pub(super) async fn text(
    State(state): State<Arc<AppState>>,
    client: Client,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    let all = state.kept.now(state.database.store(), state.memory())?;
    let kept = all.get(&id).ok_or_else(|| absent(&id))?;
    Ok(([(header::CONTENT_TYPE, QUERY)], kept.text.clone()).into_response())
}

/// Keeps one, in the place of one of the same name.
pub(super) async fn put(
    State(state): State<Arc<AppState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, HttpError> {
    let (mut parts, body) = request.into_parts();
    let client = Client::from_request_parts(&mut parts, &state).await?;
    let body = Incoming::new(body, state.shared());
    let checked = || {
        client.check(&state)?;
        state.check_writable()?;
        check_name(&id)?;
        let kept = declared(parts.uri.query().unwrap_or(""))?;
        if content_type(&parts.headers).as_deref() != Some(QUERY) {
            let message =
                format!("the text of a query is sent as {QUERY} (curl -H 'Content-Type: {QUERY}' -T FILE)");
            return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        Ok((kept, body_coding(&parts.headers)?))
    };
    let (mut kept, coding) = match checked() {
        Ok(found) => found,
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    let whole = body.decoded(coding).collect(TEXT_BYTES_MAX).await?;
    kept.text =
        String::from_utf8(whole.bytes).map_err(|_| HttpError::bad_request("the query is not UTF-8"))?;
    let kept = validated(&state, kept, &parts.headers).await?;
    let _turn = state.kept.change.lock().await;
    let (at, name, answer) = (Arc::clone(&state), id.clone(), json_of(&Listed::new(&id, &kept))?);
    let memory = state.options.query.memory.clone();
    let was_there =
        blocking(move || at.kept.set(&name, Some(kept), at.database.store(), memory.as_ref())).await?;
    let status = if was_there { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, answer).into_response())
}

/// Removes one.
pub(super) async fn remove(
    State(state): State<Arc<AppState>>,
    client: Client,
    Path(id): Path<String>,
) -> Result<Response, HttpError> {
    client.check(&state)?;
    state.check_writable()?;
    let _turn = state.kept.change.lock().await;
    if !state.kept.now(state.database.store(), state.memory())?.contains_key(&id) {
        return Err(absent(&id));
    }
    let (at, name, memory) = (Arc::clone(&state), id.clone(), state.options.query.memory.clone());
    blocking(move || at.kept.set(&name, None, at.database.store(), memory.as_ref())).await?;
    json_of(&serde_json::json!({ "removed": id }))
}

fn check_name(id: &str) -> Result<(), HttpError> {
    let is_fit = |c: u8| c.is_ascii_alphanumeric() || b"-_.".contains(&c);
    if (1..=NAME_BYTES_MAX).contains(&id.len()) && !id.starts_with('.') && id.bytes().all(is_fit) {
        return Ok(());
    }
    Err(HttpError::bad_request(format!(
        "the name of a query has 1 to {NAME_BYTES_MAX} letters, digits, and - _ . (no . at its beginning)"
    )))
}

/// What the address says of a query.
fn declared(uri_query: &str) -> Result<KeptQuery, HttpError> {
    let mut kept = KeptQuery {
        text: String::new(),
        description: String::new(),
        role: Runner::default(),
        limits: String::new(),
        parameters: Vec::new(),
    };
    for (name, value) in form_urlencoded::parse(uri_query.as_bytes()) {
        match name.as_ref() {
            "role" => {
                kept.role = Runner::of_name(&value).ok_or_else(|| {
                    HttpError::bad_request("role: expected anybody, read, update or admin: who may run it")
                })?;
            }
            "description" if value.len() <= WORDS_BYTES_MAX => kept.description = value.into_owned(),
            "description" => return Err(too_long("description")),
            "limits" => {
                let limits: RoleLimits = value.parse().map_err(HttpError::bad_request)?;
                let of_roles = limits.requests.is_some() || limits.requests_a_minute.is_some();
                if of_roles || limits.query_bytes.is_some() {
                    let message = "requests, requests-a-minute and query-bytes are limits of roles: a query has none of its own";
                    return Err(HttpError::bad_request(message));
                }
                kept.limits = limits.to_string();
            }
            "parameter" => kept.parameters.push(parameter(&value)?),
            other => {
                return Err(HttpError::bad_request(format!(
                    "there is no parameter '{}': known are role, description, limits=LIMIT=VALUE,... and parameter=NAME:TYPE or \
                     NAME:TYPE=DEFAULT, repeatable",
                    other.chars().take(100).collect::<String>().escape_debug()
                )));
            }
        }
    }
    let names: Vec<&str> = kept.parameters.iter().map(|one| one.name.as_str()).collect();
    if names.len() > PARAMETERS_MAX {
        return Err(HttpError::bad_request(format!("a query has up to {PARAMETERS_MAX} parameters")));
    }
    if let Some(name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        return Err(HttpError::bad_request(format!("the parameter {} is declared twice", name.1)));
    }
    Ok(kept)
}

fn too_long(what: &str) -> HttpError {
    HttpError::bad_request(format!("the {what} has more than {WORDS_BYTES_MAX} bytes"))
}

/// `name:type`, `name:type=default`.
fn parameter(text: &str) -> Result<Parameter, HttpError> {
    let wrong = |what: String| {
        let shown: String = text.chars().take(100).collect();
        HttpError::bad_request(format!("parameter={}: {what}", shown.escape_debug()))
    };
    let (name, rest) = text.split_once(':').ok_or_else(|| {
        wrong("expected NAME:TYPE or NAME:TYPE=DEFAULT, such as product:iri or least:integer=1".to_owned())
    })?;
    let is_fit = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_fit) {
        return Err(wrong("its name is that of a variable: letters, digits and _".to_owned()));
    }
    if is_reserved(name) {
        return Err(wrong(format!("{name} says how every query is answered: choose another name")));
    }
    // An IRI may have the sign in it.
    let end = if rest.starts_with('<') { rest.find('>').map_or(rest.len(), |at| at + 1) } else { 0 };
    let at = rest[end..].find('=').map(|at| at + end);
    let (kind, default) = match at {
        Some(at) => (&rest[..at], Some(rest[at + 1..].to_owned())),
        None => (rest, None),
    };
    let kind: Kind = kind.parse().map_err(wrong)?;
    if let Some(value) = &default {
        if value.len() > WORDS_BYTES_MAX {
            return Err(too_long("default"));
        }
        kind.term(value).map_err(wrong)?;
    }
    Ok(Parameter { name: name.to_owned(), kind, default })
}

/// The query, if it can be parsed and planned with values of these types.
async fn validated(
    state: &Arc<AppState>,
    kept: KeptQuery,
    headers: &HeaderMap,
) -> Result<KeptQuery, HttpError> {
    let (at, base) = (Arc::clone(state), base(state, headers));
    blocking(move || {
        let variables = query_variables(&kept.text, base.as_deref())?;
        if let Some(one) = kept.parameters.iter().find(|one| !variables.contains(&one.name)) {
            let all: Vec<String> = variables.iter().map(|name| format!("?{name}")).collect();
            return Err(HttpError::bad_request(format!(
                "the parameter {} is no variable of the query, which has {}",
                one.name,
                if all.is_empty() { "none".to_owned() } else { all.join(", ") }
            )));
        }
        let mut options = at.options.query.clone();
        options.cancel = CancelToken::new(Some(at.limits.get().timeout));
        options.base_iri = options.base_iri.or(base);
        let sample = |one: &Parameter| (one.name.clone(), one.kind.sample());
        options.bindings = kept.parameters.iter().map(sample).collect();
        at.database.prepare(&kept.text, &options)?;
        Ok(kept)
    })
    .await
}
