//! The first stage: threads that take pieces of the sources, parse them, and gather their quads into runs.

use crate::load::error::LoadError;
use crate::load::feeders::{self, Jobs, Threads};
use crate::load::gather::{Gatherer, SpillTo};
use crate::load::progress::LoadProgress;
use crate::load::read_ahead::AHEAD_BYTES;
use crate::load::run::Run;
use crate::load::source::{Feed, Job, Source};
use crate::load::source_list::{Skipped, SourceList, SourceReport};
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_rdf::parse::{BadLine, LineChunk, TurtlePiece, parse, parse_line_chunk};
use lode_rdf::{ParseError, ParseOptions, RawQuad, RdfFormat};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Pieces of sources are about this large, and smaller where memory is short.
const CHUNK_BYTES_MAX: usize = 1 << 20;
const CHUNK_BYTES_MIN: usize = 64 << 10;

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
    /// Where bad lines go; without, they are errors.
    pub quarantine: Option<Mutex<Box<dyn Write + Send>>>,
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
    /// Lines set aside.
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
    };
    let fail = |source, error| {
        shared.fail(source, error);
        ControlFlow::Break(())
    };
    let work = |number, jobs: &Jobs<'_>| shared.work(number, share, jobs);
    let runs = feeders::run(feed, sources, threads, &shared.stop, &fail, &work);
    let error = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, error)) = error {
        return Err(error);
    }
    if let Some(quarantine) = &context.quarantine {
        let mut quarantine = quarantine.lock().unwrap_or_else(PoisonError::into_inner);
        quarantine.flush().map_err(LoadError::Quarantine)?;
    }
    let quarantined = shared.quarantined.into_inner();
    let (sources, skipped) = list.into_reports();
    Ok(Gathered { runs: runs.into_iter().flatten().collect(), quarantined, sources, skipped })
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
    fn fail(&self, source: usize, error: LoadError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = first
            .as_ref()
            .is_none_or(|(other_source, other)| (source, error.place()) < (*other_source, other.place()));
        if earlier {
            *first = Some((source, error));
        }
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
            let result = gatherer.set_source(source).and_then(|()| self.run(job, &mut gatherer, jobs));
            if let Err(error) = result {
                let error = match error {
                    LoadError::NamesGraph { .. } => {
                        LoadError::NamesGraph { source_name: self.list.name(source) }
                    }
                    other => other,
                };
                self.fail(source, error);
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
            self.fail(usize::MAX, error);
            Vec::new()
        })
    }

    fn run(&self, job: Job, gatherer: &mut Gatherer<'_>, jobs: &Jobs<'_>) -> Result<(), LoadError> {
        match job {
            Job::Lines { source, format, buffer, length, first_line, offset } => {
                let bytes = buffer.get(..length).unwrap_or_default();
                let chunk = LineChunk { bytes, first_line, offset };
                let result = self.lines(source, format, chunk, gatherer);
                jobs.give_back(buffer);
                result
            }
            Job::Statements { source, piece, buffer, length } => {
                let result =
                    self.statements(source, &piece, buffer.get(..length).unwrap_or_default(), gatherer);
                jobs.give_back(buffer);
                result
            }
            Job::Document { source, format, reader } => self.document(source, format, reader, gatherer),
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
        let end =
            parse_line_chunk(format, chunk, sink, &mut |line| go_on(self.set_aside(source, line), &mut bad));
        self.context.progress.add_quads(quads);
        self.list.note(source, |report| report.quads += quads);
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
        let mut failed = None;
        let result = piece.parse(text, &mut |quad| {
            quads += 1;
            go_on(gatherer.add(&quad), &mut failed)
        });
        self.context.progress.add_quads(quads);
        self.list.note(source, |report| report.quads += quads);
        match (failed, result) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(self.list.syntax(source, &error)),
            (None, Ok(_)) => Ok(()),
        }
    }

    /// Writes a bad line to the quarantine; without one it is an error.
    fn set_aside(&self, source: usize, line: BadLine<'_>) -> Result<(), LoadError> {
        let error = self.list.syntax(source, &line.error);
        let Some(quarantine) = &self.context.quarantine else { return Err(error) };
        self.quarantined.fetch_add(1, Ordering::Relaxed);
        self.context.progress.add_quarantined(1);
        self.list.note(source, |report| report.bad += 1);
        let entry = quarantine_entry(&error, &line);
        let mut quarantine = quarantine.lock().unwrap_or_else(PoisonError::into_inner);
        quarantine.write_all(&entry).map_err(LoadError::Quarantine)
    }

    fn document(
        &self,
        source: usize,
        format: RdfFormat,
        reader: Box<dyn Read + Send>,
        gatherer: &mut Gatherer<'_>,
    ) -> Result<(), LoadError> {
        const TELL_EVERY: u64 = 1024;
        let (mut untold, mut quads) = (0_u64, 0_u64);
        let mut failed = None;
        let result = parse(format, reader, self.context.parse, &mut |quad| {
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
        self.list.note(source, |report| report.quads += quads);
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

/// What the quarantine gets of a bad line.
pub(crate) fn quarantine_entry(error: &LoadError, line: &BadLine<'_>) -> Vec<u8> {
    let mut entry = format!("# {error}\n").into_bytes();
    entry.extend_from_slice(line.text);
    entry.push(b'\n');
    entry
}

/// Why a document could not be read.
pub(crate) fn document_error(list: &SourceList, source: usize, error: ParseError) -> LoadError {
    match error {
        ParseError::Syntax(error) => list.syntax(source, &error),
        ParseError::Io(error) => LoadError::Input { source_name: list.name(source), error },
        other => LoadError::Format { source_name: list.name(source), message: other.to_string() },
    }
}
