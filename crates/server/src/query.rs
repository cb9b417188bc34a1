//! The query operation: parsed, planned and run on a blocking thread, streamed while it runs.

use crate::error::HttpError;
use crate::negotiate::{negotiate, offered};
use crate::request::QueryRequest;
use crate::state::AppState;
use crate::stream::{ChunkWriter, chunks};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::{CancelToken, OutputFormat, PreparedQuery, write_results};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Runs the query. The status is known once the first chunk, the end, or an error is there.
pub(crate) async fn answer(
    state: Arc<AppState>,
    request: QueryRequest,
    accept: String,
    base: Option<String>,
) -> Result<Response, HttpError> {
    let permit = state.queries.enter().await?;
    let limit = state.options.timeout;
    let cancel = CancelToken::new(Some(request.timeout.map_or(limit, |asked| asked.min(limit))));
    let (writer, mut body) = chunks(cancel.clone());
    let (head_sender, head) = oneshot::channel();
    let work = move || {
        let job = Job { state: &state, request: &request, accept: &accept, base, cancel };
        job.run(head_sender, writer);
        drop(permit);
    };
    drop(tokio::task::spawn_blocking(work));
    let failed =
        |_| HttpError::new(StatusCode::INTERNAL_SERVER_ERROR, "the query's thread ended without an answer");
    let head = head.await.map_err(failed)??;
    if !body.wait().await {
        // Nothing was written: the error, if any, comes in the second half of the head.
        head.end.await.map_err(failed)??;
        return Ok(respond(head.format, Body::empty()));
    }
    Ok(respond(head.format, Body::new(body)))
}

fn respond(format: OutputFormat, body: Body) -> Response {
    ([(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")], body).into_response()
}

/// What is known before the first byte: the format; and where to hear of an error that came before any byte.
struct Head {
    format: OutputFormat,
    end: oneshot::Receiver<Result<(), HttpError>>,
}

type HeadSender = oneshot::Sender<Result<Head, HttpError>>;

/// One query, on its blocking thread.
struct Job<'a> {
    state: &'a AppState,
    request: &'a QueryRequest,
    accept: &'a str,
    base: Option<String>,
    cancel: CancelToken,
}

impl Job<'_> {
    fn run(self, head: HeadSender, mut writer: ChunkWriter) {
        let (query, format) = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => return drop(head.send(Err(error))),
        };
        let (end_sender, end) = oneshot::channel();
        if head.send(Ok(Head { format, end })).is_err() {
            return; // the client has left
        }
        let result = query.run().and_then(|mut results| write_results(&mut results, format, &mut writer));
        match result.map_err(HttpError::from) {
            Ok(_) => {
                let _ = end_sender.send(Ok(()));
                drop(writer.finish()); // a client that left needs no more
            }
            Err(error) if writer.is_untouched() => drop(end_sender.send(Err(error))),
            Err(error) => writer.abort(error.message),
        }
    }

    fn prepare(&self) -> Result<(PreparedQuery, OutputFormat), HttpError> {
        let mut options = self.state.options.query.clone();
        options.cancel = self.cancel.clone();
        options.base_iri = options.base_iri.or_else(|| self.base.clone());
        options.set_dataset(&self.request.default_graphs, &self.request.named_graphs)?;
        let database = &self.state.database;
        let text = &self.request.query;
        let query = match self.request.at.as_deref() {
            // Plans are kept of queries of the current version only.
            None => database.prepare(text, &options)?,
            at => database.prepare_at(database.snapshot_at(at)?, text, &options)?,
        };
        let kind = query.kind();
        let format = self.request.format.or_else(|| negotiate(Some(self.accept), kind)).ok_or_else(|| {
            let message = format!("none of the accepted media types fits: offered are {}", offered(kind));
            HttpError::new(StatusCode::NOT_ACCEPTABLE, message)
        })?;
        Ok((query, format))
    }
}
