//! What a load reads: files, streams, bytes in memory; and the pieces that workers get of them.

use crate::load::error::LoadError;
use crate::load::progress::LoadProgress;
use lode_base::cancel::CancelToken;
use lode_base::host;
use lode_rdf::RdfFormat;
use lode_rdf::input::Input;
use lode_rdf::parse::{LINE_BYTES_MAX, last_line_end};
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

/// First bytes that tell the format of a source whose name does not.
const HEAD_BYTES: usize = 64 << 10;

/// Something to load.
pub struct Source {
    name: String,
    format: Option<RdfFormat>,
    input: SourceInput,
}

enum SourceInput {
    Path(PathBuf),
    Reader(Box<dyn Read + Send>),
    Bytes(Vec<u8>),
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
        let name = path.display().to_string();
        Self { format: None, input: SourceInput::Path(path.to_owned()), name }
    }

    /// A stream, plain or compressed. `name` is for messages, and its extension may tell the format.
    pub fn reader(name: impl Into<String>, reader: Box<dyn Read + Send>) -> Self {
        Self { name: name.into(), format: None, input: SourceInput::Reader(reader) }
    }

    /// Bytes in memory, plain or compressed.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), format: None, input: SourceInput::Bytes(bytes.into()) }
    }

    /// Sets the format, which else comes from the options, the name or the first bytes.
    #[must_use]
    pub fn with_format(mut self, format: RdfFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of the source as stored, where that is known.
    pub(crate) fn stored_bytes(&self) -> Option<u64> {
        match &self.input {
            SourceInput::Path(path) => host::input_bytes(path),
            SourceInput::Reader(_) => None,
            SourceInput::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }

    fn open(self) -> io::Result<Box<dyn Read + Send>> {
        match self.input {
            SourceInput::Path(path) => Ok(host::open_input(&path)?.0),
            SourceInput::Reader(reader) => Ok(reader),
            SourceInput::Bytes(bytes) => Ok(Box::new(Cursor::new(bytes))),
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
        /// The text.
        bytes: Vec<u8>,
        /// Number of its first line.
        first_line: u64,
        /// Where it is in the (decompressed) source.
        offset: u64,
    },
    /// A whole source of another format.
    Document {
        /// Number of the source.
        source: usize,
        /// Its format.
        format: RdfFormat,
        /// Its text.
        reader: Box<dyn Read + Send>,
    },
}

/// What the feeding thread needs.
pub(crate) struct Feed<'a> {
    /// Format of sources that do not bring their own.
    pub format: Option<RdfFormat>,
    /// Bytes of a piece.
    pub chunk_bytes: usize,
    /// Where pieces go.
    pub jobs: SyncSender<Job>,
    /// Buffers that workers are done with.
    pub spare: Receiver<Vec<u8>>,
    /// Asked once per piece.
    pub cancel: &'a CancelToken,
    /// Told how many bytes have been read.
    pub progress: &'a Arc<LoadProgress>,
}

/// Adds what is read to the progress.
struct Metered<R> {
    inner: R,
    read: Arc<AtomicU64>,
    told: u64,
    progress: Arc<LoadProgress>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        let now = self.read.load(Ordering::Relaxed);
        self.progress.add_bytes_read(now.saturating_sub(self.told));
        self.told = now;
        result
    }
}

impl Feed<'_> {
    /// Reads all sources and sends their pieces, until an error or until nobody takes them any more.
    pub fn run(&self, sources: Vec<Source>) -> Result<(), LoadError> {
        for (number, source) in sources.into_iter().enumerate() {
            self.cancel.check()?;
            if !self.feed(number, source)? {
                break;
            }
        }
        Ok(())
    }

    fn feed(&self, number: usize, source: Source) -> Result<bool, LoadError> {
        let name = source.name.clone();
        let failed = |error| LoadError::Input { source_name: name.clone(), error };
        let known = source.format.or(self.format).or_else(|| RdfFormat::from_file_name(&name));
        let read = Arc::new(AtomicU64::new(0));
        let raw = source.open().map_err(failed)?;
        let input = Input::new(raw, Arc::clone(&read)).map_err(failed)?;
        let mut input = Metered { inner: input, read, told: 0, progress: Arc::clone(self.progress) };
        let mut head = Vec::new();
        let format = match known {
            Some(format) => format,
            None => {
                input.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(failed)?;
                RdfFormat::guess_from_content(&head).unwrap_or(RdfFormat::NTriples)
            }
        };
        if format.is_line_based() {
            return self.feed_lines(number, format, &mut input, head, &name);
        }
        let reader: Box<dyn Read + Send> = Box::new(Cursor::new(head).chain(input));
        Ok(self.jobs.send(Job::Document { source: number, format, reader }).is_ok())
    }

    fn feed_lines(
        &self,
        source: usize,
        format: RdfFormat,
        input: &mut impl Read,
        head: Vec<u8>,
        name: &str,
    ) -> Result<bool, LoadError> {
        let failed = |error| LoadError::Input { source_name: name.to_owned(), error };
        let (mut first_line, mut offset) = (1, 0);
        let mut rest = head;
        loop {
            self.cancel.check()?;
            let mut bytes = self.spare.try_recv().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(&rest);
            rest.clear();
            let at_end = fill(input, &mut bytes, self.chunk_bytes).map_err(failed)?;
            let end = if at_end { bytes.len() } else { last_line_end(&bytes).unwrap_or(0) };
            rest.extend_from_slice(bytes.get(end..).unwrap_or_default());
            bytes.truncate(end);
            if rest.len() > LINE_BYTES_MAX {
                let message = format!("a line has more than {LINE_BYTES_MAX} bytes");
                return Err(LoadError::Syntax {
                    source_name: name.to_owned(),
                    line: first_line,
                    column: 1,
                    message,
                });
            }
            let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
            let length = bytes.len() as u64;
            if !bytes.is_empty()
                && self.jobs.send(Job::Lines { source, format, bytes, first_line, offset }).is_err()
            {
                return Ok(false);
            }
            if at_end {
                return Ok(true);
            }
            first_line += lines;
            offset += length;
        }
    }
}

/// Reads until there are `wanted` bytes and a line's end among them; true at the end of the input.
fn fill(input: &mut impl Read, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
    loop {
        let old = bytes.len();
        // A line that is longer than a piece makes the piece grow.
        let more = if old < wanted { wanted - old } else { old.max(wanted) };
        let read = input.by_ref().take(more as u64).read_to_end(bytes)?;
        if read < more {
            return Ok(true);
        }
        if last_line_end(bytes.get(old..).unwrap_or_default()).is_some() || bytes.len() > LINE_BYTES_MAX {
            return Ok(false);
        }
    }
}
