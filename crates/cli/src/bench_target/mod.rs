//! Who answers the queries of a benchmark: an endpoint over HTTP, or a database in this process.

mod answer;
mod cell;
mod comparison;
mod digest;
mod json_results;
mod processors;
mod times;

pub use answer::Shape;
pub use comparison::{Comparison, compare};
pub use digest::Digest;
pub use processors::Processors;
pub use times::Times;

use crate::args::TargetArgs;
use anyhow::{Context, anyhow, bail};
use lode_engine::store::WriteOptions;
use lode_engine::{
    CancelToken, Database, OpenOptions, OutputFormat, QueryOptions, UpdateOptions, write_results,
};
use std::io::{Read, Write};
use std::time::Duration;

/// So much of an error's text is told.
const ERROR_BYTES: u64 = 2_000;
/// What a store sends that gave up and answers with what it has found so far.
const PARTIAL_ANSWER: &str = "X-SQL-State";

/// Who answers.
pub enum Target<'a> {
    Endpoint { url: &'a str, update_url: Option<&'a str>, timeout: Duration, is_post: bool, insecure: bool },
    Database { database: Box<Database>, options: Box<QueryOptions>, timeout: Duration },
}

/// A client's side of it.
pub enum Client<'a> {
    Endpoint { agent: ureq::Agent, url: &'a str, update_url: Option<&'a str>, is_post: bool },
    Database { database: &'a Database, options: &'a QueryOptions, timeout: Duration },
}

/// Why there is no answer.
pub enum Failure {
    /// The query was refused, took too long, or its answer is not one.
    Query(anyhow::Error),
    /// There is nobody to ask.
    Gone(anyhow::Error),
}

impl Failure {
    /// The error, whatever kind of failure it is.
    pub fn into_error(self) -> anyhow::Error {
        match self {
            Self::Query(error) | Self::Gone(error) => error,
        }
    }
}

/// Whether a benchmark changes what it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    Read,
    Write,
}

impl<'a> Target<'a> {
    /// Fails where there is no such database, or nowhere to send updates.
    pub fn open(args: &'a TargetArgs, usage: Use) -> anyhow::Result<Self> {
        if let Some(url) = &args.endpoint {
            if usage == Use::Write && args.update_endpoint.is_none() {
                bail!("name the --update-endpoint, too: this mix makes changes")
            }
            return Ok(Self::endpoint(url, args.update_endpoint.as_deref(), args));
        }
        let Some(path) = args.database.as_ref().or(args.db.as_ref()) else {
            bail!("name a database, or an --endpoint")
        };
        let open = OpenOptions::with_cache(args.cache);
        let database = Box::new(match usage {
            Use::Read => Database::open(path, &open)?,
            Use::Write => Database::open_for_writing(path, &open, WriteOptions::default())?,
        });
        let mut options = Box::new(QueryOptions::default());
        if let Some(threads) = args.threads {
            options.threads = threads;
        }
        if let Some(rows) = args.batch_rows {
            options.batch_rows = usize::from(rows);
        }
        if let Some(bytes) = args.memory {
            options.memory_bytes = bytes;
        }
        Ok(Self::Database { database, options, timeout: args.timeout })
    }

    /// The one to compare with, if one is named.
    pub fn other(args: &'a TargetArgs) -> Option<Self> {
        args.compare.as_ref().map(|url| Self::at(url, args))
    }

    /// An endpoint that is asked as the one of the arguments would be.
    pub fn at(url: &'a str, args: &TargetArgs) -> Self {
        Self::endpoint(url, None, args)
    }

    fn endpoint(url: &'a str, update_url: Option<&'a str>, args: &TargetArgs) -> Self {
        Self::Endpoint { url, update_url, timeout: args.timeout, is_post: args.post, insecure: args.insecure }
    }

    /// A client, with a connection of its own that is kept.
    pub fn client(&'a self) -> Client<'a> {
        match self {
            Self::Endpoint { url, update_url, timeout, is_post, insecure } => {
                let config = ureq::Agent::config_builder()
                    .http_status_as_error(false)
                    .timeout_global(Some(*timeout))
                    .max_idle_connections(1)
                    .tls_config(ureq::tls::TlsConfig::builder().disable_verification(*insecure).build());
                let update_url = *update_url;
                Client::Endpoint { agent: config.build().into(), url, update_url, is_post: *is_post }
            }
            Self::Database { database, options, timeout } => {
                Client::Database { database, options, timeout: *timeout }
            }
        }
    }
}

impl Client<'_> {
    /// Rows or triples of the answer, after all of it has been read.
    pub fn answer(&self, text: &str) -> Result<u64, Failure> {
        let shape = Shape::of_query(text);
        match self {
            Self::Endpoint { agent, url, is_post, .. } => {
                let body = ask(agent, url, *is_post, text, shape)?;
                shape.count(body).context("reading the answer").map_err(Failure::Query)
            }
            Self::Database { .. } => {
                self.evaluate(text, shape.format(), &mut std::io::sink()).map_err(Failure::Query)
            }
        }
    }

    /// Makes a change; it is durable when this returns, as far as the store promises that.
    pub fn update(&self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Endpoint { agent, url, update_url, .. } => send(agent, update_url.unwrap_or(url), text),
            Self::Database { database, timeout, .. } => {
                let evaluation =
                    QueryOptions { cancel: CancelToken::new(Some(*timeout)), ..QueryOptions::default() };
                let options = UpdateOptions { evaluation, ..UpdateOptions::default() };
                let updated = database.update(text, &options);
                updated.map(drop).map_err(|error| Failure::Query(error.into()))
            }
        }
    }

    /// Each row or triple of the answer as text that tells equal ones to be equal: see [`Shape::rows`].
    pub fn rows(&self, text: &str, take: &mut dyn FnMut(String)) -> Result<(), Failure> {
        let shape = Shape::of_query(text);
        let outcome = match self {
            Self::Endpoint { agent, url, is_post, .. } => {
                shape.rows(ask(agent, url, *is_post, text, shape)?, take)
            }
            Self::Database { .. } => {
                let mut body = Vec::new();
                self.evaluate(text, shape.format(), &mut body).map_err(Failure::Query)?;
                shape.rows(&body[..], take)
            }
        };
        outcome.context("reading the answer").map_err(Failure::Query)
    }

    /// Results are written as they would be sent. There is nothing to evaluate where an endpoint answers.
    fn evaluate(&self, text: &str, format: OutputFormat, out: &mut dyn Write) -> anyhow::Result<u64> {
        let Self::Database { database, options, timeout } = self else { return Ok(0) };
        let options = QueryOptions { cancel: CancelToken::new(Some(*timeout)), ..(*options).clone() };
        let query = database.prepare(text, &options)?;
        Ok(write_results(&mut query.run()?, format, out)?)
    }
}

/// The body of the answer, if it is one.
fn ask(
    agent: &ureq::Agent,
    url: &str,
    is_post: bool,
    text: &str,
    shape: Shape,
) -> Result<impl Read + use<>, Failure> {
    let accept = shape.media_types().join(", ");
    let response = if is_post {
        agent.post(url).header("Accept", accept).send_form([("query", text)])
    } else {
        agent.get(url).query("query", text).header("Accept", accept).call()
    };
    let response = response.map_err(|error| no_answer(url, error))?;
    body_of(response, shape).map_err(Failure::Query)
}

/// Sends an update by POST, directly.
fn send(agent: &ureq::Agent, url: &str, text: &str) -> Result<(), Failure> {
    let request = agent.post(url).header("Content-Type", "application/sparql-update");
    let response = request.send(text).map_err(|error| no_answer(url, error))?;
    let (_, mut body) = accepted(response).map_err(Failure::Query)?;
    // To its end, so that the connection can be used again.
    std::io::copy(&mut body, &mut std::io::sink()).context("reading the answer").map_err(Failure::Query)?;
    Ok(())
}

fn no_answer(url: &str, error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Query(anyhow!("no answer from {url}: {error}")),
        error => Failure::Gone(anyhow!("no answer from {url}: {error}")),
    }
}

/// Head and body of a response that is no refusal.
fn accepted(
    response: ureq::http::Response<ureq::Body>,
) -> anyhow::Result<(ureq::http::response::Parts, impl Read + use<>)> {
    let (head, body) = response.into_parts();
    let body = body.into_reader();
    if !head.status.is_success() {
        let mut text = Vec::new();
        // What cannot be read of it is missing in the message.
        let _ = body.take(ERROR_BYTES).read_to_end(&mut text);
        bail!("HTTP status {}: {}", head.status, String::from_utf8_lossy(&text).trim_end());
    }
    Ok((head, body))
}

fn body_of(response: ureq::http::Response<ureq::Body>, shape: Shape) -> anyhow::Result<impl Read + use<>> {
    let (head, body) = accepted(response)?;
    if let Some(state) = head.headers.get(PARTIAL_ANSWER) {
        bail!("the answer is a part only: {PARTIAL_ANSWER} {state:?}");
    }
    let media_type = head.headers.get("Content-Type").and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default().to_ascii_lowercase();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if !shape.media_types().contains(&essence) {
        bail!("the answer is {media_type:?} instead of {}", shape.media_types()[0]);
    }
    Ok(body)
}
