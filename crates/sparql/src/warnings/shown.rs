//! How texts of queries are shown in warnings.

use std::sync::Arc;

/// Characters that are shown of an IRI or a pattern.
const IRI_CHARS_MAX: usize = 200;

/// A text on one line, or its beginning.
pub(super) fn shown(text: &str) -> Arc<str> {
    let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut start: String = text.chars().take(IRI_CHARS_MAX).map(shown).collect();
    if start.len() < text.len() {
        start.push_str("...");
    }
    start.into()
}
