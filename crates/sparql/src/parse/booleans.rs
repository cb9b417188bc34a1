//! `TRUE` and `FALSE` in any case: keywords of the grammar are case-insensitive (SPARQL 1.1 section 19.8, note 1), but the parser
//! knows these two in lower case only.

use super::limits::tokens;
use std::borrow::Cow;

/// The text with boolean keywords in lower case; all offsets stay.
pub(super) fn in_lower_case(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut words = tokens(text).filter(|range| is_keyword(bytes, range.start, range.end)).peekable();
    if words.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut lowered = String::with_capacity(text.len());
    let mut done = 0;
    for word in words {
        lowered.push_str(text.get(done..word.start).unwrap_or(""));
        lowered.push_str(&text.get(word.clone()).unwrap_or("").to_ascii_lowercase());
        done = word.end;
    }
    lowered.push_str(text.get(done..).unwrap_or(""));
    Cow::Owned(lowered)
}

/// Whether a token is a boolean by itself, not in lower case, and not part of a prefixed name, a variable or a language tag.
fn is_keyword(bytes: &[u8], start: usize, end: usize) -> bool {
    let word = bytes.get(start..end).unwrap_or(&[]);
    let before = start.checked_sub(1).and_then(|at| bytes.get(at));
    let joins =
        |byte: Option<&u8>| matches!(byte, Some(b':' | b'-' | b'.' | b'@' | b'%' | b'\\' | b'0'..=b'9'));
    let any_case = word.eq_ignore_ascii_case(b"true") || word.eq_ignore_ascii_case(b"false");
    let after = bytes.get(end).filter(|byte| **byte != b'.');
    any_case && word.iter().any(u8::is_ascii_uppercase) && !joins(before) && !joins(after)
}

#[cfg(test)]
mod tests {
    //! What is a keyword and what is not.
    use super::in_lower_case;

    #[test]
    fn keywords_alone_change() {
        assert_eq!(in_lower_case("FILTER(TRUE || False)"), "FILTER(true || false)");
        assert_eq!(in_lower_case("{ ?s ?p TRUE. }"), "{ ?s ?p true. }");
        for same in [
            "?TRUE",
            "$False",
            "TRUE:x",
            "x:TRUE",
            "<http://e/TRUE>",
            "\"TRUE\"",
            "'''False'''",
            "\"x\"@TRUE",
            "# TRUE\n",
            "TRUEST",
            "a-TRUE",
            "_:TRUE",
            "true",
        ] {
            assert_eq!(in_lower_case(same), same);
        }
    }
}
