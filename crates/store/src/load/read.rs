//! The first stage: threads that take pieces of the sources, parse them, and gather their quads into runs.

use crate::load::error::LoadError;
use crate::load::gather::{Gatherer, SpillTo};
use crate::load::progress::LoadProgress;
use crate::load::read_ahead::AHEAD_BYTES;
use crate::load::run::Run;
use crate::load::source::{Feed, Job, Source};
use lode_base::cancel::CancelToken;
use lode_base::vfs::Vfs;
use lode_rdf::parse::{BadLine, LineChunk, SyntaxError, parse, parse_line_chunk};
use lode_rdf::{ParseError, ParseOptions, RawQuad, RdfFormat};
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Pieces of line-based sources are at most this large, and smaller where memory is short.
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
}

/// Reads all sources.
pub(crate) fn read_sources(sources: Vec<Source>, context: &ReadContext<'_>) -> Result<Gathered, LoadError> {
    let names: Vec<String> = sources.iter().map(|source| source.name().to_owned()).collect();
    let threads = context.threads.max(1);
    let chunk_bytes = (context.memory_bytes / (16 * threads)).clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
    let (job_sender, job_receiver) = sync_channel(1);
    let (spare_sender, spare_receiver) = channel();
    let shared = Shared {
        context,
        names: &names,
        jobs: Mutex::new(Some(job_receiver)),
        stop: AtomicBool::new(false),
        error: Mutex::new(None),
        quarantined: AtomicU64::new(0),
        memory: AtomicU64::new(0),
    };
    // Several sources are read at once: compressed ones keep a thread each busy.
    let feeders = threads.min(sources.len()).max(1);
    let buffers = (threads + 1 + feeders) * chunk_bytes + feeders * AHEAD_BYTES;
    let share = context.memory_bytes.saturating_sub(buffers) / threads;
    let feed = Feed {
        format: context.format,
        threads: threads.div_ceil(feeders),
        chunk_bytes,
        spare: Mutex::new(spare_receiver),
        cancel: context.cancel,
        progress: context.progress,
    };
    let waiting = Mutex::new(sources.into_iter().enumerate());
    let runs = std::thread::scope(|scope| {
        let feeders: Vec<_> = (0..feeders)
            .map(|_| {
                let (feed, waiting, jobs, shared) = (&feed, &waiting, job_sender.clone(), &shared);
                scope.spawn(move || {
                    feed.run(waiting, &jobs).unwrap_or_else(|(source, error)| shared.fail(source, error));
                })
            })
            .collect();
        // The workers end when all feeders have.
        drop(job_sender);
        let shared = &shared;
        let workers: Vec<_> = (1..threads)
            .map(|number| {
                let spare = spare_sender.clone();
                scope.spawn(move || shared.work(number, share, &spare))
            })
            .collect();
        let mut runs = shared.work(0, share, &spare_sender);
        for worker in workers {
            runs.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        for feeder in feeders {
            feeder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        runs
    });
    let error = shared.error.into_inner().unwrap_or_else(PoisonError::into_inner);
    match error {
        Some((_, error)) => Err(error),
        None => Ok(Gathered { runs, quarantined: shared.quarantined.into_inner() }),
    }
}

struct Shared<'a> {
    context: &'a ReadContext<'a>,
    names: &'a [String],
    /// Taken away once nobody shall send any more.
    jobs: Mutex<Option<Receiver<Job>>>,
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
        let place = |error: &LoadError| match error {
            LoadError::Syntax { line, column, .. } => (*line, *column),
            _ => (u64::MAX, 0),
        };
        let earlier = first
            .as_ref()
            .is_none_or(|(other_source, other)| (source, place(&error)) < (*other_source, place(other)));
        if earlier {
            *first = Some((source, error));
        }
    }

    fn next_job(&self) -> Option<Job> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::Relaxed) {
            // Dropping the receiver ends the feeder.
            *jobs = None;
        }
        jobs.as_ref()?.recv().ok()
    }

    fn work(&self, worker: usize, memory_bytes: usize, spare: &Sender<Vec<u8>>) -> Vec<Run> {
        let to = SpillTo { vfs: self.context.vfs, folder: self.context.spill, worker };
        let mut gatherer = Gatherer::new(to, memory_bytes, self.context.graph.clone());
        let mut held = 0;
        while let Some(job) = self.next_job() {
            let (Job::Lines { source, .. } | Job::Document { source, .. }) = &job;
            let source = *source;
            let result = gatherer.set_source(source).and_then(|()| self.run(job, &mut gatherer, spare));
            if let Err(error) = result {
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

    fn run(&self, job: Job, gatherer: &mut Gatherer<'_>, spare: &Sender<Vec<u8>>) -> Result<(), LoadError> {
        match job {
            Job::Lines { source, format, buffer, length, first_line, offset } => {
                let bytes = buffer.get(..length).unwrap_or_default();
                let chunk = LineChunk { bytes, first_line, offset };
                let result = self.lines(source, format, chunk, gatherer);
                // The feeder may have ended; then nobody wants the buffer.
                let _ = spare.send(buffer);
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
            match gatherer.add(&quad) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let end = parse_line_chunk(format, chunk, sink, &mut |line| match self.set_aside(source, line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                bad = Some(error);
                ControlFlow::Break(())
            }
        });
        self.context.progress.add_quads(quads);
        match (failed.or(bad), end) {
            (Some(error), _) => Err(error),
            (None, _) => Ok(()),
        }
    }

    /// Writes a bad line to the quarantine; without one it is an error.
    fn set_aside(&self, source: usize, line: BadLine<'_>) -> Result<(), LoadError> {
        let error = self.syntax(source, &line.error);
        let Some(quarantine) = &self.context.quarantine else { return Err(error) };
        self.quarantined.fetch_add(1, Ordering::Relaxed);
        self.context.progress.add_quarantined(1);
        let mut entry = format!("# {error}\n").into_bytes();
        entry.extend_from_slice(line.text);
        entry.push(b'\n');
        let mut quarantine = quarantine.lock().unwrap_or_else(PoisonError::into_inner);
        quarantine.write_all(&entry).map_err(LoadError::Quarantine)
    }

    fn name(&self, source: usize) -> String {
        self.names.get(source).cloned().unwrap_or_default()
    }

    fn syntax(&self, source: usize, error: &SyntaxError) -> LoadError {
        let mut message = error.message.clone();
        if error.approximate {
            message = format!("near here: {message}");
        }
        if !error.excerpt.is_empty() {
            message = format!("{message}, at `{}`", error.excerpt);
        }
        if let Some(hint) = error.hint {
            message = format!("{message} ({hint})");
        }
        LoadError::Syntax { source_name: self.name(source), line: error.line, column: error.column, message }
    }

    fn document(
        &self,
        source: usize,
        format: RdfFormat,
        reader: Box<dyn Read + Send>,
        gatherer: &mut Gatherer<'_>,
    ) -> Result<(), LoadError> {
        const TELL_EVERY: u64 = 1024;
        let mut untold = 0_u64;
        let mut failed = None;
        let result = parse(format, reader, self.context.parse, &mut |quad| {
            untold += 1;
            if untold == TELL_EVERY {
                self.context.progress.add_quads(untold);
                untold = 0;
                if self.stop.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
            }
            let added =
                if untold == 0 { self.context.cancel.check().map_err(LoadError::from) } else { Ok(()) };
            match added.and_then(|()| gatherer.add(&RawQuad::from(quad))) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        self.context.progress.add_quads(untold);
        if let Some(error) = failed {
            return Err(error);
        }
        result.map_err(|error| match error {
            ParseError::Syntax(error) => self.syntax(source, &error),
            ParseError::Io(error) => LoadError::Input { source_name: self.name(source), error },
            other => LoadError::Format { source_name: self.name(source), message: other.to_string() },
        })
    }
}
