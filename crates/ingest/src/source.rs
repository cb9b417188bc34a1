//! What is read: files, streams, bytes in memory.

use crate::address::file_address;
use lode_base::host;
use lode_rdf::RdfFormat;
use std::fmt;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// Something to load.
pub struct Source {
    pub(crate) name: String,
    /// Its own address, against which relative IRIs are resolved.
    pub(crate) address: Option<String>,
    pub(crate) format: Option<RdfFormat>,
    input: SourceInput,
    /// In how many archives it is, one in the other.
    pub(crate) depth: usize,
    /// Bytes that it may have once it is unpacked.
    pub(crate) unpacked_max: Option<u64>,
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
        Self { name, address: None, format: None, input, depth: 0, unpacked_max: None }
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

    /// Says that it is a file in an archive, at this depth of archives in each other.
    pub(crate) fn in_archive(self, address: Option<String>, format: Option<RdfFormat>, depth: usize) -> Self {
        Self { address, format, depth, ..self }
    }

    /// Sets the format, which else comes from the options, the name, where it comes from, or the first bytes.
    #[must_use]
    pub fn with_format(mut self, format: RdfFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets how many bytes it may have once it is unpacked: reading it fails where there are more.
    #[must_use]
    pub fn with_unpacked_max(mut self, bytes_max: Option<u64>) -> Self {
        self.unpacked_max = bytes_max;
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
    pub(crate) fn address(&self) -> Option<String> {
        self.address.clone()
    }

    /// Its path, where it is a file that can be read more than once.
    pub fn file(&self) -> Option<PathBuf> {
        match &self.input {
            SourceInput::Path(path) => host::input_bytes(path).map(|_| path.clone()),
            _ => None,
        }
    }

    /// Bytes of the source as stored, where that is known.
    pub fn stored_bytes(&self) -> Option<u64> {
        match &self.input {
            SourceInput::Path(path) => host::input_bytes(path),
            SourceInput::Reader(_) | SourceInput::Later(_) => None,
            SourceInput::Bytes(bytes) => Some(bytes.len() as u64),
        }
    }

    /// The format, where it was set.
    pub(crate) fn format(&self) -> Option<RdfFormat> {
        self.format
    }

    /// Opens it.
    pub(crate) fn open(self) -> io::Result<Opened> {
        match self.input {
            SourceInput::Path(path) => Ok(Opened::new(host::open_input(&path)?.0)),
            SourceInput::Reader(reader) => Ok(Opened::new(reader)),
            SourceInput::Bytes(bytes) => Ok(Opened::new(Box::new(Cursor::new(bytes)))),
            SourceInput::Later(open) => open(),
        }
    }
}
