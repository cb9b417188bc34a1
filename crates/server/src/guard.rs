//! The layers around all routes: they refuse what a browser sends for pages that may not use the server, and what the role of who asks has not, and tell browsers what pages may have.

use crate::access::{Identity, Operation, with_graph_rules};
use crate::body::Incoming;
use crate::error::HttpError;
use crate::kept;
use crate::limits::{Granted, Place, Who};
use crate::listener::Peer;
use crate::observe::Record;
use crate::problem;
use crate::state::{AppState, Shared};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// What the outermost layer knows.
#[derive(Clone)]
pub(crate) struct Guard {
    pub(crate) shared: Arc<Shared>,
    /// The methods that an address takes; none where there is nothing.
    pub(crate) allowed: fn(&str) -> Option<&'static str>,
    /// The answer where there is nothing.
    pub(crate) not_found: fn(&Uri) -> HttpError,
}

/// Lets a request in, or refuses it.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let origins = &guard.shared.origins;
    let origin = request.headers().get(header::ORIGIN).cloned();
    let checked =
        check_head(&request).and_then(|()| origins.check(request.method(), request.uri(), request.headers()));
    let mut response = match checked {
        Err(error) => refuse(&guard.shared, request, error).await,
        Ok(()) if request.method() == Method::OPTIONS => match (guard.allowed)(request.uri().path()) {
            Some(methods) => options(methods),
            None => (guard.not_found)(request.uri()).into_response(),
        },
        Ok(()) => next.run(request).await,
    };
    if let Some(told) = as_problem(&mut response).await {
        response = told;
    }
    origins.tell(origin.as_ref(), response.headers_mut());
    if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&response.status()) {
        // Where it stands would tell which part of the server has refused: whether there is a database of a name, say.
        let length = response.headers().get(header::CONTENT_LENGTH).cloned();
        drop_field(response.headers_mut(), &header::CONTENT_LENGTH);
        length.into_iter().for_each(|length| {
            response.headers_mut().insert(header::CONTENT_LENGTH, length);
        });
    }
    response
}

/// An error that is text, as what its client has asked for: those of the framework, and of health. None where it is good as it is.
async fn as_problem(response: &mut Response) -> Option<Response> {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || !Record::current().is_some_and(|record| record.wants_problem()) {
        return None;
    }
    let is_told =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == problem::MEDIA_TYPE);
    if is_told {
        return None;
    }
    let body = std::mem::take(response.body_mut());
    let text = axum::body::to_bytes(body, TEXT_BYTES_MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let reason = status.canonical_reason().unwrap_or("error");
    let message = if text.trim().is_empty() { reason } else { text.trim() };
    let mut told = HttpError::new(status, message).into_response();
    let own = [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::VARY];
    let others = response.headers().iter().filter(|(name, _)| !own.contains(name));
    told.headers_mut().extend(others.map(|(name, value)| (name.clone(), value.clone())));
    Some(told)
}

/// Texts of errors are a sentence.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// Takes a field away and leaves the others in their places: `HeaderMap::remove` puts the last one where it was, which tells that there was one.
pub(crate) fn drop_field(fields: &mut HeaderMap, dropped: &HeaderName) {
    if fields.contains_key(dropped) {
        let kept = fields.iter().filter(|(name, _)| *name != dropped);
        *fields = HeaderMap::from_iter(kept.map(|(name, value)| (name.clone(), value.clone())));
    }
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

/// Where a request comes from.
pub(crate) fn peer(request: &Request) -> Peer {
    request.extensions().get::<Peer>().copied().unwrap_or(Peer::Unix)
}

/// What a request of the only database asks for.
fn operation_of_only(method: &Method, path: &str) -> Operation {
    kept::operation(method, path).unwrap_or_else(|| Operation::of(method, path))
}

/// The same of one of several databases.
pub(crate) fn operation_of_one(method: &Method, path: &str) -> Operation {
    kept::operation(method, path).unwrap_or_else(|| Operation::of_one(method, path))
}

/// Lets a request of a database in, with who sends it, or refuses it.
pub(crate) async fn let_in(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let of = if state.name.is_some() { operation_of_one } else { operation_of_only };
    let operation = of(request.method(), request.uri().path());
    if let Some(record) = Record::current() {
        record.note_database(&state.counters, request.uri().path(), state.name.is_some());
    }
    let identity = state.access.identify(peer(&request), request.headers()).await;
    let identity = identity.map(|identity| identity.within(state.name.as_deref()));
    go_on(state.shared(), identity, operation, request, next).await
}

/// Lets a request of the server's own addresses in: each of them looks what it takes, the administration here, too.
pub(crate) async fn let_in_server(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let operation = match Operation::of(request.method(), request.uri().path()) {
        Operation::Administer => Operation::Administer,
        _ => Operation::Ask,
    };
    let identity = shared.access.identify(peer(&request), request.headers()).await;
    go_on(&shared, identity, operation, request, next).await
}

async fn go_on(
    shared: &Arc<Shared>,
    identity: Result<Identity, HttpError>,
    operation: Operation,
    mut request: Request,
    next: Next,
) -> Response {
    let checked = identity.and_then(|identity| shared.access.check(&identity, operation).map(|()| identity));
    let record = Record::current();
    match checked {
        Ok(identity) => {
            if let Some(record) = &record {
                record.note_who(identity.who());
            }
            let rules = identity.graph_rules();
            let granted = Granted::new(&shared.limits.get().roles, &identity);
            let counted = match kept::operation(request.method(), request.uri().path()) {
                Some(Operation::Ask) => Operation::Read,
                _ => operation,
            };
            match count(shared, &identity, &granted, counted, peer(&request)) {
                Ok(place) => record.iter().zip(place).for_each(|(record, place)| record.hold(place)),
                Err(error) => return refuse(shared, request, error).await,
            }
            request.extensions_mut().insert(granted);
            request.extensions_mut().insert(identity);
            with_graph_rules(rules, next.run(request)).await
        }
        Err(error) => {
            let has_failed =
                [StatusCode::UNAUTHORIZED, StatusCode::TOO_MANY_REQUESTS].contains(&error.status);
            if has_failed && request.headers().contains_key(header::AUTHORIZATION) {
                record.iter().for_each(|record| record.note_failed_login());
            }
            refuse(shared, request, error).await
        }
    }
}

/// Counts a request among those of its user or client. Neither what everybody may ask nor, where nobody has a name, the administration of this
/// machine counts.
fn count(
    shared: &Shared,
    identity: &Identity,
    granted: &Granted,
    operation: Operation,
    peer: Peer,
) -> Result<Option<Place>, HttpError> {
    let is_free = match operation {
        Operation::Ask => true,
        Operation::Administer => identity.name.is_none(),
        Operation::Read | Operation::Update => false,
    };
    if is_free { Ok(None) } else { shared.quotas.enter(Who::new(identity, peer), granted) }
}

/// The answer to a request that is refused, once its client can hear it.
pub(crate) async fn refuse(shared: &Arc<Shared>, request: Request, error: HttpError) -> Response {
    let (parts, body) = request.into_parts();
    let refused = Incoming::new(body, shared).refuse::<()>(&parts.headers, error).await;
    refused.map_or_else(IntoResponse::into_response, IntoResponse::into_response)
}
