//! Help for who writes queries, as JSON: completion, hover, format, marks, prefixes. Each call is short by itself: it goes among the short queries.

mod ask;

use crate::error::HttpError;
use crate::state::AppState;
use crate::update::json_of;
use ask::{Asked, Call};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lode_assist::{Form, Prefix, format};
use lode_engine::EngineError;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Items that are answered where the client does not say how many.
const ITEMS: usize = 50;

/// A text and a place in it, in UTF-16 code units from its start.
#[derive(Deserialize)]
struct Place {
    text: String,
    position: usize,
    #[serde(default)]
    limit: Option<usize>,
}

impl Asked for Place {
    fn text(&self) -> &str {
        &self.text
    }
}

/// A text.
#[derive(Deserialize)]
struct Text {
    text: String,
    #[serde(default)]
    kind: Kind,
    /// The rules that it reasons by; without it, what the server does.
    #[serde(default)]
    reason: Option<String>,
}

/// What a text should be.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Query,
    Update,
}

impl Asked for Text {
    fn text(&self) -> &str {
        &self.text
    }
}

/// A text in good order.
#[derive(Serialize)]
struct Formatted {
    text: String,
}

/// Prefixes.
#[derive(Serialize)]
struct Prefixes {
    prefixes: Vec<Prefix>,
}

type AtState = State<Arc<AppState>>;

/// What may stand at a place.
pub(crate) async fn complete(State(state): AtState, request: Request) -> Result<Response, HttpError> {
    let call = Call::<Place>::read(&state, request).await?;
    let found = call.run(&state, |state, place, options| {
        let limit = place.limit.unwrap_or(ITEMS);
        Ok(state.assist.complete(&place.text, place.position, limit, options)?)
    });
    json_of(&found.await?)
}

/// What is known of what stands at a place.
pub(crate) async fn hover(State(state): AtState, request: Request) -> Result<Response, HttpError> {
    let call = Call::<Place>::read(&state, request).await?;
    let found = call
        .run(&state, |state, place, options| Ok(state.assist.hover(&place.text, place.position, options)?));
    match found.await? {
        Some(found) => json_of(&found),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// A text in good order.
pub(crate) async fn formatted(State(state): AtState, request: Request) -> Result<Response, HttpError> {
    let call = Call::<Text>::read(&state, request).await?;
    let text =
        call.run(&state, |_, asked, _| format(&asked.text).map_err(|error| EngineError::from(error).into()));
    json_of(&Formatted { text: text.await? })
}

/// What is wrong with a text.
pub(crate) async fn check(State(state): AtState, request: Request) -> Result<Response, HttpError> {
    let call = Call::<Text>::read(&state, request).await?;
    let checked = call.run(&state, |state, asked, options| {
        let form = match asked.kind {
            Kind::Query => Form::Query,
            Kind::Update => Form::Update,
        };
        let mut options = options.clone();
        if let Some(rules) = &asked.reason {
            options.set_rules(rules.parse().map_err(HttpError::bad_request)?);
        }
        let options = &options;
        Ok(state.assist.check(&asked.text, form, options))
    });
    json_of(&checked.await?)
}

/// The prefixes that the data uses.
pub(crate) async fn prefixes(State(state): AtState, request: Request) -> Result<Response, HttpError> {
    let call = Call::of(&state, &request, String::new());
    let prefixes = call.run(&state, |state, _, options| Ok(state.assist.prefixes(options)?));
    json_of(&Prefixes { prefixes: prefixes.await? })
}
