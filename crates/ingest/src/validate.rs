//! A load without a database: all sources are read and parsed with all checks, and everything that is wrong is told.

use crate::error::IngestError;
use crate::feed::Feed;
use crate::feeders::{self, Jobs, Threads};
use crate::job::Job;
use crate::long_pieces::LongPieces;
use crate::progress::ReadProgress;
use crate::quarantine::Quarantine;
use crate::read::{chunk_bytes, document_error};
use crate::source::Source;
use crate::source_list::{Skipped, SourceList, SourceReport};
use lode_base::cancel::CancelToken;
use lode_base::host::{peak_resident_bytes, processor_seconds};
use lode_rdf::parse::{BadText, LineChunk, ParseNotes, TurtlePiece, parse_line_chunk_noting, parse_noting};
use lode_rdf::{ParseOptions, RawQuad, RdfFormat};
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
    /// Sources that could not be read to their end; with a quarantine, those with a mistake where reading could not go on, too.
    pub failed: u64,
    /// The first errors of each source, in the order of the sources.
    pub errors: Vec<IngestError>,
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

/// How to validate.
pub struct ValidateOptions<'a> {
    /// Threads that parse.
    pub threads: usize,
    /// Bytes that all of them may hold.
    pub memory_bytes: usize,
    /// Format of sources that do not bring their own.
    pub format: Option<RdfFormat>,
    /// Base IRI and the like.
    pub parse: &'a ParseOptions,
    /// Takes bad statements, each after a comment that says what is wrong.
    pub quarantine: Option<Box<dyn Write + Send>>,
    /// Stops it.
    pub cancel: &'a CancelToken,
}

/// Reads and checks sources as [`read_sources`](crate::read_sources) does, and does nothing with what is in them.
///
/// # Errors
/// Where what is set aside cannot be written, or the reading was cancelled. What is wrong with sources is in the report.
pub fn validate(
    sources: Vec<Source>,
    options: ValidateOptions<'_>,
    progress: &Arc<ReadProgress>,
) -> Result<ValidateReport, IngestError> {
    let start = Instant::now();
    let total: Option<u64> = sources.iter().map(Source::stored_bytes).sum();
    progress.set_bytes_total(total.unwrap_or(0));
    let parse = options.parse;
    let list = SourceList::default();
    let sources: Vec<_> = sources.into_iter().map(|source| (list.add(source.name()), source)).collect();
    let threads = Threads::new(options.threads, sources.len());
    let validator = Validator {
        parse,
        quarantine: options.quarantine.map(Quarantine::new),
        progress,
        list: &list,
        stop: AtomicBool::new(false),
        found: Mutex::default(),
    };
    let feed = Feed {
        format: options.format,
        threads: threads.per_source(),
        chunk_bytes: chunk_bytes(options.memory_bytes, threads),
        parse,
        cancel: options.cancel,
        progress,
        list: &list,
        proves: validator.quarantine.is_some(),
        long: LongPieces::default(),
    };
    let fail = |source, error| validator.fail(source, error);
    feeders::run(feed, sources, threads, &validator.stop, &fail, &|_, jobs| validator.work(jobs));
    if let Some(quarantine) = &validator.quarantine {
        quarantine.flush()?;
    }
    let mut found = validator.found.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    quarantine: Option<Quarantine>,
    progress: &'a Arc<ReadProgress>,
    list: &'a SourceList,
    stop: AtomicBool,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    errors: Vec<(usize, IngestError)>,
    failed: u64,
    quarantined: u64,
    /// What ends the whole validation.
    fatal: Option<IngestError>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Validator<'_> {
    /// Notes an error that ends a source, or, where it is no fault of a source, everything.
    fn fail(&self, source: usize, error: IngestError) -> ControlFlow<()> {
        if !error.is_of_source() {
            self.stop.store(true, Ordering::Relaxed);
            lock(&self.found).fatal.get_or_insert(error);
            return ControlFlow::Break(());
        }
        if let Some(quarantine) = &self.quarantine {
            if let Err(failed) = quarantine.add_file(&error, self.list.fail(source, &error)) {
                return self.fail(source, failed);
            }
            lock(&self.found).failed += 1;
        } else if matches!(error, IngestError::Syntax { .. }) {
            self.list.note(source, |report| report.bad += 1);
        } else {
            self.list.fail(source, &error);
            lock(&self.found).failed += 1;
        }
        self.tell(source, error);
        ControlFlow::Continue(())
    }

    /// Keeps an error to be told, if it is among the first of its source: pieces further behind may be done with sooner.
    fn tell(&self, source: usize, error: IngestError) {
        let mut found = lock(&self.found);
        let own = || found.errors.iter().enumerate().filter(|(_, (other, _))| *other == source);
        if own().count() < ERRORS_MAX {
            found.errors.push((source, error));
            return;
        }
        let last =
            own().max_by_key(|(_, (_, other))| other.place()).map(|(at, (_, other))| (at, other.place()));
        if let Some((at, place)) = last
            && error.place() < place
        {
            found.errors[at] = (source, error);
        }
    }

    fn work(&self, jobs: &Jobs<'_>) {
        while let Some(job) = jobs.next() {
            match job {
                Job::Lines { source, format, buffer, length, first_line, offset, long: _long } => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.lines(source, format, LineChunk { bytes, first_line, offset });
                    jobs.give_back(buffer);
                }
                Job::Statements { source, piece, buffer, length, long: _long } => {
                    self.statements(source, &piece, buffer.get(..length).unwrap_or_default());
                    jobs.give_back(buffer);
                }
                Job::Document { source, format, parse, reader } => {
                    self.document(source, format, &parse, reader);
                }
            }
        }
    }

    fn count(&self, source: usize, quads: u64, notes: ParseNotes) {
        self.progress.add_quads(quads);
        self.list.note(source, |report| {
            report.quads += quads;
            report.notes.merge(notes);
        });
    }

    fn lines(&self, source: usize, format: RdfFormat, chunk: LineChunk<'_>) {
        let mut quads = 0;
        let mut notes = ParseNotes::default();
        let kept = self.parse.is_lenient().then_some(&mut notes.kept);
        let count = |_: RawQuad<'_>| {
            quads += 1;
            ControlFlow::Continue(())
        };
        let _ = parse_line_chunk_noting(format, chunk, kept, count, &mut |bad| self.bad_text(source, &bad));
        self.count(source, quads, notes);
    }

    fn bad_text(&self, source: usize, bad: &BadText<'_>) -> ControlFlow<()> {
        let error = self.list.syntax(source, &bad.error);
        self.list.note(source, |report| report.bad += 1);
        if let Some(quarantine) = &self.quarantine {
            if let Err(failed) = quarantine.add(&error, bad) {
                return self.fail(source, failed);
            }
            lock(&self.found).quarantined += 1;
            self.progress.add_quarantined(1);
        }
        self.tell(source, error);
        ControlFlow::Continue(())
    }

    fn statements(&self, source: usize, piece: &TurtlePiece, text: &[u8]) {
        let mut quads = 0;
        let mut notes = ParseNotes::default();
        let mut count = |_: RawQuad<'_>| {
            quads += 1;
            ControlFlow::Continue(())
        };
        let mut bad = |bad: BadText<'_>| self.bad_text(source, &bad);
        let _ = piece.parse_past_errors(text, &mut notes, &mut count, &mut bad);
        self.count(source, quads, notes);
    }

    fn document(&self, source: usize, format: RdfFormat, parse: &ParseOptions, reader: Box<dyn Read + Send>) {
        const TELL_EVERY: u64 = 1024;
        let mut notes = ParseNotes::default();
        let (mut quads, mut untold) = (0, 0);
        let result = parse_noting(format, reader, parse, &mut notes, &mut |_| {
            quads += 1;
            untold += 1;
            if untold == TELL_EVERY {
                self.progress.add_quads(std::mem::take(&mut untold));
                if self.stop.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        self.progress.add_quads(untold);
        // Of a document that is wrong nothing would be loaded.
        if result.is_ok() || self.quarantine.is_none() {
            self.list.note(source, |report| {
                report.quads += quads;
                report.notes.merge(notes);
            });
        }
        if let Err(error) = result {
            let _ = self.fail(source, document_error(self.list, source, error));
        }
    }
}
