//! What a load reads: files, streams, bytes in memory; and the pieces that workers get of them.

use crate::load::address::{escape_path, file_address};
use crate::load::archive::{Found, is_archive, is_loadable, open_archive};
use crate::load::error::LoadError;
use crate::load::long::{LongPiece, LongPieces};
use crate::load::look::{Known, LOOK_BYTES, Looked, recognise};
use crate::load::read_ahead::read_ahead;
use crate::load::source_list::SourceList;
use crate::progress::LoadProgress;
use lode_base::cancel::CancelToken;
use lode_base::host;
use lode_rdf::input::{Compression, Input};
use lode_rdf::parse::{TOO_LONG_HINT, TurtlePiece, last_line_end};
use lode_rdf::{ParseOptions, RdfFormat};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

/// What a piece grows by, at least, while it ends in the midst of a statement.
pub(super) const STEP_BYTES: usize = 64 << 10;
/// Archives in archives that are opened.
const ARCHIVES_MAX: usize = 4;

/// Something to load.
pub struct Source {
    name: String,
    /// Its own address, against which relative IRIs are resolved.
    address: Option<String>,
    format: Option<RdfFormat>,
    input: SourceInput,
    /// In how many archives it is, one in the other.
    depth: usize,
}

enum SourceInput {
    Path(PathBuf),
    Reader(Box<dyn Read + Send>),
    Bytes(Vec<u8>),
    Later(Box<Opener>),
}

/// Opens a source when its turn comes.
pub type Opener = dyn FnOnce() -> io::Result<Opened> + Send;

/// A source that has been opened.
pub struct Opened {
    /// Its bytes.
    pub reader: Box<dyn Read + Send>,
    /// Its format, where that has been told along with them.
    pub format: Option<RdfFormat>,
    /// Its address, where that is not the one it was asked for at.
    pub address: Option<String>,
}

impl Opened {
    fn new(reader: Box<dyn Read + Send>) -> Self {
        Self { reader, format: None, address: None }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// A file, plain or compressed.
    pub fn path(path: &Path) -> Self {
        Self {
            address: file_address(path),
            ..Self::new(path.display().to_string(), SourceInput::Path(path.to_owned()))
        }
    }

    fn new(name: String, input: SourceInput) -> Self {
        Self { name, address: None, format: None, input, depth: 0 }
    }

    /// A stream, plain or compressed. `name` is for messages, and its extension may tell the format.
    pub fn reader(name: impl Into<String>, reader: Box<dyn Read + Send>) -> Self {
        Self::new(name.into(), SourceInput::Reader(reader))
    }

    /// Bytes in memory, plain or compressed.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(name.into(), SourceInput::Bytes(bytes.into()))
    }

    /// A stream that is opened when its turn comes. `name` is for messages, and its extension may tell the format.
    pub fn later(name: impl Into<String>, open: Box<Opener>) -> Self {
        Self::new(name.into(), SourceInput::Later(open))
    }

    /// Sets the format, which else comes from the options, the name, where it comes from, or the first bytes.
    #[must_use]
    pub fn with_format(mut self, format: RdfFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets its own address: relative IRIs in it are resolved against that, unless a load has another base. (Files have theirs.)
    #[must_use]
    pub fn with_address(mut self, address: &str) -> Self {
        self.address = Some(address.to_owned());
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its own address, where it has one.
    pub(super) fn address(&self) -> Option<String> {
        self.address.clone()
    }

    /// Its path, where it is a file that can be read more than once.
    fn file(&self) -> Option<PathBuf> {
        match &self.input {
            SourceInput::Path(path) => host::input_bytes(path).map(|_| path.clone()),
            _ => None,
        }
    }

    /// Bytes of the source as stored, where that is known.
    pub(crate) fn stored_bytes(&self) -> Option<u64> {
        match &self.input {
            SourceInput::Path(path) => host::input_bytes(path),
            SourceInput::Reader(_) | SourceInput::Later(_) => None,
            SourceInput::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }

    /// The format, where it was set.
    pub(super) fn format(&self) -> Option<RdfFormat> {
        self.format
    }

    /// Opens it.
    pub(super) fn open(self) -> io::Result<Opened> {
        match self.input {
            SourceInput::Path(path) => Ok(Opened::new(host::open_input(&path)?.0)),
            SourceInput::Reader(reader) => Ok(Opened::new(reader)),
            SourceInput::Bytes(bytes) => Ok(Opened::new(Box::new(Cursor::new(bytes)))),
            SourceInput::Later(open) => open(),
        }
    }
}

/// A piece of work.
pub(crate) enum Job {
    /// Whole lines of a line-based source.
    Lines {
        /// Number of the source.
        source: usize,
        /// N-Triples or N-Quads.
        format: RdfFormat,
        /// A buffer that begins with the text.
        buffer: Vec<u8>,
        /// Bytes of the text.
        length: usize,
        /// Held while it is worked on, if it is a long one.
        long: Option<LongPiece>,
        /// Number of its first line.
        first_line: u64,
        /// Where it is in the (decompressed) source.
        offset: u64,
    },
    /// Statements of a Turtle or TriG source.
    Statements {
        /// Number of the source.
        source: usize,
        /// What holds where they begin.
        piece: Box<TurtlePiece>,
        /// A buffer that begins with the text.
        buffer: Vec<u8>,
        /// Bytes of the text.
        length: usize,
        /// Held while it is worked on, if it is a long one.
        long: Option<LongPiece>,
    },
    /// A whole source of another format.
    Document {
        /// Number of the source.
        source: usize,
        /// Its format.
        format: RdfFormat,
        /// Its base IRI and the like.
        parse: ParseOptions,
        /// Its text.
        reader: Box<dyn Read + Send>,
    },
}

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
    pub progress: &'a Arc<LoadProgress>,
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
    progress: Option<Arc<LoadProgress>>,
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
        fail: &dyn Fn(usize, LoadError) -> ControlFlow<()>,
    ) {
        let sink = Sink { jobs, spares, fail };
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, source)) = next else { return };
            if self.feed_or_fail(number, source, &sink).is_break() {
                return;
            }
        }
    }

    fn feed_or_fail(&self, number: usize, source: Source, sink: &Sink<'_>) -> ControlFlow<()> {
        let sent = self.cancel.check().map_err(LoadError::from);
        match sent.and_then(|()| self.feed(number, source, sink)) {
            Ok(flow) => flow,
            Err(error) => (sink.fail)(number, error),
        }
    }

    fn feed(&self, number: usize, source: Source, sink: &Sink<'_>) -> Result<ControlFlow<()>, LoadError> {
        let name = source.name.clone();
        let failed = |error| LoadError::input(&name, error);
        let set = source.format.or(self.format);
        let (depth, address) = (source.depth, source.address.clone());
        if let Some(path) = source.file().filter(|_| self.proves) {
            self.prove(&path, &name)?.map_err(failed)?;
        }
        // The bytes of an archive have been counted.
        let progress = (depth == 0).then(|| Arc::clone(self.progress));
        let read = Arc::new(AtomicU64::new(0));
        let opened = source.open().map_err(failed)?;
        let address = opened.address.or(address);
        let input = Input::new(opened.reader, Arc::clone(&read)).map_err(failed)?;
        let known = Known { number, compression: input.compression(), set, told: opened.format };
        let input = read_ahead(input, self.threads).map_err(failed)?;
        let input = Metered { inner: input, read, told: 0, progress };
        let Looked { format, head, rest: mut input } = recognise(known, self.list, input)?;
        let Some(format) = format else {
            if depth == ARCHIVES_MAX {
                let message = "archives are in each other too deep".to_owned();
                return Err(LoadError::Format { source_name: name, message });
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
    fn prove(&self, path: &Path, name: &str) -> Result<io::Result<()>, LoadError> {
        let read = || {
            let input = Input::new(host::open_input(path)?.0, Arc::default())?;
            if input.compression() == Compression::None {
                return Ok(());
            }
            let mut input = read_ahead(input, self.threads)?;
            let mut buffer = Vec::new();
            input.by_ref().take(LOOK_BYTES as u64).read_to_end(&mut buffer)?;
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
        sink: &Sink<'_>,
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
                    let source =
                        Source { address, format: set, depth: depth + 1, ..Source::reader(&*name, reader) };
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
    pub(super) fn piece(&self, sink: &Sink<'_>) -> Piece {
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
        sink: &Sink<'_>,
    ) -> Result<ControlFlow<()>, LoadError> {
        let failed = |error| LoadError::input(name, error);
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
                return Err(LoadError::Syntax { source_name, line, column: 1, message });
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
pub(super) struct Sink<'a> {
    pub jobs: &'a SyncSender<Job>,
    /// Buffers of pieces that have been worked on.
    spares: &'a Mutex<Receiver<Vec<u8>>>,
    fail: &'a dyn Fn(usize, LoadError) -> ControlFlow<()>,
}

fn go_on(sent: bool) -> ControlFlow<()> {
    if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// A buffer that is filled from the front. It is never cleared: what is beyond `filled` is left from before.
pub(super) struct Piece {
    pub buffer: Vec<u8>,
    pub filled: usize,
    pub long: Option<LongPiece>,
}

impl Piece {
    /// A piece that must grow because a statement does not end in it is a long one, of which there is one at a time.
    pub(super) fn wait_if_long(&mut self, feed: &Feed<'_>) -> Result<(), LoadError> {
        if self.long.is_none() && self.filled >= 2 * feed.chunk_bytes {
            self.long = Some(feed.long.wait(feed.cancel)?);
        }
        Ok(())
    }

    pub(super) fn text(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
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
        failed: &dyn Fn(io::Error) -> LoadError,
    ) -> Result<bool, LoadError> {
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
    pub(super) fn fill_to(&mut self, input: &mut impl Read, end: usize) -> io::Result<bool> {
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
