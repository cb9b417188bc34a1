//! A connection whose client must take what it is sent: one that takes nothing, or next to nothing, would hold a query, its memory and the
//! version that it reads for as long as it likes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// In as long as it may take nothing, a client that is waited for must take so many bytes.
const BYTES_MIN: usize = 16 << 10;

/// A stream with a limit for how long it is waited for its other end to take something.
pub(crate) struct PatientWriter<S> {
    stream: S,
    patience: Duration,
    /// Since the last write that had to wait.
    waiting: Option<Pin<Box<Sleep>>>,
    /// For how long it was waited since the client had last taken enough, and what it has taken since then.
    waited: Duration,
    waiting_since: Option<Instant>,
    taken: usize,
}

impl<S> PatientWriter<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: None, waited: Duration::ZERO, waiting_since: None, taken: 0 }
    }

    /// Looks at the clock once a write has come back.
    fn judge(&mut self, written: Poll<io::Result<usize>>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Poll::Ready(Ok(bytes)) = written else {
            if written.is_ready() {
                return written;
            }
            let left = self.patience.saturating_sub(self.waited);
            self.waiting_since.get_or_insert_with(Instant::now);
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(left)));
            ready!(waiting.as_mut().poll(cx));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        };
        self.waiting = None;
        self.taken = self.taken.saturating_add(bytes);
        if let Some(since) = self.waiting_since.take() {
            self.waited += since.elapsed();
        }
        if self.taken >= BYTES_MIN {
            (self.waited, self.taken) = (Duration::ZERO, 0);
        }
        Poll::Ready(Ok(bytes))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for PatientWriter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientWriter<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.judge(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    //! Clients that take what they get, and those that do not.
    use super::{BYTES_MIN, PatientWriter};
    use std::future::poll_fn;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use std::time::Duration;
    use tokio::io::AsyncWrite;
    use tokio::time::{Sleep, sleep};

    /// A client that takes so many bytes each time after a pause.
    struct Client {
        bytes: usize,
        pause: Duration,
        pausing: Option<Pin<Box<Sleep>>>,
    }

    impl AsyncWrite for Client {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let pause = self.pause;
            let pausing = self.pausing.get_or_insert_with(|| Box::pin(sleep(pause)));
            if pausing.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.pausing = None;
            Poll::Ready(Ok(self.bytes.min(bytes.len())))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// What becomes of 64 KiB for a client, where it may take nothing for `patience`.
    fn sent(bytes: usize, pause: Duration, patience: Duration) -> Result<(), io::ErrorKind> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut writer = PatientWriter::new(Client { bytes, pause, pausing: None }, patience);
            let mut left = 64 << 10;
            while left > 0 {
                let bytes = vec![0; left];
                let write = poll_fn(|cx| Pin::new(&mut writer).poll_write(cx, &bytes));
                left -= write.await.map_err(|error| error.kind())?;
            }
            Ok(())
        })
    }

    #[test]
    fn who_takes_too_little_is_given_up() {
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(600));
        assert_eq!(sent(1, Duration::MAX / 4, short), Err(io::ErrorKind::TimedOut), "it takes nothing");
        assert_eq!(sent(1, short / 10, short), Err(io::ErrorKind::TimedOut), "next to nothing");
        assert_eq!(sent(BYTES_MIN, short / 10, long), Ok(()), "slowly");
        assert_eq!(sent(1 << 20, Duration::ZERO, short), Ok(()));
    }

    #[test]
    fn what_was_waited_for_before_counts_until_enough_is_taken() {
        let mut writer = PatientWriter::new((), Duration::from_secs(30));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        writer.waited = Duration::from_secs(29);
        let _ = writer.judge(Poll::Ready(Ok(BYTES_MIN - 1)), &mut cx);
        assert_eq!((writer.waited, writer.taken), (Duration::from_secs(29), BYTES_MIN - 1));
        let _ = writer.judge(Poll::Ready(Ok(1)), &mut cx);
        assert_eq!((writer.waited, writer.taken), (Duration::ZERO, 0));
    }
}
