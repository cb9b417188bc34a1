//! Reads sources and sends their pieces to workers.

use crate::address::escape_path;
use crate::archive::{Found, is_archive, is_loadable, open_archive};
use crate::error::IngestError;
use crate::job::Job;
use crate::long_pieces::{LongPiece, LongPieces};
use crate::progress::ReadProgress;
use crate::read_ahead::read_ahead;
use crate::sniff::{Known, SNIFF_BYTES, Sniffed, sniff};
use crate::source::Source;
use crate::source_list::SourceList;
use lode_base::cancel::CancelToken;
use lode_base::host;
use lode_rdf::input::{Compression, Input};
use lode_rdf::parse::{TOO_LONG_HINT, last_line_end};
use lode_rdf::{ParseOptions, RdfFormat};
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

/// What a piece grows by, at least, while it ends in the midst of a statement.
pub(crate) const STEP_BYTES: usize = 64 << 10;
/// Archives in archives that are opened.
const ARCHIVES_MAX: usize = 4;

/// What the feeding threads need.
pub(crate) struct Feed<'a> {
    /// Format of sources that do not bring their own.
    pub format: Option<RdfFormat>,
    /// Threads that may decompress one source.
    pub threads: usize,
    /// Bytes of a piece.
    pub chunk_bytes: usize,
    /// Base IRI and the like.
    pub parse: &'a ParseOptions,
    /// Asked once per piece.
    pub cancel: &'a CancelToken,
    /// Told how many bytes have been read.
    pub progress: &'a Arc<ReadProgress>,
    /// Told what the sources are.
    pub list: &'a SourceList,
    /// Whether compressed files are read to their end before anything of them is sent, so that nothing of a damaged one is.
    pub proves: bool,
    /// Lets one long piece be at a time.
    pub long: LongPieces,
}

/// Adds what is read to the progress, if it shall.
struct Metered<R> {
    inner: R,
    read: Arc<AtomicU64>,
    told: u64,
    progress: Option<Arc<ReadProgress>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        if let Some(progress) = &self.progress {
            let now = self.read.load(Ordering::Relaxed);
            progress.add_bytes_read(now.saturating_sub(self.told));
            self.told = now;
        }
        result
    }
}

/// Sources that nobody has begun to read, with their numbers.
pub(crate) type Waiting = Mutex<std::vec::IntoIter<(usize, Source)>>;

impl Feed<'_> {
    /// Reads sources as long as some are waiting and sends their pieces, until nobody takes them any more, or until an error
    /// that `fail` is told and does not forgive.
    pub fn run(
        &self,
        waiting: &Waiting,
        spares: &Mutex<Receiver<Vec<u8>>>,
        jobs: &SyncSender<Job>,
        fail: &dyn Fn(usize, IngestError) -> ControlFlow<()>,
    ) {
        let sink = JobSink { jobs, spares, fail };
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, source)) = next else { return };
            if self.feed_or_fail(number, source, &sink).is_break() {
                return;
            }
        }
    }

    fn feed_or_fail(&self, number: usize, source: Source, sink: &JobSink<'_>) -> ControlFlow<()> {
        let sent = self.cancel.check().map_err(IngestError::from);
        match sent.and_then(|()| self.feed(number, source, sink)) {
            Ok(flow) => flow,
            Err(error) => (sink.fail)(number, error),
        }
    }

    fn feed(
        &self,
        number: usize,
        source: Source,
        sink: &JobSink<'_>,
    ) -> Result<ControlFlow<()>, IngestError> {
        let name = source.name.clone();
        let failed = |error| IngestError::input(&name, error);
        let set = source.format.or(self.format);
        let (depth, address) = (source.depth, source.address.clone());
        if let Some(path) = source.file().filter(|_| self.proves) {
            self.prove(&path, &name)?.map_err(failed)?;
        }
        // The bytes of an archive have been counted.
        let progress = (depth == 0).then(|| Arc::clone(self.progress));
        let read = Arc::new(AtomicU64::new(0));
        let unpacked_max = source.unpacked_max;
        let opened = source.open().map_err(failed)?;
        let address = opened.address.or(address);
        let input = Input::new(opened.reader, Arc::clone(&read)).map_err(failed)?.limited(unpacked_max);
        let known = Known { number, compression: input.compression(), set, told: opened.format };
        let input = read_ahead(input, self.threads).map_err(failed)?;
        let input = Metered { inner: input, read, told: 0, progress };
        let Sniffed { format, head, rest: mut input } = sniff(known, self.list, input)?;
        let Some(format) = format else {
            if depth == ARCHIVES_MAX {
                let message = "archives are in each other too deep".to_owned();
                return Err(IngestError::Format { source_name: name, message });
            }
            let reader = Box::new(Cursor::new(head).chain(input));
            return self.feed_archive((number, depth), address, reader, set, sink).map_err(failed);
        };
        if format.is_line_based() {
            return self.feed_lines(number, format, &mut input, head, &name, sink);
        }
        let mut parse = self.parse.clone();
        if let Some(address) = address {
            parse = parse.with_own_address(&address);
        }
        if matches!(format, RdfFormat::Turtle | RdfFormat::TriG) {
            return self.feed_statements((number, &name), format, &parse, &mut input, head, sink);
        }
        let reader: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(input));
        Ok(go_on(sink.jobs.send(Job::Document { source: number, format, parse, reader }).is_ok()))
    }

    /// Reads a compressed file to its end, to see whether it is whole. (Of an archive, the files before the damage are.)
    fn prove(&self, path: &Path, name: &str) -> Result<io::Result<()>, IngestError> {
        let read = || {
            let input = Input::new(host::open_input(path)?.0, Arc::default())?;
            if input.compression() == Compression::None {
                return Ok(());
            }
            let mut input = read_ahead(input, self.threads)?;
            let mut buffer = Vec::new();
            input.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut buffer)?;
            if is_archive(name, &buffer) {
                return Ok(());
            }
            buffer.resize(self.chunk_bytes, 0);
            while input.read(&mut buffer)? > 0 && self.cancel.check().is_ok() {}
            Ok(())
        };
        let result = read();
        self.cancel.check()?;
        Ok(result)
    }

    /// Reads the files in an archive, as sources of their own.
    fn feed_archive(
        &self,
        (number, depth): (usize, usize),
        address: Option<String>,
        reader: Box<dyn Read + Send>,
        set: Option<RdfFormat>,
        sink: &JobSink<'_>,
    ) -> io::Result<ControlFlow<()>> {
        self.list.note(number, |report| report.archive = true);
        let archive = self.list.name(number);
        // Whoever names the format says that all files have it.
        let finds = open_archive(reader, move |name| set.is_some() || is_loadable(name))?;
        loop {
            match finds.recv() {
                Ok(Found::File { name, reader }) => {
                    let mut address = address.clone();
                    if let Some(address) = &mut address {
                        address.push('/');
                        escape_path(&name, address);
                    }
                    let name = format!("{archive}/{name}");
                    let source = Source::reader(&*name, reader).in_archive(address, set, depth + 1);
                    if self.feed_or_fail(self.list.add(&name), source, sink).is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(Found::Skipped(name)) => self.list.skip(format!("{archive}/{name}")),
                Ok(Found::Failed(error)) => return Err(error),
                Ok(Found::End) => return Ok(ControlFlow::Continue(())),
                Err(_) => return Err(io::Error::other("the thread that reads the archive has failed")),
            }
        }
    }

    /// An empty piece, with a buffer that was used before if there is one.
    pub(crate) fn piece(&self, sink: &JobSink<'_>) -> Piece {
        let spare = sink.spares.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok();
        // A buffer that a long line or statement made large is not worth keeping.
        let buffer = spare.filter(|buffer| buffer.len() <= 2 * self.chunk_bytes).unwrap_or_default();
        Piece { buffer, filled: 0, long: None }
    }

    fn feed_lines(
        &self,
        source: usize,
        format: RdfFormat,
        input: &mut impl Read,
        head: Vec<u8>,
        name: &str,
        sink: &JobSink<'_>,
    ) -> Result<ControlFlow<()>, IngestError> {
        let failed = |error| IngestError::input(name, error);
        let limit = self.parse.statement_limit();
        let (mut first_line, mut offset) = (1, 0);
        let mut rest = head;
        loop {
            self.cancel.check()?;
            let mut piece = self.piece(sink);
            piece.append(&rest);
            rest.clear();
            let at_end = piece.fill(input, self, &failed)?;
            let text = piece.text();
            let length = if at_end { text.len() } else { last_line_end(text).unwrap_or(0) };
            let (whole, begun) = text.split_at(length);
            let lines = memchr::memchr_iter(b'\n', whole).count() as u64;
            if begun.len() > limit.bytes() {
                let message = format!("{} ({TOO_LONG_HINT})", limit.message("a line"));
                let (source_name, line) = (name.to_owned(), first_line + lines);
                return Err(IngestError::Syntax { source_name, line, column: 1, message });
            }
            rest.extend_from_slice(begun);
            let Piece { buffer, long, .. } = piece;
            let job = Job::Lines { source, format, buffer, length, long, first_line, offset };
            if length > 0 && sink.jobs.send(job).is_err() {
                return Ok(ControlFlow::Break(()));
            }
            if at_end {
                return Ok(ControlFlow::Continue(()));
            }
            first_line += lines;
            offset += length as u64;
        }
    }
}

/// Where pieces and errors go.
pub(crate) struct JobSink<'a> {
    pub jobs: &'a SyncSender<Job>,
    /// Buffers of pieces that have been worked on.
    spares: &'a Mutex<Receiver<Vec<u8>>>,
    fail: &'a dyn Fn(usize, IngestError) -> ControlFlow<()>,
}

fn go_on(sent: bool) -> ControlFlow<()> {
    if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// A buffer that is filled from the front. It is never cleared: what is beyond `filled` is left from before.
pub(crate) struct Piece {
    pub buffer: Vec<u8>,
    pub filled: usize,
    pub long: Option<LongPiece>,
}

impl Piece {
    /// A piece that must grow because a statement does not end in it is a long one, of which there is one at a time.
    pub(crate) fn wait_if_long(&mut self, feed: &Feed<'_>) -> Result<(), IngestError> {
        if self.long.is_none() && self.filled >= 2 * feed.chunk_bytes {
            self.long = Some(feed.long.wait(feed.cancel)?);
        }
        Ok(())
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        if let Some(room) = self.buffer.get_mut(self.filled..self.filled + bytes.len()) {
            room.copy_from_slice(bytes);
            self.filled += bytes.len();
        }
    }

    fn reserve(&mut self, more: usize) {
        if self.buffer.len() < self.filled + more {
            self.buffer.resize(self.filled + more, 0);
        }
    }

    /// Reads until there are `wanted` bytes and a line's end among them; true at the end of the input.
    fn fill(
        &mut self,
        input: &mut impl Read,
        feed: &Feed<'_>,
        failed: &dyn Fn(io::Error) -> IngestError,
    ) -> Result<bool, IngestError> {
        let (wanted, limit) = (feed.chunk_bytes, feed.parse.statement_limit());
        loop {
            let old = self.filled;
            // A line that is longer than a piece makes the piece grow.
            let end = if old < wanted { wanted } else { old + limit.step(old, STEP_BYTES) };
            self.wait_if_long(feed)?;
            if self.fill_to(input, end).map_err(failed)? {
                return Ok(true);
            }
            let found = last_line_end(self.buffer.get(old..end).unwrap_or_default()).is_some();
            if found || self.filled > limit.bytes() {
                return Ok(false);
            }
        }
    }

    /// Reads until there are so many bytes; true at the end of the input.
    pub(crate) fn fill_to(&mut self, input: &mut impl Read, end: usize) -> io::Result<bool> {
        self.reserve(end.saturating_sub(self.filled));
        while self.filled < end {
            let room = self.buffer.get_mut(self.filled..end).unwrap_or_default();
            match input.read(room) {
                Ok(0) => return Ok(true),
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}
