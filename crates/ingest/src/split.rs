//! Turtle and TriG sources in pieces that end with statements, so that all threads parse one file.

use crate::error::IngestError;
use crate::feed::{Feed, JobSink, STEP_BYTES};
use crate::job::Job;
use lode_rdf::parse::{BlankLabels, PieceCutter};
use lode_rdf::{ParseOptions, RdfFormat};
use std::io::Read;
use std::ops::ControlFlow;

impl Feed<'_> {
    /// Sends a source's pieces; a break if nobody takes them any more.
    pub(crate) fn feed_statements(
        &self,
        (source, name): (usize, &str),
        format: RdfFormat,
        parse: &ParseOptions,
        input: &mut impl Read,
        head: Vec<u8>,
        sink: &JobSink<'_>,
    ) -> Result<ControlFlow<()>, IngestError> {
        let failed = |error| IngestError::input(name, error);
        let cutter = PieceCutter::new(format, parse, BlankLabels::Short);
        let mut cutter = cutter.map_err(|error| IngestError::Format {
            source_name: name.to_owned(),
            message: error.to_string(),
        })?;
        // Most statements that begin before this end within the piece.
        let split_from = self.chunk_bytes - self.chunk_bytes / 16;
        let mut rest = head;
        loop {
            self.cancel.check()?;
            let mut text = self.piece(sink);
            text.append(&rest);
            rest.clear();
            let mut end = self.chunk_bytes;
            let (piece, length) = loop {
                let at_end = text.fill_to(input, end).map_err(failed)?;
                if let Some(found) = cutter.cut(text.text(), split_from, at_end) {
                    break found;
                }
                if let Some(error) = cutter.too_long(text.text()) {
                    return Err(self.list.syntax(source, &error));
                }
                end = text.filled + cutter.step(text.text(), STEP_BYTES);
                text.wait_if_long(self)?;
            };
            rest.extend_from_slice(text.text().get(length..).unwrap_or_default());
            let is_last = piece.is_last();
            let (buffer, long) = (text.buffer, text.long);
            let job = Job::Statements { source, piece: Box::new(piece), buffer, length, long };
            if sink.jobs.send(job).is_err() {
                return Ok(ControlFlow::Break(()));
            }
            if is_last {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }
}
