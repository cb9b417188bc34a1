//! The addresses that there are, for a person or a tool that finds one without a query.

use crate::addresses::{OF_DATABASE, listed, methods};
use crate::error::HttpError;
use axum::http::{Method, StatusCode, Uri, header};

/// The methods that an address takes; none where there is nothing.
pub(crate) fn allowed(path: &str) -> Option<&'static str> {
    methods(OF_DATABASE, path)
}

/// Another address.
pub(crate) async fn not_found(uri: Uri) -> HttpError {
    absent(&uri)
}

/// The answer where there is nothing.
pub(crate) fn absent(uri: &Uri) -> HttpError {
    HttpError::new(
        StatusCode::NOT_FOUND,
        format!("there is nothing at {}; this server has:{}", uri.path(), listed("", OF_DATABASE)),
    )
}

/// An address that is there, asked for by a method that it has not.
pub(crate) async fn other_method(method: Method, uri: Uri) -> HttpError {
    let message =
        format!("{} does not take {method}; this server has:{}", uri.path(), listed("", OF_DATABASE));
    let error = HttpError::new(StatusCode::METHOD_NOT_ALLOWED, message);
    HttpError { field: allowed(uri.path()).map(|methods| (header::ALLOW, methods)), ..error }
}
