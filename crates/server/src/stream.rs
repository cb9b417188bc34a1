//! From a blocking writer to a streamed body: a bounded channel of chunks, so that a slow client holds the query back instead of
//! filling memory, and a client that leaves stops it.

use crate::error::HttpError;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body::{Body, Frame};
use lode_engine::CancelToken;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Bytes gathered before a chunk is sent.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that may wait for the client.
const CHUNKS_WAITING_MAX: usize = 4;
/// While a client takes nothing, its query looks so often whether it has been cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The writing and the reading end.
pub(crate) fn chunks(cancel: CancelToken) -> (ChunkWriter, ChunkBody) {
    let (sender, receiver) = channel(CHUNKS_WAITING_MAX);
    let broken = Arc::new(OnceLock::new());
    let body = ChunkBody { receiver, first: None, broken: Arc::clone(&broken), cancel: cancel.clone() };
    let buffer = Vec::with_capacity(CHUNK_BYTES);
    (ChunkWriter { sender, buffer, untouched: true, broken, cancel }, body)
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
            writer.finish();
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

/// Collects bytes into chunks; blocks while too many wait, until the query is cancelled.
pub(crate) struct ChunkWriter {
    sender: Sender<Bytes>,
    buffer: Vec<u8>,
    untouched: bool,
    broken: Arc<OnceLock<String>>,
    cancel: CancelToken,
}

impl ChunkWriter {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        self.untouched = false;
        match self.sender.try_send(Bytes::from(full)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Closed(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(TrySendError::Full(chunk)) => self.send_later(chunk),
        }
    }

    /// Sends once there is room. This is a blocking thread of the runtime.
    fn send_later(&self, chunk: Bytes) -> io::Result<()> {
        let runtime = Handle::current();
        loop {
            self.cancel.check().map_err(io::Error::other)?;
            match runtime.block_on(async { timeout(LOOK_EVERY, self.sender.reserve()).await }) {
                Ok(Ok(room)) => {
                    room.send(chunk);
                    return Ok(());
                }
                Ok(Err(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
                Err(_) => {}
            }
        }
    }

    /// Sends the rest.
    pub(crate) fn finish(mut self) {
        if let Err(error) = self.send() {
            self.abort(error.to_string());
        }
    }

    /// Whether no chunk has gone out: until then an error can still have a status of its own.
    pub(crate) fn is_untouched(&self) -> bool {
        self.untouched
    }

    /// Breaks the answer off: the connection is then cut, so that the client sees that it is incomplete.
    pub(crate) fn abort(self, message: String) {
        let _ = self.broken.set(message);
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
    receiver: Receiver<Bytes>,
    first: Option<Bytes>,
    broken: Arc<OnceLock<String>>,
    cancel: CancelToken,
}

impl ChunkBody {
    /// Waits for the first chunk; `false`: the answer has no bytes or failed before any.
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
        next.map(|chunk| match chunk {
            Some(chunk) => Some(Ok(Frame::data(chunk))),
            None => self.broken.get().map(|message| Err(io::Error::other(message.clone()))),
        })
    }
}

impl Drop for ChunkBody {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}
