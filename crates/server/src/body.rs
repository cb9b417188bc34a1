//! Bodies of requests: read whole, up to a limit, or handed on piece by piece to a blocking thread that reads them.

use crate::error::HttpError;
use crate::state::AppState;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Buf, Bytes};
use http_body::Body as _;
use std::future::poll_fn;
use std::io::{self, Read};
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;

/// A client that sends nothing for so long has gone, or keeps others waiting.
const STALL_MAX: Duration = Duration::from_secs(60);
/// Pieces that may wait for the thread that reads them.
const PIECES_WAITING_MAX: usize = 16;
/// Of a body that nobody wants any more so many bytes are still taken: a client that is cut off while it sends may never see why.
const UNWANTED_BYTES_MAX: usize = 32 << 20;

/// A body on its way.
pub(crate) struct Incoming {
    body: Body,
    stopping: watch::Receiver<bool>,
}

impl Incoming {
    pub(crate) fn new(body: Body, state: &AppState) -> Self {
        Self { body, stopping: state.stopping.clone() }
    }

    /// The next bytes; none at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        tokio::select! {
            next = next_data(&mut self.body) => next,
            _ = self.stopping.wait_for(|stopping| *stopping) => {
                Err(HttpError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping: nothing was changed"))
            }
            () = tokio::time::sleep(STALL_MAX) => {
                let message = format!("nothing came for {} seconds: nothing was changed", STALL_MAX.as_secs());
                Err(HttpError::new(StatusCode::REQUEST_TIMEOUT, message))
            }
        }
    }

    /// All of it, if it has no more than `max` bytes.
    pub(crate) async fn collect(mut self, max: usize) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        if self.fill(&mut bytes, max).await? {
            return Ok(bytes);
        }
        drop(bytes);
        self.forget().await;
        let message = format!(
            "the request has more than {max} bytes: send large data as a file, which is streamed \
             (curl -X POST -H 'Content-Type: text/turtle' -T FILE .../data?default)"
        );
        Err(HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
    }

    /// Reads until there are more than `max` bytes; true if it has ended before.
    pub(crate) async fn fill(&mut self, bytes: &mut Vec<u8>, max: usize) -> Result<bool, HttpError> {
        while bytes.len() <= max {
            match self.next().await? {
                Some(piece) => bytes.extend_from_slice(&piece),
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
            match self.next().await {
                Ok(Some(piece)) => taken += piece.len(),
                _ => return,
            }
        }
    }
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
