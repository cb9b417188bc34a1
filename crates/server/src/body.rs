//! Bodies of requests: read whole, up to a limit of each and one of all together, or handed on piece by piece to a blocking thread that
//! reads them.

use crate::body_memory::Room;
use crate::coding::{Coding, Decoding};
use crate::deadline::after;
use crate::error::HttpError;
use crate::observe::Record;
use crate::state::Shared;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Buf, Bytes};
use http_body::Body as _;
use std::future::poll_fn;
use std::io::{self, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// Pieces that may wait for the thread that reads them.
const PIECES_WAITING_MAX: usize = 16;
/// Of a body that nobody wants any more so many bytes are still taken: a client that is cut off while it sends may never see why.
const UNWANTED_BYTES_MAX: usize = 32 << 20;
/// In as long as it may send nothing, a client must send so much of a body that is kept in memory.
const BYTES_MIN: usize = 16 << 10;
/// Several that hold decoders could wait for each other: they wait no longer than this.
const DECODED_PATIENCE: Duration = Duration::from_secs(2);
/// Where nobody knows how long a body is, room is made for so much more at a time.
const ROOM_STEP_BYTES: usize = 256 << 10;

/// A body that was read whole.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    pub(crate) bytes: Vec<u8>,
    pub(crate) room: Room,
}

/// A body on its way.
pub(crate) struct Incoming {
    body: Body,
    state: Arc<Shared>,
    stopping: watch::Receiver<bool>,
    /// For how long it was waited since enough had last come, and what has come since then.
    waited: Duration,
    come: usize,
    decoding: Option<(Decoding, Room)>,
    /// Bytes that were decoded.
    decoded: u64,
    record: Option<Arc<Record>>,
}

impl Incoming {
    pub(crate) fn new(body: Body, state: &Arc<Shared>) -> Self {
        let stopping = state.stopping.clone();
        let (waited, record) = (Duration::ZERO, Record::current());
        Self { body, state: Arc::clone(state), stopping, waited, come: 0, decoding: None, decoded: 0, record }
    }

    /// The same body without its content coding.
    pub(crate) fn decoded(self, coding: Option<Coding>) -> Self {
        Self { decoding: coding.map(|coding| (Decoding::new(coding), Room::default())), ..self }
    }

    /// The next bytes; none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        let Some((mut decoding, mut room)) = self.decoding.take() else { return self.next_raw().await };
        let deadline = after(2 * self.state.options.stall_max);
        self.state.bodies.make_room(&mut room, decoding.memory_bytes(), deadline).await?;
        let next = self.next_decoded(&mut decoding).await;
        self.decoding = Some((decoding, room));
        next
    }

    async fn next_decoded(&mut self, decoding: &mut Decoding) -> Result<Option<Bytes>, HttpError> {
        loop {
            if let Some(piece) = decoding.piece().map_err(bad_coding)? {
                self.decoded += piece.len() as u64;
                let max = self.state.options.decoded_bytes_max;
                if self.decoded > max {
                    let message = format!(
                        "the body has more than {max} bytes once it is decoded: send less at once, or without Content-Encoding; nothing was changed"
                    );
                    return Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
                }
                return Ok(Some(piece));
            }
            match self.next_raw().await? {
                Some(bytes) => decoding.feed(bytes),
                None => {
                    decoding.end().map_err(bad_coding)?;
                    return Ok(None);
                }
            }
        }
    }

    /// The next bytes as they were sent.
    async fn next_raw(&mut self) -> Result<Option<Bytes>, HttpError> {
        let stall_max = self.state.options.stall_max;
        let next = tokio::select! {
            next = next_data(&mut self.body) => next,
            _ = self.stopping.wait_for(|stopping| *stopping) => {
                Err(HttpError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping: nothing was changed"))
            }
            () = tokio::time::sleep(stall_max) => Err(too_slow(stall_max)),
        };
        if let (Ok(Some(piece)), Some(record)) = (&next, &self.record) {
            record.note_bytes_in(piece.len());
        }
        next
    }

    /// The same of a body that takes memory until it is whole: one that comes in drops is given up, too.
    async fn next_in_time(&mut self) -> Result<Option<Bytes>, HttpError> {
        let started = Instant::now();
        let next = self.next().await?;
        self.waited += started.elapsed();
        self.come += next.as_ref().map_or(0, Bytes::len);
        if next.is_some() && self.come < BYTES_MIN && self.waited >= self.state.options.stall_max {
            return Err(too_slow(self.waited));
        }
        if self.come >= BYTES_MIN {
            (self.waited, self.come) = (Duration::ZERO, 0);
        }
        Ok(next)
    }

    /// All of it, if it has no more than `max` bytes.
    pub(crate) async fn collect(mut self, max: usize) -> Result<Whole, HttpError> {
        let max = max.min(self.state.bodies.bytes_max);
        let mut whole = Whole::default();
        let is_too_long = self.announced().is_some_and(|bytes| bytes > max);
        if !is_too_long && self.fill(&mut whole, max).await? {
            return Ok(whole);
        }
        drop(whole);
        self.forget().await;
        let message = format!(
            "the request has more than {max} bytes: send large data as a file, which is streamed \
             (curl -X POST -H 'Content-Type: text/turtle' -T FILE .../data?default)"
        );
        Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
    }

    /// How long it is, where the client has said so.
    fn announced(&self) -> Option<usize> {
        if self.decoding.is_some() {
            return None;
        }
        self.body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Reads until there are more than `max` bytes, or than all bodies may have; true if it has ended before. Nothing is read for which
    /// there is no room.
    pub(crate) async fn fill(&mut self, whole: &mut Whole, max: usize) -> Result<bool, HttpError> {
        let state = Arc::clone(&self.state);
        // What its decoder holds counts among bodies: it would wait for itself.
        let held = self.decoding.as_ref().map_or(0, |(decoding, _)| decoding.memory_bytes());
        let max = max.min(state.bodies.bytes_max.saturating_sub(held));
        let patience = if held == 0 { 2 * state.options.stall_max } else { DECODED_PATIENCE };
        let deadline = after(patience);
        let announced = self.announced().unwrap_or(0).min(max);
        state.bodies.make_room(&mut whole.room, announced, deadline).await?;
        while whole.bytes.len() <= max {
            match self.next_in_time().await? {
                Some(piece) => {
                    let bytes = whole.bytes.len() + piece.len();
                    if bytes > announced {
                        // Of the last piece what is beyond all room is not waited for: it would never be there.
                        let bytes = bytes.next_multiple_of(ROOM_STEP_BYTES).min(max);
                        state.bodies.make_room(&mut whole.room, bytes, after(patience)).await?;
                    }
                    whole.bytes.extend_from_slice(&piece);
                }
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Hands everything to the reader at the other end, as long as there is one.
    pub(crate) async fn pump(mut self, to: PieceSender) -> Result<(), HttpError> {
        loop {
            let Some(piece) = self.next().await? else {
                // A reader that has left needs no end.
                let _ = to.0.send(Piece::End).await;
                return Ok(());
            };
            if to.0.send(Piece::Data(piece)).await.is_err() {
                self.forget().await;
                return Ok(());
            }
        }
    }

    /// For a request that is refused whatever its body is: the error, once the client can hear it.
    pub(crate) async fn refuse<T>(self, headers: &HeaderMap, error: HttpError) -> Result<T, HttpError> {
        // Who asks before sending has sent nothing.
        if !headers.contains_key(header::EXPECT) {
            self.forget().await;
        }
        Err(error)
    }

    /// Takes what nobody wants, within reason.
    async fn forget(mut self) {
        let mut taken = 0;
        while taken < UNWANTED_BYTES_MAX {
            match self.next_raw().await {
                Ok(Some(piece)) => taken += piece.len(),
                _ => return,
            }
        }
    }
}

fn bad_coding(error: io::Error) -> HttpError {
    HttpError::bad_request(format!(
        "the body is not what its Content-Encoding says: {error}; nothing was changed"
    ))
}

fn too_slow(waited: Duration) -> HttpError {
    let message = format!("next to nothing came for {} seconds: nothing was changed", waited.as_secs());
    HttpError::new(StatusCode::REQUEST_TIMEOUT, message)
}

async fn next_data(body: &mut Body) -> Result<Option<Bytes>, HttpError> {
    loop {
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        let Some(frame) = frame else { return Ok(None) };
        let frame = frame.map_err(|error| {
            HttpError::bad_request(format!("the request broke off: {error}; nothing was changed"))
        })?;
        // Trailers say nothing to us.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

enum Piece {
    Data(Bytes),
    End,
}

/// Where pieces go.
pub(crate) struct PieceSender(Sender<Piece>);

/// Reads pieces on a blocking thread, after what came before them.
pub(crate) struct PieceReader {
    receiver: Receiver<Piece>,
    current: Bytes,
    has_ended: bool,
}

/// Both ends of a body that is streamed; `first` has come already.
pub(crate) fn pieces(first: Vec<u8>) -> (PieceSender, PieceReader) {
    let (sender, receiver) = channel(PIECES_WAITING_MAX);
    (PieceSender(sender), PieceReader { receiver, current: Bytes::from(first), has_ended: false })
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() && !self.has_ended {
            match self.receiver.blocking_recv() {
                Some(Piece::Data(data)) => self.current = data,
                Some(Piece::End) => self.has_ended = true,
                None => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the upload broke off")),
            }
        }
        let count = self.current.len().min(buffer.len());
        self.current.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    //! A body in pieces, whole and broken off.
    use super::{Piece, pieces};
    use bytes::Bytes;
    use std::io::Read;

    #[test]
    fn pieces_come_in_order_and_an_end_that_nobody_said_is_an_error() {
        let (sender, mut reader) = pieces(b"ab".to_vec());
        sender.0.try_send(Piece::Data(Bytes::from_static(b"cde"))).unwrap();
        sender.0.try_send(Piece::End).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abcde");
        let (sender, mut reader) = pieces(Vec::new());
        sender.0.try_send(Piece::Data(Bytes::from_static(b"x"))).unwrap();
        drop(sender);
        assert!(reader.read_to_string(&mut text).unwrap_err().to_string().contains("broke off"));
    }
}
