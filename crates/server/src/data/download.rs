//! GET and HEAD: a graph, or the whole dataset, streamed in the format asked for.

use super::notes;
use super::target::no_such_graph;
use crate::access::graph_rules;
use crate::deadline::after;
use crate::error::HttpError;
use crate::limits::Granted;
use crate::negotiate::{accept, negotiate_rdf};
use crate::state::{AppState, blocking};
use crate::stream::{ANSWER_BYTES, ChunkWriter, answered, of_unknown_length};
use crate::written::prefixes_of;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_assist::prefixes_over_usual;
use lode_engine::store::{
    DumpError, DumpOptions, DumpScope, Snapshot, StoreError, dump_graph, dump_lines, dump_quads,
};
use lode_engine::{
    CancelToken, EngineError, GraphRules, Order, QuadPattern, Reservation, UploadTarget, inferred_graph,
};
use lode_rdf::serialize::{GraphText, Prefixes, QuadWriter};
use lode_rdf::{GraphNameRef, QuadRef, RdfFormat, ValueId};
use std::io::Write;
use std::sync::Arc;

pub(super) async fn answer(
    state: Arc<AppState>,
    target: UploadTarget,
    at: Option<String>,
    request: &Parts,
    is_head: bool,
) -> Result<Response, HttpError> {
    let (headers, granted) = (&request.headers, Granted::of(request));
    let whole = target == UploadTarget::Dataset;
    // A dataset without named graphs is a graph.
    let accepted = accept(headers);
    let format = negotiate_rdf(&accepted, whole).or_else(|| negotiate_rdf(&accepted, false));
    let format = format.ok_or_else(|| not_acceptable(whole))?;
    let time_max = state.limits.get().download_timeout;
    let limit = granted.time(time_max);
    let cancel = CancelToken::new(Some(limit));
    let permit = state.downloads.enter(after(limit.min(state.limits.get().timeout))).await?;
    notes::begun();
    let (at_state, rules) = (Arc::clone(&state), graph_rules());
    let of_database = Arc::clone(&state);
    let (asked, at_cancel) = (rules.clone(), cancel.clone());
    let memory = DownloadMemory::reserve(&state)?;
    let (cache_bytes, text_bytes_max) = (memory.cache_bytes, memory.text_bytes);
    let found = blocking(move || {
        let (snapshot, scope) = find(&at_state, &target, &asked, at.as_deref(), cache_bytes)?;
        // Who may not read all graphs would learn that there are others.
        let is_graph = !whole || asked.reads_all() && !snapshot.has_named_graphs();
        if !is_graph && !format.supports_datasets() {
            return Err(only_a_graph(format));
        }
        let scope = DumpOptions { scope, text_bytes_max };
        if granted.limits.rows.is_some() {
            granted.check_rows(rows(&snapshot, &target, &scope, &asked, &at_cancel)?)?;
        }
        Ok((snapshot, scope))
    });
    let (snapshot, scope) = found.await?;
    let head = [(header::CONTENT_TYPE, media_type(format)), (header::VARY, "Accept")];
    // Who may not read all graphs would learn of changes to others.
    let version = snapshot.state_number();
    let tag = rules.reads_all().then(|| state.validators.of_graph(version, format));
    if let Some(tag) = tag.as_ref().filter(|tag| tag.is_known(headers)) {
        return Ok(tag.not_modified());
    }
    if is_head {
        // Nobody knows its length before it is written.
        let mut response = (head, of_unknown_length()).into_response();
        tag.iter().for_each(|tag| tag.tell(&mut response));
        return Ok(response);
    }
    let ((), body) = answered(cancel.clone(), state.memory().cloned(), (permit, memory), move |_, writer| {
        writer.announce(());
        writer.limit_bytes(granted.limits.bytes);
        let form =
            Form { format, prefixes: prefixes_over_usual(&prefixes_of(&of_database.database, &rules)) };
        write(&snapshot, scope, &rules, &form, &cancel, writer).map_err(|error| match writer.is_too_long() {
            true => granted.too_many_bytes(),
            false => granted.timed(dump_error(error), None, time_max),
        })
    })
    .await?;
    let mut response = (head, body).into_response();
    tag.iter().for_each(|tag| tag.tell(&mut response));
    Ok(response)
}

fn not_acceptable(whole: bool) -> HttpError {
    let offered = if whole {
        "application/n-quads, application/trig, application/ld+json (name a graph, ?graph=IRI or ?default, for its triples)"
    } else {
        "text/turtle, application/n-triples, application/rdf+xml, application/ld+json, application/n-quads, application/trig"
    };
    let message = format!("none of the accepted media types fits: offered are {offered}");
    HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
}

fn only_a_graph(format: RdfFormat) -> HttpError {
    let message = format!(
        "{format} holds one graph, and there may be named graphs: name one (?graph=IRI or ?default; lode dump --graph), or accept \
         application/n-quads, application/trig or application/ld+json"
    );
    HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
}

/// Turtle is always UTF-8, but its registration has a parameter that says so, and clients look for it.
fn media_type(format: RdfFormat) -> &'static str {
    match format {
        RdfFormat::Turtle => "text/turtle; charset=utf-8",
        other => other.media_type(),
    }
}

/// Bytes of the cache that a download has for itself, so that the queries' cache stays as it is, and of the texts that it holds: with much
/// memory;
const ASIDE_BYTES: usize = 16 << 20;
const TEXT_BYTES: usize = 16 << 20;
/// and so many times less than that with little, down to this part.
const PARTS_MAX: usize = 16;

/// What a download holds.
struct DownloadMemory {
    cache_bytes: usize,
    text_bytes: usize,
    _room: Option<Reservation>,
}

impl DownloadMemory {
    /// As much as there is room for; 503 where that is too little.
    fn reserve(state: &AppState) -> Result<Self, HttpError> {
        let pool = state.memory().map_or(usize::MAX, |memory| memory.limit());
        let memory_bytes = state.options.query.memory_bytes.min(pool);
        let most = (ASIDE_BYTES.min(memory_bytes / 16), TEXT_BYTES.min(memory_bytes / 32));
        let mut part = 1;
        loop {
            let (cache_bytes, text_bytes) = (most.0 / part, most.1 / part);
            // A vector of texts that grows is there twice.
            let bytes = cache_bytes + 2 * text_bytes;
            // What is sent of it takes room as well, later.
            match state.memory().map(|memory| memory.reserve(bytes + ANSWER_BYTES)) {
                None => return Ok(Self { cache_bytes, text_bytes, _room: None }),
                Some(Ok(mut room)) => {
                    room.shrink(bytes);
                    return Ok(Self { cache_bytes, text_bytes, _room: Some(room) });
                }
                Some(Err(_)) if part < PARTS_MAX => part *= 2,
                Some(Err(_)) => return Err(HttpError::busy(NO_ROOM)),
            }
        }
    }
}

const NO_ROOM: &str = "there is no memory for another download: try again later";

fn find(
    state: &AppState,
    target: &UploadTarget,
    rules: &GraphRules,
    at: Option<&str>,
    cache_bytes: usize,
) -> Result<(Snapshot, DumpScope), HttpError> {
    let snapshot = state.database.snapshot_at(at)?.aside(cache_bytes);
    let scope = match target {
        // What rules have added was not stated.
        UploadTarget::Dataset => {
            inferred_graph(&snapshot).map_err(EngineError::from)?.map_or(DumpScope::All, DumpScope::AllBut)
        }
        UploadTarget::Graph(graph) => {
            let id = state.database.graph_id(&snapshot, graph.as_ref(), rules)?;
            DumpScope::Graph(id.ok_or_else(|| no_such_graph(target))?)
        }
    };
    Ok((snapshot, scope))
}

/// How many rows there will be for who has these rules.
fn rows(
    snapshot: &Snapshot,
    target: &UploadTarget,
    options: &DumpOptions,
    rules: &GraphRules,
    cancel: &CancelToken,
) -> Result<u64, HttpError> {
    let named = |prefix: &[_]| snapshot.count(Order::Gspo, prefix).map_err(EngineError::from);
    Ok(match (target, options.scope) {
        (UploadTarget::Graph(Some(_)), DumpScope::Graph(id)) => named(&[id])?,
        (UploadTarget::Graph(None), _) if !rules.may_read(GraphNameRef::DefaultGraph) => 0,
        (UploadTarget::Graph(None), _) => snapshot.quad_count() - named(&[])?,
        _ => QuadPattern::default().count(snapshot, rules, cancel)?,
    })
}

/// How a download is written.
struct Form {
    format: RdfFormat,
    /// Of Turtle and TriG.
    prefixes: Prefixes,
}

fn write(
    snapshot: &Snapshot,
    options: DumpOptions,
    rules: &GraphRules,
    form: &Form,
    cancel: &CancelToken,
    writer: &mut ChunkWriter<()>,
) -> Result<(), DumpError> {
    let (whole, format) = (options.scope.has_graphs(), form.format);
    let is_seen = |graph: GraphNameRef<'_>| rules.may_read(graph);
    match (GraphText::new(format), whole) {
        // The default graph is there for everybody, and empty for who may not read it.
        (_, false)
            if options.scope == DumpScope::Graph(ValueId::DEFAULT_GRAPH)
                && !is_seen(GraphNameRef::DefaultGraph) =>
        {
            QuadWriter::start(format, writer)?.finish()?;
            return Ok(());
        }
        (_, true) if format == RdfFormat::NQuads && rules.reads_all() => {
            return dump_lines(snapshot, options, cancel, writer).map(drop);
        }
        (Some(text), _) if !whole || rules.reads_all() => {
            let text = text.with_prefixes(&form.prefixes);
            return dump_graph(snapshot, options, text, cancel, writer).map(drop);
        }
        (Some(text), _) => {
            let text = text.with_prefixes(&form.prefixes);
            return write_seen(snapshot, options, rules, text, cancel, writer);
        }
        _ => {}
    }
    let mut document = QuadWriter::start(format, writer)?;
    dump_quads(snapshot, options, cancel, &mut |quad| {
        let graph_name = if whole { quad.graph_name } else { GraphNameRef::DefaultGraph };
        if whole && !is_seen(quad.graph_name) {
            return Ok(());
        }
        document.write(QuadRef { graph_name, ..quad })
    })?;
    document.finish()?;
    Ok(())
}

/// The graphs that may be read.
fn write_seen(
    snapshot: &Snapshot,
    options: DumpOptions,
    rules: &GraphRules,
    mut text: GraphText,
    cancel: &CancelToken,
    writer: &mut ChunkWriter<()>,
) -> Result<(), DumpError> {
    let mut buffer = Vec::new();
    dump_quads(snapshot, options, cancel, &mut |quad| {
        if rules.may_read(quad.graph_name) {
            text.write_quad(quad, &mut buffer);
            writer.write_all(&buffer)?;
            buffer.clear();
        }
        Ok(())
    })?;
    text.finish(&mut buffer);
    writer.write_all(&buffer)?;
    Ok(())
}

fn dump_error(error: DumpError) -> HttpError {
    let error: StoreError = match error {
        DumpError::Store(error) => error,
        DumpError::Cancelled(reason) => reason.into(),
        other => StoreError::Limit(other.to_string()),
    };
    EngineError::from(error).into()
}
