//! A load without a database: all sources are read and parsed with all checks, and everything that is wrong is told.

use crate::load::error::LoadError;
use crate::load::feeders::{self, Jobs, Threads};
use crate::load::options::LoadOptions;
use crate::load::progress::{LoadProgress, Stage};
use crate::load::read::{chunk_bytes, document_error, quarantine_entry};
use crate::load::source::{Feed, Job, Source};
use crate::load::source_list::{Skipped, SourceList, SourceReport};
use lode_base::host::{peak_resident_bytes, processor_seconds};
use lode_rdf::parse::{BadLine, LineChunk, TurtlePiece, parse, parse_line_chunk};
use lode_rdf::{ParseError, ParseOptions, RdfFormat};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Errors of a source that are told; more are only counted.
const ERRORS_MAX: usize = 20;

/// What validating found.
#[derive(Debug)]
#[non_exhaustive]
pub struct ValidateReport {
    /// Statements that are right.
    pub quads: u64,
    /// Statements that are wrong.
    pub bad: u64,
    /// How many of these were set aside.
    pub quarantined: u64,
    /// Sources that could not be read to their end.
    pub failed: u64,
    /// The first errors of each source, in the order of the sources.
    pub errors: Vec<LoadError>,
    /// What was found in each source.
    pub sources: Vec<SourceReport>,
    /// Files in archives that were skipped because their names are none of RDF.
    pub skipped: Skipped,
    /// Bytes read from the sources, as they are stored.
    pub source_bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// The most memory the process has had resident, where that can be told.
    pub peak_resident_bytes: Option<u64>,
    /// Seconds of processors that the process has used so far, where that can be told.
    pub processor_seconds: Option<f64>,
}

/// Reads and checks sources as [`load`](super::load) does, and does nothing with what is in them.
pub fn validate(
    sources: Vec<Source>,
    options: LoadOptions,
    progress: &Arc<LoadProgress>,
) -> Result<ValidateReport, LoadError> {
    let start = Instant::now();
    let total: Option<u64> = sources.iter().map(Source::stored_bytes).sum();
    progress.set_bytes_total(total.unwrap_or(0));
    let parse = options.parse_options()?;
    let list = SourceList::default();
    let sources: Vec<_> = sources.into_iter().map(|source| (list.add(source.name()), source)).collect();
    let threads = Threads::new(options.threads, sources.len());
    let validator = Validator {
        parse: &parse,
        quarantine: options.quarantine.map(Mutex::new),
        progress,
        list: &list,
        stop: AtomicBool::new(false),
        found: Mutex::default(),
    };
    let feed = Feed {
        format: options.format,
        threads: threads.per_source(),
        chunk_bytes: chunk_bytes(options.memory_bytes, threads),
        parse: &parse,
        cancel: &options.cancel,
        progress,
        list: &list,
    };
    let fail = |source, error| validator.fail(source, error);
    feeders::run(feed, sources, threads, &validator.stop, &fail, &|_, jobs| validator.work(jobs));
    if let Some(Err(error)) = validator.quarantine.as_ref().map(|quarantine| lock(quarantine).flush()) {
        return Err(LoadError::Quarantine(error));
    }
    let mut found = validator.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    progress.set_stage(Stage::Done);
    if let Some(error) = found.fatal {
        return Err(error);
    }
    found.errors.sort_by_key(|(source, error)| (*source, error.place()));
    let (sources, skipped) = list.into_reports();
    Ok(ValidateReport {
        quads: sources.iter().map(|source| source.quads).sum(),
        bad: sources.iter().map(|source| source.bad).sum(),
        quarantined: found.quarantined,
        failed: found.failed,
        errors: found.errors.into_iter().map(|(_, error)| error).collect(),
        sources,
        skipped,
        source_bytes: progress.sample().bytes_read,
        seconds: start.elapsed().as_secs_f64(),
        peak_resident_bytes: peak_resident_bytes(),
        processor_seconds: processor_seconds(),
    })
}

struct Validator<'a> {
    parse: &'a ParseOptions,
    quarantine: Option<Mutex<Box<dyn Write + Send>>>,
    progress: &'a Arc<LoadProgress>,
    list: &'a SourceList,
    stop: AtomicBool,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    errors: Vec<(usize, LoadError)>,
    failed: u64,
    quarantined: u64,
    /// Documents in which there was an error.
    ended: HashSet<usize>,
    /// What ends the whole validation.
    fatal: Option<LoadError>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Validator<'_> {
    /// Notes an error. Only what is no fault of a source ends everything.
    fn fail(&self, source: usize, error: LoadError) -> ControlFlow<()> {
        let mut found = lock(&self.found);
        match &error {
            LoadError::Syntax { .. } => self.list.note(source, |report| report.bad += 1),
            LoadError::Input { .. } | LoadError::Format { .. } => found.failed += 1,
            _ => {
                self.stop.store(true, Ordering::Relaxed);
                found.fatal.get_or_insert(error);
                return ControlFlow::Break(());
            }
        }
        if found.errors.iter().filter(|(other, _)| *other == source).count() < ERRORS_MAX {
            found.errors.push((source, error));
        }
        ControlFlow::Continue(())
    }

    fn work(&self, jobs: &Jobs<'_>) {
        while let Some(job) = jobs.next() {
            match job {
                Job::Lines { source, format, buffer, length, first_line, offset } => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.lines(source, format, LineChunk { bytes, first_line, offset });
                    jobs.give_back(buffer);
                }
                Job::Statements { source, piece, buffer, length } => {
                    self.statements(source, &piece, buffer.get(..length).unwrap_or_default());
                    jobs.give_back(buffer);
                }
                Job::Document { source, format, reader } => self.document(source, format, reader),
            }
        }
    }

    fn count(&self, source: usize, quads: u64) {
        self.progress.add_quads(quads);
        self.list.note(source, |report| report.quads += quads);
    }

    fn lines(&self, source: usize, format: RdfFormat, chunk: LineChunk<'_>) {
        let mut quads = 0;
        let count = |_: lode_rdf::RawQuad<'_>| {
            quads += 1;
            ControlFlow::Continue(())
        };
        let _ = parse_line_chunk(format, chunk, count, &mut |line| self.bad_line(source, &line));
        self.count(source, quads);
    }

    fn bad_line(&self, source: usize, line: &BadLine<'_>) -> ControlFlow<()> {
        let error = self.list.syntax(source, &line.error);
        if let Some(quarantine) = &self.quarantine {
            if let Err(failed) = lock(quarantine).write_all(&quarantine_entry(&error, line)) {
                return self.fail(source, LoadError::Quarantine(failed));
            }
            lock(&self.found).quarantined += 1;
            self.progress.add_quarantined(1);
        }
        self.fail(source, error)
    }

    /// Behind an error nothing more of a document is told, because the error may be the cause.
    fn statements(&self, source: usize, piece: &TurtlePiece, text: &[u8]) {
        if lock(&self.found).ended.contains(&source) {
            return;
        }
        let mut quads = 0;
        let result = piece.parse(text, &mut |_| {
            quads += 1;
            ControlFlow::Continue(())
        });
        self.count(source, quads);
        let Err(error) = result else { return };
        let error = self.list.syntax(source, &error);
        let mut found = lock(&self.found);
        if found.ended.insert(source) {
            drop(found);
            let _ = self.fail(source, error);
            return;
        }
        // A piece further behind was done with sooner.
        let told = found.errors.iter_mut().find(|(other, _)| *other == source);
        if let Some((_, told)) = told
            && error.place() < told.place()
        {
            *told = error;
        }
    }

    fn document(&self, source: usize, format: RdfFormat, reader: Box<dyn Read + Send>) {
        const TELL_EVERY: u64 = 1024;
        let mut untold = 0;
        let result: Result<(), ParseError> = parse(format, reader, self.parse, &mut |_| {
            untold += 1;
            if untold == TELL_EVERY {
                self.count(source, std::mem::take(&mut untold));
                if self.stop.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        self.count(source, untold);
        if let Err(error) = result {
            let _ = self.fail(source, document_error(self.list, source, error));
        }
    }
}
