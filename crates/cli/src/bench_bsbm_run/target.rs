//! Who answers: an endpoint over HTTP, or a database in this process.

use super::answer::Shape;
use crate::args::BsbmRunArgs;
use anyhow::{Context, anyhow, bail};
use lode_engine::{CancelToken, Database, OpenOptions, OutputFormat, QueryOptions, write_results};
use std::io::Read as _;
use std::time::Duration;

/// So much of an error's text is told.
const ERROR_BYTES: u64 = 2_000;

/// Who answers.
pub enum Target<'a> {
    Endpoint { url: &'a str, timeout: Duration, is_post: bool },
    Database { database: Box<Database>, options: Box<QueryOptions>, timeout: Duration },
}

/// A client's side of it.
pub enum Client<'a> {
    Endpoint { agent: ureq::Agent, url: &'a str, is_post: bool },
    Database { database: &'a Database, options: &'a QueryOptions, timeout: Duration },
}

/// Why there is no answer.
pub enum Failure {
    /// The query was refused, took too long, or its answer is not one.
    Query(anyhow::Error),
    /// There is nobody to ask.
    Gone(anyhow::Error),
}

impl<'a> Target<'a> {
    pub fn open(args: &'a BsbmRunArgs) -> anyhow::Result<Self> {
        if let Some(url) = &args.endpoint {
            return Ok(Self::Endpoint { url, timeout: args.timeout, is_post: args.post });
        }
        let Some(path) = args.database.as_ref().or(args.db.as_ref()) else {
            bail!("name a database, or an --endpoint")
        };
        let database = Box::new(Database::open(path, &OpenOptions { cache_bytes: args.cache })?);
        let mut options = Box::new(QueryOptions::default());
        if let Some(threads) = args.threads {
            options.threads = threads;
        }
        Ok(Self::Database { database, options, timeout: args.timeout })
    }

    /// A client, with a connection of its own that is kept.
    pub fn client(&'a self) -> Client<'a> {
        match self {
            Self::Endpoint { url, timeout, is_post } => {
                let config = ureq::Agent::config_builder()
                    .http_status_as_error(false)
                    .timeout_global(Some(*timeout))
                    .max_idle_connections(1);
                Client::Endpoint { agent: config.build().into(), url, is_post: *is_post }
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
        match self {
            Self::Endpoint { agent, url, is_post } => ask(agent, url, *is_post, text),
            Self::Database { database, options, timeout } => {
                let cancel = CancelToken::new(Some(*timeout));
                let options = QueryOptions { cancel, ..(*options).clone() };
                evaluate(database, &options, text).map_err(Failure::Query)
            }
        }
    }
}

/// Results are written as they would be sent.
fn evaluate(database: &Database, options: &QueryOptions, text: &str) -> anyhow::Result<u64> {
    let query = database.prepare(text, options)?;
    let format = OutputFormat::default_for(query.kind());
    Ok(write_results(&mut query.run()?, format, &mut std::io::sink())?)
}

fn ask(agent: &ureq::Agent, url: &str, is_post: bool, text: &str) -> Result<u64, Failure> {
    let shape = Shape::of_query(text);
    let response = if is_post {
        agent.post(url).header("Accept", shape.media_type()).send_form([("query", text)])
    } else {
        agent.get(url).query("query", text).header("Accept", shape.media_type()).call()
    };
    let response = response.map_err(|error| match error {
        ureq::Error::Timeout(_) => Failure::Query(anyhow!("no answer from {url}: {error}")),
        error => Failure::Gone(anyhow!("no answer from {url}: {error}")),
    })?;
    read(response, shape).map_err(Failure::Query)
}

fn read(response: ureq::http::Response<ureq::Body>, shape: Shape) -> anyhow::Result<u64> {
    let (head, body) = response.into_parts();
    let body = body.into_reader();
    if !head.status.is_success() {
        let mut text = Vec::new();
        // What cannot be read of it is missing in the message.
        let _ = body.take(ERROR_BYTES).read_to_end(&mut text);
        bail!("HTTP status {}: {}", head.status, String::from_utf8_lossy(&text).trim_end());
    }
    let media_type = head.headers.get("Content-Type").and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default();
    if !media_type.to_ascii_lowercase().starts_with(shape.media_type()) {
        bail!("the answer is {media_type:?} instead of {}", shape.media_type());
    }
    shape.count(body).context("reading the answer")
}
