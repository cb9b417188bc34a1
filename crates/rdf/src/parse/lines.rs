//! N-Triples and N-Quads: piece by piece, line by line, with recovery after bad lines.

use super::error::{BadText, ParseError, SyntaxError, excerpt, hint_at};
use super::kept::{Kept, ParseNotes};
use super::library::{next_item, take_too_deep, too_deep_message};
use super::limit::{StatementLimit, TOO_LONG_HINT};
use super::options::{ParseOptions, QuadSink};
use crate::format::RdfFormat;
use crate::key::TRIPLE_DEPTH_MAX;
use crate::ntriples::{KnownIris, Line, decode_iris, scan_line, scan_line_leniently, string_length};
use crate::raw::RawQuad;
use memchr::{memchr, memchr2, memrchr};
use oxrdf::{GraphName, Quad};
use oxttl::{NQuadsParser, NTriplesParser, TurtleSyntaxError};
use std::io::Read;
use std::ops::ControlFlow;

/// How much is read at a time.
const READ_BYTES: usize = 1 << 18;

/// A piece of a file that begins at a line's start and ends at a line's end or the end of the file.
#[derive(Debug, Clone, Copy)]
pub struct LineChunk<'a> {
    /// The text.
    pub bytes: &'a [u8],
    /// The number of its first line, from 1.
    pub first_line: u64,
    /// Where it begins in the file.
    pub offset: u64,
}

/// Where the last whole line of a buffer ends (past its `\n`): up to there it can be parsed.
pub fn last_line_end(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|at| at + 1)
}

/// Parses a piece of an N-Triples or N-Quads file ([`RdfFormat::NTriples`] allows no graph names).
///
/// A bad line yields no quads; `on_bad_line` gets it and decides whether to go on. The result is the number of lines,
/// or a break from one of the callbacks.
pub fn parse_line_chunk(
    format: RdfFormat,
    chunk: LineChunk<'_>,
    sink: impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    on_bad_line: &mut dyn FnMut(BadText<'_>) -> ControlFlow<()>,
) -> ControlFlow<(), u64> {
    parse_line_chunk_noting(format, chunk, None, sink, on_bad_line)
}

/// Like [`parse_line_chunk`]. With `kept`, it keeps what can be kept of bad lines, and adds it there.
pub fn parse_line_chunk_noting(
    format: RdfFormat,
    chunk: LineChunk<'_>,
    kept: Option<&mut Kept>,
    mut sink: impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    on_bad_line: &mut dyn FnMut(BadText<'_>) -> ControlFlow<()>,
) -> ControlFlow<(), u64> {
    let mut general = General { with_graphs: format == RdfFormat::NQuads, kept, on_bad_line };
    let with_graphs = format == RdfFormat::NQuads;
    let mut position = Position { line: chunk.first_line, offset: chunk.offset };
    let mut rest = chunk.bytes;
    let (mut known, mut scratch) = (KnownIris::new(), String::new());
    while !rest.is_empty() {
        // The text up to the first bad byte is checked at once, which is much cheaper than line by line.
        let (valid, broken) = split_utf8(rest);
        let consumed = valid.len();
        for line in (Lines { rest: valid }) {
            match scan_line(line, with_graphs, &mut known, &mut scratch) {
                Some(Line::Empty) => {}
                Some(Line::Quad(quad)) => sink(quad)?,
                None => general.line(line.as_bytes(), position, &mut sink)?,
            }
            position.line += 1;
            position.offset += line.len() as u64 + 1;
        }
        rest = rest.get(consumed..).unwrap_or_default();
        if broken {
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
            general.line(trim_line_end(line), position, &mut sink)?;
            position.line += 1;
            position.offset += line.len() as u64;
            rest = after;
        }
    }
    ControlFlow::Continue(position.line - chunk.first_line)
}

#[derive(Clone, Copy)]
struct Position {
    line: u64,
    offset: u64,
}

/// The lines of a text without their `\n`; like [`str::lines`], but `\r` stays, because it may end a line by itself.
struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr(b'\n', self.rest.as_bytes()).unwrap_or(self.rest.len());
        let line = self.rest.get(..end)?;
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        Some(line)
    }
}

/// The whole lines before the first byte that is not UTF-8, and whether there is one.
fn split_utf8(bytes: &[u8]) -> (&str, bool) {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (text, false),
        Err(error) => error,
    };
    let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
    let whole = valid.get(..last_line_end(valid).unwrap_or(0)).unwrap_or_default();
    (std::str::from_utf8(whole).unwrap_or_default(), true)
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// What the scanner leaves.
struct General<'k, 'b> {
    with_graphs: bool,
    kept: Option<&'k mut Kept>,
    on_bad_line: &'b mut dyn FnMut(BadText<'_>) -> ControlFlow<()>,
}

impl General<'_, '_> {
    /// Hands a line to the general parser. What that refuses is kept if it can and shall be, else it is bad.
    #[cold]
    fn line(
        &mut self,
        line: &[u8],
        position: Position,
        sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if is_version(line) {
            return ControlFlow::Continue(());
        }
        let mut error = match parse_line(line, self.with_graphs) {
            Ok(quads) => return quads.iter().try_for_each(|quad| sink(quad.as_ref().into())),
            Err(error) => error,
        };
        if let Some(flow) =
            self.kept.as_mut().and_then(|kept| keep(line, self.with_graphs, position, kept, sink))
        {
            return flow;
        }
        error.shift(position.line - 1, position.offset);
        (self.on_bad_line)(BadText { text: line, error })
    }
}

/// Whether a line is a version announcement (RDF 1.2 N-Triples, section 2): `VERSION "1.2"`.
fn is_version(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let Some((keyword, rest)) = line.split_at_checked(b"VERSION".len()) else { return false };
    if !keyword.eq_ignore_ascii_case(b"VERSION") {
        return false;
    }
    let [quote @ (b'"' | b'\''), rest @ ..] = rest.trim_ascii_start() else { return false };
    let Some(end) = memchr2(*quote, b'\\', rest) else { return false };
    let (version, after) = rest.split_at(end);
    let after = after.strip_prefix(&[*quote]).map(<[u8]>::trim_ascii_start);
    std::str::from_utf8(version).is_ok()
        && matches!(after, Some([] | [b'#', ..]))
        && memchr(b'\r', line).is_none()
}

/// Reads a bad line leniently; none if it is beyond that.
fn keep(
    line: &[u8],
    with_graphs: bool,
    position: Position,
    kept: &mut Kept,
    sink: &mut impl FnMut(RawQuad<'_>) -> ControlFlow<()>,
) -> Option<ControlFlow<()>> {
    let line = std::str::from_utf8(line).ok()?;
    let decoded;
    let line = match memchr(b'\\', line.as_bytes()) {
        Some(_) => {
            decoded = decode_iris(line)?;
            decoded.as_str()
        }
        None => line,
    };
    let (mut mistakes, mut scratch) = (Vec::new(), String::new());
    let Line::Quad(quad) = scan_line_leniently(line, with_graphs, &mut scratch, &mut mistakes)? else {
        return None;
    };
    if mistakes.is_empty() {
        return None;
    }
    for (mistake, range) in mistakes {
        let column = || line.get(..range.start).map_or(0, |before| before.chars().count() as u64 + 1);
        kept.add(mistake, line.get(range.clone()).unwrap_or_default(), || (position.line, column()));
    }
    Some(sink(quad))
}

/// All statements of a line (more than one only if carriage returns end lines).
fn parse_line(line: &[u8], with_graphs: bool) -> Result<Vec<Quad>, SyntaxError> {
    if nests_too_deep(line) {
        return Err(whole_line_error(line, too_deep_message()));
    }
    let mut quads = Vec::new();
    let mut collect = |item: Result<Quad, TurtleSyntaxError>| -> Result<(), SyntaxError> {
        let quad = item.map_err(|error| syntax_error(&error, line))?;
        quads.push(take_too_deep(quad).map_err(|()| whole_line_error(line, too_deep_message()))?);
        Ok(())
    };
    if with_graphs {
        let mut parser = NQuadsParser::new().for_slice(line);
        while let Some(item) =
            next_item(|| parser.next()).map_err(|message| whole_line_error(line, message))?
        {
            collect(item)?;
        }
    } else {
        let mut parser = NTriplesParser::new().for_slice(line);
        while let Some(item) =
            next_item(|| parser.next()).map_err(|message| whole_line_error(line, message))?
        {
            collect(item.map(|triple| triple.in_graph(GraphName::DefaultGraph)))?;
        }
    }
    Ok(quads)
}

/// Whether triple terms open deeper than allowed, by counting outside IRIs and strings. This keeps hostile nesting
/// away from code that would walk or drop it recursively.
fn nests_too_deep(line: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut rest = line;
    loop {
        let skip = match rest {
            [] => return false,
            [b'<', b'<', b'(', ..] => {
                depth += 1;
                if depth > TRIPLE_DEPTH_MAX {
                    return true;
                }
                3
            }
            [b')', b'>', b'>', ..] => {
                depth = depth.saturating_sub(1);
                3
            }
            [b'<', ..] => memchr(b'>', rest).map_or(rest.len(), |at| at + 1),
            [b'"', inside @ ..] => 1 + string_length(inside),
            _ => 1,
        };
        rest = rest.get(skip..).unwrap_or_default();
    }
}

fn whole_line_error(line: &[u8], message: String) -> SyntaxError {
    SyntaxError {
        line: 1,
        column: 1,
        offset: 0,
        approximate: false,
        message,
        excerpt: excerpt(line),
        hint: None,
    }
}

fn syntax_error(error: &TurtleSyntaxError, line: &[u8]) -> SyntaxError {
    let place = error.location();
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(line.len());
    let (start, end) = (at(place.start.offset), at(place.end.offset));
    let text = excerpt(line.get(start..end.max(start)).unwrap_or_default());
    let mut advice = hint_at(error.message(), &text, line, start);
    if advice.is_some() && error.message().contains("No scheme found") {
        advice = Some("IRIs in this format must be absolute");
    }
    SyntaxError {
        line: place.start.line + 1,
        column: place.start.column + 1,
        offset: place.start.offset,
        approximate: false,
        message: error.message().to_owned(),
        excerpt: text,
        hint: advice,
    }
}

/// Parses a stream; the first bad line is the error.
pub(super) fn parse(
    format: RdfFormat,
    mut reader: impl Read,
    options: &ParseOptions,
    notes: &mut ParseNotes,
    sink: &mut QuadSink<'_>,
) -> Result<(), ParseError> {
    let limit = options.statement_limit();
    let mut buffer: Vec<u8> = Vec::new();
    let (mut line, mut offset) = (1, 0);
    loop {
        let at_end = read_more(&mut reader, &mut buffer, limit)?;
        let end = if at_end { buffer.len() } else { last_line_end(&buffer).unwrap_or(0) };
        let chunk = LineChunk { bytes: buffer.get(..end).unwrap_or_default(), first_line: line, offset };
        let mut first_error = None;
        let emit = |quad: RawQuad<'_>| quad.as_ref().map_or(ControlFlow::Continue(()), &mut *sink);
        let kept = options.is_lenient().then_some(&mut notes.kept);
        let result = parse_line_chunk_noting(format, chunk, kept, emit, &mut |bad| {
            first_error = Some(bad.error);
            ControlFlow::Break(())
        });
        match (first_error, result) {
            (Some(error), _) => return Err(ParseError::Syntax(Box::new(error))),
            (None, ControlFlow::Break(())) => return Ok(()),
            (None, ControlFlow::Continue(lines)) => line += lines,
        }
        if at_end {
            return Ok(());
        }
        offset += end as u64;
        buffer.drain(..end);
        if buffer.len() > limit.bytes() {
            let text = buffer.get(..200).unwrap_or(&buffer);
            let mut error = whole_line_error(text, limit.message("a line"));
            error.hint = Some(TOO_LONG_HINT);
            error.shift(line - 1, offset);
            return Err(ParseError::Syntax(Box::new(error)));
        }
    }
}

/// Reads until the buffer holds a line's end that was not there before; whether the end of the stream was reached.
fn read_more(reader: &mut impl Read, buffer: &mut Vec<u8>, limit: StatementLimit) -> std::io::Result<bool> {
    loop {
        let old = buffer.len();
        let wanted = limit.step(old, READ_BYTES);
        let read = reader.by_ref().take(wanted as u64).read_to_end(buffer)?;
        if read < wanted {
            return Ok(true);
        }
        if memrchr(b'\n', buffer.get(old..).unwrap_or_default()).is_some() || buffer.len() > limit.bytes() {
            return Ok(false);
        }
    }
}
