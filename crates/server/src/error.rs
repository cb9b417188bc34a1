//! Errors, as the server's starter sees them and as a client does (plain text with the fitting status).

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::store::{LoadError, SnapshotProblem, StoreError};
use lode_engine::{Cancelled, EngineError, ExecError};
use std::io::ErrorKind;
use std::net::SocketAddr;

/// Clients that are refused since too many wait may come back then.
const RETRY_AFTER_SECONDS: u32 = 1;

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The runtime or the listener failed.
    #[error("the server stopped: {0}")]
    Io(#[from] std::io::Error),
}

/// An answer that is an error: a status and a sentence.
#[derive(Debug)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// After so many seconds it may go well.
    retry_after: Option<u32>,
}

impl HttpError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }

    /// Too many want the same at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let retry_after = Some(RETRY_AFTER_SECONDS);
        Self { retry_after, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let mut message = self.message;
        message.push('\n');
        let mut response =
            (self.status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], message).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<EngineError> for HttpError {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::Syntax(_) | EngineError::Plan(_) | EngineError::Update(_) => StatusCode::BAD_REQUEST,
            EngineError::Load(LoadError::Memory { .. } | LoadError::Limit(_)) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            EngineError::Load(
                LoadError::Syntax { .. }
                | LoadError::Input { .. }
                | LoadError::Format { .. }
                | LoadError::NamesGraph { .. },
            ) => StatusCode::BAD_REQUEST,
            EngineError::Format(_) => StatusCode::NOT_ACCEPTABLE,
            EngineError::Cancelled(Cancelled::Timeout) => StatusCode::GATEWAY_TIMEOUT,
            EngineError::Cancelled(Cancelled::ByRequest) => StatusCode::SERVICE_UNAVAILABLE,
            EngineError::Store(StoreError::ReadOnly { .. }) => StatusCode::FORBIDDEN,
            EngineError::Store(StoreError::Snapshot { what, .. }) => match what {
                SnapshotProblem::Name => StatusCode::BAD_REQUEST,
                SnapshotProblem::Missing => StatusCode::NOT_FOUND,
                SnapshotProblem::Exists => StatusCode::CONFLICT,
            },
            // There is something in the folder already that no backup may replace.
            EngineError::Store(StoreError::BackupTarget { .. }) => StatusCode::CONFLICT,
            EngineError::Store(StoreError::Io { source, .. }) if is_full(source) => {
                StatusCode::INSUFFICIENT_STORAGE
            }
            EngineError::Execution(ExecError::Spill(source)) if is_full(source) => {
                StatusCode::INSUFFICIENT_STORAGE
            }
            EngineError::Execution(ExecError::Service { .. }) => StatusCode::BAD_GATEWAY,
            // It would have to be asked for less.
            EngineError::Execution(ExecError::OutOfMemory(_)) => StatusCode::PAYLOAD_TOO_LARGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.to_string())
    }
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
