//! Queries, updates and dumps over HTTP: at a `lode serve`, or at any SPARQL endpoint.

mod address;
mod answer;
mod change;
mod count;
mod materialise;
mod plan;
mod prefixes;
mod validate;
mod why;

pub use answer::{accepted, show};
pub use change::{changed, update};
pub use count::{rows, stats};
pub use materialise::materialise;
pub use plan::plan_text;
pub use prefixes::prefixes;
pub use validate::validate;
pub use why::why;

use crate::args::{DefaultGraphArg, EvaluationArgs, LoginArgs};
use crate::exit::{RemoteError, wrong_usage};
use crate::server_client::{is_nobody, login_header, with_login_tls};
use address::Addresses;
use anyhow::Context;
use lode_engine::interrupt::{Interruptible, read_while};
use lode_engine::web::is_url;
use lode_engine::{CancelToken, EngineError};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;
use ureq::http::Response;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};
use ureq::{Agent, Body};

/// Time to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// So much of a refusal is shown.
const REFUSAL_BYTES_MAX: u64 = 16 << 10;

/// The address that stands where a database's folder may, if it is one.
pub fn url(database: &Path) -> Option<&str> {
    database.to_str().filter(|name| is_url(name))
}

/// An error where options are given that are for evaluation here.
pub fn refuse_own_options(args: &EvaluationArgs) -> anyhow::Result<()> {
    let given = [
        (args.default_graph == DefaultGraphArg::Union, "--default-graph"),
        (!args.schema_graph.is_empty(), "--schema-graph"),
        (args.threads.is_some(), "--threads"),
        (args.memory.is_some(), "--memory"),
        (args.cache.is_some(), "--cache"),
        (args.direct, "--direct"),
        (!args.allow_service.is_empty(), "--allow-service"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, name)) => {
            Err(wrong_usage(format!("{name} is for a folder: a server has its own (lode serve {name})")))
        }
        None => Ok(()),
    }
}

/// The parameter by which a server is told what to reason with, where that is said.
pub fn reasoning(args: &EvaluationArgs) -> Option<String> {
    args.reason.map(|rules| parameter("reason", &rules.to_string()))
}

/// A server.
pub struct Remote {
    agent: Agent,
    addresses: Addresses,
    login: Option<String>,
}

/// What a request asks for.
pub struct Asked<'a> {
    pub media_type: &'a str,
    pub text: &'a str,
    pub accept: &'a str,
    /// Behind the address: `a=b&c=d`.
    pub parameters: String,
}

impl Remote {
    pub fn new(url: &str, login: &LoginArgs) -> anyhow::Result<Self> {
        let addresses = Addresses::new(url)?;
        // A redirect is told and not followed: a POST would become a GET, which loses what was to be done.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            .max_redirects_will_error(false);
        let config = with_login_tls(config, login)?.build();
        let connector = DefaultConnector::new().chain(Interruptible);
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        Ok(Self { agent, addresses, login: login_header(login)? })
    }

    /// The server's address.
    pub fn base(&self) -> &str {
        &self.addresses.base
    }

    /// Asks a query.
    pub fn query(&self, asked: &Asked<'_>, cancel: &CancelToken) -> anyhow::Result<Response<Body>> {
        let first = self.post(&self.addresses.query, asked, cancel)?;
        let other =
            self.addresses.query_else.as_ref().filter(|_| matches!(first.status().as_u16(), 404 | 405));
        let response = match other {
            Some(other) => self.post(other, asked, cancel)?,
            None => first,
        };
        self.accepted(response)
    }

    /// Sends an update.
    pub fn update(&self, asked: &Asked<'_>, cancel: &CancelToken) -> anyhow::Result<Response<Body>> {
        let response = self.post(&self.addresses.update, asked, cancel)?;
        self.accepted(response)
    }

    /// Asks something at a path below the server's address.
    pub fn ask_at(
        &self,
        path: &str,
        asked: &Asked<'_>,
        cancel: &CancelToken,
    ) -> anyhow::Result<Response<Body>> {
        let response = self.post(&format!("{}{path}", self.addresses.base), asked, cancel)?;
        self.accepted(response)
    }

    /// Removes what is at a path below the server's address.
    pub fn delete_at(&self, path: &str, cancel: &CancelToken) -> anyhow::Result<Response<Body>> {
        let mut request = self.agent.delete(format!("{}{path}", self.addresses.base));
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
        }
        read_for(cancel);
        let response = self.heard(request.call(), cancel)?;
        self.accepted(response)
    }

    /// Reads what is at a path below the server's address, or its graphs where the path is `/data`.
    pub fn get(&self, path: &str, accept: &str, cancel: &CancelToken) -> anyhow::Result<Response<Body>> {
        let address = match path.strip_prefix("/data") {
            Some(rest) => format!("{}{rest}", self.addresses.data),
            None => format!("{}{path}", self.addresses.base),
        };
        let mut request = self.agent.get(address).header("Accept", accept);
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
        }
        read_for(cancel);
        let response = self.heard(request.call(), cancel)?;
        self.accepted(response)
    }

    /// Sends a document to a graph, or to the whole dataset.
    pub fn send_file(
        &self,
        parameters: &str,
        media_type: &str,
        coding: Option<&str>,
        file: std::fs::File,
        cancel: &CancelToken,
    ) -> anyhow::Result<Response<Body>> {
        let mut request =
            self.agent.post(format!("{}{parameters}", self.addresses.data)).content_type(media_type);
        if let Some(coding) = coding {
            request = request.header("Content-Encoding", coding);
        }
        if let Some(login) = &self.login {
            request = request.header("Authorization", login);
        }
        read_for(cancel);
        let response = self.heard(request.send(file), cancel)?;
        self.accepted(response)
    }

    fn post(&self, address: &str, asked: &Asked<'_>, cancel: &CancelToken) -> anyhow::Result<Response<Body>> {
        let address = match asked.parameters.as_str() {
            "" => address.to_owned(),
            parameters => format!("{address}?{parameters}"),
        };
        let request = self.agent.post(address).content_type(asked.media_type).header("Accept", asked.accept);
        let request = match &self.login {
            Some(login) => request.header("Authorization", login),
            None => request,
        };
        read_for(cancel);
        self.heard(request.send(asked.text), cancel)
    }

    fn heard(
        &self,
        answer: Result<Response<Body>, ureq::Error>,
        cancel: &CancelToken,
    ) -> anyhow::Result<Response<Body>> {
        let base = self.base();
        match answer {
            Ok(response) => Ok(response),
            Err(_) if cancel.check().is_err() => Err(stopped(cancel)),
            Err(error) if is_nobody(&error) => {
                let text = format!("{base}: nobody answers ({error}); lode serve DB starts a server");
                Err(RemoteError { code: 1, text }.into())
            }
            Err(error) => Err(error).with_context(|| format!("asking {base}")),
        }
    }

    /// An answer that is a success; a refusal as the server has put it.
    fn accepted(&self, response: Response<Body>) -> anyhow::Result<Response<Body>> {
        let status = response.status();
        if status.is_success() {
            let kind = media_type(&response);
            if kind.contains("html") {
                let text = format!("{}: a web page answers ({kind}), and no SPARQL endpoint", self.base());
                return Err(RemoteError { code: 1, text }.into());
            }
            return Ok(response);
        }
        if status.is_redirection() {
            let to = response.headers().get("location").and_then(|value| value.to_str().ok());
            let to = to.unwrap_or("another address");
            let text = format!(
                "{}: what is asked for is at {to} ({status}): ask there; nothing was done",
                self.base()
            );
            return Err(RemoteError { code: 1, text }.into());
        }
        let mut told = Vec::new();
        // What cannot be read is not told.
        let _ = response.into_body().into_reader().take(REFUSAL_BYTES_MAX).read_to_end(&mut told);
        let told = String::from_utf8_lossy(&told);
        let is_page = told.trim_start().starts_with('<');
        let told: String = told.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        let told = if told.trim().is_empty() || is_page { status.to_string() } else { told };
        let hint = if status.as_u16() == 401 { " (--token-file, or --user)" } else { "" };
        let code = match status.as_u16() {
            400 => 4,
            408 | 504 => 5,
            _ => 1,
        };
        Err(RemoteError { code, text: format!("{}: {}{hint}", self.base(), told.trim_end()) }.into())
    }
}

/// From now on, what this thread reads ends when the token says so.
fn read_for(cancel: &CancelToken) {
    let cancel = cancel.clone();
    read_while(move || cancel.check().is_ok());
}

/// The media type of an answer, in small letters and without parameters; empty where none is told.
pub fn media_type(response: &Response<Body>) -> String {
    let told = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    told.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

/// Why work was stopped.
fn stopped(cancel: &CancelToken) -> anyhow::Error {
    let reason = cancel.check().err().unwrap_or(lode_engine::Cancelled::ByRequest);
    EngineError::Cancelled(reason).into()
}

/// An answer's body; where it breaks off, that is an error that says so.
pub struct Told {
    body: ureq::BodyReader<'static>,
    cancel: CancelToken,
}

impl Told {
    pub fn new(response: Response<Body>, cancel: &CancelToken) -> Self {
        Self { body: response.into_body().into_reader(), cancel: cancel.clone() }
    }

    /// What an error while this was read means.
    pub fn failed(cancel: &CancelToken, error: impl Into<anyhow::Error>) -> anyhow::Error {
        if cancel.check().is_err() { stopped(cancel) } else { error.into() }
    }
}

impl Read for Told {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check().map_err(io::Error::other)?;
        let broken = |error: io::Error| {
            io::Error::new(error.kind(), format!("the server's answer broke off: {error}"))
        };
        self.body.read(buffer).map_err(broken)
    }
}

/// The longest answer that is read as a whole.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The whole of an answer.
pub fn text_of(response: Response<Body>, cancel: &CancelToken) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = Told::new(response, cancel).take(TEXT_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| Told::failed(cancel, error))?;
    Ok(text)
}

/// A parameter's name and its value, as they stand behind an address.
pub fn parameter(name: &str, value: &str) -> String {
    let mut text = format!("{name}=");
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}
