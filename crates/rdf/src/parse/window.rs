//! A reader that remembers the text it gave out last, so that errors can show it and say the line.

use super::error::{ParseError, SyntaxError, excerpt, hint};
use super::limit::StatementLimit;
use memchr::{memchr_iter, memrchr};
use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

/// How much text is kept at least (once there is as much).
const KEEP_BYTES: usize = 1 << 18;

/// The last bytes read and where they were.
#[derive(Default)]
pub(super) struct Window {
    bytes: Vec<u8>,
    /// Offset of the first byte kept.
    offset: u64,
    /// Lines that ended before the first byte kept.
    lines: u64,
    /// Characters of the line that was cut off before the first byte kept.
    columns: u64,
    /// Bytes since the last triple or quad.
    unfinished: usize,
    /// How many there may be.
    limit: StatementLimit,
    /// Why the reader refused to go on, for errors that it found itself.
    refusal: Option<Refusal>,
}

/// A reason to stop reading.
struct Refusal {
    message: String,
    offset: u64,
}

/// Looks at the text as it passes and may refuse it.
pub(super) trait Guard {
    /// Takes the next bytes. An error is a message and how many of these bytes were fine.
    fn check(&mut self, bytes: &[u8]) -> Result<(), (usize, String)>;

    /// What is wrong with a text that ends here.
    fn end(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The reader's half; the parser owns it.
pub(super) struct WindowReader<R, G> {
    inner: R,
    guard: G,
    window: Rc<RefCell<Window>>,
    /// The most bytes given out at once, while statements are short.
    step: usize,
}

/// A reader and the window on it. Whoever reads says when something has come of it ([`Window::finish_statement`]).
pub(super) fn window<R: Read, G: Guard>(
    inner: R,
    guard: G,
    step: usize,
    limit: StatementLimit,
) -> (WindowReader<R, G>, Rc<RefCell<Window>>) {
    let window = Rc::new(RefCell::new(Window { limit, ..Window::default() }));
    (WindowReader { inner, guard, window: Rc::clone(&window), step }, window)
}

impl<R: Read, G: Guard> Read for WindowReader<R, G> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Some parsers look at an unfinished text from its beginning each time there is more of it: a long one comes in larger steps.
        let step = self.step.max(self.window.borrow().unfinished / 16);
        let len = buffer.len().min(step);
        let Some(target) = buffer.get_mut(..len) else { return Ok(0) };
        let read = loop {
            match self.inner.read(target) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        let bytes = target.get(..read).unwrap_or_default();
        let mut window = self.window.borrow_mut();
        let result = match bytes {
            [] if len > 0 => self.guard.end().map_err(|message| (0, message)),
            bytes => self.guard.check(bytes),
        };
        let offset = window.end();
        window.push(bytes);
        window.unfinished += read;
        let result = result.and(window.check_length());
        if let Err((fine, message)) = result {
            window.refusal = Some(Refusal { message, offset: offset + fine as u64 });
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the text was refused"));
        }
        Ok(read)
    }
}

impl Window {
    /// A triple or quad has come of what was read.
    pub(super) fn finish_statement(&mut self) {
        self.unfinished = 0;
    }

    fn check_length(&self) -> Result<(), (usize, String)> {
        if self.unfinished > self.limit.bytes() {
            Err((0, self.limit.message("a statement")))
        } else {
            Ok(())
        }
    }

    fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 4 * KEEP_BYTES {
            let cut = self.bytes.len() - KEEP_BYTES;
            let (line, column) = self.lines_and_columns(cut);
            (self.lines, self.columns) = (line, column);
            self.offset += cut as u64;
            self.bytes.drain(..cut);
        }
    }

    /// Lines and characters before the byte at `index`.
    fn lines_and_columns(&self, index: usize) -> (u64, u64) {
        let before = self.bytes.get(..index).unwrap_or(&self.bytes);
        let lines = memchr_iter(b'\n', before).count() as u64;
        let chars = |text: &[u8]| text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
        match memrchr(b'\n', before) {
            Some(at) => (self.lines + lines, chars(before.get(at + 1..).unwrap_or_default())),
            None => (self.lines, self.columns + chars(before)),
        }
    }

    /// The text from `start` to `end`, as far as it is still there.
    pub(super) fn text(&self, start: u64, end: u64) -> &[u8] {
        let index = |offset: u64| {
            usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(usize::MAX).min(self.bytes.len())
        };
        self.bytes.get(index(start)..index(end.max(start))).unwrap_or_default()
    }

    /// The start of the last markup before `end`, for parsers that only tell where they stopped.
    pub(super) fn last_before(&self, byte: u8, end: u64) -> Option<u64> {
        let text = self.text(self.offset, end);
        memrchr(byte, text).map(|at| self.offset + at as u64)
    }

    /// An error at an offset.
    pub(super) fn error_at(&self, offset: u64, message: String, approximate: bool) -> SyntaxError {
        let offset = offset.min(self.end());
        let index = usize::try_from(offset.saturating_sub(self.offset)).unwrap_or(0);
        let (line, column) = self.lines_and_columns(index);
        let text = excerpt(self.text(offset, offset + 400));
        let hint = hint(&message, &text);
        SyntaxError { line: line + 1, column: column + 1, offset, approximate, message, excerpt: text, hint }
    }

    /// An error near the end of what was read.
    pub(super) fn error_near_end(&self, message: String) -> SyntaxError {
        let text = self.text(self.offset, self.end());
        let trimmed = text.trim_ascii_end().len();
        let start = memrchr(b'\n', text.get(..trimmed).unwrap_or_default()).map_or(0, |at| at + 1);
        self.error_at(self.offset + start as u64, message, true)
    }

    /// An error of the reader below a parser: the guard's, if it was that.
    pub(super) fn io_error(&self, error: io::Error) -> ParseError {
        match &self.refusal {
            Some(refusal) => self.error_at(refusal.offset, refusal.message.clone(), false).into(),
            None => ParseError::Io(error),
        }
    }
}

impl From<SyntaxError> for ParseError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}
