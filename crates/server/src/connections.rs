//! The connections: so many at most, and each must say in time what it wants, and take what it gets.
//!
//! Where there are as many as may be, a new one takes the place of the one that has gone longest without a request on its way: whoever only
//! keeps connections open, or sends half a head, shuts nobody out.

use crate::listener::{Listener, Peer};
use crate::network::{self, Network};
use crate::observe::{Begun, Ended, REQUEST_ID, Record, Watch};
use crate::progress::{Answers, Progress};
use crate::slow_client::PatientWriter;
use crate::unread;
use crate::worded::Worded;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Version;
use axum::response::Response;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tower_service::Service as _;

/// A head must have come whole so long after the connection, or the answer before.
const HEAD_MAX: Duration = Duration::from_secs(30);
/// So often it is looked whether a connection waits in vain for its client.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Requests that one connection of HTTP/2 may have running.
const STREAMS_MAX: u32 = 32;
/// The longest head of a request of HTTP/2.
const HEAD_BYTES_MAX: u32 = 64 << 10;
/// What a connection of HTTP/1.1 keeps of an answer that its client does not take yet; no head of a request is longer, either.
pub(crate) const WAITING_BYTES_MAX: usize = 128 << 10;
/// What a stream of HTTP/2 keeps of an answer that its client does not take yet,
const SEND_BYTES_MAX: usize = 64 << 10;
/// and what a client may send before it is read.
const WINDOW_BYTES: u32 = 256 << 10;
/// After a failure to accept (no descriptors, say) so long passes before the next attempt.
const PAUSE: Duration = Duration::from_millis(50);

/// Accepts connections and answers what comes on them, until `stopping`; then each ends with the answer it is at. Ready when all have ended.
pub(crate) async fn serve(
    listener: Listener,
    router: Router,
    all: Arc<Connections>,
    Terms { connections_max, stall_max, acceptor, watch, trusted }: Terms,
    mut stopping: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        let Ok((stream, peer)) = accepted else {
            // One of those that wait is given up, if any is: that may be what is missing.
            all.end_longest_waiting();
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if all.len() >= connections_max {
            // Where all are answering, this one more is refused by being closed.
            if !all.end_longest_waiting() {
                continue;
            }
        }
        let entry = all.enter();
        let stream = PatientWriter::new(stream, stall_max);
        let (watch, trusted) = (Arc::clone(&watch), Arc::clone(&trusted));
        let served = Served { router: router.clone(), peer, stall_max, watch, trusted };
        tokio::spawn(acceptor.clone().converse(served, stream, entry, stopping.clone()));
    }
    drop(listener);
    all.none_left().await;
}

/// What all connections are served with.
pub(crate) struct Terms {
    pub(crate) connections_max: usize,
    pub(crate) stall_max: Duration,
    pub(crate) acceptor: MaybeTls,
    pub(crate) watch: Arc<Watch>,
    pub(crate) trusted: Arc<[Network]>,
}

/// What encrypts connections, where they are.
#[derive(Clone, Default)]
pub(crate) struct MaybeTls(#[cfg(feature = "tls")] pub(crate) Option<crate::tls::Acceptor>);

impl MaybeTls {
    /// A connection, behind its handshake if there is one.
    async fn converse(
        self,
        served: Served,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        entry: Entry,
        stopping: watch::Receiver<bool>,
    ) {
        #[cfg(feature = "tls")]
        if let Some(acceptor) = self.0 {
            let connection = Arc::clone(&entry.connection);
            let accepted = tokio::select! {
                accepted = acceptor.accept(stream) => accepted,
                () = connection.end.notified() => None,
            };
            // Who fails at it says so to its user.
            let Some(stream) = accepted else { return };
            return served.converse(stream, entry, stopping).await;
        }
        served.converse(stream, entry, stopping).await;
    }
}

/// What a connection is served with.
struct Served {
    router: Router,
    peer: Peer,
    stall_max: Duration,
    watch: Arc<Watch>,
    trusted: Arc<[Network]>,
}

impl Served {
    /// One connection, to its end.
    async fn converse(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        entry: Entry,
        mut stopping: watch::Receiver<bool>,
    ) {
        let Self { router, peer, stall_max, watch, trusted } = self;
        let connection = Arc::clone(&entry.connection);
        let answering = Arc::clone(&connection);
        let answer = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let busy = Busy::new(&answering);
            let is_multiplexed = request.version() == Version::HTTP_2;
            let progress = is_multiplexed.then(|| answering.answers.enter());
            let (head, body) = request.into_parts();
            let (body, unread) = unread::lend(body, head.version, &head.headers);
            let mut request = Request::from_parts(head, Body::new(body));
            let client = network::client(peer, request.headers_mut(), &trusted);
            request.extensions_mut().insert(client.peer);
            request.extensions_mut().insert(client.stranger);
            let begun = Begun {
                client: client.peer,
                method: request.method(),
                uri: request.uri(),
                version: request.version(),
                headers: request.headers(),
            };
            let record = Record::begin(&watch, begun);
            let (id, mut ended) = (record.field(), Ended::new(Arc::clone(&record)));
            let answer = record.scope(router.clone().call(request));
            async move {
                let Ok(mut response): Result<Response, Infallible> = answer.await;
                if let Some(unread) = unread {
                    unread.take_rest(response.headers_mut()).await;
                }
                response.headers_mut().extend(id.map(|id| (REQUEST_ID, id)));
                ended.answered(response.status());
                Ok::<_, Infallible>(response.map(|body| Answer::new(body, progress, ended, busy)))
            }
        });
        let http = http();
        let mut served = pin!(http.serve_connection(TokioIo::new(Worded::new(stream)), answer));
        loop {
            tokio::select! {
                // What went wrong on a connection concerns nobody but its client.
                _ = &mut served => return,
                () = connection.end.notified() => {
                    if !connection.is_answering() {
                        return;
                    }
                }
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if connection.is_idle(HEAD_MAX) {
                        break;
                    }
                    if connection.answers.is_stalled(2 * stall_max) {
                        return;
                    }
                }
                _ = stopping.wait_for(|stopping| *stopping) => break,
            }
        }
        served.as_mut().graceful_shutdown();
        // Whoever has sent nothing at all is not waited for.
        let patience = if connection.is_answering() { Duration::MAX } else { LOOK_EVERY };
        let _ = tokio::time::timeout(patience, served).await;
    }
}

/// HTTP/1.1, and HTTP/2 for clients that begin with it.
fn http() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .max_buf_size(WAITING_BYTES_MAX)
        .half_close(false);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        .max_send_buf_size(SEND_BYTES_MAX)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .keep_alive_interval(HEAD_MAX)
        .keep_alive_timeout(HEAD_MAX);
    http
}

/// All that are open.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<Open>,
    left: Notify,
    /// Counts what has happened on them, as a clock.
    events: Arc<AtomicU64>,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
}

/// What others know of a connection.
#[derive(Default)]
struct Connection {
    /// Requests that are being answered: with HTTP/1.1 one at most, and none while a head comes in.
    requests: AtomicUsize,
    /// When it began, or ended its last answer.
    since: AtomicU64,
    events: Arc<AtomicU64>,
    /// The time of that.
    idle_since: Mutex<Option<Instant>>,
    /// Tells it to end, if it is not answering.
    end: Notify,
    /// Those of HTTP/2.
    answers: Arc<Answers>,
}

impl Connection {
    fn is_answering(&self) -> bool {
        self.requests.load(Ordering::Acquire) > 0
    }

    fn touch(&self) {
        self.since.store(self.events.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether nothing was asked on it for so long.
    fn is_idle(&self, time: Duration) -> bool {
        let since = *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        !self.is_answering() && since.is_some_and(|since| since.elapsed() >= time)
    }
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        // What is guarded here is whole at any time.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are open.
    pub(crate) fn len(&self) -> usize {
        self.lock().by_number.len()
    }

    fn enter(self: &Arc<Self>) -> Entry {
        let connection = Connection { events: Arc::clone(&self.events), ..Connection::default() };
        connection.touch();
        let connection = Arc::new(connection);
        let mut open = self.lock();
        open.next += 1;
        let number = open.next;
        open.by_number.insert(number, Arc::clone(&connection));
        drop(open);
        Entry { all: Arc::clone(self), number, connection }
    }

    /// Those that are answering.
    pub(crate) fn answering(&self) -> usize {
        self.lock().by_number.values().filter(|one| one.is_answering()).count()
    }

    /// Ends the one that has not been answering for longest; false where all are.
    fn end_longest_waiting(&self) -> bool {
        let mut open = self.lock();
        let waiting = open.by_number.iter().filter(|(_, one)| !one.is_answering());
        let longest = waiting.min_by_key(|(_, one)| one.since.load(Ordering::Relaxed));
        let Some(number) = longest.map(|(number, _)| *number) else { return false };
        // It counts no more, so that the next is another one.
        if let Some(connection) = open.by_number.remove(&number) {
            connection.end.notify_one();
        }
        true
    }

    async fn none_left(&self) {
        loop {
            let mut left = pin!(self.left.notified());
            left.as_mut().enable();
            if self.len() == 0 {
                return;
            }
            left.await;
        }
    }
}

/// A connection's place among all, given back when dropped.
struct Entry {
    all: Arc<Connections>,
    number: u64,
    connection: Arc<Connection>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.all.lock().by_number.remove(&self.number);
        self.all.left.notify_waiters();
    }
}

/// Says that a connection is answering, as long as it lives.
struct Busy(Arc<Connection>);

impl Busy {
    fn new(connection: &Arc<Connection>) -> Self {
        connection.requests.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(connection))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.requests.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An answer's body; while it is not sent whole, its connection is answering.
struct Answer {
    body: Body,
    progress: Option<Progress>,
    ended: Ended,
    _busy: Busy,
}

impl Answer {
    fn new(body: Body, progress: Option<Progress>, mut ended: Ended, busy: Busy) -> Self {
        ended.is_whole |= body.is_end_stream();
        Self { body, progress, ended, _busy: busy }
    }
}

impl HttpBody for Answer {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if let Some(progress) = &self.progress {
            if frame.is_ready() {
                progress.handed();
            } else {
                progress.is_awaited();
            }
        }
        match &frame {
            Poll::Ready(Some(Ok(frame))) => {
                self.ended.bytes_out += frame.data_ref().map_or(0, |data| data.len() as u64);
                self.ended.is_whole |= self.body.is_end_stream();
            }
            Poll::Ready(None) => self.ended.is_whole = true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
