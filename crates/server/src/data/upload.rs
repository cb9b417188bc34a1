//! PUT and POST: documents into a graph or into the dataset. What looks small is read whole and becomes one transaction; everything else
//! is streamed into a bulk load.

use super::target::NO_NAME;
use super::{multipart, notes};
use crate::access::{graph_rules, with_version};
use crate::body::{Incoming, Whole, pieces};
use crate::body_memory::Room;
use crate::coding::{ALL_NAMES, Coding};
use crate::deadline::after;
use crate::error::{CONTENT_TYPE, HttpError};
use crate::limits::Granted;
use crate::request::content_type;
use crate::state::{AppState, CancelOnDrop, blocking};
use crate::update::json;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use lode_engine::{CancelToken, Document, DocumentBody, UploadOptions, UploadReport, UploadTarget};
use lode_rdf::{NamedNode, RdfFormat};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// Bytes of a quad, about, for guessing how many there are.
const TURTLE_QUAD_BYTES: u64 = 80;
const LINE_QUAD_BYTES: u64 = 130;
/// What compression saves, about.
const COMPRESSION: u64 = 10;
/// How a body is called in messages.
const NAME: &str = "body";

/// What the headers say.
struct Announced {
    /// What is decoded before the load sees it, which itself knows some compressions.
    coding: Option<Coding>,
    /// None: several documents in a form.
    format: Option<RdfFormat>,
    is_compressed: bool,
    bytes: Option<u64>,
}

/// Puts a document, or those of a form, into a graph or the dataset.
pub(crate) async fn answer(
    state: Arc<AppState>,
    target: UploadTarget,
    own: Option<NamedNode>,
    request: &Parts,
    body: Incoming,
) -> Result<Response, HttpError> {
    let (announced, options, made) = match prepare(&state, target, own, request) {
        Ok(prepared) => prepared,
        Err(error) => return body.refuse(&request.headers, error).await,
    };
    let body = body.decoded(announced.coding);
    let report = match announced.format {
        Some(format) => one(&state, body, format, &announced, options).await?,
        None => form(&state, body, &request.headers, options).await?,
    };
    notes::changed(report.inserted, report.deleted, report.version);
    Ok(respond(&report, made))
}

/// All that can be told before the body is read; last the name of a new graph, if one is made.
fn prepare(
    state: &AppState,
    target: UploadTarget,
    own: Option<NamedNode>,
    request: &Parts,
) -> Result<(Announced, UploadOptions, Option<NamedNode>), HttpError> {
    state.check_writable()?;
    let announced = Announced::read(&request.headers)?;
    let replace = request.method == Method::PUT;
    let (target, made) = destination(target, own.as_ref(), &announced, replace)?;
    let base = match &target {
        UploadTarget::Graph(Some(name)) => Some(name.clone()),
        _ => own,
    };
    let options = UploadOptions {
        target,
        condition: state.validators.condition(&request.headers)?,
        graphs: graph_rules(),
        replace,
        base_iri: base.map(NamedNode::into_string),
        cancel: CancelToken::default(),
        transaction_quads_max: state.limits.get().transaction_quads_max,
        memory_bytes: Granted::of(request).memory(state.options.query.memory_bytes),
        memory: state.options.query.memory.clone(),
        threads: state.options.query.threads,
        statement_limit: state.options.statement_limit,
    };
    Ok((announced, options, made))
}

impl Announced {
    fn read(headers: &HeaderMap) -> Result<Self, HttpError> {
        let unsupported = |message: String| HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        let media_type = content_type(headers);
        let format = match media_type.as_deref() {
            Some("multipart/form-data") => None,
            Some(name) if RdfFormat::from_media_type(name).is_some() => RdfFormat::from_media_type(name),
            other => {
                let name = other.unwrap_or("(none)");
                return Err(unsupported(format!(
                    "content type {name}: send text/turtle, application/n-triples, application/n-quads, application/trig, \
                     application/rdf+xml, application/ld+json or multipart/form-data"
                )));
            }
        };
        let (is_compressed, coding) = match Coding::of_body(headers) {
            Ok(coding @ (None | Some(Coding::Brotli))) => (false, coding),
            // A form is taken apart before any load sees it.
            Ok(coding) if format.is_none() => (false, coding),
            Ok(_) => (true, None),
            Err(name) if format.is_some() && ["bzip2", "xz"].contains(&name.as_str()) => (true, None),
            Err(name) => return Err(HttpError::coding(&name, ALL_NAMES)),
        };
        let bytes = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        Ok(Self { coding, format, is_compressed, bytes })
    }

    /// Bytes of the body that so many quads may have, about.
    fn bytes_of(&self, quads: u64) -> u64 {
        let line_based = self.format.is_some_and(RdfFormat::is_line_based);
        let quad = if line_based { LINE_QUAD_BYTES } else { TURTLE_QUAD_BYTES };
        quads.saturating_mul(quad) / if self.is_compressed { COMPRESSION } else { 1 }
    }
}

/// Where the quads go, and the name of a new graph if one is made for them.
fn destination(
    target: UploadTarget,
    own: Option<&NamedNode>,
    announced: &Announced,
    replace: bool,
) -> Result<(UploadTarget, Option<NamedNode>), HttpError> {
    let has_graphs = announced.format.is_some_and(RdfFormat::supports_datasets);
    if target != UploadTarget::Dataset || has_graphs {
        return Ok((target, None));
    }
    if replace {
        let message = "triples replace one graph: name it, ?graph=IRI or ?default (quads replace everything)";
        return Err(HttpError::bad_request(message));
    }
    let own = own.ok_or_else(|| HttpError::bad_request(NO_NAME))?;
    let random = || RandomState::new().build_hasher().finish();
    let name = format!("{}/{:016x}{:016x}", own.as_str().trim_end_matches('/'), random(), random());
    let name = NamedNode::new(name).map_err(|error| HttpError::bad_request(error.to_string()))?;
    Ok((UploadTarget::Graph(Some(name.clone())), Some(name)))
}

/// One document.
async fn one(
    state: &Arc<AppState>,
    mut body: Incoming,
    format: RdfFormat,
    announced: &Announced,
    options: UploadOptions,
) -> Result<UploadReport, HttpError> {
    // With a condition, or with rules for the graphs that it names, it is one transaction, or nothing.
    let is_ruled = options.target == UploadTarget::Dataset && !options.graphs.is_free();
    let small = match options.condition.is_some() || is_ruled {
        true => state.limits.get().update_bytes_max as u64,
        false => announced.bytes_of(options.transaction_quads_max),
    };
    let mut begun = Whole::default();
    let is_large = announced.bytes.is_some_and(|bytes| bytes > small);
    if !is_large && body.fill(&mut begun, usize::try_from(small).unwrap_or(usize::MAX)).await? {
        let body = DocumentBody::Bytes(Arc::from(begun.bytes));
        let unpacked_max = Some(state.options.decoded_bytes_max);
        let document = Document { name: NAME.to_owned(), format, body, unpacked_max };
        return whole(state, vec![document], options, begun.room).await;
    }
    // It takes as long as it takes to come, so there is no time-out; but a body that does not come gives up.
    let permit = state.bulk_loads.enter(after(state.limits.get().update_timeout)).await?;
    notes::begun();
    let Whole { bytes, room } = begun;
    let cancel = options.cancel.clone();
    let _left = CancelOnDrop(cancel.clone());
    let (to, from) = pieces(bytes);
    let state = Arc::clone(state);
    let work = blocking(move || {
        let stream = DocumentBody::Stream(Box::new(from));
        let unpacked_max = Some(state.options.decoded_bytes_max);
        let document = Document { name: NAME.to_owned(), format, body: stream, unpacked_max };
        let report = state.database.upload(vec![document], &options);
        drop((permit, room));
        Ok(report?)
    });
    let pump = async {
        let pumped = body.pump(to).await;
        if pumped.is_err() {
            cancel.cancel();
        }
        pumped
    };
    let (pumped, report) = tokio::join!(pump, work);
    // What is wrong with the body explains what is wrong with the document.
    pumped?;
    report
}

/// Several documents of a form.
async fn form(
    state: &Arc<AppState>,
    body: Incoming,
    headers: &HeaderMap,
    options: UploadOptions,
) -> Result<UploadReport, HttpError> {
    let Whole { bytes, room } = body.collect(state.limits.get().update_bytes_max).await?;
    let mut documents = multipart::documents(headers, &bytes)?;
    for document in &mut documents {
        document.unpacked_max = Some(state.options.decoded_bytes_max);
    }
    whole(state, documents, options, room).await.map_err(|mut error| {
        if error.message.contains(CONTENT_TYPE) {
            error.message =
                format!("{}; the type is that of the part, {}", error.message, multipart::OF_A_PART);
        }
        error
    })
}

/// Documents that have come in.
async fn whole(
    state: &Arc<AppState>,
    documents: Vec<Document>,
    options: UploadOptions,
    room: Room,
) -> Result<UploadReport, HttpError> {
    let limit = state.limits.get().update_timeout;
    let cancel = CancelToken::new(Some(limit));
    let permit = state.updates.enter(after(limit)).await?;
    notes::begun();
    let _left = CancelOnDrop(cancel.clone());
    let state = Arc::clone(state);
    blocking(move || {
        let report = state.database.upload(documents, &UploadOptions { cancel, ..options });
        drop((permit, room));
        Ok(report?)
    })
    .await
}

/// 201 where there is a graph that was not there before, else 200; what was done as JSON.
fn respond(report: &UploadReport, made: Option<NamedNode>) -> Response {
    let graph = made.as_ref().map_or(String::new(), |name| format!("\"graph\":\"{}\",", name.as_str()));
    let mut response = json(&format!(
        "{{{graph}\"quads\":{},\"inserted\":{},\"deleted\":{}{},\"bulk\":{},\"seconds\":{:.6}}}\n",
        report.quads,
        report.inserted,
        report.deleted,
        with_version(report.version),
        report.is_bulk,
        report.seconds
    ));
    if report.is_new || made.is_some() {
        *response.status_mut() = StatusCode::CREATED;
    }
    if let Some(location) = made.and_then(|name| HeaderValue::from_str(name.as_str()).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
