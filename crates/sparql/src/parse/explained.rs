//! Errors that say what the mistake is.

use super::error::ParseError;
use super::functions::VOCABULARY;
use lode_syntax::{Diagnostic, Form, check};

/// Longer texts are not looked at a second time.
const BYTES_MAX: usize = 1 << 20;

/// What is wrong with a text that was refused with `error`: that, where nothing more is known.
pub(super) fn of(text: &str, form: Form, error: ParseError) -> ParseError {
    if text.len() > BYTES_MAX {
        return error;
    }
    let found = check(text, form, &VOCABULARY);
    let mut found = found.into_iter().map(|diagnostic| told(text, diagnostic));
    match found.next() {
        Some(first) => ParseError { more: found.collect(), ..first },
        None => error,
    }
}

/// A diagnostic as an error.
pub(super) fn told(text: &str, diagnostic: Diagnostic) -> ParseError {
    let Diagnostic { span, message, help } = diagnostic;
    let error = ParseError::at(text, span, message);
    ParseError { help: help.unwrap_or_default().into(), ..error }
}
