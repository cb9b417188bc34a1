//! The layers around all routes: they refuse what a browser sends for pages that may not use the server, and what the role of who asks has not, and tell browsers what pages may have.

use crate::access::Operation;
use crate::body::Incoming;
use crate::error::HttpError;
use crate::listener::Peer;
use crate::observe::Record;
use crate::page;
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Lets a request in, or refuses it.
pub(crate) async fn guard(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let origins = &state.origins;
    let origin = request.headers().get(header::ORIGIN).cloned();
    let checked =
        check_head(&request).and_then(|()| origins.check(request.method(), request.uri(), request.headers()));
    let mut response = match checked {
        Err(error) => refuse(&state, request, error).await,
        Ok(()) if request.method() == Method::OPTIONS => match page::allowed(request.uri().path()) {
            Some(methods) => options(methods),
            None => page::not_found(request.uri().clone()).await.into_response(),
        },
        Ok(()) => next.run(request).await,
    };
    origins.tell(origin.as_ref(), response.headers_mut());
    response
}

/// Refuses heads without what HTTP asks for (RFC 9112, section 3.2). Of a `Content-Length` beside `Transfer-Encoding` nobody hears here: it was
/// dropped when the head was read, and the body ends where its chunks do.
fn check_head(request: &Request) -> Result<(), HttpError> {
    if request.version() == Version::HTTP_11 && !request.headers().contains_key(header::HOST) {
        return Err(HttpError::bad_request("the Host field is missing: HTTP/1.1 asks for it"));
    }
    Ok(())
}

/// What may be sent, for a browser that asks before it does.
fn options(methods: &'static str) -> Response {
    let head = [
        (header::ALLOW, methods),
        (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Accept, Authorization, Content-Encoding, Content-Type, If-Match, If-None-Match",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, head).into_response()
}

/// Lets a request in, with who sends it, or refuses it.
pub(crate) async fn let_in(State(state): State<Arc<AppState>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer::Unix);
    let operation = Operation::of(request.method(), request.uri().path());
    let identity = state.access.identify(peer, request.headers()).await;
    let checked = identity.and_then(|identity| state.access.check(&identity, operation).map(|()| identity));
    let record = Record::current();
    match checked {
        Ok(identity) => {
            if let Some(record) = record {
                record.note_who(identity.who());
            }
            request.extensions_mut().insert(identity);
            next.run(request).await
        }
        Err(error) => {
            let has_failed =
                [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&error.status);
            if has_failed && request.headers().contains_key(header::AUTHORIZATION) {
                record.iter().for_each(|record| record.note_failed_login());
            }
            refuse(&state, request, error).await
        }
    }
}

/// The answer to a request that is refused, once its client can hear it.
async fn refuse(state: &Arc<AppState>, request: Request, error: HttpError) -> Response {
    let (parts, body) = request.into_parts();
    let refused = Incoming::new(body, state).refuse::<()>(&parts.headers, error).await;
    refused.map_or_else(IntoResponse::into_response, IntoResponse::into_response)
}
