//! The server that is asked.

use crate::bench_clients::agent;
use crate::server_client::server_address;
use anyhow::{Context, bail};
use lode_assist::Completion;
use serde_json::{Value, json};
use std::io::Read as _;

/// Items that are asked for.
const ITEMS: usize = 50;
/// A query takes so long at most, in seconds.
const TIMEOUT: &str = "20";

/// So much of an answer is read, where all that is asked is whether there is one: what is longer has rows.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Whether a query has an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Some,
    None,
    Error(String),
}

pub struct Server {
    agent: ureq::Agent,
    address: String,
}

impl Server {
    pub fn new(url: &str) -> Self {
        Self { agent: agent(), address: server_address(url) }
    }

    pub fn complete(&self, text: &str, position: usize) -> anyhow::Result<Completion> {
        let body = json!({ "text": text, "position": position, "limit": ITEMS }).to_string();
        let url = format!("{}/api/complete", self.address);
        let mut response = self.agent.post(url).content_type("application/json").send(body)?;
        let text = response.body_mut().read_to_string()?;
        if response.status() != 200 {
            bail!("{}: {text}", response.status());
        }
        serde_json::from_str(&text).context("what the server completes")
    }

    /// The status, and the beginning of the answer.
    fn query(&self, text: &str, bytes_max: u64) -> anyhow::Result<(u16, Vec<u8>)> {
        let url = format!("{}/query?timeout={TIMEOUT}", self.address);
        let accept = "application/sparql-results+json, application/n-triples;q=0.9";
        let request = self.agent.post(url).content_type("application/sparql-query").header("Accept", accept);
        let mut response = request.send(text)?;
        let status = response.status().as_u16();
        let mut answer = Vec::new();
        // Of an answer that breaks off, what came counts.
        let _ = response.body_mut().as_reader().take(bytes_max).read_to_end(&mut answer);
        Ok((status, answer))
    }

    pub fn ask(&self, text: &str) -> anyhow::Result<Answer> {
        let (status, answer) = self.query(text, ANSWER_BYTES_MAX)?;
        let is_longer = answer.len() as u64 == ANSWER_BYTES_MAX;
        let answer = String::from_utf8_lossy(&answer);
        if status != 200 {
            return Ok(Answer::Error(answer.into_owned()));
        }
        if is_longer {
            return Ok(Answer::Some);
        }
        let is_some = match serde_json::from_str::<Value>(&answer) {
            Ok(answer) => match answer.pointer("/results/bindings") {
                Some(rows) => rows.as_array().is_some_and(|rows| !rows.is_empty()),
                None => answer.get("boolean") == Some(&Value::Bool(true)),
            },
            Err(_) => answer.contains('<'),
        };
        Ok(if is_some { Answer::Some } else { Answer::None })
    }

    fn rows(&self, text: &str) -> anyhow::Result<Value> {
        let (_, answer) = self.query(text, u64::MAX)?;
        serde_json::from_slice(&answer).with_context(|| String::from_utf8_lossy(&answer).into_owned())
    }

    /// The only number of an answer.
    pub fn number(&self, text: &str) -> anyhow::Result<u64> {
        let answer = self.rows(text)?;
        let value = answer.pointer("/results/bindings/0/n/value").and_then(Value::as_str);
        value.and_then(|value| value.parse().ok()).context("a count was expected")
    }

    /// Predicates and objects of an IRI, as they are written in a query; of literals and blank nodes only that they are there.
    pub fn properties(&self, iri: &str) -> anyhow::Result<Vec<(String, String)>> {
        let answer = self.rows(&format!("SELECT ?p ?o {{ {iri} ?p ?o }} LIMIT 1000"))?;
        let rows = answer.pointer("/results/bindings").and_then(Value::as_array).cloned().unwrap_or_default();
        let pair = |row: &Value| {
            let value = |name: &str| row.pointer(name).and_then(Value::as_str).unwrap_or("").to_owned();
            let is_iri = value("/o/type") == "uri";
            let object = if is_iri { format!("<{}>", value("/o/value")) } else { "_".to_owned() };
            (format!("<{}>", value("/p/value")), object)
        };
        Ok(rows.iter().map(pair).collect())
    }
}
