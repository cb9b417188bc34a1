//! The requests of the SPARQL 1.1 Protocol (sections 2.1 and 2.2): queries by GET, POST of a form and POST direct, updates by the latter two.

use crate::error::HttpError;
use crate::written::is_offered;
use axum::http::{HeaderMap, Method, StatusCode, header};
use lode_engine::{OutputFormat, SchemaRules};
use lode_rdf::Term;
use std::time::Duration;

/// The longest query text.
const QUERY_BYTES_MAX: usize = 16 << 20;

const FORM: &str = "application/x-www-form-urlencoded";
const QUERY: &str = "application/sparql-query";
const UPDATE: &str = "application/sparql-update";

/// Why `at` does not go with what writes.
pub(crate) const SNAPSHOTS_STAY: &str =
    "at=NAME names a snapshot, which stays as it is: it is for queries and downloads";

/// Why the parameters of the Graph Store Protocol do not go with queries and updates.
const OF_GRAPHS: &str = "graph and default are for /data: queries choose their graphs by default-graph-uri and named-graph-uri, \
                         updates by using-graph-uri and using-named-graph-uri";

/// Why the graphs of a query do not go with an update, nor the other way round.
const GRAPHS_OF_THE_OTHER: &str = "default-graph-uri and named-graph-uri are for queries, using-graph-uri and using-named-graph-uri \
                                   are for updates";

/// What a client asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    Query(QueryRequest),
    Update(UpdateRequest),
    /// The service description: a GET without a query.
    Description,
}

/// What of a plan is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanWish {
    /// The plan alone; the query does not run.
    Explain,
    /// Also what each operator did; the answer is made and thrown away.
    Profile,
}

/// A query.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct QueryRequest {
    pub(crate) query: String,
    pub(crate) default_graphs: Vec<String>,
    pub(crate) named_graphs: Vec<String>,
    /// Terms in the place of variables, by name.
    pub(crate) bindings: Vec<(String, Term)>,
    /// `timeout=SECONDS`: shorter than the server's limit, never longer.
    pub(crate) timeout: Option<Duration>,
    /// `format=NAME` (or `output=`, `results=`): instead of an `Accept` header, for links and hand-made requests.
    pub(crate) format: Option<OutputFormat>,
    /// `explain` or `profile`: the plan instead of the answer.
    pub(crate) plan: Option<PlanWish>,
    /// `at=NAME`: a named snapshot instead of the current version.
    pub(crate) at: Option<String>,
    /// `reason=RULES`: what follows by these rules is found, too, whatever the server finds unasked; `infer=false` (or `includeInferred=false`)
    /// is none.
    pub(crate) reason: Option<SchemaRules>,
    /// `min-version=N`: of this version of the database or a later one.
    pub(crate) min_version: Option<u64>,
    /// `infer=false` (or `includeInferred=false`): only what was stated, not what rules have added.
    pub(crate) only_stated: bool,
}

/// How long a request may take that asks for a time-out, or for none, where nothing may take longer than `limit`.
pub(crate) fn time_limit(asked: Option<Duration>, limit: Duration) -> Duration {
    asked.map_or(limit, |asked| asked.min(limit))
}

/// An update.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct UpdateRequest {
    pub(crate) update: String,
    pub(crate) using: Vec<String>,
    pub(crate) using_named: Vec<String>,
    /// As for queries.
    pub(crate) timeout: Option<Duration>,
}

/// Whether the body is an update, whatever is in it.
pub(crate) fn is_update(headers: &HeaderMap) -> bool {
    content_type(headers).as_deref() == Some(UPDATE)
}

/// Whether a request to an address that also takes graphs is one of this protocol.
pub(crate) fn is_protocol(method: &Method, uri_query: Option<&str>, headers: &HeaderMap) -> bool {
    let parameters = form_urlencoded::parse(uri_query.unwrap_or("").as_bytes());
    let is_named = parameters.into_iter().any(|(name, _)| name == "query" || name == "update");
    let is_sent = || matches!(content_type(headers).as_deref(), Some(FORM | QUERY | UPDATE));
    is_named || method == Method::POST && is_sent()
}

/// Bytes that a body may have.
pub(crate) fn body_bytes_max(headers: &HeaderMap, update_bytes_max: usize) -> usize {
    match content_type(headers).as_deref() {
        Some(UPDATE) => update_bytes_max,
        Some(FORM) => update_bytes_max.max(QUERY_BYTES_MAX),
        _ => QUERY_BYTES_MAX,
    }
}

/// Reads the request.
pub(crate) fn parse(
    method: &Method,
    uri_query: Option<&str>,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<Asked, HttpError> {
    let mut parameters = Parameters::default();
    parameters.read(uri_query.unwrap_or("").as_bytes())?;
    if method == Method::POST {
        let media_type = content_type(headers);
        match media_type.as_deref() {
            Some(FORM) => parameters.read(&body)?,
            Some(QUERY) => set(&mut parameters.query, text(body, headers, "query")?, "query")?,
            Some(UPDATE) => set(&mut parameters.update, text(body, headers, "update")?, "update")?,
            other => return Err(unsupported(other)),
        }
    }
    let is_bare = uri_query.is_none_or(str::is_empty);
    let Parameters { query, update, of_query, of_update, timeout } = parameters;
    match (query, update) {
        (Some(_), Some(_)) => Err(HttpError::bad_request("both a query and an update: send exactly one")),
        (Some(_), None) if !(of_update.using.is_empty() && of_update.using_named.is_empty()) => {
            Err(HttpError::bad_request(GRAPHS_OF_THE_OTHER))
        }
        (Some(query), None) => Ok(Asked::Query(QueryRequest { query, timeout, ..of_query })),
        (None, Some(_)) if method == Method::GET => {
            Err(HttpError::new(StatusCode::METHOD_NOT_ALLOWED, "updates are sent by POST"))
        }
        (None, Some(_)) if of_query.at.is_some() => Err(HttpError::bad_request(SNAPSHOTS_STAY)),
        (None, Some(_)) if !(of_query.default_graphs.is_empty() && of_query.named_graphs.is_empty()) => {
            Err(HttpError::bad_request(GRAPHS_OF_THE_OTHER))
        }
        (None, Some(_)) if of_query.min_version.is_some() => {
            Err(HttpError::bad_request("min-version is for queries: updates are of the newest version"))
        }
        (None, Some(_)) if of_query.plan.is_some() => {
            Err(HttpError::bad_request("explain and profile are for queries"))
        }
        (None, Some(update)) => Ok(Asked::Update(UpdateRequest { update, timeout, ..of_update })),
        (None, None) if method == Method::GET && is_bare => Ok(Asked::Description),
        (None, None) => Err(HttpError::bad_request("the parameter 'query' or 'update' is missing")),
    }
}

/// The media type of the body, without parameters, in lower case.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    Some(value.split(';').next()?.trim().to_ascii_lowercase())
}

/// The text of a body, which is UTF-8, whatever else may be announced.
fn text(body: Vec<u8>, headers: &HeaderMap, what: &str) -> Result<String, HttpError> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let charset = value.split(';').skip(1).find_map(|parameter| {
        let (key, value) = parameter.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| value.trim().trim_matches('"').to_ascii_lowercase())
    });
    if let Some(charset) = charset.filter(|charset| !["utf-8", "utf8", "us-ascii"].contains(&&**charset)) {
        let message = format!("charset {charset}: the {what} must be UTF-8");
        return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    String::from_utf8(body)
        .map_err(|error| HttpError::bad_request(format!("the {what} is not UTF-8: {}", error.utf8_error())))
}

fn unsupported(content_type: Option<&str>) -> HttpError {
    let message = format!(
        "content type {}: send {FORM} (query=... or update=...), {QUERY} or {UPDATE}",
        content_type.unwrap_or("(none)")
    );
    HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
}

#[derive(Default)]
struct Parameters {
    query: Option<String>,
    update: Option<String>,
    of_query: QueryRequest,
    of_update: UpdateRequest,
    timeout: Option<Duration>,
}

/// The parameters, for who sends another one.
const KNOWN: &str = "query, default-graph-uri, named-graph-uri, format (also as output or results), explain, profile, at, min-version, reason, infer and timeout for queries; update, \
                     using-graph-uri, using-named-graph-uri and timeout for updates";
/// What clients and query pages send to every endpoint, made for other stores, and what changes nothing in the answer: of the time or the effort of other stores; of the language of a text that is SPARQL; of what a page does with an
/// answer; and against caches. These are passed over.
const PASSED_OVER: [&str; 9] = [
    "_",
    "debug",
    "queryLn",
    "run",
    "save",
    "should-sponge",
    "signal_unconnected",
    "signal_void",
    "soft-limit",
];
/// Characters that are shown of a name.
const NAME_CHARS_MAX: usize = 100;

fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
    format!("there is no parameter '{}': known are {KNOWN}", shown.escape_debug())
}

impl Parameters {
    fn read(&mut self, encoded: &[u8]) -> Result<(), HttpError> {
        for (name, value) in form_urlencoded::parse(encoded) {
            match name.as_ref() {
                "query" => set(&mut self.query, value.into_owned(), "query")?,
                "update" => set(&mut self.update, value.into_owned(), "update")?,
                // A field of a form that nobody has filled in.
                "default-graph-uri" | "named-graph-uri" if value.is_empty() => {}
                "default-graph-uri" => self.of_query.default_graphs.push(value.into_owned()),
                "named-graph-uri" => self.of_query.named_graphs.push(value.into_owned()),
                "using-graph-uri" => self.of_update.using.push(value.into_owned()),
                "using-named-graph-uri" => self.of_update.using_named.push(value.into_owned()),
                "timeout" => self.timeout = Some(parse_timeout(&value)?),
                // Other stores have other names for formats: what is not known leaves the choice to `Accept`. Clients that know many
                // stores send all three names of the parameter.
                "format" | "output" | "results" => {
                    let format = OutputFormat::from_name(&value).filter(|format| is_offered(*format));
                    self.of_query.format = format.or(self.of_query.format);
                }
                "explain" => self.wish(&value, PlanWish::Explain)?,
                "profile" => self.wish(&value, PlanWish::Profile)?,
                "at" => set(&mut self.of_query.at, value.into_owned(), "name after 'at'")?,
                "min-version" => {
                    let version = value.parse().map_err(|_| {
                        HttpError::bad_request(format!(
                            "min-version={value}: expected the number of a version, as X-Lode-Version tells it"
                        ))
                    })?;
                    self.of_query.min_version = Some(version);
                }
                "reason" => self.of_query.reason = Some(value.parse().map_err(HttpError::bad_request)?),
                // What clients send who know other stores: `true` leaves it to the server what it finds.
                name @ ("infer" | "includeInferred") => {
                    self.of_query.only_stated = match value.to_ascii_lowercase().as_str() {
                        "false" | "0" => true,
                        "true" | "1" | "" => false,
                        _ => return Err(HttpError::bad_request(format!("{name} is true or false"))),
                    };
                    let is_off = self.of_query.only_stated && self.of_query.reason.is_none();
                    self.of_query.reason = is_off.then(SchemaRules::default).or(self.of_query.reason);
                }
                name if PASSED_OVER.contains(&name) => {}
                // Passed over, the answer would be about another graph than was asked for.
                "graph" | "default" => return Err(HttpError::bad_request(OF_GRAPHS)),
                // A name with a slip of the pen, passed over, would change the answer without a word.
                other => return Err(HttpError::bad_request(unknown(other))),
            }
        }
        Ok(())
    }
}

impl Parameters {
    /// Notes a wish that is there (`explain`, `explain=1`) and not taken back (`explain=0`).
    fn wish(&mut self, value: &str, wish: PlanWish) -> Result<(), HttpError> {
        match value {
            "0" | "false" => Ok(()),
            "" | "1" | "true" if self.of_query.plan.is_none_or(|other| other == wish) => {
                self.of_query.plan = Some(wish);
                Ok(())
            }
            "" | "1" | "true" => {
                Err(HttpError::bad_request("both explain and profile: a profile has the plan in it"))
            }
            other => Err(HttpError::bad_request(format!("explain or profile is {other}: expected 1 or 0"))),
        }
    }
}

fn set(place: &mut Option<String>, text: String, what: &str) -> Result<(), HttpError> {
    match place.replace(text) {
        None => Ok(()),
        Some(_) => Err(HttpError::bad_request(format!("more than one {what}: send exactly one"))),
    }
}

pub(crate) fn parse_timeout(value: &str) -> Result<Duration, HttpError> {
    let seconds = value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| HttpError::bad_request(format!("timeout={value}: expected a number of seconds")))
}

#[cfg(test)]
mod tests;
