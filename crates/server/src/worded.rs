//! Words for heads of requests that are refused before anybody here sees them: too long, or no HTTP. The library of HTTP answers these by
//! itself, without a body. What a client accepts is not known then, so that all get what programs read.

use crate::problem::{self, Problem};
use axum::http::StatusCode;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Heads of such answers are short.
const HEAD_BYTES_MAX: usize = 256;

/// A stream on which they have a body.
pub(crate) struct Worded<S> {
    stream: S,
    /// What is written instead, and how much of it was.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S> Worded<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, instead: None }
    }
}

/// What is written instead of a head without a body. Answers of ours have the number of their request.
fn instead(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > HEAD_BYTES_MAX || !bytes.starts_with(b"HTTP/1.1 4") || !bytes.ends_with(b"\r\n\r\n") {
        return None;
    }
    let head = std::str::from_utf8(bytes).ok()?;
    let is_bare = head.contains("\r\ncontent-length: 0\r\n") && !head.contains("\r\nx-request-id: ");
    let status =
        head.get(9..12).filter(|_| is_bare)?.parse().ok().and_then(|code| StatusCode::from_u16(code).ok())?;
    let detail = match status {
        StatusCode::URI_TOO_LONG => "the address is too long: a query may be the body of a POST",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "the head of the request is too long",
        StatusCode::BAD_REQUEST => "the head of the request cannot be read: it is no HTTP",
        _ => return None,
    };
    let text = Problem::new(status, detail, None, None).to_text();
    let fields = format!("\r\ncontent-type: {}\r\ncontent-length: {}\r\n", problem::MEDIA_TYPE, text.len());
    Some((head.replacen("\r\ncontent-length: 0\r\n", &fields, 1) + &text).into_bytes())
}

impl<S: AsyncRead + Unpin> AsyncRead for Worded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Worded<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let (text, written) = match &mut this.instead {
            Some((text, written)) => (text, written),
            none => match instead(bytes) {
                Some(text) => {
                    let (text, written) = none.insert((text, 0));
                    (text, written)
                }
                None => return Pin::new(&mut this.stream).poll_write(cx, bytes),
            },
        };
        while *written < text.len() {
            match ready!(Pin::new(&mut this.stream).poll_write(cx, &text[*written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                more => *written += more,
            }
        }
        this.instead = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = pieces.iter().filter(|piece| !piece.is_empty());
        match (filled.next(), filled.next()) {
            (Some(only), None) => self.poll_write(cx, only),
            _ => Pin::new(&mut self.stream).poll_write_vectored(cx, pieces),
        }
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
    //! What gets words, and what stays as it is.
    use super::instead;

    #[test]
    fn bare_refusals_have_words() {
        let text = instead(
            b"HTTP/1.1 414 URI Too Long\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n",
        )
        .unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("\r\ncontent-length: {}\r\n", body.len()))
                && head.contains("problem+json"),
            "{text}"
        );
        assert!(body.contains("\"status\":414") && body.contains("POST"), "{body}");
        for other in [
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nx-request-id: a\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 417 Expectation Failed\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 414 URI Too Long\r\ncontent-length: 0\r\n\r\nHTTP/1.1",
        ] {
            assert_eq!(instead(other.as_bytes()), None, "{other}");
        }
    }
}
