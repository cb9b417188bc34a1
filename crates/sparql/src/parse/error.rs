//! Why a text is no query or no update: where, what, and what would be right.

use std::fmt;

/// Why a text is no query or no update.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ParseError {
    /// Line, from 1; 0 where the error has no place.
    pub line: usize,
    /// Column in characters, from 1; 0 where the error has no place.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line, and a mark under the place.
    pub excerpt: String,
    /// What would be right; empty where that is not known.
    pub help: String,
    /// What else is wrong, further on in the text.
    pub more: Vec<Self>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            return f.write_str(&self.message);
        }
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        for (before, part) in [("\n", &self.excerpt), ("\nhelp: ", &self.help)] {
            if !part.is_empty() {
                write!(f, "{before}{part}")?;
            }
        }
        self.more.iter().try_for_each(|error| write!(f, "\n{error}"))
    }
}

impl ParseError {
    pub(super) fn without_place(message: String) -> Self {
        Self { line: 0, column: 0, message, excerpt: String::new(), help: String::new(), more: Vec::new() }
    }

    pub(super) fn at_offset(text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self {
            line,
            column,
            message,
            excerpt: excerpt(text, line, column),
            ..Self::without_place(String::new())
        }
    }
}

/// At most so many characters of a line are shown.
pub(super) const EXCERPT_CHARS: usize = 100;

fn excerpt(text: &str, line: usize, column: usize) -> String {
    let Some(content) = text.split('\n').nth(line.saturating_sub(1)) else { return String::new() };
    let content = content.trim_end_matches('\r');
    let skip = column.saturating_sub(EXCERPT_CHARS * 3 / 4);
    let shown: String = content
        .chars()
        .skip(skip)
        .take(EXCERPT_CHARS)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let indent = " ".repeat(column.saturating_sub(1).saturating_sub(skip).min(EXCERPT_CHARS));
    format!("{shown}\n{indent}^")
}
