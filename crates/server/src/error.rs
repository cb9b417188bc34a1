//! Errors as a client sees them: the fitting status, and plain text, or, where it is asked for, JSON.

use crate::observe::Record;
use crate::problem::{self, Problem};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lode_engine::store::load::IngestError;
use lode_engine::store::{BuildError, LoadError, SnapshotProblem, StoreError};
use lode_engine::{Cancelled, EngineError, ExecError, ParseError};
use lode_rdf::RdfFormat;
use std::io::ErrorKind;
use std::time::Duration;

/// Characters that are shown of a name.
const NAME_CHARS_MAX: usize = 100;
/// Clients that are refused since too much waits may come back then, or later.
const RETRY_AFTER_SECONDS: u32 = 1;

/// An answer that is an error: a status and a sentence.
#[derive(Debug)]
pub(crate) struct HttpError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// After so many seconds it may go well.
    pub(crate) retry_after: Option<u32>,
    /// A field that this status asks for.
    pub(crate) field: Option<(HeaderName, &'static str)>,
    /// What is for the one who runs the server, such as where files are.
    pub(crate) details: Option<String>,
    /// What is wrong with the text that was sent.
    pub(crate) syntax: Option<Box<ParseError>>,
}

impl HttpError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message, retry_after: None, field: None, details: None, syntax: None }
    }

    /// Too much is wanted at once.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::busy_for(message, Duration::ZERO)
    }

    /// The same; after so long it may go well.
    pub(crate) fn busy_for(message: impl Into<String>, time: Duration) -> Self {
        let seconds = u32::try_from(time.as_secs() + u64::from(time.subsec_nanos() > 0)).unwrap_or(u32::MAX);
        let retry_after = Some(seconds.max(RETRY_AFTER_SECONDS));
        Self { retry_after, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// A method that an address does not take.
    pub(crate) fn method(allowed: &'static str) -> Self {
        let error = Self::new(StatusCode::METHOD_NOT_ALLOWED, format!("this address takes {allowed}"));
        Self { field: Some((header::ALLOW, allowed)), ..error }
    }

    /// A body in a content coding that is not known here.
    pub(crate) fn coding(name: &str, known: &'static str) -> Self {
        let name: String = name.chars().take(NAME_CHARS_MAX).collect();
        let message =
            format!("content coding {}: send the body plain, or in one of {known}", name.escape_debug());
        let error = Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        Self { field: Some((header::ACCEPT_ENCODING, known)), ..error }
    }

    /// Of a handler that was called without a request: none is.
    pub(crate) fn no_request() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the request is not known")
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let record = Record::current();
        record.iter().for_each(|record| record.note_error(&self.message));
        self.details.into_iter().for_each(tell);
        let request = record.as_ref().map(|record| record.id());
        let (media_type, body) = match record.as_ref().is_some_and(|record| record.wants_problem()) {
            true => {
                let problem = Problem::new(self.status, &self.message, self.syntax.as_deref(), request);
                (problem::MEDIA_TYPE, problem.to_text())
            }
            false => {
                let number = request.map_or_else(String::new, |id| format!(" [request {id}]"));
                ("text/plain; charset=utf-8", self.message + &number + "\n")
            }
        };
        let fields = [(header::CONTENT_TYPE, media_type), (header::VARY, "Accept")];
        let mut response = (self.status, fields, body).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some((name, value)) = self.field {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// Tells the one who runs the server what a client was not told.
pub(crate) fn tell(details: String) {
    let record = Record::current();
    match record.as_ref().map(|record| record.id()) {
        Some(request) => tracing::error!(request, "{details}"),
        None => tracing::error!("{details}"),
    }
}

impl From<EngineError> for HttpError {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::Syntax(_)
            | EngineError::Plan(_)
            | EngineError::Update(_)
            | EngineError::Rules(_) => StatusCode::BAD_REQUEST,
            EngineError::Load(LoadError::Build(BuildError::Memory { .. } | BuildError::Limit(_))) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            EngineError::Load(LoadError::Source(IngestError::Input { error, .. }))
                if error.kind() == ErrorKind::FileTooLarge =>
            {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            EngineError::Load(LoadError::Source(
                IngestError::Syntax { .. }
                | IngestError::Input { .. }
                | IngestError::Format { .. }
                | IngestError::NamesGraph { .. },
            )) => StatusCode::BAD_REQUEST,
            EngineError::LoadRefused(_) | EngineError::Forbidden(_) => StatusCode::FORBIDDEN,
            // As RDF4J has it.
            EngineError::Refused(_) => StatusCode::CONFLICT,
            EngineError::Condition(_) => StatusCode::PRECONDITION_FAILED,
            EngineError::TooLarge(_) | EngineError::TooManyRows(_) => StatusCode::PAYLOAD_TOO_LARGE,
            EngineError::LoadUnreachable(_) => StatusCode::BAD_GATEWAY,
            EngineError::Format(_) => StatusCode::NOT_ACCEPTABLE,
            EngineError::Cancelled(Cancelled::Timeout) => StatusCode::GATEWAY_TIMEOUT,
            EngineError::Cancelled(Cancelled::ByRequest) => StatusCode::SERVICE_UNAVAILABLE,
            EngineError::Store(StoreError::ReadOnly { .. }) => StatusCode::FORBIDDEN,
            EngineError::Store(StoreError::Snapshot { what, .. }) => match what {
                SnapshotProblem::Name => StatusCode::BAD_REQUEST,
                SnapshotProblem::Missing => StatusCode::NOT_FOUND,
                SnapshotProblem::Exists => StatusCode::CONFLICT,
                SnapshotProblem::Damaged => StatusCode::INTERNAL_SERVER_ERROR,
            },
            // There is something in the folder already that no backup may replace.
            EngineError::Store(StoreError::BackupTarget { .. }) => StatusCode::CONFLICT,
            EngineError::Store(error) if error.is_disk_full() => StatusCode::INSUFFICIENT_STORAGE,
            EngineError::Execution(ExecError::Spill(source)) if is_full(source) => {
                StatusCode::INSUFFICIENT_STORAGE
            }
            EngineError::Execution(ExecError::Service { .. } | ExecError::Elsewhere { .. }) => {
                StatusCode::BAD_GATEWAY
            }
            EngineError::Execution(ExecError::OutOfMemory(reason)) if reason.is_for_others() => {
                return Self::busy(format!("{reason}; try again later"));
            }
            // It would have to be asked for less.
            EngineError::Execution(
                ExecError::OutOfMemory(_)
                | ExecError::TextTooLong { .. }
                | ExecError::PatternTooComplex { .. },
            ) => StatusCode::PAYLOAD_TOO_LARGE,
            EngineError::Store(StoreError::Behind { .. }) => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if let Some(message) = with_means_of_http(&error) {
            return Self::new(status, message);
        }
        match without_paths(&error) {
            Some(message) => {
                let details = Some(error.to_string());
                match error {
                    EngineError::Store(StoreError::Behind { .. }) => Self { details, ..Self::busy(message) },
                    _ => Self { details, ..Self::new(status, message) },
                }
            }
            None => {
                let message = with_commands(error.to_string());
                let syntax = if let EngineError::Syntax(error) = error { Some(error) } else { None };
                Self { syntax, ..Self::new(status, message) }
            }
        }
    }
}

/// Options that errors of the layers below name, and the command that has each: no client can give them, but who runs the server can.
const OPTIONS: [(&str, &str); 7] = [
    ("--allow-service", "lode serve"),
    ("--memory", "lode serve"),
    ("--statement-bytes-max", "lode serve"),
    ("--lenient", "lode load"),
    ("--contexts", "lode load"),
    ("--format", "lode load"),
    ("--base", "lode load"),
];

/// A text whose hints name options of the command line, with the commands before them.
fn with_commands(mut message: String) -> String {
    for (option, command) in OPTIONS {
        for before in ["(", "; ", ": "] {
            message = message.replace(&format!("{before}{option}"), &format!("{before}{command} {option}"));
        }
    }
    message
}

/// What to tell a client of an error whose own text names options of the command line: what can be done over HTTP, and by whom else.
fn with_means_of_http(error: &EngineError) -> Option<String> {
    Some(match error {
        EngineError::Cancelled(Cancelled::Timeout) => {
            "time-out: the request was not done in the time it had; ask for less at once, or the server's administrator for more \
             time (timeout=SECONDS asks for less than the server's limit, never for more)"
                .to_owned()
        }
        EngineError::Execution(ExecError::OutOfMemory(reason)) => format!(
            "{reason}; ask for less at once (fewer rows in DISTINCT, GROUP BY, ORDER BY and joins), or the server's administrator for \
             more memory (lode serve --memory)"
        ),
        EngineError::Execution(ExecError::TextTooLong { function, bytes_max }) => format!(
            "{function} would make a text of more than {bytes_max} bytes: make shorter ones, or ask the server's administrator for more \
             memory (a text may be a sixteenth of what lode serve --memory gives)"
        ),
        EngineError::Load(LoadError::Build(BuildError::Memory { what, bytes })) => format!(
            "{what} need more memory than this server has for an upload: send less at once, or ask its administrator for {} MiB or \
             more (lode serve --memory)",
            bytes.div_ceil(1 << 20)
        ),
        EngineError::Load(LoadError::Source(IngestError::Input { error, source_name }))
            if error.kind() == ErrorKind::FileTooLarge =>
        {
            format!(
                "{source_name}: {error}: send less at once, or without compression, or ask the server's administrator for more (lode serve \
                 --decoded-bytes-max); nothing was changed"
            )
        }
        EngineError::Load(LoadError::Source(IngestError::NamesGraph { source_name })) => format!(
            "{source_name}: names a graph, but what is in it is for one graph: send quads to /data without a graph, which takes them into the \
             graphs that they name"
        ),
        EngineError::Load(LoadError::Source(error @ (IngestError::Syntax { .. } | IngestError::Format { .. }))) => {
            with_media_types(&error.to_string())?
        }
        EngineError::LoadRefused(reason) => format!(
            "{}: send the data itself to /data, or ask the server's administrator to allow it (lode serve --allow-load PREFIX)",
            reason.split(" (--").next().unwrap_or(reason)
        ),
        _ => return None,
    })
}

/// A text that advises another `--format`, with the header that has the same effect on an upload.
fn with_media_types(message: &str) -> Option<String> {
    let advised = RdfFormat::ALL.into_iter().find_map(|format| {
        let option = format!(": --format {}", format.extension());
        let at = message.find(&option)?;
        let (before, after) = (message.get(..at)?, message.get(at + option.len()..)?);
        let is_whole = !after.starts_with(|c: char| c.is_ascii_alphanumeric());
        is_whole.then(|| format!("{before}: {CONTENT_TYPE}{}{after}", format.media_type()))
    });
    advised.map(with_commands)
}

/// What names the format of an upload.
pub(crate) const CONTENT_TYPE: &str = "Content-Type: ";

/// What to tell a client of an error whose own text names files of this machine.
fn without_paths(error: &EngineError) -> Option<String> {
    let EngineError::Store(error) = error else { return None };
    Some(match error {
        StoreError::Io { source, .. } if is_full(source) => {
            "the disk of the database is full: nothing was changed; make room, or delete what is not needed"
                .to_owned()
        }
        StoreError::Io { source, .. } => {
            format!(
                "a file of the database could not be read or written ({}): the server's log says which",
                source.kind()
            )
        }
        StoreError::InDoubt { .. } => {
            "the file system did not confirm the change: it may be there or not; the server's log says more"
                .to_owned()
        }
        StoreError::Corruption { what, .. } => {
            format!(
                "a file of the database is damaged ({what}): the server's log says which; lode check reads all of them"
            )
        }
        StoreError::Version { .. } => "a file of the database is of another version of the format".to_owned(),
        StoreError::BackupTarget { what, .. } => {
            format!("{what}; give the name of a new or empty folder, or of a backup of this database")
        }
        StoreError::Full { .. } => "the disk of the database is full: until there is room again, only deletions, compactions and the \
             dropping of snapshots are done; nothing was changed: make room and try again"
            .to_owned(),
        StoreError::Missing { .. }
        | StoreError::NoManifest { .. }
        | StoreError::RestoreUnfinished { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::Locked { .. }
        | StoreError::IsBackup { .. }
        | StoreError::NoBackup { .. }
        | StoreError::NotEmpty { .. } => {
            "the folder is not what it should be: the server's log says more".to_owned()
        }
        StoreError::Behind { .. } => {
            "segments are written more slowly than changes come: try again later (the server's log says why)"
                .to_owned()
        }
        StoreError::ReadOnly { .. } => "the database was opened for reading only".to_owned(),
        _ => return None,
    })
}

fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

#[cfg(test)]
mod tests {
    //! What a client is told.
    use super::*;

    #[test]
    fn formats_of_uploads_are_headers() {
        for (format, header) in
            [("ttl", "text/turtle"), ("nq", "application/n-quads"), ("rdf", "application/rdf+xml")]
        {
            let error = IngestError::Syntax {
                source_name: "body".to_owned(),
                line: 1,
                column: 1,
                message: format!("bad (the text looks like another: --format {format})"),
            };
            let told = HttpError::from(EngineError::Load(error.into()));
            assert_eq!(told.status, StatusCode::BAD_REQUEST);
            assert!(
                told.message.ends_with(&format!("like another: Content-Type: {header})")),
                "{}",
                told.message
            );
        }
        let error = IngestError::NamesGraph { source_name: "body".to_owned() };
        let told = HttpError::from(EngineError::Load(error.into()));
        assert!(
            told.status == StatusCode::BAD_REQUEST && told.message.contains("/data without a graph"),
            "{told:?}"
        );
    }

    #[test]
    fn options_are_those_of_a_command() {
        let service = ExecError::Service {
            endpoint: "http://e/".to_owned(),
            message: "this endpoint may not be asked (--allow-service 'http://e/' allows it)".to_owned(),
        };
        let syntax = IngestError::Syntax {
            source_name: "a.ttl".to_owned(),
            line: 1,
            column: 2,
            message:
                "a blank --lenient (a blank in an IRI is written %20; --lenient keeps such IRIs as they are)"
                    .to_owned(),
        };
        for (error, part) in [
            (EngineError::Execution(service), "(lode serve --allow-service 'http://e/' allows it)"),
            (
                EngineError::Load(syntax.into()),
                "a blank --lenient (a blank in an IRI is written %20; lode load --lenient keeps",
            ),
            (
                EngineError::Update(
                    "LOAD <a>: too long (--statement-bytes-max takes longer ones)".to_owned(),
                ),
                "(lode serve --statement-bytes-max takes",
            ),
        ] {
            let told = HttpError::from(error).message;
            assert!(told.contains(part), "{told}");
        }
    }
}
