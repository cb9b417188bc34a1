//! A client's side of HTTP, and answers as the soak reads them.

use super::field::{Field, Round};
use anyhow::Context;
use lode_bench::soak::Found;
use std::time::Duration;

/// No answer takes so long.
const TIMEOUT: Duration = Duration::from_secs(180);
pub const UPDATE: &str = "application/sparql-update";
pub const QUERY: &str = "application/sparql-query";
pub const N_QUADS: &str = "application/n-quads";

/// A client of one server.
pub struct Client<'a> {
    field: &'a Field,
    agent: ureq::Agent,
    base: String,
}

/// What came back.
pub struct Answer {
    pub status: u16,
    pub body: String,
}

/// The server has gone: there is no answer.
pub struct Gone;

impl<'a> Client<'a> {
    pub fn new(field: &'a Field, round: Round) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
        Self { field, agent: config.build().into(), base: round.base }
    }

    /// A request with a body; none where its type is empty.
    pub fn send(&self, method: &str, path: &str, media_type: &str, body: &str) -> Result<Answer, Gone> {
        self.try_to_send(method, path, media_type, body).map_err(|error| {
            self.field.cut_off(&format!("{method} {path}"), &format!("{error:#}"));
            Gone
        })
    }

    fn try_to_send(&self, method: &str, path: &str, media_type: &str, body: &str) -> anyhow::Result<Answer> {
        let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        let request = request.header("Accept", "text/csv, application/json;q=0.5, */*;q=0.1");
        let mut response = if matches!(method, "POST" | "PUT") {
            let media_type = if media_type.is_empty() { "application/octet-stream" } else { media_type };
            self.agent.run(request.header("Content-Type", media_type).body(body)?)?
        } else {
            self.agent.run(request.body(())?)?
        };
        let status = response.status().as_u16();
        Ok(Answer { status, body: response.body_mut().with_config().limit(u64::MAX).read_to_string()? })
    }
}

impl Answer {
    /// A number of the JSON.
    pub fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str::<serde_json::Value>(&self.body).ok()?[name].as_u64()
    }

    /// Whether it says to come again later: nothing was changed.
    pub fn is_refusal(&self) -> bool {
        matches!(self.status, 503 | 504)
    }
}

/// What a query for units has found, of its CSV.
pub fn found(csv: &str) -> anyhow::Result<Found> {
    let rows = csv.lines().skip(1).map(|row| {
        let mut cells = row.splitn(3, ',');
        let mut next = || cells.next().with_context(|| format!("not a row of three cells: {row}"));
        let (subject, value, count) = (next()?, next()?, next()?);
        Ok((subject, value, count.parse().with_context(|| format!("not a count: {row}"))?))
    });
    let rows: Vec<(&str, &str, u64)> = rows.collect::<anyhow::Result<_>>()?;
    Ok(Found::of_rows(rows))
}
