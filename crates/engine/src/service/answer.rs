//! The rows of an answer, parsed as its bytes come.

use super::pipe::Pipe;
use lode_base::cancel::CancelToken;
use lode_base::memory_budget::Reservation;
use lode_exec::service::{ServiceAnswer, ServiceError, ServiceRows};
use lode_rdf::Term;
use lode_rdf::key::TRIPLE_DEPTH_MAX;
use lode_rdf::parse::ResultGuard;
use sparesults::{
    QueryResultsFormat, QueryResultsParseError, QueryResultsParser, ReaderQueryResultsParserOutput,
    ReaderSolutionsParser,
};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values and bytes of a part, after which it is handed on.
const PART_VALUES_MAX: usize = 4096;
const PART_BYTES_MAX: usize = 256 << 10;
/// What comes before the rows, in XML and TSV; in JSON rows may come before the columns.
const HEAD_BYTES_MAX: usize = 256 << 10;
/// The longest row: what a parser holds before it has one.
const ROW_BYTES_MAX: usize = 8 << 20;
/// What a parser and the terms that it makes take, for each byte of the text; and before it knows the columns, when rows may be nothing but
/// brackets that it keeps.
const BYTES_PER_BYTE: usize = 8;
const EARLY_BYTES_PER_BYTE: usize = 32;

/// An answer over HTTP.
pub(super) struct HttpAnswer {
    state: State,
    meter: Arc<Meter>,
    pipe: Arc<Pipe>,
    cancel: CancelToken,
}

enum State {
    /// Nothing has come yet. Covers what the request holds.
    Asked(Option<Reservation>),
    Rows(Arc<[String]>, Box<ReaderSolutionsParser<PipeReader>>),
    Done,
}

/// What the parser has read.
#[derive(Debug)]
struct Meter {
    answer_bytes_max: u64,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    received: u64,
    /// Since the last row.
    row_bytes: usize,
    part_bytes: usize,
    /// The columns are known.
    is_open: bool,
    /// Why there is nothing more to read.
    error: Option<ServiceError>,
}

impl Meter {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpAnswer {
    /// What comes through `pipe`; `reservation` covers what is on its way.
    pub(super) fn new(
        pipe: Arc<Pipe>,
        cancel: CancelToken,
        reservation: Reservation,
        answer_bytes_max: u64,
    ) -> Self {
        let meter = Arc::new(Meter { answer_bytes_max, counts: Mutex::default() });
        Self { state: State::Asked(Some(reservation)), meter, pipe, cancel }
    }

    /// Waits for the beginning, and opens a parser for it.
    fn open(&self, reservation: Reservation) -> Result<State, ServiceError> {
        let media_type = self.pipe.head(&self.cancel)?.media_type;
        let format = media_type.as_deref().and_then(format_of).ok_or_else(|| {
            let named = media_type.as_deref().unwrap_or("(none)").chars().take(100).collect::<String>();
            ServiceError::Failed(format!("answered with the content type {named} instead of rows"))
        })?;
        let held = reservation.bytes();
        let reader = PipeReader {
            pipe: Arc::clone(&self.pipe),
            cancel: self.cancel.clone(),
            meter: Arc::clone(&self.meter),
            guard: guard_of(format),
            head_bytes_max: if format == QueryResultsFormat::Json { ROW_BYTES_MAX } else { HEAD_BYTES_MAX },
            reservation,
            held,
            piece: Vec::new(),
            at: 0,
        };
        match QueryResultsParser::from_format(format).for_reader(reader) {
            Ok(ReaderQueryResultsParserOutput::Solutions(rows)) => {
                let count = rows.variables().len();
                // Each takes room in each row, also where it is unbound there.
                if count > ResultGuard::COLUMNS_MAX {
                    return Err(ServiceError::Failed(format!("answered with {count} columns")));
                }
                self.meter.lock().is_open = true;
                let variables = rows.variables().iter().map(|v| v.as_str().to_owned()).collect();
                Ok(State::Rows(variables, Box::new(rows)))
            }
            Ok(ReaderQueryResultsParserOutput::Boolean(_)) => {
                Err(ServiceError::Failed("answered yes or no instead of rows".to_owned()))
            }
            Err(error) => Err(self.error(&error)),
        }
    }

    fn error(&self, error: &QueryResultsParseError) -> ServiceError {
        let own = self.meter.lock().error.take();
        own.unwrap_or_else(|| {
            let text: String = error.to_string().chars().take(300).collect();
            ServiceError::Failed(format!("answered with something that is no result: {text}"))
        })
    }

    fn read(&mut self) -> Result<Option<ServiceRows>, ServiceError> {
        if let State::Asked(reservation) = &mut self.state {
            let Some(reservation) = reservation.take() else { return Ok(None) };
            self.state = self.open(reservation)?;
        }
        let State::Rows(variables, parser) = &mut self.state else { return Ok(None) };
        let mut part = ServiceRows { variables: Arc::clone(variables), rows: Vec::new() };
        self.meter.lock().part_bytes = 0;
        let rows_max = PART_VALUES_MAX / variables.len().max(1);
        while part.rows.len() < rows_max.max(1) {
            match parser.next() {
                Some(Ok(row)) if row.values().iter().flatten().any(is_too_deep) => {
                    let message =
                        format!("answered with triple terms that nest more than {TRIPLE_DEPTH_MAX} deep");
                    return Err(ServiceError::Failed(message));
                }
                Some(Ok(row)) => part.rows.push(row.values().to_vec()),
                Some(Err(error)) => return Err(self.error(&error)),
                None => {
                    self.state = State::Done;
                    break;
                }
            }
            let mut counts = self.meter.lock();
            counts.row_bytes = 0;
            if counts.part_bytes >= PART_BYTES_MAX {
                break;
            }
        }
        self.cancel.check()?;
        Ok((!part.rows.is_empty()).then_some(part))
    }
}

impl ServiceAnswer for HttpAnswer {
    fn next(&mut self) -> Result<Option<ServiceRows>, ServiceError> {
        let result = self.read();
        if result.is_err() {
            self.state = State::Done;
        }
        result
    }

    fn bytes_received(&self) -> u64 {
        self.meter.lock().received
    }
}

impl Drop for HttpAnswer {
    fn drop(&mut self) {
        self.pipe.close();
    }
}

/// The format of a media type; not CSV, which does not tell IRIs from texts.
fn format_of(media_type: &str) -> Option<QueryResultsFormat> {
    let format = QueryResultsFormat::from_media_type(media_type)?;
    (format != QueryResultsFormat::Csv).then_some(format)
}

/// The parser of TSV has a limit of its own.
fn guard_of(format: QueryResultsFormat) -> Option<ResultGuard> {
    match format {
        QueryResultsFormat::Json => Some(ResultGuard::json()),
        QueryResultsFormat::Xml => Some(ResultGuard::xml()),
        _ => None,
    }
}

/// Whether a term nests deeper than the database's own.
fn is_too_deep(mut term: &Term) -> bool {
    let mut depth = 0;
    while let Term::Triple(triple) = term {
        depth += 1;
        term = &triple.object;
    }
    depth > TRIPLE_DEPTH_MAX
}

/// Reads what comes through a pipe, and keeps to limits.
struct PipeReader {
    pipe: Arc<Pipe>,
    cancel: CancelToken,
    meter: Arc<Meter>,
    /// Against nesting that no code could walk.
    guard: Option<ResultGuard>,
    head_bytes_max: usize,
    reservation: Reservation,
    /// Reserved whatever is parsed.
    held: usize,
    piece: Vec<u8>,
    at: usize,
}

impl PipeReader {
    fn next_piece(&mut self) -> Result<(), ServiceError> {
        let Some(piece) = self.pipe.pop(&self.cancel)? else {
            (self.piece, self.at) = (Vec::new(), 0);
            return Ok(());
        };
        if let Some(guard) = &mut self.guard {
            let refused =
                |message| ServiceError::Failed(format!("answered with something hostile: {message}"));
            guard.check(&piece).map_err(refused)?;
        }
        let (parsed, factor) = {
            let mut counts = self.meter.lock();
            counts.received += piece.len() as u64;
            counts.row_bytes += piece.len();
            counts.part_bytes += piece.len();
            if counts.received > self.meter.answer_bytes_max {
                let max = self.meter.answer_bytes_max;
                return Err(ServiceError::Failed(format!(
                    "answered with more than {max} bytes: ask for less, or with more conditions"
                )));
            }
            let max = if counts.is_open { ROW_BYTES_MAX } else { self.head_bytes_max };
            if counts.row_bytes > max {
                return Err(ServiceError::Failed(format!(
                    "answered with {max} bytes that are not yet a row"
                )));
            }
            let factor = if counts.is_open { BYTES_PER_BYTE } else { EARLY_BYTES_PER_BYTE };
            (counts.row_bytes.max(counts.part_bytes), factor)
        };
        self.reservation.resize(self.held + factor * parsed)?;
        (self.piece, self.at) = (piece, 0);
        Ok(())
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.next_piece().map_err(|error| {
                let message = error.to_string();
                self.meter.lock().error = Some(error);
                io::Error::other(message)
            })?;
        }
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.at += length;
        Ok(length)
    }
}
