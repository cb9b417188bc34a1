//! Why a triple holds: a GET with it is answered with a proof. It is a long query by its place, its time, its memory and what may be read.

use crate::error::HttpError;
use crate::guard;
use crate::limits::Granted;
use crate::long_query::LongQuery;
use crate::negotiate::accept;
use crate::request::parse_timeout;
use crate::state::AppState;
use crate::stream::{ChunkWriter, answered};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_assist::{kept_prefixes, prefixes_over_usual};
use lode_engine::{Goal, SchemaRules, WhyOptions};
use std::sync::Arc;
use std::time::Duration;

/// So many proofs are told at most.
const PROOFS_MAX: usize = 1_000;
const KNOWN: &str = "triple, graph (default, union or an IRI), proofs, depth, facts, reason, infer, format (text or json) and timeout";

/// What is asked for.
struct Asked {
    triple: String,
    graph: String,
    options: WhyOptions,
    is_json: bool,
    reason: Option<SchemaRules>,
    only_stated: bool,
    timeout: Option<Duration>,
}

/// Explains.
pub(crate) async fn explain(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let client = guard::peer(&request);
    let (parts, _) = request.into_parts();
    let granted = Granted::of(&parts);
    let asked = Asked::read(&parts)?;
    granted.check_text(&asked.triple)?;
    let text = format!("why {}", asked.triple);
    let memory = state.memory().cloned();
    let work = LongQuery::enter(state, client, granted, asked.timeout, &text).await?;
    let (cancel, job) = (work.cancel.clone(), Job { work, asked });
    let (media_type, body) = answered(cancel, memory, job, Job::run).await?;
    Ok(([(header::CONTENT_TYPE, media_type), (header::VARY, "Accept")], body).into_response())
}

impl Asked {
    fn read(parts: &Parts) -> Result<Self, HttpError> {
        let accept = accept(&parts.headers);
        let first = accept.split([',', ';']).next().unwrap_or_default().trim().to_owned();
        let mut asked = Self {
            triple: String::new(),
            graph: "default".to_owned(),
            options: WhyOptions::default(),
            is_json: first != "text/plain",
            reason: None,
            only_stated: false,
            timeout: None,
        };
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()) {
            let number = || {
                let number = value.parse::<usize>().ok().filter(|number| *number > 0);
                number.ok_or_else(|| {
                    HttpError::bad_request(format!("{name}={value}: expected a number of 1 or more"))
                })
            };
            match name.as_ref() {
                "triple" => asked.triple = value.into_owned(),
                "graph" => asked.graph = value.into_owned(),
                "proofs" => asked.options.proofs_max = number()?.min(PROOFS_MAX),
                "depth" => asked.options.depth_max = number()?,
                "facts" => asked.options.facts_max = number()?,
                "reason" => asked.reason = Some(value.parse().map_err(HttpError::bad_request)?),
                "infer" => {
                    asked.only_stated = match value.as_ref() {
                        "false" => true,
                        "true" => false,
                        other => {
                            return Err(HttpError::bad_request(format!(
                                "infer={other}: expected true or false"
                            )));
                        }
                    }
                }
                "timeout" => asked.timeout = Some(parse_timeout(&value)?),
                "format" => {
                    asked.is_json = match value.as_ref() {
                        "json" => true,
                        "text" => false,
                        other => {
                            let message = format!("format={other}: expected text or json");
                            return Err(HttpError::bad_request(message));
                        }
                    }
                }
                other => {
                    let message = format!("'{other}' is no parameter of /why: there are {KNOWN}");
                    return Err(HttpError::bad_request(message));
                }
            }
        }
        if asked.triple.is_empty() {
            return Err(HttpError::bad_request(
                "triple=... is missing: a triple as in Turtle, such as '<http://example.org/tom> a <http://example.org/Cat>', or false",
            ));
        }
        Ok(asked)
    }
}

/// An explanation on its blocking thread.
struct Job {
    work: LongQuery,
    asked: Asked,
}

impl Job {
    fn run(&self, writer: &mut ChunkWriter<&'static str>) -> Result<(), HttpError> {
        self.work.note_begun();
        let granted = &self.work.granted;
        let options = self.options()?;
        let database = &self.work.state.database;
        let prefixes = prefixes_over_usual(&kept_prefixes(database));
        let goal =
            Goal::parse(&self.asked.triple, &prefixes).map_err(|error| self.work.explain(error.into()))?;
        let explanation = database
            .why(database.snapshot(), &goal, &options)
            .map_err(|error| self.work.explain(granted.told(error)))?;
        writer.announce(if self.asked.is_json { "application/json" } else { "text/plain; charset=utf-8" });
        writer.limit_bytes(granted.limits.bytes);
        let written = match self.asked.is_json {
            true => serde_json::to_writer(&mut *writer, &explanation).map_err(std::io::Error::from),
            false => explanation.write_text(&prefixes, writer),
        };
        written.map_err(|error| match writer.is_too_long() {
            true => granted.too_many_bytes(),
            false => HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        })
    }

    fn options(&self) -> Result<WhyOptions, HttpError> {
        let mut options = self.asked.options.clone();
        let mut query = self.work.query_options(&self.asked.graph)?;
        // Of an answer, and this has none.
        query.rows_max = None;
        if let Some(rules) = self.asked.reason {
            query.set_rules(rules);
        }
        if self.asked.only_stated && self.asked.reason.is_none() {
            query.set_rules(SchemaRules::default());
        }
        query.inferred &= !self.asked.only_stated;
        options.evaluation = query;
        Ok(options)
    }
}
