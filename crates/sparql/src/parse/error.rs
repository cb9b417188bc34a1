//! Why a text is no query or no update: where, what, and what would be right.

use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Why a text is no query or no update.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// Line, from 1; 0 where the error has no place.
    pub line: usize,
    /// Column in characters, from 1; 0 where the error has no place.
    pub column: usize,
    /// The place in bytes of the text; empty where the error has none, or is at its end.
    pub span: Range<usize>,
    /// The same in UTF-16 code units, as editors and browsers count.
    pub units: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// The line, and a mark under the place.
    pub excerpt: Box<str>,
    /// What would be right; empty where that is not known.
    pub help: Box<str>,
    /// What else is wrong, further on in the text.
    pub more: Box<[Self]>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return f.write_str(&self.message);
        }
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        for (before, part) in [("\n", &*self.excerpt), ("\nhelp: ", &*self.help)] {
            if !part.is_empty() {
                write!(f, "{before}{part}")?;
            }
        }
        self.more.iter().try_for_each(|error| write!(f, "\n\n{error}"))?;
        if self.more.is_empty() { Ok(()) } else { write!(f, "\n\n{} mistakes", self.more.len() + 1) }
    }
}

impl ParseError {
    /// One of the text as a whole.
    pub fn without_place(message: String) -> Self {
        let (excerpt, help, more) = Default::default();
        Self { line: 0, column: 0, span: 0..0, units: 0..0, message, excerpt, help, more }
    }

    pub(super) fn at(text: &str, span: Range<usize>, message: String) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let (line, column) = line_and_column(text, span.start);
        let excerpt = excerpt(text, &span).into();
        let from = units(before);
        let units = from..from + units(text.get(span.clone()).unwrap_or(""));
        Self { line, column, span, units, message, excerpt, ..Self::without_place(String::new()) }
    }
}

/// Code units of UTF-16.
fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The line of a byte of a text, and its column in characters, both from 1.
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or("").chars().count() + 1)
}

/// At most so many columns of a line are shown
const EXCERPT_COLUMNS: usize = 100;
/// and so many marks.
const MARKS_MAX: usize = 26;

/// The line of a place, and marks under what of the place is on it: as wide as its characters are on a terminal.
fn excerpt(text: &str, span: &Range<usize>) -> String {
    let start = text.get(..span.start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let rest = text.get(start..).unwrap_or("");
    let line = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
    // What begins far to the right is shown with what is before it.
    let (mut first, place) = (start, width_of(text.get(start..span.start).unwrap_or("")));
    let mut skipped = 0;
    for c in line.chars() {
        if skipped + EXCERPT_COLUMNS * 3 / 4 > place {
            break;
        }
        skipped += width(c);
        first += c.len_utf8();
    }
    let (mut shown, mut columns) = (String::new(), 0);
    for c in text.get(first..start + line.len()).unwrap_or("").chars() {
        columns += width(c);
        if columns > EXCERPT_COLUMNS {
            break;
        }
        shown.push(if c.is_control() { ' ' } else { c });
    }
    let marked = text.get(span.clone()).and_then(|marked| marked.lines().next()).unwrap_or("");
    let marks = width_of(marked).clamp(1, MARKS_MAX);
    format!("{shown}\n{}{}", " ".repeat(place - skipped), "^".repeat(marks))
}

fn width_of(text: &str) -> usize {
    text.chars().map(width).sum()
}

/// Columns of a terminal that a character takes. Those that control something are shown as a space.
fn width(c: char) -> usize {
    c.width().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    //! Marks are under what they are of.
    use super::ParseError;

    #[test]
    fn marks_are_as_wide_as_what_they_are_under() {
        for (text, part, column, marks) in [
            ("ASK { ?s ?p }", "}", 13, "            ^"),
            ("ASK {\t\t?s ?p }", "?p", 11, "          ^^"),
            ("ASK { '漢字' ?p }", "?p", 12, "             ^^"),
            ("ASK { \"😀\" '한글' }", "'한글'", 11, "           ^^^^^^"),
            // A letter and its accent are two characters, and one column.
            ("ASK { 'e\u{301}' ?p }", "?p", 12, "          ^^"),
            ("ASK {\r\n ?s foo }\r\n", "foo", 5, "    ^^^"),
        ] {
            let at = text.find(part).expect("a part");
            let error = ParseError::at(text, at..at + part.len(), String::new());
            let line = text.lines().find(|line| line.contains(part)).expect("its line").replace('\t', " ");
            let expected = format!("{line}\n{marks}");
            assert_eq!((error.column, &*error.excerpt), (column, expected.as_str()), "{text}");
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(String::from_utf16_lossy(&units[error.units]), part, "{text}");
        }
        let far = format!("ASK {{ {} foo }}", "漢 ".repeat(300));
        let at = far.find("foo").expect("there");
        let error = ParseError::at(&far, at..at + 3, String::new());
        let (line, marks) = error.excerpt.split_once('\n').expect("two lines");
        let before = line.find("foo").map(|at| super::width_of(&line[..at]));
        assert_eq!((before, marks.trim_start()), (Some(marks.len() - 3), "^^^"), "{line}");
    }
}
