//! Validation: a POST with shapes is answered with a report. It is a long query by its place, its time, its memory and what may be read.

use crate::body::{Incoming, Whole};
use crate::body_memory::Room;
use crate::error::HttpError;
use crate::guard;
use crate::limits::Granted;
use crate::long_query::LongQuery;
use crate::negotiate::{accept, negotiate_rdf};
use crate::protocol::body_coding;
use crate::request::{content_type, parse_timeout};
use crate::state::AppState;
use crate::stream::{ChunkWriter, answered};
use crate::warnings;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::TableOptions;
use lode_rdf::RdfFormat;
use lode_rdf::parse::ParseOptions;
use lode_shacl::{Report, ReportFormat, ShaclError, Shapes, ShapesGraph, ValidateOptions};
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// The longest body.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Results that are told where the client does not say how many.
const RESULTS: u64 = 1_000;
/// Says whether the data conform, for who does not read reports.
const CONFORMS: HeaderName = HeaderName::from_static("lode-conforms");
const KNOWN: &str = "graph (default, union or an IRI), limit, format and timeout";

/// What is asked for.
struct Asked {
    graph: String,
    limit: u64,
    format: ReportFormat,
    timeout: Option<Duration>,
    /// Of the shapes.
    shapes: RdfFormat,
    base: Option<String>,
}

/// What the head of an answer tells. It is sent with the first of a long report, and there are results in it by then.
struct Head {
    media_type: &'static str,
    conforms: bool,
    /// Of the shapes.
    warnings: Vec<String>,
}

/// Validates the data against the shapes of the body.
pub(crate) async fn validate(
    State(state): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, HttpError> {
    let client = guard::peer(&request);
    let (parts, body) = request.into_parts();
    let body = Incoming::new(body, state.shared());
    let granted = Granted::of(&parts);
    let read = || Ok((Asked::read(&state, &parts)?, body_coding(&parts.headers)?));
    let (asked, coding) = match read() {
        Ok(read) => read,
        Err(error) => return body.refuse(&parts.headers, error).await,
    };
    let Whole { bytes, room } = body.decoded(coding).collect(BODY_BYTES_MAX).await?;
    let text = format!("SHACL validation of the graph {}", asked.graph);
    let memory = state.memory().cloned();
    let work = LongQuery::enter(state, client, granted, asked.timeout, &text).await?;
    let (cancel, job) = (work.cancel.clone(), Job { work, asked, bytes, room });
    let (head, body) = answered(cancel, memory, job, Job::run).await?;
    let fields = [(header::CONTENT_TYPE, head.media_type), (header::VARY, "Accept")];
    let conforms = [(CONFORMS, if head.conforms { "true" } else { "false" })];
    let mut response = (fields, conforms, body).into_response();
    warnings::tell(&head.warnings, &mut response);
    Ok(response)
}

impl Asked {
    fn read(state: &AppState, parts: &Parts) -> Result<Self, HttpError> {
        let media_type = content_type(&parts.headers);
        let Some(shapes) = media_type.as_deref().and_then(RdfFormat::from_media_type) else {
            let name = media_type.as_deref().unwrap_or("(none)");
            let message = format!(
                "content type {name}: send shapes as text/turtle, application/n-triples, application/trig, application/rdf+xml or \
                 application/ld+json"
            );
            return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        };
        let base = state.own_iri(&parts.uri, &parts.headers).map(lode_rdf::NamedNode::into_string);
        let (mut graph, mut limit, mut named, mut timeout) = (None, RESULTS, None, None);
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or("").as_bytes()) {
            match name.as_ref() {
                "graph" if graph.is_none() => graph = Some(value.into_owned()),
                "graph" => {
                    return Err(HttpError::bad_request(
                        "one graph is validated: name it once, or graph=union",
                    ));
                }
                "limit" => {
                    let message =
                        || HttpError::bad_request(format!("limit={value}: expected a number of results"));
                    limit = value.parse().map_err(|_| message())?;
                }
                "format" => named = Some(named_format(&value)?),
                "timeout" => timeout = Some(parse_timeout(&value)?),
                other => {
                    let message = format!("'{other}' is no parameter of /shacl: there are {KNOWN}");
                    return Err(HttpError::bad_request(message));
                }
            }
        }
        let format = named.or_else(|| accepted(&accept(&parts.headers))).ok_or_else(|| {
            let message = "none of the accepted media types fits: offered are text/turtle, application/n-triples, \
                           application/rdf+xml, application/ld+json, application/json and text/plain (a table)";
            HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
        })?;
        let graph = graph.unwrap_or_else(|| "default".to_owned());
        Ok(Self { graph, limit, format, timeout, shapes, base })
    }
}

fn named_format(name: &str) -> Result<ReportFormat, HttpError> {
    match name {
        "json" => Ok(ReportFormat::Json),
        "table" | "text" => Ok(ReportFormat::Table),
        other => RdfFormat::from_name(other).map(ReportFormat::Rdf).ok_or_else(|| {
            HttpError::bad_request(format!("format={other}: expected ttl, nt, rdf, jsonld, json or table"))
        }),
    }
}

/// The best of the accepted formats. A report in JSON is one of its own: no results of a query.
fn accepted(accept: &str) -> Option<ReportFormat> {
    let first = accept.split(',').next().unwrap_or_default();
    match first.split(';').next().unwrap_or_default().trim() {
        "application/json" => Some(ReportFormat::Json),
        "text/plain" => Some(ReportFormat::Table),
        _ => negotiate_rdf(accept, false).map(ReportFormat::Rdf),
    }
}

fn media_type(format: ReportFormat) -> &'static str {
    match format {
        ReportFormat::Rdf(format) => format.media_type(),
        ReportFormat::Json => "application/json",
        ReportFormat::Table => "text/plain; charset=utf-8",
    }
}

/// A writer that announces another head once it is known that the data do not conform.
struct Announcing<'w> {
    writer: &'w mut ChunkWriter<Head>,
    conforms: &'w Cell<bool>,
    other: Option<Head>,
}

impl Write for Announcing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.conforms.get()
            && let Some(head) = self.other.take()
        {
            self.writer.announce(head);
        }
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A validation on its blocking thread.
struct Job {
    work: LongQuery,
    asked: Asked,
    bytes: Vec<u8>,
    room: Room,
}

impl Job {
    fn run(&self, writer: &mut ChunkWriter<Head>) -> Result<(), HttpError> {
        self.work.note_begun();
        let options = self.options()?;
        let shapes = self.shapes()?;
        let snapshot = self.work.state.database.snapshot();
        // The head of a report is sent before it is whole, so this is asked first.
        let nobody = lode_shacl::empty_targets(&snapshot, &shapes, &options);
        let nobody = nobody.map_err(|error| self.explain(error))?;
        let warnings: Vec<String> = shapes.warnings().iter().cloned().chain(nobody).collect();
        let head = |conforms| Head {
            media_type: media_type(self.asked.format),
            conforms,
            warnings: warnings.clone(),
        };
        writer.announce(head(true));
        writer.limit_bytes(self.work.granted.limits.bytes);
        let conforms = Cell::new(true);
        let mut out = Announcing { writer, conforms: &conforms, other: Some(head(false)) };
        let done =
            Report::start(self.asked.format, TableOptions::default(), &mut out).and_then(|mut report| {
                let summary = lode_shacl::validate(&snapshot, &shapes, &options, &mut |result| {
                    conforms.set(false);
                    report.push(result)
                })?;
                conforms.set(summary.conforms());
                report.finish(&summary)?;
                Ok(())
            });
        done.map_err(|error| match writer.is_too_long() {
            true => self.work.granted.too_many_bytes(),
            false => self.explain(error),
        })
    }

    fn options(&self) -> Result<ValidateOptions, HttpError> {
        let mut query = self.work.query_options(&self.asked.graph)?;
        query.request_bytes = self.room.bytes();
        // Of all results, not of each query.
        let rows_max = query.rows_max.take();
        let granted = self.work.granted;
        let checks = self.work.graphs.reads_all();
        Ok(ValidateOptions {
            query,
            results_max: rows_max.map_or(self.asked.limit, |max| max.min(self.asked.limit)),
            admit: checks.then(|| -> Arc<lode_shacl::Admit> {
                Arc::new(move |query| {
                    granted.check_reads(query.estimated_reads()).map_err(|error| error.message)
                })
            }),
            ..ValidateOptions::default()
        })
    }

    fn shapes(&self) -> Result<Shapes, HttpError> {
        let mut options = ParseOptions::default();
        if let Some(base) = &self.asked.base {
            options = options.with_own_address(base);
        }
        let mut graph = self.work.state.memory().map_or_else(ShapesGraph::default, ShapesGraph::within);
        graph
            .add_document("the shapes", self.asked.shapes, &self.bytes, &options)
            .and_then(|()| Shapes::read(graph))
            .map_err(|error| self.explain(error))
    }

    /// The error to tell.
    fn explain(&self, error: ShaclError) -> HttpError {
        let told = match error {
            ShaclError::Engine(error) => self.work.granted.told(error),
            ShaclError::Refused(message) => HttpError::new(StatusCode::FORBIDDEN, message),
            ShaclError::Memory(reason) if reason.is_for_others() => {
                HttpError::busy("there is no memory for these shapes at the moment: try again later")
            }
            error @ ShaclError::Memory(_) => HttpError::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string()),
            ShaclError::Output(error) => HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
            of_shapes => HttpError::bad_request(of_shapes.to_string()),
        };
        self.work.explain(told)
    }
}
