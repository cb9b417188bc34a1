//! SERVICE over HTTP, only to endpoints on an allow-list (empty by default: no query can make the server talk to others).

use lode_exec::context::{ServiceHandler, ServiceRows};
use lode_rdf::Term;
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use std::io::Read;
use std::time::Duration;

/// The most bytes read of one answer.
const ANSWER_BYTES_MAX: u64 = 1 << 30;
/// Media types asked for, best first.
const ACCEPT: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.8";

/// Federation through the SPARQL 1.1 Protocol (POST, form-encoded).
#[derive(Debug)]
pub struct HttpService {
    allowed: Vec<String>,
    agent: ureq::Agent,
}

impl HttpService {
    /// Talks only to endpoints whose IRI is in `allowed` or starts with an entry that ends in `*`.
    pub fn new(allowed: Vec<String>, timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).max_redirects(0).build();
        Self { allowed, agent: config.into() }
    }

    fn is_allowed(&self, endpoint: &str) -> bool {
        self.allowed.iter().any(|entry| match entry.strip_suffix('*') {
            Some(prefix) => endpoint.starts_with(prefix),
            None => endpoint == entry,
        })
    }
}

impl ServiceHandler for HttpService {
    fn query(&self, endpoint: &str, query: &str) -> Result<ServiceRows, String> {
        if !self.is_allowed(endpoint) {
            return Err("this endpoint is not on the allow-list (--allow-service IRI)".to_owned());
        }
        let response = self
            .agent
            .post(endpoint)
            .header("Accept", ACCEPT)
            .send_form([("query", query)])
            .map_err(|error| error.to_string())?;
        let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let format = media_type
            .and_then(|value| {
                QueryResultsFormat::from_media_type(value.split(';').next().unwrap_or("").trim())
            })
            .ok_or_else(|| {
                format!("answered with the unknown content type {}", media_type.unwrap_or("(none)"))
            })?;
        read_rows(format, response.into_body().into_reader().take(ANSWER_BYTES_MAX))
    }
}

/// Reads a result of rows.
fn read_rows(format: QueryResultsFormat, body: impl Read) -> Result<ServiceRows, String> {
    let parser = QueryResultsParser::from_format(format);
    let ReaderQueryResultsParserOutput::Solutions(solutions) =
        parser.for_reader(body).map_err(|error| error.to_string())?
    else {
        return Err("answered yes or no instead of rows".to_owned());
    };
    let variables: Vec<String> = solutions.variables().iter().map(|v| v.as_str().to_owned()).collect();
    let mut rows: Vec<Vec<Option<Term>>> = Vec::new();
    for solution in solutions {
        rows.push(solution.map_err(|error| error.to_string())?.values().to_vec());
    }
    Ok((variables, rows))
}
