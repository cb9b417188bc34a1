//! Input streams: compression recognised by first bytes, damage reported in plain words, progress counted, other encodings made UTF-8.

mod block;
mod blocked;
mod encoding;
mod frames;
mod gzip;
mod member_header;
mod transcoder;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod tests;

pub use block::Block;
pub use blocked::{MemberBatch, MemberDecoder, Members};
pub use encoding::{DeclaredEncoding, TextEncoding};
pub use frames::frame_starts;
pub use transcoder::{MalformedText, TextReader};

use block::BLOCK_BYTES;
use bzip2::read::MultiBzDecoder;
use gzip::GzipReader;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::fmt;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much is read from the source at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// How many first bytes tell the compression.
const HEAD_BYTES: usize = member_header::HEADER_BYTES;

/// Memory that data of xz may make its decoder take; `xz -9` makes it take 65 MiB. zstd has a limit of its own, 128 MiB.
const XZ_MEMORY_BYTES_MAX: u64 = 256 << 20;
/// How the libraries say that the limit is too low.
const ZSTD_TOO_LARGE: &str = "requires too much memory";
const XZ_TOO_LARGE: &str = "memory limit";

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, of one or more members.
    Gzip,
    /// bzip2, of one or more streams.
    Bzip2,
    /// Zstandard, of one or more frames.
    Zstd,
    /// xz, of one or more streams.
    Xz,
}

impl Compression {
    /// Recognises a stream by its first bytes (six are enough).
    pub fn detect(head: &[u8]) -> Self {
        match head {
            [0x1F, 0x8B, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Self::Zstd,
            // A skippable frame may come first.
            [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Self::Zstd,
            [0xFD, b'7', b'z', b'X', b'Z', 0x00, ..] => Self::Xz,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        })
    }
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The source, with the first bytes put back.
type Source<'r> = BufReader<Chain<Cursor<Vec<u8>>, Box<dyn Read + Send + 'r>>>;

enum Decoder<'r> {
    Plain(Source<'r>),
    Gzip(GzipReader<Source<'r>>),
    Bzip2(Box<MultiBzDecoder<Source<'r>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, Source<'r>>>),
    Xz(Box<XzDecoder<Source<'r>>>),
}

/// A stream of plain bytes. It is read, or taken block by block.
pub struct Input<'r> {
    decoder: Decoder<'r>,
    /// What was taken as a block in order to be read.
    block: Block,
    blocked: bool,
    explain: Explain,
    /// Bytes that may still come, and of how many in all.
    left: u64,
    bytes_max: u64,
}

impl<'r> Input<'r> {
    /// Wraps a source. `count` grows by every byte read from it, compressed as it is.
    ///
    /// # Errors
    ///
    /// Where the first bytes cannot be read, or the decoder finds no memory.
    pub fn new(source: Box<dyn Read + Send + 'r>, count: Arc<AtomicU64>) -> io::Result<Self> {
        let mut counted: Box<dyn Read + Send + 'r> =
            Box::new(Counted { inner: source, count: Arc::clone(&count) });
        // A slow pipe may give them one by one.
        let mut head = Vec::with_capacity(HEAD_BYTES);
        counted.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let compression = Compression::detect(&head);
        let blocked = member_header::member_bytes(&head).is_some();
        let source = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(counted));
        let decoder = match compression {
            Compression::None => Decoder::Plain(source),
            Compression::Gzip => Decoder::Gzip(GzipReader::new(source)),
            Compression::Bzip2 => Decoder::Bzip2(Box::new(MultiBzDecoder::new(source))),
            Compression::Zstd => Decoder::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(source)?)),
            Compression::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES_MAX, CONCATENATED)?;
                Decoder::Xz(Box::new(XzDecoder::new_stream(source, stream)))
            }
        };
        let explain = Explain { compression, count };
        Ok(Self { decoder, block: Block::default(), blocked, explain, left: u64::MAX, bytes_max: u64::MAX })
    }

    /// The same, which fails once more bytes have come of a compressed source: a few may stand for any number.
    #[must_use]
    pub fn limited(self, bytes_max: Option<u64>) -> Self {
        match bytes_max {
            Some(bytes_max) if self.compression() != Compression::None => {
                Self { left: bytes_max, bytes_max, ..self }
            }
            _ => self,
        }
    }

    /// Counts what has come.
    fn come(&mut self, bytes: usize) -> io::Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => {
                let message = format!(
                    "the {} data has more than {} bytes once it is unpacked",
                    self.compression(),
                    self.bytes_max
                );
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
        }
        Ok(())
    }

    /// gzip whose first bytes have been read already, and counted.
    fn gzip(head: Vec<u8>, rest: Source<'r>, explain: Explain) -> Self {
        let rest: Box<dyn Read + Send + 'r> = Box::new(rest);
        let source = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(rest));
        Self {
            decoder: Decoder::Gzip(GzipReader::new(source)),
            block: Block::default(),
            blocked: false,
            explain,
            left: u64::MAX,
            bytes_max: u64::MAX,
        }
    }

    /// How the source is compressed.
    pub fn compression(&self) -> Compression {
        self.explain.compression
    }

    /// The next bytes; none at the end. `spare` is a buffer that is not needed any more, or an empty one.
    ///
    /// # Errors
    ///
    /// `InvalidData` where compressed data is damaged, ends too early or needs too much memory; else what the source
    /// fails with.
    pub fn next_block(&mut self, spare: Vec<u8>) -> io::Result<Block> {
        if !self.block.is_empty() {
            self.come(self.block.as_bytes().len())?;
            return Ok(std::mem::replace(&mut self.block, Block::new(spare, 0..0)));
        }
        if let Decoder::Gzip(reader) = &mut self.decoder {
            let block = reader.next_block(spare).map_err(|error| self.explain.damage(error))?;
            self.come(block.as_bytes().len())?;
            return Ok(block);
        }
        let mut buffer = spare;
        buffer.resize(BLOCK_BYTES, 0);
        let mut filled = 0;
        while let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.read(room) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Block::new(buffer, 0..filled))
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = match &mut self.decoder {
            Decoder::Plain(source) => source.read(buffer),
            Decoder::Gzip(reader) => {
                if self.block.is_empty() {
                    let spare = std::mem::take(&mut self.block).into_buffer();
                    match reader.next_block(spare) {
                        Ok(block) => self.block = block,
                        Err(error) => return Err(self.explain.damage(error)),
                    }
                }
                self.block.read(buffer)
            }
            Decoder::Bzip2(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
            Decoder::Xz(decoder) => decoder.read(buffer),
        };
        let read = result.map_err(|error| self.explain.damage(error))?;
        self.come(read)?;
        Ok(read)
    }
}

/// Says what is wrong with an archive, and about where.
#[derive(Debug, Clone)]
struct Explain {
    compression: Compression,
    count: Arc<AtomicU64>,
}

impl Explain {
    fn damage(&self, error: io::Error) -> io::Error {
        // Errors of the source itself (a failing disk, a closed pipe) are not the archive's.
        let damage = matches!(
            error.kind(),
            io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::Other
        ) && error.raw_os_error().is_none();
        if !damage || self.compression == Compression::None {
            return error;
        }
        let at = self.count.load(Ordering::Relaxed);
        let message = if [ZSTD_TOO_LARGE, XZ_TOO_LARGE].iter().any(|text| error.to_string().contains(text)) {
            format!(
                "the {} data needs more memory than it may have (it was made with a very large window): \
                 unpack it with its own program, and load that",
                self.compression
            )
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("the {} data ends too early, after {at} bytes: the file has been cut", self.compression)
        } else {
            format!("the {} data is damaged, in the first {at} bytes: {error}", self.compression)
        };
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}
