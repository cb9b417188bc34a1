//! Errors as the server's starter sees them.

use crate::access::UserError;
use crate::listener::Bind;

/// Why the server could not start or had to stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The address is taken or not ours.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address asked for.
        address: Bind,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The users cannot be read.
    #[error("users: {0}")]
    Users(#[from] UserError),
    /// A certificate or its key cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
    /// The folder of the databases cannot be read.
    #[error(transparent)]
    Databases(#[from] lode_engine::store::StoreError),
    /// The runtime or the listener failed.
    #[error("the server stopped: {0}")]
    Io(#[from] std::io::Error),
}
