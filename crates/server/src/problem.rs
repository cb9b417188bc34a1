//! Errors as programs read them: `application/problem+json` (RFC 9457).

use axum::http::StatusCode;
use lode_assist::Mark;
use lode_engine::ParseError;
use serde::Serialize;

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// An error. There is no page about any kind of them: its status says of which it is.
#[derive(Debug, Serialize)]
pub(crate) struct Problem<'a> {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    /// What would be right, of the first mistake.
    #[serde(skip_serializing_if = "str::is_empty")]
    hint: &'a str,
    /// What is wrong with the text that was sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Mark>,
    /// The number of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(
        status: StatusCode,
        message: &str,
        syntax: Option<&'a ParseError>,
        request: Option<&'a str>,
    ) -> Self {
        Self {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            // The line and its marks are for terminals.
            detail: syntax.map_or_else(|| message.to_owned(), in_short),
            hint: syntax.map_or("", |error| &error.help),
            errors: syntax.map_or_else(Vec::new, Mark::of_error),
            request,
        }
    }

    pub(crate) fn to_text(&self) -> String {
        // Nothing in it has no form in JSON.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// Where it is and what, and how much else is wrong.
fn in_short(error: &ParseError) -> String {
    let more = match error.more.len() {
        0 => String::new(),
        1 => " (and another mistake)".to_owned(),
        more => format!(" (and {more} other mistakes)"),
    };
    match error.line {
        0 => format!("{}{more}", error.message),
        line => format!("line {line}, column {}: {}{more}", error.column, error.message),
    }
}
