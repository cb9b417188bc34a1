//! Answers, compressed for clients that take them so. A short one is compressed whole; a long one as it is made, with what waits in the
//! encoder sent whenever nothing more is there, so that rows flow as they come.

use super::Coding;
use axum::body::Body;
use bytes::Bytes;
use compression_codecs::brotli::params::EncoderParams;
use compression_codecs::core::Level;
use compression_codecs::core::util::{PartialBuffer, WriteBuffer};
use compression_codecs::flate::params::FlateEncoderParams;
use compression_codecs::zstd::params::CParameter;
use compression_codecs::{BrotliEncoder, EncodeV2, GzipEncoder, ZstdEncoder};
use http_body::{Body as HttpBody, Frame};
use lode_engine::{MemoryBudget, Reservation};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The piece that an encoder fills at a time.
const PIECE_BYTES: usize = 16 << 10;
/// Of all memory encoders may take a part of so many.
const PART_OF_MEMORY: usize = 16;
/// The logarithm of the encoders' windows: what repeats in results does so soon, and every client of a long answer has a window.
const WINDOW_LOG: u32 = 18;

/// The memory of all encoders.
#[derive(Debug)]
pub(crate) struct Compression(Option<MemoryBudget>);

impl Compression {
    /// Compresses, or nothing; the encoders count in `pool`, if there is one.
    pub(crate) fn new(is_on: bool, pool: Option<&MemoryBudget>) -> Self {
        let part = |pool: &MemoryBudget| pool.part(pool.limit() / PART_OF_MEMORY);
        Self(is_on.then(|| pool.map_or_else(MemoryBudget::unlimited, part)))
    }

    /// Whether anything is compressed.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Bytes that encoders take.
    pub(crate) fn used(&self) -> usize {
        self.0.as_ref().map_or(0, MemoryBudget::used)
    }

    /// A body behind an encoder, or as it was where there is no memory for one.
    pub(crate) fn encode(&self, coding: Coding, body: Body) -> Result<EncodedBody, Body> {
        let Some((encoder, room)) = self.encoder(coding) else { return Err(body) };
        Ok(EncodedBody { body, encoder, is_waiting: false, is_done: false, _room: room })
    }

    /// An encoder, if there is memory for it.
    fn encoder(&self, coding: Coding) -> Option<(Box<dyn EncodeV2 + Send>, Reservation)> {
        let mut room = self.0.as_ref()?.reserve_idle();
        room.resize(memory_bytes(coding)).ok()?;
        let encoder: Box<dyn EncodeV2 + Send> = match coding {
            Coding::Zstd => Box::new(ZstdEncoder::new_with_params(1, &[CParameter::window_log(WINDOW_LOG)])),
            Coding::Brotli => {
                let params =
                    EncoderParams::default().quality(Level::Precise(3)).window_size(WINDOW_LOG as i32);
                Box::new(BrotliEncoder::new(params))
            }
            Coding::Gzip => Box::new(GzipEncoder::new(FlateEncoderParams::from(Level::Precise(3)))),
        };
        Some((encoder, room))
    }
}

/// What an encoder holds.
fn memory_bytes(coding: Coding) -> usize {
    match coding {
        Coding::Zstd => 1 << 20,
        Coding::Brotli => 2 << 20,
        Coding::Gzip => 512 << 10,
    }
}

/// An answer on its way through an encoder.
pub(crate) struct EncodedBody {
    body: Body,
    encoder: Box<dyn EncodeV2 + Send>,
    /// Whether the encoder may hold something that was not sent.
    is_waiting: bool,
    is_done: bool,
    _room: Reservation,
}

/// What an encoder is to do.
enum Step<'a> {
    Encode(&'a [u8]),
    Flush,
    Finish,
}

impl EncodedBody {
    fn run(&mut self, step: &Step<'_>) -> io::Result<Bytes> {
        let mut made = Vec::new();
        let input: &[u8] = if let Step::Encode(bytes) = step { bytes } else { &[] };
        let mut input = PartialBuffer::new(input);
        loop {
            let begin = made.len();
            made.resize(begin + PIECE_BYTES, 0);
            let mut output = WriteBuffer::new_initialized(&mut made[begin..]);
            let is_done = match step {
                Step::Encode(_) => {
                    self.encoder.encode(&mut input, &mut output)?;
                    input.unwritten().is_empty()
                }
                Step::Flush => self.encoder.flush(&mut output)?,
                Step::Finish => self.encoder.finish(&mut output)?,
            };
            let end = begin + output.written_len();
            made.truncate(end);
            if is_done {
                return Ok(made.into());
            }
        }
    }

    /// All of it.
    pub(crate) async fn whole(mut self) -> Result<Vec<u8>, axum::Error> {
        let mut all = Vec::new();
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut self).poll_frame(cx)).await {
            if let Ok(data) = frame?.into_data() {
                all.extend_from_slice(&data);
            }
        }
        Ok(all)
    }
}

impl HttpBody for EncodedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.is_done {
            return Poll::Ready(None);
        }
        let step = match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
            Poll::Ready(Some(Ok(frame))) => {
                // Answers have no trailers.
                let data = frame.into_data().unwrap_or_default();
                self.is_waiting = true;
                self.run(&Step::Encode(&data))
            }
            Poll::Ready(None) => {
                self.is_done = true;
                self.run(&Step::Finish)
            }
            Poll::Pending if self.is_waiting => {
                self.is_waiting = false;
                self.run(&Step::Flush)
            }
            Poll::Pending => return Poll::Pending,
        };
        let bytes = step.map_err(axum::Error::new)?;
        if bytes.is_empty() {
            if self.is_done {
                return Poll::Ready(None);
            }
            // Others that this thread serves come first.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}
