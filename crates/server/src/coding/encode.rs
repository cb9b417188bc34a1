//! Answers, compressed for clients that take them so. A short one is compressed whole; a long one as it is made, with what waits in the
//! encoder sent whenever nothing more is there, so that rows flow as they come.

use super::Coding;
use crate::error::HttpError;
use crate::state::AppState;
use crate::validator;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
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
use std::sync::Arc;
use std::task::{Context, Poll};

/// Shorter answers are sent plain: a packet holds them either way.
const BYTES_MIN: u64 = 1 << 10;
/// Answers up to this length are compressed whole, if all of one is there.
const WHOLE_BYTES_MAX: u64 = 256 << 10;
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

/// The layer that compresses.
pub(crate) async fn compress(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let coding = Coding::accepted(request.headers());
    let mut response = next.run(request).await;
    if state.compression.0.is_none() || !is_fit(&response) {
        return response;
    }
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let Some(coding) = coding else { return response };
    let length = response.body().size_hint().exact();
    if length.is_some_and(|bytes| bytes < BYTES_MIN) {
        return response;
    }
    let Some((encoder, room)) = state.compression.encoder(coding) else { return response };
    let (mut head, body) = response.into_parts();
    let encoded = EncodedBody { body, encoder, is_waiting: false, is_done: false, _room: room };
    let body = match length.filter(|bytes| *bytes <= WHOLE_BYTES_MAX) {
        Some(_) => match encoded.whole().await {
            Ok(bytes) => bytes.into(),
            Err(error) => return failed(&error),
        },
        None => Body::new(encoded),
    };
    mark(&mut head.headers, coding);
    Response::from_parts(head, body)
}

/// Whether an answer has something to compress.
fn is_fit(response: &Response) -> bool {
    let bodiless = [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED, StatusCode::PARTIAL_CONTENT];
    !response.headers().contains_key(header::CONTENT_ENCODING) && !bodiless.contains(&response.status())
}

fn failed(error: &axum::Error) -> Response {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer could not be compressed: {error}"))
        .into_response()
}

fn mark(headers: &mut HeaderMap, coding: Coding) {
    headers.remove(header::CONTENT_LENGTH);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    // Other bytes have another strong validator.
    if let Some(tag) = headers.get(header::ETAG).and_then(|tag| validator::of_coding(tag, coding.name())) {
        headers.insert(header::ETAG, tag);
    }
}

/// An answer on its way through an encoder.
struct EncodedBody {
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
    async fn whole(mut self) -> Result<Vec<u8>, axum::Error> {
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
