//! Errors of the engine as exceptions of the package (`lodestore/_errors.py`), which have its messages, places and remedies.

use lode_engine::store::StoreError;
use lode_engine::store::load::{IngestError, LoadError};
use lode_engine::{Cancelled, EngineError, ExecError, ParseError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;

/// An exception of this class.
pub fn new(py: Python<'_>, class: &str, message: &str) -> PyErr {
    made(py, class, message, None)
}

fn made(py: Python<'_>, class: &str, message: &str, places: Option<&Bound<'_, PyDict>>) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let class = py.import("lodestore._errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((in_python(message),), places)?))
    };
    // Without its class, the exception of the import.
    raised().unwrap_or_else(|error| error)
}

/// The message with options as they are called here.
fn in_python(message: &str) -> String {
    message.replace("--memory", "memory=").replace("--allow-load", "allow_load=")
}

/// The exception for an error of the engine.
pub fn of_engine(py: Python<'_>, error: &EngineError) -> PyErr {
    match error {
        EngineError::Syntax(mistakes) => of_syntax(py, mistakes),
        EngineError::Store(error) => of_store(py, error),
        EngineError::Load(error) => of_load(py, error),
        EngineError::Cancelled(Cancelled::Timeout) => {
            let message = "the time-out has passed; timeout= gives more time";
            new(py, "Timeout", message)
        }
        EngineError::Cancelled(Cancelled::ByRequest) => new(py, "Cancelled", "cancelled"),
        EngineError::Execution(ExecError::OutOfMemory(_) | ExecError::TextTooLong { .. }) => {
            new(py, "MemoryLimit", &whole(error))
        }
        EngineError::TooManyRows(_) => new(py, "TooManyRows", &whole(error)),
        EngineError::Forbidden(_) => new(py, "Forbidden", &whole(error)),
        EngineError::LoadRefused(_) => new(py, "Forbidden", &whole(error)),
        EngineError::LoadUnreachable(_) => new(py, "LoadError", &whole(error)),
        EngineError::Compact(_) => new(py, "StorageError", &whole(error)),
        EngineError::Format(_) => new(py, "FormatError", &whole(error)),
        EngineError::Output(inner) => raised(py, inner).unwrap_or_else(|| new(py, "Error", &whole(error))),
        _ => new(py, "QueryError", &whole(error)),
    }
}

/// What a file of Python has raised, where that was the reason.
fn raised(py: Python<'_>, error: &io::Error) -> Option<PyErr> {
    error.get_ref()?.downcast_ref::<PyErr>().map(|raised| raised.clone_ref(py))
}

/// The exception for an error of a load.
pub fn of_load(py: Python<'_>, error: &LoadError) -> PyErr {
    match error {
        LoadError::Source(IngestError::Syntax { source_name, line, column, .. }) => {
            let places = PyDict::new(py);
            let filled = places
                .set_item("line", line)
                .and_then(|()| places.set_item("column", column))
                .and_then(|()| places.set_item("file", source_name));
            let message = format!(
                "{}\nnothing was loaded\nhint: quarantine=FILE sets aside what is wrong and loads the rest; lenient=True keeps invalid \
                 IRIs, language tags and escapes",
                whole(error)
            );
            filled.map_or_else(|error| error, |()| made(py, "DataSyntaxError", &message, Some(&places)))
        }
        LoadError::Source(IngestError::Input { error: inner, .. }) if raised(py, inner).is_some() => {
            raised(py, inner).unwrap_or_else(|| new(py, "LoadError", &whole(error)))
        }
        LoadError::Store(error) => of_store(py, error),
        LoadError::Cancelled(Cancelled::Timeout) => new(py, "Timeout", "the time-out has passed"),
        LoadError::Cancelled(Cancelled::ByRequest) => new(py, "Cancelled", "cancelled: nothing was loaded"),
        _ => new(py, "LoadError", &format!("{}\nnothing was loaded", whole(error))),
    }
}

fn of_store(py: Python<'_>, error: &StoreError) -> PyErr {
    let class = match error {
        StoreError::Missing { path } => {
            let message = format!(
                "there is no database at {}; lodestore.open(path) makes one, without create=False and read_only=True",
                path.display()
            );
            return new(py, "NotFound", &message);
        }
        StoreError::Locked { .. } => {
            let message = format!("{error}; read_only=True answers queries meanwhile");
            return new(py, "Locked", &message);
        }
        StoreError::NotADatabase { .. } => "NotFound",
        StoreError::ReadOnly { .. } | StoreError::IsBackup { .. } => "ReadOnly",
        StoreError::Corruption { .. } | StoreError::NoManifest { .. } | StoreError::Version { .. } => {
            "Damaged"
        }
        StoreError::OutOfMemory(_) => "MemoryLimit",
        StoreError::Cancelled(Cancelled::Timeout) => "Timeout",
        StoreError::Cancelled(Cancelled::ByRequest) => "Cancelled",
        _ => "StorageError",
    };
    new(py, class, &whole(error))
}

fn of_syntax(py: Python<'_>, mistakes: &ParseError) -> PyErr {
    let message = mistakes.to_string();
    let filled = || -> PyResult<PyErr> {
        let places = PyDict::new(py);
        if mistakes.line > 0 {
            places.set_item("line", mistakes.line)?;
            places.set_item("column", mistakes.column)?;
        }
        let one =
            |error: &ParseError| (error.line, error.column, error.message.clone(), error.help.to_string());
        let all: Vec<_> = std::iter::once(one(mistakes)).chain(mistakes.more.iter().map(one)).collect();
        places.set_item("mistakes", all)?;
        Ok(made(py, "QuerySyntaxError", &message, Some(&places)))
    };
    filled().unwrap_or_else(|error| error)
}

/// The error, with causes that it does not tell itself.
fn whole(error: &impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let told = error.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = error.source();
    }
    text
}
