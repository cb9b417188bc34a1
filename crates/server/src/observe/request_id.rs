//! Numbers of requests: what a client or a proxy gave, if that is short and printable, else one of our own.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where it stands.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ones are not taken.
const CHARS_MAX: usize = 64;

/// What all numbers of this process begin with, so that those of two starts are not the same.
static START: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish() >> 32);
static LAST: AtomicU32 = AtomicU32::new(0);

/// The number of a request.
pub(crate) fn of(headers: &HeaderMap) -> String {
    let mut sent = headers.get_all(REQUEST_ID).iter();
    let text = sent.next().and_then(|value| value.to_str().ok());
    match text {
        Some(text) if sent.next().is_none() && is_fit(text) => text.to_owned(),
        _ => made(),
    }
}

/// Nothing that a log, a shell or a terminal takes for something else.
fn is_fit(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-_.:/+=@".contains(&c);
    (1..=CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

fn made() -> String {
    let mut text = String::with_capacity(16);
    let _ = write!(text, "{:08x}{:08x}", *START, LAST.fetch_add(1, Ordering::Relaxed));
    text
}

/// The same as a field.
pub(crate) fn field(id: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(id).ok()
}
