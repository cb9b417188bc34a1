//! The SPARQL 1.1 Protocol endpoint. The only async code of the project: it receives, hands the work to a blocking thread,
//! and streams what that thread writes.

mod admission;
mod app;
mod error;
mod negotiate;
mod page;
mod request;
mod stream;

pub use app::{Server, ServerOptions};
pub use error::ServerError;
