//! From a blocking writer to an answer: whole where it is short, else streamed through a bounded channel of chunks, so that a slow
//! client holds the query back instead of filling memory, and a client that leaves stops it.

use crate::connections::WAITING_BYTES_MAX;
use crate::error::{HttpError, tell};
use crate::observe::Record;
use crate::state::CancelOnDrop;
use axum::body::Body as AnswerBody;
use axum::http::StatusCode;
use bytes::Bytes;
use http_body::{Body, Frame};
use lode_engine::{CancelToken, MemoryBudget, Reservation, idle};
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Bytes gathered before a chunk is sent: shorter answers are sent whole.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that may wait for the client.
const CHUNKS_WAITING_MAX: usize = 4;
/// What a streamed answer holds while its client does not take it, also once its query has ended: the chunks that wait, the one that goes first,
/// the one that is written, and what the connection has of them.
pub(crate) const ANSWER_BYTES: usize = (CHUNKS_WAITING_MAX + 2) * CHUNK_BYTES + WAITING_BYTES_MAX;
/// While a client takes nothing, its query looks so often whether it has been cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Runs `work` on a blocking thread and answers with what it writes, below the head that it announces. As long as nothing was sent, an
/// error has a status of its own. What waits of a long answer counts in `memory`. A client that leaves cancels `cancel`. `held` is given back when all was handed to the connection.
pub(crate) async fn answered<H: Send + 'static, T: Send + 'static>(
    cancel: CancelToken,
    memory: Option<MemoryBudget>,
    held: T,
    work: impl FnOnce(&T, &mut ChunkWriter<H>) -> Result<(), HttpError> + Send + 'static,
) -> Result<(H, AnswerBody), HttpError> {
    let left = CancelOnDrop(cancel.clone());
    let (start, started) = oneshot::channel();
    let record = Record::current();
    drop(tokio::task::spawn_blocking(move || {
        let mut writer = ChunkWriter { record, memory, ..ChunkWriter::new(start, cancel) };
        let worked = work(&held, &mut writer);
        let is_long = worked.is_err() || !matches!(writer.target, Target::Start(..));
        match worked {
            Ok(()) => writer.finish(),
            Err(error) => writer.fail(error),
        }
        drop(held);
        if is_long {
            // There may be nothing more to do for this thread, and what was long has left much free in its pages.
            idle();
        }
    }));
    let (head, answer) = started.await.map_err(|_| no_answer())??;
    let body = match answer {
        Answer::Whole(bytes) => AnswerBody::from(bytes),
        Answer::Streamed { first, chunks, end, room } => {
            AnswerBody::new(ChunkBody { first: Some(first), chunks, end, _room: room, _left: left })
        }
    };
    Ok((head, body))
}

fn no_answer() -> HttpError {
    HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the request's thread ended without an answer")
}

/// The body of an answer to HEAD, whose length nobody knows.
pub(crate) fn of_unknown_length() -> AnswerBody {
    let (_, chunks) = channel(1);
    let left = CancelOnDrop(CancelToken::default());
    AnswerBody::new(ChunkBody { first: None, chunks, end: Arc::new(Ok(()).into()), _room: None, _left: left })
}

/// What is known once the answer is complete, or its first chunk.
enum Answer {
    Whole(Bytes),
    Streamed { first: Bytes, chunks: Receiver<Bytes>, end: End, room: Option<Reservation> },
}

/// Whether all was sent, or why not; nothing where nobody said so, as after a panic.
type End = Arc<OnceLock<Result<(), String>>>;

/// Where the answer is awaited.
type Start<H> = oneshot::Sender<Result<(H, Answer), HttpError>>;

/// Where bytes go.
enum Target<H> {
    /// Nothing was sent yet.
    Start(Start<H>, Option<H>),
    Chunks(Sender<Bytes>),
    /// The client has left.
    Nobody,
}

/// Collects bytes into chunks; blocks while too many wait, until the query is cancelled.
pub(crate) struct ChunkWriter<H> {
    target: Target<H>,
    buffer: Vec<u8>,
    end: End,
    cancel: CancelToken,
    /// Where a long answer counts, and whether there was no room for one.
    memory: Option<MemoryBudget>,
    has_no_room: bool,
    /// Asked once, before the first chunk is sent.
    may_stream: Option<Box<dyn FnOnce() -> bool + Send>>,
    record: Option<Arc<Record>>,
    /// Bytes that may still be written, where there is a limit; and whether there were more.
    bytes_left: Option<u64>,
    is_too_long: bool,
    /// For how long it has waited for the client.
    blocked: Duration,
}

impl<H> ChunkWriter<H> {
    fn new(start: Start<H>, cancel: CancelToken) -> Self {
        let target = Target::Start(start, None);
        let (buffer, end, blocked) = (Vec::new(), End::default(), Duration::ZERO);
        let (may_stream, record, bytes_left, is_too_long) = (None, None, None, false);
        let (memory, has_no_room) = (None, false);
        Self {
            target,
            buffer,
            end,
            cancel,
            memory,
            has_no_room,
            may_stream,
            record,
            bytes_left,
            is_too_long,
            blocked,
        }
    }

    /// No more than so many bytes are written: the work ends with an error.
    pub(crate) fn limit_bytes(&mut self, bytes_max: Option<u64>) {
        self.bytes_left = bytes_max;
    }

    /// Whether the work has ended since there were more bytes.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// An answer that is too long to be sent whole is sent only if `allowed`; else the work ends with an error.
    pub(crate) fn stream_if(&mut self, allowed: impl FnOnce() -> bool + Send + 'static) {
        self.may_stream = Some(Box::new(allowed));
    }

    /// Tells the head, before the first byte.
    pub(crate) fn announce(&mut self, head: H) {
        if let Target::Start(_, announced) = &mut self.target {
            *announced = Some(head);
        }
    }

    fn send(&mut self) -> io::Result<()> {
        let chunk = Bytes::from(std::mem::take(&mut self.buffer));
        // The sender stays where it is: its end would look like that of the answer.
        if let Target::Chunks(sender) = &self.target {
            return match sender.try_send(chunk) {
                Ok(()) => Ok(()),
                Err(TrySendError::Closed(_)) => Err(io::ErrorKind::BrokenPipe.into()),
                Err(TrySendError::Full(chunk)) => {
                    let since = Instant::now();
                    let sent = send_later(sender, chunk, &self.cancel);
                    self.blocked += since.elapsed();
                    sent
                }
            };
        }
        if self.may_stream.take().is_some_and(|allowed| !allowed()) {
            return Err(io::Error::other("there is no place for a long answer"));
        }
        let room = match self.memory.as_ref().map(|memory| memory.reserve(ANSWER_BYTES)) {
            Some(Err(error)) => {
                self.has_no_room = true;
                return Err(io::Error::other(error));
            }
            room => room.and_then(Result::ok),
        };
        let Target::Start(start, Some(head)) = std::mem::replace(&mut self.target, Target::Nobody) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, chunks) = channel(CHUNKS_WAITING_MAX);
        let answer = Answer::Streamed { first: chunk, chunks, end: Arc::clone(&self.end), room };
        start.send(Ok((head, answer))).map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.target = Target::Chunks(sender);
        Ok(())
    }

    fn note_written(&self) {
        if let Some(record) = &self.record {
            record.note_written(self.blocked);
        }
    }

    /// Sends the rest, or all.
    fn finish(mut self) {
        self.note_written();
        match self.target {
            Target::Start(start, Some(head)) => {
                // Whoever has left needs no answer.
                drop(start.send(Ok((head, Answer::Whole(self.buffer.into())))));
            }
            Target::Chunks(_) => {
                let sent = if self.buffer.is_empty() { Ok(()) } else { self.send() };
                let _ = self.end.set(sent.map_err(|error| error.to_string()));
            }
            Target::Start(_, None) | Target::Nobody => {}
        }
    }

    /// Answers with an error, or breaks the answer off where some of it was sent: the connection is then cut, so that the client sees
    /// that it is incomplete.
    fn fail(self, error: HttpError) {
        self.note_written();
        let error = if self.has_no_room { HttpError::busy(NO_ROOM) } else { error };
        match self.target {
            Target::Start(start, _) => drop(start.send(Err(error))),
            Target::Chunks(_) | Target::Nobody => {
                if let Some(record) = &self.record {
                    record.note_late(error.status, &error.message);
                }
                error.details.into_iter().for_each(tell);
                let _ = self.end.set(Err(error.message));
            }
        }
    }
}

/// What who asks for a long answer is told where so many wait for their clients that there is no memory for another one.
const NO_ROOM: &str =
    "there is no memory for another long answer: others wait for their clients to take them; try again later";

/// Sends once there is room. This is a blocking thread of the runtime. What is free in its pages, several times what the query holds where
/// these are huge, nobody else can give back meanwhile.
fn send_later(sender: &Sender<Bytes>, chunk: Bytes, cancel: &CancelToken) -> io::Result<()> {
    let runtime = Handle::current();
    let mut is_idle = false;
    loop {
        cancel.check().map_err(io::Error::other)?;
        match runtime.block_on(async { timeout(LOOK_EVERY, sender.reserve()).await }) {
            Ok(Ok(room)) => {
                room.send(chunk);
                return Ok(());
            }
            Ok(Err(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) if is_idle => {}
            Err(_) => {
                idle();
                is_idle = true;
            }
        }
    }
}

impl<H> Write for ChunkWriter<H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = self.bytes_left.filter(|left| *left < bytes.len() as u64) {
            self.is_too_long = true;
            return Err(io::Error::other(format!("the answer is longer than it may be ({left} bytes left)")));
        }
        // Never more than a chunk, however much is written at once: chunks wait for the client.
        let taken = bytes.len().min(CHUNK_BYTES - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        self.bytes_left = self.bytes_left.map(|left| left - taken as u64);
        if self.buffer.len() >= CHUNK_BYTES {
            self.send()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The body of an answer. Dropped before its end, it cancels the query.
struct ChunkBody {
    first: Option<Bytes>,
    chunks: Receiver<Bytes>,
    end: End,
    _room: Option<Reservation>,
    _left: CancelOnDrop,
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
            None => self.chunks.poll_recv(cx),
        };
        next.map(|chunk| match chunk {
            Some(chunk) => Some(Ok(Frame::data(chunk))),
            None => match self.end.get() {
                Some(Ok(())) => None,
                Some(Err(message)) => Some(Err(io::Error::other(message.clone()))),
                None => Some(Err(io::Error::other("the answer was not finished"))),
            },
        })
    }
}
