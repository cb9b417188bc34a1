//! Where bytes go, and errors on their way.

use arrow_schema::ArrowError;
use lode_engine::{EngineError, ExecError};
use parquet::errors::ParquetError;

/// The engine's error that an error of Arrow is.
pub fn error(error: ArrowError) -> EngineError {
    match error {
        ArrowError::IoError(_, error) => EngineError::Output(error),
        ArrowError::ExternalError(error) => match error.downcast::<EngineError>() {
            Ok(error) => *error,
            Err(error) => internal(error.to_string()),
        },
        other => internal(other.to_string()),
    }
}

/// The engine's error that an error of Parquet is.
pub fn parquet_error(error: ParquetError) -> EngineError {
    internal(error.to_string())
}

fn internal(what: String) -> EngineError {
    EngineError::Execution(ExecError::Internal(what))
}
