//! Input streams: compression recognised by first bytes, damage reported in plain words, progress counted.

#[cfg(test)]
mod tests;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use std::fmt;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much is read from the source at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// How many first bytes tell the compression.
const HEAD_BYTES: usize = 6;

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
type Source<'r> = BufReader<Chain<Cursor<Vec<u8>>, Counted<Box<dyn Read + Send + 'r>>>>;

enum Decoder<'r> {
    Plain(Source<'r>),
    Gzip(Box<MultiGzDecoder<Source<'r>>>),
    Bzip2(Box<MultiBzDecoder<Source<'r>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, Source<'r>>>),
    Xz(Box<XzDecoder<Source<'r>>>),
}

/// A stream of plain bytes.
pub struct Input<'r> {
    decoder: Decoder<'r>,
    compression: Compression,
    count: Arc<AtomicU64>,
}

impl<'r> Input<'r> {
    /// Wraps a source. `count` grows by every byte read from it, compressed as it is.
    pub fn new(source: Box<dyn Read + Send + 'r>, count: Arc<AtomicU64>) -> io::Result<Self> {
        let mut counted = Counted { inner: source, count: Arc::clone(&count) };
        // A slow pipe may give them one by one.
        let mut head = Vec::with_capacity(HEAD_BYTES);
        counted.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        let compression = Compression::detect(&head);
        let source = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(counted));
        let decoder = match compression {
            Compression::None => Decoder::Plain(source),
            Compression::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(source))),
            Compression::Bzip2 => Decoder::Bzip2(Box::new(MultiBzDecoder::new(source))),
            Compression::Zstd => Decoder::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(source)?)),
            Compression::Xz => Decoder::Xz(Box::new(XzDecoder::new_multi_decoder(source))),
        };
        Ok(Self { decoder, compression, count })
    }

    /// How the source is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Says what is wrong with an archive, and about where.
    fn explain(&self, error: io::Error) -> io::Error {
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
        let message = if error.kind() == io::ErrorKind::UnexpectedEof {
            format!("the {} data ends too early, after {at} bytes", self.compression)
        } else {
            format!("the {} data is damaged, in the first {at} bytes: {error}", self.compression)
        };
        io::Error::new(io::ErrorKind::InvalidData, message)
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = match &mut self.decoder {
            Decoder::Plain(source) => source.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Bzip2(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
            Decoder::Xz(decoder) => decoder.read(buffer),
        };
        result.map_err(
            |error| if error.kind() == io::ErrorKind::Interrupted { error } else { self.explain(error) },
        )
    }
}
