//! The layers around all routes: they refuse what a browser sends for pages that may not use the server, and what the role of who asks has not, and tell browsers what pages may have.

use crate::access::Operation;
use crate::body::Incoming;
use crate::error::HttpError;
use crate::listener::Peer;
use crate::page;
use crate::state::AppState;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// Lets a request in, or refuses it.
pub(crate) async fn guard(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let origins = &state.origins;
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match origins.check(request.method(), request.uri(), request.headers()) {
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
    match checked {
        Ok(identity) => {
            request.extensions_mut().insert(identity);
            next.run(request).await
        }
        Err(error) => refuse(&state, request, error).await,
    }
}

/// The answer to a request that is refused, once its client can hear it.
async fn refuse(state: &Arc<AppState>, request: Request, error: HttpError) -> Response {
    let (parts, body) = request.into_parts();
    let refused = Incoming::new(body, state).refuse::<()>(&parts.headers, error).await;
    refused.map_or_else(IntoResponse::into_response, IntoResponse::into_response)
}
