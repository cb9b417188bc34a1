//! Finds where statements end, fast and without understanding them.
//!
//! It knows strings, IRIs and comments, in which a dot or a brace means nothing, and tells a dot that ends a statement from one
//! in a name or number. It is right up to the first error of a document; after that nothing depends on it. A dot inside
//! brackets is always an error, so brackets need not be counted.

use super::chars::{continues_name, is_space};
use memchr::{memchr2, memchr3};
use std::ops::Range;

/// What comes next in a document, with the place after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The dot that ends a statement or a directive.
    Statement(usize),
    /// The brace that begins a block.
    Open(usize),
    /// The brace that ends a block.
    Close(usize),
    /// There was an error before this place.
    Broken(usize),
    /// Nothing before the end of the text, so far as it is known. All tokens before this place are done with.
    More(usize),
}

pub(super) struct Skipper<'t> {
    pub bytes: &'t [u8],
    /// Where it stands, never inside a token.
    pub at: usize,
    /// Whether braces mean blocks.
    pub with_graphs: bool,
    pub in_block: bool,
    /// Whether the document ends with the text.
    pub at_end: bool,
    /// The last dot found to be inside a name: a name is not looked back into twice.
    pub name_dot: usize,
    /// Where comments are, for whom it concerns.
    pub comments: Option<Vec<Range<usize>>>,
}

/// Where a token ends.
enum End {
    At(usize),
    Broken(usize),
    Unknown,
}

/// What a dot is.
enum Dot {
    End,
    Inside,
    Unknown,
}

impl<'t> Skipper<'t> {
    pub(super) fn new(bytes: &'t [u8], at: usize, with_graphs: bool, in_block: bool) -> Self {
        Self { bytes, at, with_graphs, in_block, at_end: true, name_dot: usize::MAX, comments: None }
    }

    pub(super) fn next_event(&mut self) -> Event {
        loop {
            let Some(stop) = find_stop(self.bytes, self.at, self.with_graphs) else {
                self.at = self.bytes.len();
                return Event::More(self.at);
            };
            let escaped = stop > 0 && self.byte(stop - 1) == Some(b'\\');
            let end = match self.byte(stop) {
                Some(b'\'' | b'#') if escaped => End::At(stop + 1),
                Some(quote @ (b'"' | b'\'')) => self.string_end(stop, quote),
                Some(b'<') => self.iri_end(stop),
                Some(b'#') => self.comment_end(stop),
                Some(b'.') => match self.dot(stop) {
                    Dot::Inside => End::At(stop + 1),
                    Dot::Unknown => End::Unknown,
                    Dot::End => {
                        self.at = stop + 1;
                        return Event::Statement(self.at);
                    }
                },
                _ => match self.brace(stop) {
                    Ok(event) => return event,
                    Err(end) => end,
                },
            };
            match end {
                End::At(end) => self.at = end,
                End::Broken(end) => {
                    self.at = end;
                    return Event::Broken(end);
                }
                End::Unknown => {
                    self.at = stop;
                    return Event::More(stop);
                }
            }
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn string_end(&self, start: usize, quote: u8) -> End {
        let rest = self.rest(start);
        if rest.starts_with(&[quote, quote]) && rest.get(2).is_none_or(|&third| third == quote) {
            if rest.len() == 2 {
                return if self.at_end { End::At(start + 2) } else { End::Unknown };
            }
            return self.long_string_end(start + 3, quote);
        }
        let mut at = start + 1;
        loop {
            let rest = self.rest(at);
            let Some(found) = memchr3(quote, b'\\', b'\n', rest) else { return End::Unknown };
            at += found + 1;
            match rest.get(found) {
                Some(b'\\') => at += 1,
                Some(b'\n') => return End::Broken(at),
                _ => return End::At(at),
            }
        }
    }

    fn long_string_end(&self, start: usize, quote: u8) -> End {
        let mut at = start;
        loop {
            let rest = self.rest(at);
            let Some(found) = memchr2(quote, b'\\', rest) else { return End::Unknown };
            at += found;
            let rest = self.rest(at);
            if rest.starts_with(&[quote, quote, quote]) {
                return End::At(at + 3);
            }
            at += if rest.starts_with(b"\\") { 2 } else { 1 };
        }
    }

    fn iri_end(&self, start: usize) -> End {
        let rest = self.rest(start + 1);
        match rest.first() {
            None => return End::Unknown,
            // A triple term or a reified triple.
            Some(b'<') => return End::At(start + 2),
            Some(_) => {}
        }
        match memchr2(b'>', b'\n', rest) {
            None => End::Unknown,
            Some(found) if rest.get(found) == Some(&b'\n') => End::Broken(start + found + 2),
            Some(found) => End::At(start + found + 2),
        }
    }

    fn comment_end(&mut self, start: usize) -> End {
        let end = match memchr2(b'\n', b'\r', self.rest(start)) {
            Some(found) => start + found + 1,
            None if self.at_end => self.bytes.len(),
            None => return End::Unknown,
        };
        if let Some(comments) = &mut self.comments {
            comments.push(start..end);
        }
        End::At(end)
    }

    fn brace(&mut self, at: usize) -> Result<Event, End> {
        let (next, before) = (self.byte(at + 1), at.checked_sub(1).and_then(|at| self.byte(at)));
        if self.byte(at) == Some(b'{') {
            match next {
                Some(b'|') => return Err(End::At(at + 2)),
                None if !self.at_end => return Err(End::Unknown),
                _ if self.in_block => return Err(End::Broken(at + 1)),
                _ => {}
            }
            self.in_block = true;
            self.at = at + 1;
            return Ok(Event::Open(self.at));
        }
        if before == Some(b'|') {
            return Err(End::At(at + 1));
        }
        if !self.in_block {
            return Err(End::Broken(at + 1));
        }
        self.in_block = false;
        self.at = at + 1;
        Ok(Event::Close(self.at))
    }

    fn dot(&mut self, at: usize) -> Dot {
        let before = at.checked_sub(1).and_then(|at| self.byte(at)).unwrap_or(b' ');
        if before == b'\\' {
            return Dot::Inside;
        }
        let next = match self.byte(at + 1) {
            None => return if self.at_end { Dot::End } else { Dot::Unknown },
            Some(next) if is_space(next) => return Dot::End,
            Some(next) => next,
        };
        if next.is_ascii_digit() || next == b'.' {
            return Dot::Inside;
        }
        if !continues_name(next) {
            return Dot::End;
        }
        if self.is_after_name(at, next) {
            self.name_dot = at;
            return Dot::Inside;
        }
        Dot::End
    }

    /// Whether what ends before a dot goes on behind it with this byte, which continues names.
    fn is_after_name(&self, dot: usize, next: u8) -> bool {
        let byte = |at: usize| self.byte(at).unwrap_or(b' ');
        let mut start = dot;
        while start > 0 {
            let before = byte(start - 1);
            let escaped = start > 1 && byte(start - 2) == b'\\';
            if escaped || start - 1 == self.name_dot {
                return true;
            }
            if before == b'@' {
                // A language, unless a name begins right behind it.
                let token = self.bytes.get(start..dot).unwrap_or_default();
                return !token.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
            }
            if !(continues_name(before) || matches!(before, b'.' | b'+')) {
                break;
            }
            start -= 1;
        }
        let token = self.bytes.get(start..dot).unwrap_or_default();
        let is_number = !matches!(token.first(), Some(b'e' | b'E'))
            && token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        // Without a token, too. An exponent belongs to the number.
        !is_number || (!token.is_empty() && matches!(next, b'e' | b'E'))
    }
}

/// The next byte that has to be looked at outside strings, IRIs and comments, eight bytes at a time.
#[inline]
pub(super) fn find_stop(bytes: &[u8], from: usize, with_graphs: bool) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let (words, tail) = rest.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let stops = stops(u64::from_le_bytes(*word), with_graphs);
        if stops != 0 {
            return Some(from + 8 * number + stops.trailing_zeros() as usize / 8);
        }
    }
    let mut last = [0; 8];
    for (to, byte) in last.iter_mut().zip(tail) {
        *to = *byte;
    }
    let stops = stops(u64::from_le_bytes(last), with_graphs);
    (stops != 0).then(|| from + 8 * words.len() + stops.trailing_zeros() as usize / 8)
}

const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Has its lowest bit in the first byte of a word that is a stop, if there is one.
#[inline]
fn stops(word: u64, with_graphs: bool) -> u64 {
    // Subtracting borrows from zeros first, and spoils only what is behind them.
    let zeros = |word: u64| word.wrapping_sub(repeated(1)) & !word & repeated(0x80);
    // These two differ in their lowest bit.
    let quote_or_hash = zeros(word & repeated(0xFE) ^ repeated(b'"'));
    let stops = quote_or_hash
        | zeros(word ^ repeated(b'\''))
        | zeros(word ^ repeated(b'<'))
        | zeros(word ^ repeated(b'.'));
    let braces = if with_graphs { zeros(word ^ repeated(b'{')) | zeros(word ^ repeated(b'}')) } else { 0 };
    stops | braces
}

/// Skips blanks and comments from a place.
pub(super) fn skip_space(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b'#') => {
                let rest = bytes.get(at..).unwrap_or_default();
                at += memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            }
            Some(&byte) if is_space(byte) => at += 1,
            _ => return at,
        }
    }
}
