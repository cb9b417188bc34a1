//! Threads that take pieces of the sources, parse them, and hand their quads to sinks.

use crate::error::IngestError;
use crate::feed::Feed;
use crate::feeders::{self, Jobs, Threads};
use crate::job::Job;
use crate::long_pieces::LongPieces;
use crate::progress::ReadProgress;
use crate::quad_sink::QuadSink;
use crate::quarantine::Quarantine;
use crate::read_ahead::AHEAD_BYTES;
use crate::source::Source;
use crate::source_list::{Skipped, SourceList, SourceReport};
use crate::spool::Spool;
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_rdf::parse::{BadText, LineChunk, ParseNotes, TurtlePiece, parse_line_chunk_noting, parse_noting};
use lode_rdf::{ParseError, ParseOptions, RawQuad, RdfFormat};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Pieces of sources are about this large, and smaller where memory is short.
const CHUNK_BYTES_MAX: usize = 1 << 20;
const CHUNK_BYTES_MIN: usize = 64 << 10;

/// Between two looks at whether to go on.
const TELL_EVERY: u64 = 1024;

/// How to read.
pub struct ReadContext<'a> {
    /// For temporary files.
    pub vfs: &'a Arc<dyn Vfs>,
    /// Their folder.
    pub spill: &'a Path,
    /// Threads that parse.
    pub threads: usize,
    /// Bytes that all of them may hold.
    pub memory_bytes: usize,
    /// Format of sources that do not bring their own.
    pub format: Option<RdfFormat>,
    /// Whether quads must not name graphs.
    pub one_graph: bool,
    /// Base IRI and the like.
    pub parse: &'a ParseOptions,
    /// Where what is bad goes; without, it is an error.
    pub quarantine: Option<Quarantine>,
    /// Asked often.
    pub cancel: &'a CancelToken,
    /// Told often.
    pub progress: &'a Arc<ReadProgress>,
}

/// What was found in all sources.
#[derive(Debug)]
pub struct SourcesRead<T> {
    /// What the sinks of all workers have left.
    pub outputs: Vec<T>,
    /// Statements set aside.
    pub quarantined: u64,
    /// What was found in each source.
    pub sources: Vec<SourceReport>,
    /// Files that are no sources.
    pub skipped: Skipped,
}

/// Reads all sources. `sink` makes the sink of a worker, of which the number is told, and how many bytes it may hold.
///
/// # Errors
/// Where a source is not well-formed and there is no quarantine for what is bad in it, cannot be read, or is of no known format; where a sink
/// fails, a temporary file cannot be written, or the reading was cancelled.
pub fn read_sources<S: QuadSink>(
    sources: Vec<Source>,
    context: &ReadContext<'_>,
    sink: &(dyn Fn(usize, usize) -> S + Sync),
) -> Result<SourcesRead<S::Output>, S::Error> {
    let list = SourceList::default();
    let sources: Vec<_> = sources.into_iter().map(|source| (list.add(source.name()), source)).collect();
    let threads = Threads::new(context.threads, sources.len());
    let chunk_bytes = chunk_bytes(context.memory_bytes, threads);
    let shared = Shared::<S> {
        context,
        list: &list,
        sink,
        stop: AtomicBool::new(false),
        error: Mutex::new(None),
        quarantined: AtomicU64::new(0),
        memory: AtomicU64::new(0),
    };
    let buffers = (threads.workers + 1 + threads.feeders) * chunk_bytes + threads.feeders * AHEAD_BYTES;
    let share = context.memory_bytes.saturating_sub(buffers) / threads.workers;
    let feed = Feed {
        format: context.format,
        threads: threads.per_source(),
        chunk_bytes,
        parse: context.parse,
        cancel: context.cancel,
        progress: context.progress,
        list: &list,
        proves: context.quarantine.is_some(),
        long: LongPieces::default(),
    };
    let fail = |source, error| shared.fail(source, Failure::Source(error));
    let work = |number, jobs: &Jobs<'_>| shared.work(number, share, jobs);
    let outputs = feeders::run(feed, sources, threads, &shared.stop, &fail, &work);
    let error = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    match error {
        Some((_, Failure::Source(error))) => return Err(error.into()),
        Some((_, Failure::Sink(error))) => return Err(error),
        None => {}
    }
    if let Some(quarantine) = &context.quarantine {
        quarantine.flush()?;
    }
    let quarantined = shared.quarantined.into_inner();
    let (sources, skipped) = list.into_reports();
    Ok(SourcesRead { outputs: outputs.into_iter().flatten().collect(), quarantined, sources, skipped })
}

/// Why reading ends, or why a source is set aside.
enum Failure<E> {
    Source(IngestError),
    Sink(E),
}

impl<E> Failure<E> {
    fn place(&self) -> (u64, u64) {
        match self {
            Self::Source(error) => error.place(),
            Self::Sink(_) => (u64::MAX, 0),
        }
    }
}

impl<E, F: Into<IngestError>> From<F> for Failure<E> {
    fn from(error: F) -> Self {
        Self::Source(error.into())
    }
}

/// A source that is read as a whole.
#[derive(Clone, Copy)]
struct Document<'d> {
    source: usize,
    format: RdfFormat,
    parse: &'d ParseOptions,
}

struct Shared<'a, S: QuadSink> {
    context: &'a ReadContext<'a>,
    list: &'a SourceList,
    sink: &'a (dyn Fn(usize, usize) -> S + Sync),
    stop: AtomicBool,
    /// The error of the foremost source.
    error: Mutex<Option<(usize, Failure<S::Error>)>>,
    quarantined: AtomicU64,
    memory: AtomicU64,
}

impl<S: QuadSink> Shared<'_, S> {
    /// Sets a source aside, or, where nothing is or it is not the source's fault, ends everything.
    fn fail(&self, source: usize, error: Failure<S::Error>) -> ControlFlow<()> {
        let error = match (&self.context.quarantine, error) {
            (Some(quarantine), Failure::Source(error)) if error.is_of_source() => {
                match quarantine.add_file(&error, self.list.fail(source, &error)) {
                    Ok(()) => return ControlFlow::Continue(()),
                    Err(error) => error.into(),
                }
            }
            (_, error) => error,
        };
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = first
            .as_ref()
            .is_none_or(|(other_source, other)| (source, error.place()) < (*other_source, other.place()));
        if earlier {
            *first = Some((source, error));
        }
        ControlFlow::Break(())
    }

    fn work(&self, worker: usize, memory_bytes: usize, jobs: &Jobs<'_>) -> Option<S::Output> {
        let mut sink = (self.sink)(worker, memory_bytes);
        let mut held = 0;
        while let Some(job) = jobs.next() {
            let (Job::Lines { source, .. } | Job::Statements { source, .. } | Job::Document { source, .. }) =
                &job;
            let source = *source;
            let set = sink.set_source(source).map_err(Failure::Sink);
            if let Err(error) = set.and_then(|()| self.run(worker, job, &mut sink, jobs)) {
                // What it says is for those who read sources: whoever works goes on until there is no more.
                let _ = self.fail(source, error);
            }
            let now = sink.bytes() as u64;
            let before = self.memory.fetch_add(now.wrapping_sub(held), Ordering::Relaxed);
            self.context.progress.set_memory(before.wrapping_add(now.wrapping_sub(held)));
            held = now;
        }
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        match sink.finish() {
            Ok(output) => Some(output),
            Err(error) => {
                let _ = self.fail(usize::MAX, Failure::Sink(error));
                None
            }
        }
    }

    /// Hands a quad to the sink, unless it names a graph where it must not.
    #[inline]
    fn add(&self, source: usize, quad: &RawQuad<'_>, sink: &mut S) -> Result<(), Failure<S::Error>> {
        if self.context.one_graph && quad.graph.is_some() {
            return Err(IngestError::NamesGraph { source_name: self.list.name(source) }.into());
        }
        sink.add(quad).map_err(Failure::Sink)
    }

    fn run(&self, worker: usize, job: Job, sink: &mut S, jobs: &Jobs<'_>) -> Result<(), Failure<S::Error>> {
        match job {
            Job::Lines { source, format, buffer, length, first_line, offset, long: _long } => {
                let bytes = buffer.get(..length).unwrap_or_default();
                let chunk = LineChunk { bytes, first_line, offset };
                let result = self.lines(source, format, chunk, sink);
                jobs.give_back(buffer);
                result
            }
            Job::Statements { source, piece, buffer, length, long: _long } => {
                let result = self.statements(source, &piece, buffer.get(..length).unwrap_or_default(), sink);
                jobs.give_back(buffer);
                result
            }
            Job::Document { source, format, parse, reader } => {
                let document = Document { source, format, parse: &parse };
                if self.context.quarantine.is_none() {
                    return self.document(document, reader, sink);
                }
                // Nothing may come of a document that is wrong further on.
                let path = self.context.spill.join(format!("document-{worker}"));
                let mut spool = Spool::new(reader, self.context.vfs, path);
                let checked = self.check(document, &mut spool);
                spool.check()?;
                checked?;
                self.document(document, spool.read_again()?, sink)
            }
        }
    }

    fn lines(
        &self,
        source: usize,
        format: RdfFormat,
        chunk: LineChunk<'_>,
        sink: &mut S,
    ) -> Result<(), Failure<S::Error>> {
        self.context.cancel.check()?;
        let mut quads = 0_u64;
        let mut failed = None;
        let mut bad = None;
        let take = |quad: RawQuad<'_>| {
            quads += 1;
            go_on(self.add(source, &quad, sink), &mut failed)
        };
        let mut notes = ParseNotes::default();
        let kept = self.context.parse.is_lenient().then_some(&mut notes.kept);
        let end = parse_line_chunk_noting(format, chunk, kept, take, &mut |line| {
            go_on(self.set_aside(source, line).map_err(Failure::from), &mut bad)
        });
        self.count(source, quads, notes);
        match (failed.or(bad), end) {
            (Some(error), _) => Err(error),
            (None, _) => Ok(()),
        }
    }

    fn statements(
        &self,
        source: usize,
        piece: &TurtlePiece,
        text: &[u8],
        sink: &mut S,
    ) -> Result<(), Failure<S::Error>> {
        self.context.cancel.check()?;
        let mut quads = 0_u64;
        let (mut failed, mut bad) = (None, None);
        let mut notes = ParseNotes::default();
        let mut take = |quad: RawQuad<'_>| {
            quads += 1;
            go_on(self.add(source, &quad, sink), &mut failed)
        };
        if self.context.quarantine.is_some() {
            let _ = piece.parse_past_errors(text, &mut notes, &mut take, &mut |text| {
                go_on(self.set_aside(source, text).map_err(Failure::from), &mut bad)
            });
        } else if let Err(error) = piece.parse_noting(text, &mut notes, &mut take) {
            bad = Some(self.list.syntax(source, &error).into());
        }
        self.count(source, quads, notes);
        failed.or(bad).map_or(Ok(()), Err)
    }

    fn count(&self, source: usize, quads: u64, notes: ParseNotes) {
        self.context.progress.add_quads(quads);
        self.list.note(source, |report| {
            report.quads += quads;
            report.notes.merge(notes);
        });
    }

    /// Writes a bad statement to the quarantine; without one it is an error.
    fn set_aside(&self, source: usize, bad: BadText<'_>) -> Result<(), IngestError> {
        let error = self.list.syntax(source, &bad.error);
        let Some(quarantine) = &self.context.quarantine else { return Err(error) };
        self.quarantined.fetch_add(1, Ordering::Relaxed);
        self.context.progress.add_quarantined(1);
        self.list.note(source, |report| report.bad += 1);
        quarantine.add(&error, &bad)
    }

    /// Reads a document for nothing but its errors.
    fn check(&self, document: Document<'_>, reader: impl Read) -> Result<(), IngestError> {
        let Document { source, format, parse } = document;
        let mut quads = 0_u64;
        let result = parse_noting(format, reader, parse, &mut ParseNotes::default(), &mut |_| {
            quads += 1;
            let stop = quads.is_multiple_of(TELL_EVERY)
                && (self.stop.load(Ordering::Relaxed) || self.context.cancel.check().is_err());
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.context.cancel.check()?;
        result.map_err(|error| document_error(self.list, source, error))
    }

    fn document(
        &self,
        document: Document<'_>,
        reader: impl Read,
        sink: &mut S,
    ) -> Result<(), Failure<S::Error>> {
        let Document { source, format, parse } = document;
        let mut notes = ParseNotes::default();
        let (mut untold, mut quads) = (0_u64, 0_u64);
        let mut failed = None;
        let result = parse_noting(format, reader, parse, &mut notes, &mut |quad| {
            untold += 1;
            quads += 1;
            if untold == TELL_EVERY {
                self.context.progress.add_quads(untold);
                untold = 0;
                if self.stop.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
            }
            let added = if untold == 0 { self.context.cancel.check().map_err(Failure::from) } else { Ok(()) };
            go_on(added.and_then(|()| self.add(source, &RawQuad::from(quad), sink)), &mut failed)
        });
        self.context.progress.add_quads(untold);
        self.list.note(source, |report| {
            report.quads += quads;
            report.notes.merge(notes);
        });
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(result.map_err(|error| document_error(self.list, source, error))?)
    }
}

/// What a parser is told after a step; an error ends the parsing and is kept.
#[inline]
fn go_on<E>(step: Result<(), E>, failed: &mut Option<E>) -> ControlFlow<()> {
    match step {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            *failed = Some(error);
            ControlFlow::Break(())
        }
    }
}

/// Bytes of a piece of a source.
pub(crate) fn chunk_bytes(memory_bytes: usize, threads: Threads) -> usize {
    (memory_bytes / (16 * threads.workers)).clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX)
}

/// Why a document could not be read.
pub(crate) fn document_error(list: &SourceList, source: usize, error: ParseError) -> IngestError {
    match error {
        ParseError::Syntax(error) => list.syntax(source, &error),
        ParseError::Io(error) => IngestError::input(&list.name(source), error),
        other => IngestError::Format { source_name: list.name(source), message: other.to_string() },
    }
}

#[cfg(test)]
mod tests;
