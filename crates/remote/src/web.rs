//! Objects on a web server, read only: whole ones and ranges of them, by plain HTTP. Nothing is believed of an answer that was not checked: its
//! status, the range that it says it is, and how many bytes come.

use crate::error::RemoteError;
use crate::object::ObjectStore;
use lode_base::cancel;
use lode_engine::interrupt::{read_all, read_while_in};
use lode_engine::web::client;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::{Response, header};
use ureq::{Agent, Body};

/// So many connections are kept for further requests.
const CONNECTIONS_MAX: usize = 64;
/// What is read of an answer that nobody wants, so that its connection can be used again.
const REST_BYTES_MAX: u64 = 16 << 10;

/// How a web server is talked to.
#[derive(Debug, Clone, Copy)]
pub struct WebOptions {
    /// How long it may take to answer, and then to send what was asked for.
    pub silence_max: Duration,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self { silence_max: Duration::from_secs(30) }
    }
}

/// A web server with objects.
#[derive(Debug)]
pub struct WebStore {
    agent: Agent,
    url: String,
}

/// Headers of a request.
type Headers<'a> = &'a [(&'static str, &'a str)];

impl WebStore {
    /// The objects below an address.
    ///
    /// # Errors
    /// Where it is of HTTPS and this program was built without, or the certificates that the environment names cannot be read.
    pub fn new(url: &str, options: WebOptions) -> Result<Self, RemoteError> {
        let agent = client(url, options.silence_max, CONNECTIONS_MAX)
            .map_err(|what| RemoteError::Address { address: url.to_owned(), what })?;
        Ok(Self { agent, url: url.to_owned() })
    }

    /// Sends a request and makes sure of the answer's status.
    fn ask(&self, key: &str, headers: Headers<'_>) -> Result<Response<Body>, RemoteError> {
        let object = self.object(key);
        // What is compressed on its way has no ranges of the object.
        let mut request = self.agent.get(&object).header("Accept-Encoding", "identity");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.call().map_err(|error| refused(&object, told(&error)))?;
        let status = response.status().as_u16();
        if matches!(status, 200 | 206) {
            return Ok(response);
        }
        let elsewhere = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
        let elsewhere = elsewhere.map(|place| format!(", and sends us to {place}")).unwrap_or_default();
        let error = match status {
            404 | 410 => RemoteError::Missing { object: object.clone() },
            416 => RemoteError::damaged(&object, 0, "the object is shorter than what was published"),
            401 | 403 => refused(&object, denied(status)),
            _ => {
                let kind = if status == 429 || status >= 500 {
                    io::ErrorKind::ConnectionAborted
                } else {
                    io::ErrorKind::Unsupported
                };
                refused(
                    &object,
                    io::Error::new(kind, format!("the server answered {}{elsewhere}", response.status())),
                )
            }
        };
        // So that the connection can be used again.
        let _ = io::copy(&mut response.into_body().into_reader().take(REST_BYTES_MAX), &mut io::sink());
        Err(error)
    }

    fn get_now(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        let object = self.object(key);
        // Somebody between may keep objects, which never change; but the copy of the newest manifest does.
        let response = self.ask(key, &[("Cache-Control", "no-cache")])?;
        let length = length(&response);
        let mut bytes = Vec::new();
        let body = response.into_body().into_reader();
        body.take(bytes_max.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| broken(&object, &error, bytes.len()))?;
        if bytes.len() as u64 > bytes_max {
            return Err(RemoteError::damaged(object, 0, "longer than such an object can be"));
        }
        if length.is_some_and(|length| length != bytes.len() as u64) {
            let what = io::Error::new(io::ErrorKind::UnexpectedEof, "the answer ended early");
            return Err(broken(&object, &what, bytes.len()));
        }
        Ok(bytes)
    }

    /// By its first byte: some servers tell no length of what they would send (HEAD).
    fn size_now(&self, key: &str) -> Result<u64, RemoteError> {
        let response = self.ask(key, &[("Range", "bytes=0-0")])?;
        let size = match response.status().as_u16() {
            206 => {
                let told =
                    response.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
                told.and_then(|told| told.rsplit_once('/')?.1.trim().parse().ok())
            }
            _ => length(&response),
        };
        let what = "the server does not tell how long it is";
        size.ok_or_else(|| refused(&self.object(key), io::Error::new(io::ErrorKind::Unsupported, what)))
    }

    fn get_range_now(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        let (object, end) = (self.object(key), offset + buf.len() as u64);
        let range = format!("bytes={offset}-{}", end.saturating_sub(1));
        let response = self.ask(key, &[("Range", &range)])?;
        if response.status().as_u16() != 206 {
            let what = "the server ignores ranges: it answered with the whole object. Databases are read in place from servers that serve parts of files (Range), \
                 as nginx, Apache and object storage do";
            return Err(refused(&object, io::Error::new(io::ErrorKind::Unsupported, what)));
        }
        let told = response.headers().get(header::CONTENT_RANGE).and_then(|value| value.to_str().ok());
        let is_asked = told
            .and_then(content_range)
            .is_some_and(|(start, last)| (start, last) == (offset, end.saturating_sub(1)));
        if !is_asked {
            let what = format!(
                "the server answered with another range ({}) than {range}",
                told.unwrap_or("none is told")
            );
            return Err(RemoteError::damaged(object, offset, what));
        }
        let mut body = response.into_body().into_reader();
        let mut filled = 0;
        while let Some(rest) = buf.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match body.read(rest).map_err(|error| broken(&object, &error, filled))? {
                0 => {
                    let what = io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        format!("the answer to {range} ended early"),
                    );
                    return Err(broken(&object, &what, filled));
                }
                count => filled += count,
            }
        }
        // To the end, so that the connection can be used again.
        let mut more = [0];
        match body.read(&mut more) {
            Ok(0) => Ok(()),
            Ok(_) => Err(RemoteError::damaged(
                object,
                end,
                "the server sent more than the range that was asked for",
            )),
            Err(error) => Err(broken(&object, &error, filled)),
        }
    }
}

/// A wait for the server ends once nobody wants what it waits for.
pub(crate) fn interruptible<T>(work: impl FnOnce() -> Result<T, RemoteError>) -> Result<T, RemoteError> {
    let Some(token) = cancel::current() else {
        read_all();
        return work();
    };
    token.check()?;
    let looks = token.clone();
    let done = read_while_in(move || looks.check().is_ok(), work);
    // What else went wrong then is of no interest.
    if done.is_err() {
        token.check()?;
    }
    done
}

impl ObjectStore for WebStore {
    fn name(&self) -> &str {
        &self.url
    }

    fn get(&self, key: &str, bytes_max: u64) -> Result<Vec<u8>, RemoteError> {
        interruptible(|| self.get_now(key, bytes_max))
    }

    fn get_range(&self, key: &str, offset: u64, buf: &mut [u8]) -> Result<(), RemoteError> {
        if buf.is_empty() {
            return Ok(());
        }
        interruptible(|| self.get_range_now(key, offset, buf))
    }

    fn list(&self, _: &str) -> Result<Option<Vec<String>>, RemoteError> {
        Ok(None)
    }

    fn size(&self, key: &str) -> Result<Option<u64>, RemoteError> {
        match interruptible(|| self.size_now(key)) {
            Err(RemoteError::Missing { .. }) => Ok(None),
            size => size.map(Some),
        }
    }

    fn put(&self, _: &str, _: &mut dyn Read) -> Result<(), RemoteError> {
        Err(self.read_only())
    }

    fn put_if_absent(&self, _: &str, _: &[u8]) -> Result<bool, RemoteError> {
        Err(self.read_only())
    }

    fn remove(&self, _: &str) -> Result<(), RemoteError> {
        Err(self.read_only())
    }
}

impl WebStore {
    fn read_only(&self) -> RemoteError {
        let what = "a web server can be read only: publish to the folder that it serves (file:///...)";
        RemoteError::Address { address: self.url.clone(), what: what.to_owned() }
    }
}

fn refused(object: &str, source: io::Error) -> RemoteError {
    RemoteError::Io { object: object.to_owned(), source }
}

fn denied(status: u16) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("the server answered {status}: it does not let us read this"),
    )
}

fn broken(object: &str, error: &io::Error, bytes: usize) -> RemoteError {
    let source = io::Error::new(error.kind(), format!("the connection failed after {bytes} bytes ({error})"));
    RemoteError::Io { object: object.to_owned(), source }
}

/// Why no answer came.
fn told(error: &ureq::Error) -> io::Error {
    let kind = match error {
        ureq::Error::Timeout(_) => io::ErrorKind::TimedOut,
        ureq::Error::Io(error) if error.kind() != io::ErrorKind::NotFound => error.kind(),
        ureq::Error::TooManyRedirects | ureq::Error::BadUri(_) | ureq::Error::RedirectFailed => {
            io::ErrorKind::Unsupported
        }
        _ => io::ErrorKind::ConnectionAborted,
    };
    io::Error::new(kind, format!("not to be had: {error}"))
}

fn length(response: &Response<Body>) -> Option<u64> {
    response.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// First and last byte of `bytes 0-99/1000`.
fn content_range(text: &str) -> Option<(u64, u64)> {
    let (range, _) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (start, last) = range.split_once('-')?;
    Some((start.trim().parse().ok()?, last.trim().parse().ok()?))
}
