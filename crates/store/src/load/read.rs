//! The first stage: threads that take pieces of the sources, parse them, and gather their quads into runs.

use crate::load::error::LoadError;
use crate::load::feeders::{self, Jobs, Threads};
use crate::load::gather::{Gatherer, SpillTo};
use crate::load::long::LongPieces;
use crate::load::quarantine::Quarantine;
use crate::load::read_ahead::AHEAD_BYTES;
use crate::load::run::Run;
use crate::load::source::{Feed, Job, Source};
use crate::load::source_list::{Skipped, SourceList, SourceReport};
use crate::load::spool::Spool;
use crate::progress::LoadProgress;
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
pub(crate) struct ReadContext<'a> {
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
    /// Graph for quads that have none.
    pub graph: Option<String>,
    /// Whether quads must not name graphs.
    pub one_graph: bool,
    /// Base IRI and the like.
    pub parse: &'a ParseOptions,
    /// Where what is bad goes; without, it is an error.
    pub quarantine: Option<Quarantine>,
    /// Asked often.
    pub cancel: &'a CancelToken,
    /// Told often.
    pub progress: &'a Arc<LoadProgress>,
}

/// What the first stage found.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// The runs of all threads.
    pub runs: Vec<Run>,
    /// Statements set aside.
    pub quarantined: u64,
    /// What was found in each source.
    pub sources: Vec<SourceReport>,
    /// Files that are no sources.
    pub skipped: Skipped,
}

/// Reads all sources.
pub(crate) fn read_sources(sources: Vec<Source>, context: &ReadContext<'_>) -> Result<Gathered, LoadError> {
    let list = SourceList::default();
    let sources: Vec<_> = sources.into_iter().map(|source| (list.add(source.name()), source)).collect();
    let threads = Threads::new(context.threads, sources.len());
    let chunk_bytes = chunk_bytes(context.memory_bytes, threads);
    let shared = Shared {
        context,
        list: &list,
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
    let fail = |source, error| shared.fail(source, error);
    let work = |number, jobs: &Jobs<'_>| shared.work(number, share, jobs);
    let runs = feeders::run(feed, sources, threads, &shared.stop, &fail, &work);
    let error = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, error)) = error {
        return Err(error);
    }
    if let Some(quarantine) = &context.quarantine {
        quarantine.flush()?;
    }
    let quarantined = shared.quarantined.into_inner();
    let (sources, skipped) = list.into_reports();
    Ok(Gathered { runs: runs.into_iter().flatten().collect(), quarantined, sources, skipped })
}

/// A source that is read as a whole.
#[derive(Clone, Copy)]
struct Document<'d> {
    source: usize,
    format: RdfFormat,
    parse: &'d ParseOptions,
}

struct Shared<'a> {
    context: &'a ReadContext<'a>,
    list: &'a SourceList,
    stop: AtomicBool,
    /// The error of the foremost source.
    error: Mutex<Option<(usize, LoadError)>>,
    quarantined: AtomicU64,
    memory: AtomicU64,
}

impl Shared<'_> {
    /// Sets a source aside, or, where nothing is or it is not the source's fault, ends everything.
    fn fail(&self, source: usize, error: LoadError) -> ControlFlow<()> {
        let error = match &self.context.quarantine {
            Some(quarantine) if error.is_of_source() => {
                match quarantine.add_file(&error, self.list.fail(source, &error)) {
                    Ok(()) => return ControlFlow::Continue(()),
                    Err(error) => error,
                }
            }
            _ => error,
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

    fn work(&self, worker: usize, memory_bytes: usize, jobs: &Jobs<'_>) -> Vec<Run> {
        let to = SpillTo { vfs: self.context.vfs, folder: self.context.spill, worker };
        let mut gatherer =
            Gatherer::new(to, memory_bytes, self.context.graph.clone(), self.context.one_graph);
        let mut held = 0;
        while let Some(job) = jobs.next() {
            let (Job::Lines { source, .. } | Job::Statements { source, .. } | Job::Document { source, .. }) =
                &job;
            let source = *source;
            let result =
                gatherer.set_source(source).and_then(|()| self.run(worker, job, &mut gatherer, jobs));
            if let Err(error) = result {
                let error = match error {
                    LoadError::NamesGraph { .. } => {
                        LoadError::NamesGraph { source_name: self.list.name(source) }
                    }
                    other => other,
                };
                // What it says is for those who read sources: whoever works goes on until there is no more.
                let _ = self.fail(source, error);
            }
            let now = gatherer.bytes() as u64;
            let before = self.memory.fetch_add(now.wrapping_sub(held), Ordering::Relaxed);
            self.context.progress.set_memory(before.wrapping_add(now.wrapping_sub(held)));
            held = now;
        }
        if self.stop.load(Ordering::Relaxed) {
            return Vec::new();
        }
        gatherer.finish().unwrap_or_else(|error| {
            let _ = self.fail(usize::MAX, error);
            Vec::new()
        })
    }

    fn run(
        &self,
        worker: usize,
        job: Job,
        gatherer: &mut Gatherer<'_>,
        jobs: &Jobs<'_>,
    ) -> Result<(), LoadError> {
        match job {
            Job::Lines { source, format, buffer, length, first_line, offset, long: _long } => {
                let bytes = buffer.get(..length).unwrap_or_default();
                let chunk = LineChunk { bytes, first_line, offset };
                let result = self.lines(source, format, chunk, gatherer);
                jobs.give_back(buffer);
                result
            }
            Job::Statements { source, piece, buffer, length, long: _long } => {
                let result =
                    self.statements(source, &piece, buffer.get(..length).unwrap_or_default(), gatherer);
                jobs.give_back(buffer);
                result
            }
            Job::Document { source, format, parse, reader } => {
                let document = Document { source, format, parse: &parse };
                if self.context.quarantine.is_none() {
                    return self.document(document, reader, gatherer);
                }
                // Nothing may come of a document that is wrong further on.
                let path = self.context.spill.join(format!("document-{worker}"));
                let mut spool = Spool::new(reader, self.context.vfs, path);
                let checked = self.check(document, &mut spool);
                spool.check()?;
                checked?;
                self.document(document, spool.read_again()?, gatherer)
            }
        }
    }

    fn lines(
        &self,
        source: usize,
        format: RdfFormat,
        chunk: LineChunk<'_>,
        gatherer: &mut Gatherer<'_>,
    ) -> Result<(), LoadError> {
        self.context.cancel.check()?;
        let mut quads = 0_u64;
        let mut failed = None;
        let mut bad = None;
        let sink = |quad: RawQuad<'_>| {
            quads += 1;
            go_on(gatherer.add(&quad), &mut failed)
        };
        let mut notes = ParseNotes::default();
        let kept = self.context.parse.is_lenient().then_some(&mut notes.kept);
        let end = parse_line_chunk_noting(format, chunk, kept, sink, &mut |line| {
            go_on(self.set_aside(source, line), &mut bad)
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
        gatherer: &mut Gatherer<'_>,
    ) -> Result<(), LoadError> {
        self.context.cancel.check()?;
        let mut quads = 0_u64;
        let (mut failed, mut bad) = (None, None);
        let mut notes = ParseNotes::default();
        let mut sink = |quad: RawQuad<'_>| {
            quads += 1;
            go_on(gatherer.add(&quad), &mut failed)
        };
        if self.context.quarantine.is_some() {
            let _ = piece.parse_past_errors(text, &mut notes, &mut sink, &mut |text| {
                go_on(self.set_aside(source, text), &mut bad)
            });
        } else if let Err(error) = piece.parse_noting(text, &mut notes, &mut sink) {
            bad = Some(self.list.syntax(source, &error));
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
    fn set_aside(&self, source: usize, bad: BadText<'_>) -> Result<(), LoadError> {
        let error = self.list.syntax(source, &bad.error);
        let Some(quarantine) = &self.context.quarantine else { return Err(error) };
        self.quarantined.fetch_add(1, Ordering::Relaxed);
        self.context.progress.add_quarantined(1);
        self.list.note(source, |report| report.bad += 1);
        quarantine.add(&error, &bad)
    }

    /// Reads a document for nothing but its errors.
    fn check(&self, document: Document<'_>, reader: impl Read) -> Result<(), LoadError> {
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
        gatherer: &mut Gatherer<'_>,
    ) -> Result<(), LoadError> {
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
            let added =
                if untold == 0 { self.context.cancel.check().map_err(LoadError::from) } else { Ok(()) };
            go_on(added.and_then(|()| gatherer.add(&RawQuad::from(quad))), &mut failed)
        });
        self.context.progress.add_quads(untold);
        self.list.note(source, |report| {
            report.quads += quads;
            report.notes.merge(notes);
        });
        if let Some(error) = failed {
            return Err(error);
        }
        result.map_err(|error| document_error(self.list, source, error))
    }
}

/// What a parser is told after a step; an error ends the parsing and is kept.
#[inline]
fn go_on(step: Result<(), LoadError>, failed: &mut Option<LoadError>) -> ControlFlow<()> {
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
pub(crate) fn document_error(list: &SourceList, source: usize, error: ParseError) -> LoadError {
    match error {
        ParseError::Syntax(error) => list.syntax(source, &error),
        ParseError::Io(error) => LoadError::input(&list.name(source), error),
        other => LoadError::Format { source_name: list.name(source), message: other.to_string() },
    }
}
