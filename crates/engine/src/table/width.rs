//! How wide texts are on a terminal.

use unicode_width::UnicodeWidthChar;

/// Columns of a text without characters that control something.
pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(of).sum() }
}

fn of(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The beginning of a text that takes at most so many columns, and how many it takes.
pub(super) fn fitting(text: &str, columns: usize) -> (&str, usize) {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        if taken + of(c) > columns {
            return (text.get(..at).unwrap_or(""), taken);
        }
        taken += of(c);
    }
    (text, taken)
}

/// Appends a text, filled up to so many columns on its right, or on its left.
pub(super) fn push_padded(line: &mut String, text: &str, columns: usize, to_the_right: bool) {
    let spaces = columns.saturating_sub(width(text));
    if to_the_right {
        line.extend(std::iter::repeat_n(' ', spaces));
    }
    line.push_str(text);
    if !to_the_right {
        line.extend(std::iter::repeat_n(' ', spaces));
    }
}

/// The end of a text that takes at most so many columns, and how many it takes.
fn fitting_end(text: &str, columns: usize) -> (&str, usize) {
    let mut taken = 0;
    for (at, c) in text.char_indices().rev() {
        if taken + of(c) > columns {
            return (text.get(at + c.len_utf8()..).unwrap_or(""), taken);
        }
        taken += of(c);
    }
    (text, taken)
}

/// Appends a text that is cut to so many columns where it takes more, which an ellipsis shows: what is left out is before the last `end` columns, which
/// stay where a column has room for them, and the most of them where it has not.
pub(super) fn push_cut(line: &mut String, text: &str, end: usize, columns: usize, to_the_right: bool) {
    let (all, _) = fitting(text, columns);
    if all.len() == text.len() {
        return push_padded(line, text, columns, to_the_right);
    }
    let room = columns.saturating_sub(1);
    let kept = if end > room { room - room / 3 } else { end };
    let (last, last_taken) = fitting_end(text, kept);
    let (begin, taken) = fitting(text, room.saturating_sub(last_taken));
    line.push_str(begin);
    line.push('…');
    line.push_str(last);
    line.extend(std::iter::repeat_n(' ', columns.saturating_sub(taken + 1 + last_taken)));
}
