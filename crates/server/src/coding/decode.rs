//! Bodies of requests that come compressed: decoded as they come, in pieces of bounded size, however much a few bytes may stand for.

use super::Coding;
use bytes::{Buf, Bytes};
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::zstd::params::DParameter;
use compression_codecs::{BrotliDecoder, DecodeV2, GzipDecoder, ZstdDecoder};
use std::io;

/// The longest piece that is decoded at once.
const PIECE_BYTES: usize = 64 << 10;
/// The logarithm of the largest window of zstd: RFC 9659 asks no more of who decodes for HTTP.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// What begins a stream of brotli with windows beyond RFC 7932, of up to 1 GiB.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// A body on its way through a decoder.
pub(crate) struct Decoding {
    coding: Coding,
    decoder: Box<dyn DecodeV2 + Send>,
    input: Bytes,
    state: State,
    /// Whether the last piece was full, so that more may be behind it without more input.
    may_have_more: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a stream, of which there may be several.
    Begin,
    Inside,
}

impl Decoding {
    pub(crate) fn new(coding: Coding) -> Self {
        let decoder: Box<dyn DecodeV2 + Send> = match coding {
            Coding::Zstd => {
                Box::new(ZstdDecoder::new_with_params(&[DParameter::window_log_max(ZSTD_WINDOW_LOG_MAX)]))
            }
            Coding::Brotli => Box::new(BrotliDecoder::new()),
            Coding::Gzip => Box::new(GzipDecoder::new()),
        };
        Self { coding, decoder, input: Bytes::new(), state: State::Begin, may_have_more: false }
    }

    /// What the decoder may hold.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self.coding {
            Coding::Zstd => (1 << ZSTD_WINDOW_LOG_MAX) + (512 << 10),
            Coding::Brotli => (16 << 20) + (512 << 10),
            Coding::Gzip => 128 << 10,
        }
    }

    /// Takes the next bytes; those before must have been decoded.
    pub(crate) fn feed(&mut self, bytes: Bytes) {
        self.input = bytes;
    }

    /// The next piece of what was fed; none where more must be.
    pub(crate) fn piece(&mut self) -> io::Result<Option<Bytes>> {
        while !self.input.is_empty() || self.may_have_more {
            if self.state == State::Begin {
                self.check_begin()?;
                self.state = State::Inside;
            }
            let (bytes, has_ended) = self.step()?;
            if has_ended {
                self.decoder.reinit()?;
                self.state = State::Begin;
            }
            self.may_have_more = bytes.len() == PIECE_BYTES && !has_ended;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Fails where nothing more comes, and something is missing.
    pub(crate) fn end(&self) -> io::Result<()> {
        match self.state {
            State::Begin => Ok(()),
            State::Inside => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends before its end")),
        }
    }

    fn check_begin(&self) -> io::Result<()> {
        let first = self.input.first().map(|byte| byte & 0x7f);
        if self.coding == Coding::Brotli && first == Some(BROTLI_LARGE_WINDOW) {
            return Err(io::Error::other("its window is larger than RFC 7932 allows"));
        }
        Ok(())
    }

    fn step(&mut self) -> io::Result<(Bytes, bool)> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut input = PartialBuffer::new(&*self.input);
        let mut output = WriteBuffer::new_initialized(&mut piece);
        // Without input the decoder of gzip only flushes; it ends with its footer.
        let has_ended = if self.input.is_empty() && self.coding == Coding::Gzip {
            self.decoder.flush(&mut output)?;
            false
        } else {
            self.decoder.decode(&mut input, &mut output)?
        };
        let (taken, made) = (input.written_len(), output.written_len());
        if taken == 0 && made == 0 && !has_ended && !self.input.is_empty() {
            return Err(io::Error::other("it cannot be decoded"));
        }
        self.input.advance(taken);
        piece.truncate(made);
        Ok((piece.into(), has_ended))
    }
}
