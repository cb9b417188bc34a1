//! Exit codes, as `lode --help` documents them.

use crate::talk::say;
use lode_engine::store::DumpError;
use lode_engine::{Cancelled, EngineError};
use std::io::ErrorKind;
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
    /// A dry run found statements that are wrong, and has said which.
    Invalid,
    /// A dry run found files that cannot be read, and has said which.
    Unreadable,
}

/// A syntax error in data, of commands whose errors are not the engine's.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DataSyntaxError(pub String);

/// Prints an error, if it is one, and gives the code.
pub fn code(outcome: anyhow::Result<Done>) -> ExitCode {
    let error = match outcome {
        Ok(Done::Ok) => return ExitCode::SUCCESS,
        Ok(Done::Quarantined) => return ExitCode::from(3),
        Ok(Done::Damaged) => return ExitCode::from(6),
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
    ExitCode::from(match error.downcast_ref::<EngineError>() {
        Some(EngineError::Syntax(_)) => 4,
        Some(EngineError::Cancelled(Cancelled::Timeout)) => 5,
        _ => 1,
    })
}

/// An error with its causes, each said once: many tell their cause themselves.
pub(crate) fn text(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>();
        let engine = cause.downcast_ref::<EngineError>();
        let dump = cause.downcast_ref::<DumpError>();
        io.is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
            || matches!(engine, Some(EngineError::Output(e)) if e.kind() == ErrorKind::BrokenPipe)
            || matches!(dump, Some(DumpError::Output(e)) if e.kind() == ErrorKind::BrokenPipe)
    })
}
