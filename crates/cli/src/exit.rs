//! Exit codes, as `lode --help` documents them.

use crate::args::folder::meant_address;
use crate::talk::say;
use lode_engine::store::{DumpError, StoreError};
use lode_engine::{Cancelled, EngineError};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// All well.
    Ok,
    /// Done, but statements were set aside.
    Quarantined,
    /// The check found damage.
    Damaged,
    /// The data do not conform to the shapes.
    Violated,
    /// A dry run found statements that are wrong, and has said which.
    Invalid,
    /// A dry run found files that cannot be read, and has said which.
    Unreadable,
}

/// A syntax error in data, of commands whose errors are not the engine's.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DataSyntaxError(pub String);

/// What a server has refused, or why it cannot be asked, and the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct RemoteError {
    pub code: u8,
    pub text: String,
}

/// A command line that is wrong in what its parser does not see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// An error of the command line.
pub fn wrong_usage(text: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(UsageError(text.into()))
}

/// A name of no RDF syntax.
pub fn unknown_format(name: &str) -> anyhow::Error {
    wrong_usage(format!("unknown format {name}: use nt, nq, ttl, trig, rdf or jsonld"))
}

/// Prints an error, if it is one, and gives the code.
pub fn code(outcome: anyhow::Result<Done>) -> ExitCode {
    let error = match outcome {
        Ok(Done::Ok) => return ExitCode::SUCCESS,
        Ok(Done::Quarantined) => return ExitCode::from(3),
        Ok(Done::Damaged) => return ExitCode::from(6),
        Ok(Done::Violated) => return ExitCode::from(7),
        Ok(Done::Invalid) => return ExitCode::from(4),
        Ok(Done::Unreadable) => return ExitCode::from(1),
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        // The reader (`head`, a pager) has seen enough: nothing to say.
        return ExitCode::SUCCESS;
    }
    say!("error: {}", text(&error));
    if error.is::<DataSyntaxError>() {
        return ExitCode::from(4);
    }
    if error.is::<UsageError>() {
        return ExitCode::from(2);
    }
    if let Some(RemoteError { code, .. }) = error.downcast_ref() {
        return ExitCode::from(*code);
    }
    ExitCode::from(match error.downcast_ref::<EngineError>() {
        Some(EngineError::Syntax(_) | EngineError::Rules(_)) => 4,
        Some(EngineError::Cancelled(Cancelled::Timeout)) => 5,
        _ => 1,
    })
}

/// Whether a folder is where `lode publish` writes to.
fn is_published(folder: &Path) -> bool {
    folder.join("manifest").is_dir() && folder.join("uploads").is_dir() && !folder.join("MANIFEST").exists()
}

/// An error with its causes, each said once: many tell their cause themselves.
pub(crate) fn text(error: &anyhow::Error) -> String {
    if let Some(EngineError::Store(StoreError::NotADatabase { path })) = error.downcast_ref()
        && path.is_file()
    {
        let path = path.display();
        return format!("{path} is a file, not a database; lode load DB {path} makes a database DB of it");
    }
    if let Some(EngineError::Store(StoreError::Missing { path })) = error.downcast_ref()
        && let Some(address) = meant_address(path)
    {
        return format!("there is no folder {}; did you mean the server {address}?", path.display());
    }
    if let Some(EngineError::Store(StoreError::Missing { path } | StoreError::NotADatabase { path })) =
        error.downcast_ref()
        && is_published(path)
        && let Ok(absolute) = std::path::absolute(path)
    {
        let (path, absolute) = (path.display(), absolute.display());
        return format!(
            "{path} is a published database, not the folder of one: `lode query` and `lode serve` read it at file://{absolute}, and `lode restore` makes \
             a folder of it"
        );
    }
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let engine = cause.downcast_ref::<EngineError>();
        let dump = cause.downcast_ref::<DumpError>();
        let json = cause.downcast_ref::<serde_json::Error>();
        io.is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
            || json.is_some_and(|e| e.io_error_kind() == Some(ErrorKind::BrokenPipe))
            || matches!(engine, Some(EngineError::Output(e)) if e.kind() == ErrorKind::BrokenPipe)
            || matches!(dump, Some(DumpError::Output(e)) if e.kind() == ErrorKind::BrokenPipe)
    })
}
