//! From a blocking writer to a streamed body: a bounded channel of chunks, so that a slow client holds the query back instead of
//! filling memory, and a client that leaves stops it.

use crate::error::HttpError;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body::{Body, Frame};
use lode_engine::CancelToken;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Bytes gathered before a chunk is sent.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that may wait for the client.
const CHUNKS_WAITING_MAX: usize = 4;

/// A chunk, or the sign that the answer broke off (the connection is then cut: the client must see that it is incomplete).
pub(crate) type Chunk = Result<Bytes, io::Error>;

/// The writing and the reading end.
pub(crate) fn chunks(cancel: CancelToken) -> (ChunkWriter, ChunkBody) {
    let (sender, receiver) = channel(CHUNKS_WAITING_MAX);
    let writer = ChunkWriter { sender, buffer: Vec::with_capacity(CHUNK_BYTES), untouched: true };
    (writer, ChunkBody { receiver, first: None, cancel })
}

/// Runs `work` on a blocking thread and streams what it writes. An error before the first chunk has a status of its own.
pub(crate) async fn streamed(
    cancel: CancelToken,
    work: impl FnOnce(&mut ChunkWriter) -> Result<(), HttpError> + Send + 'static,
) -> Result<axum::body::Body, HttpError> {
    let (mut writer, mut body) = chunks(cancel);
    let (end_sender, end) = oneshot::channel();
    drop(tokio::task::spawn_blocking(move || match work(&mut writer) {
        Ok(()) => {
            let _ = end_sender.send(Ok(()));
            drop(writer.finish()); // a client that left needs no more
        }
        Err(error) if writer.is_untouched() => drop(end_sender.send(Err(error))),
        Err(error) => writer.abort(error.message),
    }));
    if body.wait().await {
        return Ok(axum::body::Body::new(body));
    }
    let failed =
        |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the request's thread ended without an answer");
    end.await.map_err(failed)??;
    Ok(axum::body::Body::empty())
}

/// Collects bytes into chunks; blocks while too many wait.
pub(crate) struct ChunkWriter {
    sender: Sender<Chunk>,
    buffer: Vec<u8>,
    untouched: bool,
}

impl ChunkWriter {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        self.untouched = false;
        self.sender.blocking_send(Ok(Bytes::from(full))).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Sends the rest.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.send()
    }

    /// Whether no chunk has gone out: until then an error can still have a status of its own.
    pub(crate) fn is_untouched(&self) -> bool {
        self.untouched
    }

    /// Breaks the answer off.
    pub(crate) fn abort(self, message: String) {
        // A client that left already needs no telling.
        let _ = self.sender.blocking_send(Err(io::Error::other(message)));
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The body of an answer. Dropped before its end, it cancels the query.
pub(crate) struct ChunkBody {
    receiver: Receiver<Chunk>,
    first: Option<Chunk>,
    cancel: CancelToken,
}

impl ChunkBody {
    /// Waits for the first chunk; `None` when the answer has no bytes or failed before any.
    pub(crate) async fn wait(&mut self) -> bool {
        self.first = self.receiver.recv().await;
        self.first.is_some()
    }
}

impl Body for ChunkBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let next = match self.first.take() {
            Some(chunk) => Poll::Ready(Some(chunk)),
            None => self.receiver.poll_recv(cx),
        };
        next.map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}

impl Drop for ChunkBody {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
