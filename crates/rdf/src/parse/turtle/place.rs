//! Lines and columns, counted as the general parser counts them: `\n`, `\r` and `\r\n` end a line, columns are characters.

use super::super::error::SyntaxError;
use memchr::{memchr, memchr_iter, memrchr2};

/// A place in a document, counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    pub line: u64,
    pub column: u64,
    pub offset: u64,
}

impl Place {
    /// The place after a text that begins here. (A text that ends between `\r` and `\n` counts a line too many.)
    pub(super) fn after(self, text: &[u8]) -> Self {
        let ends = match memchr(b'\r', text) {
            None => memchr_iter(b'\n', text).count(),
            Some(_) => {
                let ends = memchr::memchr2_iter(b'\r', b'\n', text);
                ends.filter(|&at| text.get(at..at + 2) != Some(b"\r\n")).count()
            }
        };
        let (before, last_line) = match memrchr2(b'\r', b'\n', text) {
            Some(at) => (0, text.get(at + 1..).unwrap_or_default()),
            None => (self.column, text),
        };
        let characters = last_line.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        Self {
            line: self.line + ends as u64,
            column: before + characters as u64,
            offset: self.offset + text.len() as u64,
        }
    }

    /// Moves an error in a text that begins here to its place in the document.
    pub(super) fn shift(self, mut error: SyntaxError) -> SyntaxError {
        if error.line == 1 {
            error.column += self.column;
        }
        error.line += self.line;
        error.offset += self.offset;
        error
    }
}
