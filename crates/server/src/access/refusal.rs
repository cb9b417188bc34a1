//! The answer to who must log in, or log in again.

use crate::error::HttpError;
use axum::http::{StatusCode, header};

/// What to log in with.
const CHALLENGE: &str = "Basic realm=\"lode\", charset=\"UTF-8\", Bearer realm=\"lode\"";
/// The same for who has sent a token that is not believed (RFC 6750, section 3.1).
pub(super) const CHALLENGE_TOKEN: &str =
    "Basic realm=\"lode\", charset=\"UTF-8\", Bearer realm=\"lode\", error=\"invalid_token\"";

/// Who asks is not known.
pub(super) fn unauthorized(message: impl Into<String>) -> HttpError {
    let error = HttpError::new(StatusCode::UNAUTHORIZED, message);
    HttpError { field: Some((header::WWW_AUTHENTICATE, CHALLENGE)), ..error }
}
