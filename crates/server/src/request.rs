//! The query operation of the SPARQL 1.1 Protocol (section 2.1): GET, POST form-encoded, POST direct.

use crate::error::HttpError;
use axum::http::{HeaderMap, Method, StatusCode, header};
use lode_engine::OutputFormat;
use std::time::Duration;

/// What a client asks for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct QueryRequest {
    pub(crate) query: String,
    pub(crate) default_graphs: Vec<String>,
    pub(crate) named_graphs: Vec<String>,
    /// `timeout=SECONDS`: shorter than the server's limit, never longer.
    pub(crate) timeout: Option<Duration>,
    /// `format=NAME`: instead of an `Accept` header, for links and hand-made requests.
    pub(crate) format: Option<OutputFormat>,
}

/// Reads the request; `None` for a GET without any query (it asks for the service description).
pub(crate) fn parse(
    method: &Method,
    uri_query: Option<&str>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Option<QueryRequest>, HttpError> {
    let mut parameters = Parameters::default();
    parameters.read(uri_query.unwrap_or("").as_bytes())?;
    if method == Method::POST {
        match content_type(headers).as_deref() {
            Some("application/x-www-form-urlencoded") => parameters.read(body)?,
            Some("application/sparql-query") => {
                let text = std::str::from_utf8(body)
                    .map_err(|error| HttpError::bad_request(format!("the query is not UTF-8: {error}")))?;
                parameters.set_query(text)?;
            }
            other => return Err(unsupported(other)),
        }
    }
    match parameters.query {
        Some(query) => Ok(Some(QueryRequest { query, ..parameters.rest })),
        None if method == Method::GET => Ok(None),
        None => Err(HttpError::bad_request("the parameter 'query' is missing")),
    }
}

fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

fn unsupported(content_type: Option<&str>) -> HttpError {
    let message = match content_type {
        Some("application/sparql-update") => {
            "updates are not served here: this endpoint answers queries".to_owned()
        }
        other => format!(
            "content type {}: send application/x-www-form-urlencoded (query=...) or application/sparql-query",
            other.unwrap_or("(none)")
        ),
    };
    HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

#[derive(Default)]
struct Parameters {
    query: Option<String>,
    rest: QueryRequest,
}

impl Parameters {
    fn read(&mut self, encoded: &[u8]) -> Result<(), HttpError> {
        for (name, value) in form_urlencoded::parse(encoded) {
            match name.as_ref() {
                "query" => self.set_query(&value)?,
                "default-graph-uri" => self.rest.default_graphs.push(value.into_owned()),
                "named-graph-uri" => self.rest.named_graphs.push(value.into_owned()),
                "timeout" => self.rest.timeout = Some(parse_timeout(&value)?),
                "format" => self.rest.format = Some(parse_format(&value)?),
                "update" => return Err(unsupported(Some("application/sparql-update"))),
                // Other parameters belong to other stores' extensions; the protocol lets them pass.
                _ => {}
            }
        }
        Ok(())
    }

    fn set_query(&mut self, text: &str) -> Result<(), HttpError> {
        match self.query.replace(text.to_owned()) {
            None => Ok(()),
            Some(_) => Err(HttpError::bad_request("more than one query: send exactly one")),
        }
    }
}

fn parse_timeout(value: &str) -> Result<Duration, HttpError> {
    let seconds = value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| HttpError::bad_request(format!("timeout={value}: expected a number of seconds")))
}

fn parse_format(value: &str) -> Result<OutputFormat, HttpError> {
    OutputFormat::from_name(value).ok_or_else(|| {
        HttpError::bad_request(format!("format={value}: expected one of {}", OutputFormat::NAMES))
    })
}

#[cfg(test)]
mod tests;
