//! Places as the protocol has them, lines and UTF-16 code units in a line, and as the service has them, UTF-16 code units from the start.

use serde_json::{Value, json};

/// The lines of a text with their ends: `\n`, `\r\n` or `\r`.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = line.find(['\n', '\r']).map(|at| at + if line[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, next) = match end {
            Some(end) => (&line[..end], Some(&line[end..])),
            None => (line, None),
        };
        rest = next;
        Some(line)
    })
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Code units from the start; a place behind a line is at its end, one behind the text at that of the text.
pub fn offset(text: &str, line: usize, character: usize) -> usize {
    let mut before = 0;
    for (number, content) in lines(text).enumerate() {
        if number == line {
            return before + character.min(units(content.trim_end_matches(['\n', '\r'])));
        }
        before += units(content);
    }
    before
}

/// The place of an offset.
pub fn place(text: &str, offset: usize) -> Value {
    let (mut before, mut last) = (0, (0, 0));
    for (line, content) in lines(text).enumerate() {
        let length = units(content);
        let has_end = content.ends_with(['\n', '\r']);
        last = (line, offset.saturating_sub(before).min(length));
        if offset < before + length || !has_end {
            break;
        }
        before += length;
    }
    json!({ "line": last.0, "character": last.1 })
}

/// The end of a text.
pub fn end_of(text: &str) -> Value {
    place(text, units(text))
}

/// Two places.
pub fn range(text: &str, from: usize, to: usize) -> Value {
    json!({ "start": place(text, from), "end": place(text, to) })
}

#[cfg(test)]
mod tests {
    use super::{end_of, offset, place};
    use serde_json::json;

    #[test]
    fn places_and_offsets() {
        let text = "a\u{1F600}b\r\nc\n\nd";
        for (at, line, character) in
            [(0, 0, 0), (3, 0, 3), (6, 1, 0), (7, 1, 1), (8, 2, 0), (9, 3, 0), (10, 3, 1)]
        {
            assert_eq!(place(text, at), json!({ "line": line, "character": character }), "{at}");
            assert_eq!(offset(text, line, character), at);
        }
        assert_eq!((offset(text, 1, 99), offset(text, 99, 0)), (7, 10));
        assert_eq!(end_of("a\n"), json!({ "line": 1, "character": 0 }));
    }
}
