//! Sources on the web, read as they come, without a file in between: for `lode load --allow-url` and for LOAD.

use crate::interrupt::Interruptible;
use crate::tls;
#[cfg(feature = "tls")]
pub use crate::tls::roots_of;
use lode_rdf::RdfFormat;
use lode_store::Source;
use lode_store::load::Opened;
use std::io::{self, Read};
use std::time::Duration;
use ureq::ResponseExt;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};

/// Time to connect, and to wait for the answer's head.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Of requests for parts of objects: from http to https, or to the name that a server prefers.
const REDIRECTS_MAX: u32 = 3;
/// Media types asked for, best first.
const ACCEPT: &str = "application/n-quads, application/n-triples, application/trig;q=0.9, text/turtle;q=0.9, \
application/rdf+xml;q=0.8, application/ld+json;q=0.7, */*;q=0.1";

/// Whether a name is an address rather than a file.
pub fn is_url(name: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// How an address is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebOptions {
    /// How often the server may send us elsewhere.
    pub redirects_max: u32,
    /// How long all of it may take (default: as long as it takes).
    pub timeout: Option<Duration>,
}

/// A source that is asked for when its turn comes. The environment's proxies are used.
///
/// # Errors
/// Where the address is of HTTPS and this program was built without TLS. Whether it can be reached is found when it is opened.
pub fn source(url: &str, options: WebOptions) -> Result<Source, String> {
    if !tls::IS_BUILT_IN && !url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:")) {
        return Err(format!("{url}: {}", tls::MISSING));
    }
    let address = url.to_owned();
    // What follows the path is no part of the name that tells the format.
    let name = url.split(['?', '#']).next().unwrap_or(url);
    Ok(Source::later(name, Box::new(move || open(&address, options))).with_address(url))
}

/// A client for addresses whose answers are looked at by the caller, errors among them: it keeps connections, follows a few redirects,
/// and its reads end as [`crate::interrupt`] has it.
///
/// # Errors
/// Where the certificates that the environment names cannot be read, or the address is of HTTPS and this program was built without TLS.
pub fn client(url: &str, silence_max: Duration, connections_max: usize) -> Result<ureq::Agent, String> {
    if !tls::IS_BUILT_IN && !url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:")) {
        return Err(tls::MISSING.to_owned());
    }
    let config = tls::configured(ureq::Agent::config_builder(), tls::certificates_named().as_deref())?
        .timeout_connect(Some(silence_max))
        .timeout_recv_response(Some(silence_max))
        .timeout_recv_body(Some(silence_max))
        .max_redirects(REDIRECTS_MAX)
        .max_redirects_will_error(true)
        .max_idle_connections(connections_max)
        .max_idle_connections_per_host(connections_max)
        .http_status_as_error(false)
        .build();
    let connector = DefaultConnector::new().chain(Interruptible);
    Ok(ureq::Agent::with_parts(config, connector, DefaultResolver::default()))
}

/// What is at an address now, if it answers in so long: for small documents that are no data. Nobody is sent elsewhere.
///
/// # Errors
/// Where the address cannot be read.
pub fn read_document(url: &str, timeout: Duration) -> io::Result<impl Read> {
    if !tls::IS_BUILT_IN && !url.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:")) {
        return Err(io::Error::other(tls::MISSING));
    }
    Ok(open(url, WebOptions { redirects_max: 0, timeout: Some(timeout) })?.reader)
}

/// Sends a small document by POST; what is answered is not read.
///
/// # Errors
/// Where the address cannot be reached in so long, or answers with an error.
pub fn send_document(url: &str, media_type: &str, body: &[u8], timeout: Duration) -> io::Result<()> {
    let config = tls::configured(ureq::Agent::config_builder(), tls::certificates_named().as_deref());
    let config = config.map_err(io::Error::other)?.timeout_global(Some(timeout)).max_redirects(0);
    let agent: ureq::Agent = config.http_status_as_error(false).build().into();
    let sent = agent.post(url).header("Content-Type", media_type).send(body);
    let status = sent.map_err(|error| io::Error::other(format!("not to be had: {error}")))?.status();
    match status.is_success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("the server answered {status}"))),
    }
}

fn open(url: &str, options: WebOptions) -> io::Result<Opened> {
    let config = tls::configured(ureq::Agent::config_builder(), tls::certificates_named().as_deref());
    let agent: ureq::Agent = config
        .map_err(io::Error::other)?
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .timeout_global(options.timeout)
        .max_redirects(options.redirects_max)
        .max_redirects_will_error(options.redirects_max > 0)
        .http_status_as_error(false)
        .build()
        .into();
    // What is compressed is to come as it is stored: it is recognised by its first bytes.
    let request = agent.get(url).header("Accept", ACCEPT).header("Accept-Encoding", "identity");
    let response = request.call().map_err(|error| io::Error::other(format!("not to be had: {error}")))?;
    let status = response.status();
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    if !status.is_success() {
        let elsewhere = header("location").filter(|_| status.is_redirection());
        let message = match elsewhere {
            Some(place) => format!("the server sends us to {place} instead, which must be named itself"),
            None => format!("the server answered {status} instead of the data"),
        };
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let length = header("content-length").and_then(|value| value.parse::<u64>().ok());
    let format = header("content-type").and_then(told_format);
    // Where we were sent is what the document is called.
    let address = Some(response.get_uri().to_string());
    let body = response.into_body().into_reader();
    Ok(Opened { reader: Box::new(Body { body, length, read: 0 }), format, address })
}

/// The format that a media type tells; general ones tell nothing.
fn told_format(media_type: &str) -> Option<RdfFormat> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let general = ["text/plain", "text/xml", "application/xml", "application/json"];
    if general.iter().any(|name| name.eq_ignore_ascii_case(essence)) {
        return None;
    }
    RdfFormat::from_media_type(essence)
}

/// A body that knows how long it should be.
struct Body<R> {
    body: R,
    length: Option<u64>,
    read: u64,
}

impl<R: Read> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let told = self.length.map_or(String::new(), |length| format!(" of {length}"));
        let broken = |what: &str, read: u64| {
            io::Error::new(io::ErrorKind::ConnectionAborted, format!("{what} after {read} bytes{told}"))
        };
        let read = self
            .body
            .read(buffer)
            .map_err(|error| broken(&format!("the connection failed ({error})"), self.read))?;
        if read == 0 && !buffer.is_empty() && self.length.is_some_and(|length| self.read < length) {
            return Err(broken("the server ended the answer", self.read));
        }
        self.read += read as u64;
        Ok(read)
    }
}
