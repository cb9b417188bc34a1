//! Turtle and TriG, in pieces that can be parsed at the same time.
//!
//! [`PieceCutter`] cuts a document where statements end and says what has been declared by then; [`TurtlePiece::parse`] parses
//! a piece, with a scanner that knows what nearly all statements are made of and leaves the rest to the general parser.

mod chars;
mod context;
mod cutter;
mod directives;
mod general;
mod literals;
mod names;
mod piece;
mod place;
mod scanner;
mod skip;
mod span;

#[cfg(test)]
mod tests;

pub(super) use chars::{is_base_char, is_name_char};
pub use cutter::{BlankLabels, PieceCutter};
pub use piece::TurtlePiece;

use super::error::ParseError;
use super::kept::ParseNotes;
use super::options::{ParseOptions, QuadSink};
use crate::format::RdfFormat;
use crate::raw::RawQuad;
use oxrdf::QuadRef;
use std::io::Read;
use std::ops::ControlFlow;

/// How much is read at a time, and about how long pieces are.
const READ_BYTES: usize = if cfg!(test) { 1 << 10 } else { 1 << 18 };

/// Parses a stream.
pub(super) fn parse(
    format: RdfFormat,
    mut reader: impl Read,
    options: &ParseOptions,
    notes: &mut ParseNotes,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let mut cutter = PieceCutter::new(format, options, BlankLabels::Valid)?;
    let mut buffer = Vec::new();
    let mut emit = |quad: RawQuad<'_>| quad.as_ref().map_or(ControlFlow::Continue(()), &mut *sink);
    loop {
        let wanted = cutter.step(&buffer, READ_BYTES);
        let read = reader.by_ref().take(wanted as u64).read_to_end(&mut buffer)?;
        let at_end = read < wanted;
        let mut start = 0;
        while let Some((piece, length)) =
            cutter.cut(buffer.get(start..).unwrap_or_default(), READ_BYTES, at_end)
        {
            let text = buffer.get(start..start + length).unwrap_or_default();
            if piece.parse_noting(text, notes, &mut emit)?.is_break() || piece.is_last() {
                return Ok(());
            }
            start += length;
        }
        buffer.drain(..start);
        if let Some(error) = cutter.too_long(&buffer) {
            return Err(error.into());
        }
    }
}

/// Parses a text statement by statement, each with its line.
pub(super) fn parse_with_lines(
    format: RdfFormat,
    text: &[u8],
    options: &ParseOptions,
    sink: &mut dyn FnMut(QuadRef<'_>, Option<u64>) -> ControlFlow<()>,
) -> Result<(), ParseError> {
    let mut cutter = PieceCutter::new(format, options, BlankLabels::Valid)?;
    let (mut notes, mut rest) = (ParseNotes::default(), text);
    // The shortest pieces are statements.
    while let Some((piece, length)) = cutter.cut(rest, 1, true) {
        let (statement, after) = rest.split_at_checked(length).unwrap_or((rest, b""));
        // Places are counted from zero.
        let line = piece.place.line + lines_before(statement) + 1;
        let mut emit = |quad: RawQuad<'_>| {
            quad.as_ref().map_or(ControlFlow::Continue(()), |quad| sink(quad, Some(line)))
        };
        if piece.parse_noting(statement, &mut notes, &mut emit)?.is_break() || piece.is_last() {
            break;
        }
        rest = after;
    }
    Ok(())
}

/// Empty lines, and those of comments and directives, with which a text begins: directives are in one piece with the statement behind them.
fn lines_before(text: &[u8]) -> u64 {
    let is_before = |line: &&[u8]| {
        let line = line.trim_ascii();
        let word = line.split(|byte| !byte.is_ascii_alphabetic()).next().unwrap_or_default();
        let directives = [b"PREFIX".as_slice(), b"BASE".as_slice(), b"VERSION".as_slice()];
        matches!(line.first(), None | Some(b'#' | b'@'))
            || directives.iter().any(|known| word.eq_ignore_ascii_case(known))
    };
    text.split(|byte| *byte == b'\n').take_while(is_before).count() as u64
}
